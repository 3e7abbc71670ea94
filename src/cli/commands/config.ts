import path from 'node:path';
import { type Command as Commander, CommanderError } from 'commander';
import { MusterError } from '../../core/errors.ts';
import { printYaml } from '../../core/json/print-yaml.ts';
import { readTextFile } from '../arguments/read-sources.ts';
import { exitCodes } from '../client/command-failure.ts';
import { printable } from '../output/table.ts';
import type { Terminal } from '../output/terminal.ts';

const help = `
The main cluster becomes the hub, and MultiClusterResources live on there.
  muster config import -f config.yaml > muster.yaml
  muster --config muster.yaml
Warnings on standard error name the keys that have no counterpart.
Exits with 2 if the file is no YAML, has no clusters, names a cluster twice, or
has two main clusters.`;

const checkHelp = `
Prints the first problem: the file, the path of the key, and what was expected.
The files that the config names, such as kubeconfigs and tokens, are not read.
  muster config check muster.yaml
Exits with 2 if the config cannot be used.`;

/** Adds `muster config check` and `muster config import`, which converts the config of multi_resource_operator. They need no gateway. */
export function addConfigCommand(
  program: Commander,
  { terminal, directory }: { readonly terminal: Terminal; readonly directory: string },
): void {
  const config = program.command('config').description('check a config file, or convert the configuration of other systems');
  config
    .command('check')
    .description('check a config file without starting a gateway')
    .allowExcessArguments(false)
    .argument('<file>', 'the config file')
    .addHelpText('after', checkHelp)
    .action(async (file: string) => {
      // Imported here, because the other commands of this group do not need it.
      const { checkConfigFile } = await import('../../config/load-config.ts');
      try {
        await checkConfigFile(file, directory);
      } catch (error) {
        if (!(error instanceof MusterError)) throw error;
        // Without the name of the program in front: editors find the file at the beginning of the line.
        terminal.err(`${printable(error.message)}\n`);
        throw new CommanderError(exitCodes.refused, 'config.check', 'the config file cannot be used');
      }
      await terminal.out(`${printable(file)} is valid\n`);
    });
  config
    .command('import')
    .description('print a config file for --config, made from the config of multi_resource_operator')
    .allowExcessArguments(false)
    .requiredOption('-f, --filename <file>', 'the config of the operator, or - for standard input')
    .addHelpText('after', help)
    .action(async ({ filename }: { readonly filename: string }) => {
      const text = await readTextFile(filename, terminal);
      const isInput = filename === '-';
      // Imported only when the command runs, because no other command needs the definition of the operator's config.
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
