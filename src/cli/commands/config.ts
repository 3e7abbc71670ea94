import path from 'node:path';
import type { Command as Commander } from 'commander';
import { printYaml } from '../../core/json/print-yaml.ts';
import { readTextFile } from '../arguments/read-sources.ts';
import { printable } from '../output/table.ts';
import type { Terminal } from '../output/terminal.ts';

const help = `
The main cluster becomes the hub, and MultiClusterResources live on there.
  muster config import -f config.yaml > muster.yaml
  muster --config muster.yaml
Warnings on standard error name the keys that have no counterpart.
Exits with 2 if the file is no YAML, has no clusters, names a cluster twice, or
has two main clusters.`;

/** Adds `muster config import`: converts the config of multi_resource_operator. It needs no gateway. */
export function addConfigCommand(
  program: Commander,
  { terminal, directory }: { readonly terminal: Terminal; readonly directory: string },
): void {
  program
    .command('config')
    .description('convert the configuration of other systems')
    .command('import')
    .description('print a config file for --config, made from the config of multi_resource_operator')
    .allowExcessArguments(false)
    .requiredOption('-f, --filename <file>', 'the config of the operator, or - for standard input')
    .addHelpText('after', help)
    .action(async ({ filename }: { readonly filename: string }) => {
      const text = await readTextFile(filename, terminal);
      const isInput = filename === '-';
      // Imported here, because only this command needs the definition.
      const { convertOperatorConfig } = await import('../../config/operator-config.ts');
      const { config, warnings } = await convertOperatorConfig({
        text,
        name: isInput ? 'standard input' : filename,
        directory: path.resolve(directory, isInput ? '.' : path.dirname(filename)),
      });
      for (const warning of warnings) terminal.err(`warning: ${printable(warning)}\n`);
      await terminal.out(printYaml(config));
    });
}
