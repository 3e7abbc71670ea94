import { type Command as Commander, Option } from 'commander';
import { withFieldSelector, withSources } from '../arguments/gateway-options.ts';
import { resultFormats } from './write-results.ts';

/** The kind of dry run: each API server tries the write (`server`), no API server is asked (`client`), or the write is real (`none`). */
type DryRun = 'server' | 'client' | 'none';

/** The flag of commands that have a dry run. */
export interface DryRunFlags {
  readonly dryRun?: DryRun;
}

/** Adds `--dry-run`. */
export function withDryRun(command: Commander, description: string): Commander {
  return command.addOption(new Option('--dry-run <how>', description).choices(['server', 'client', 'none']));
}

/** True if the command is no dry run. */
export function isRealRun({ dryRun = 'none' }: DryRunFlags): boolean {
  return dryRun === 'none';
}

/** The flags that decide whether a person is asked before a write. */
export interface ConsentFlags {
  readonly yes?: boolean;
  readonly allClusters?: boolean;
}

/** Adds `--all-clusters` and `-y`. */
export function withConsent(command: Commander): Commander {
  return command
    .addOption(new Option('--all-clusters', 'write to every cluster, without a question').conflicts('context'))
    .option('-y, --yes', 'write without a question');
}

/** Adds the options of commands that write objects: `--dry-run`, `-o`, `--all-clusters` and `-y`. */
export function withWrites(command: Commander): Commander {
  return withDryRun(
    withConsent(command),
    'write nothing; show the changes (=server, the default value) or only the objects (=client)',
  ).addOption(new Option('-o, --output <format>', 'output format of the results').choices(resultFormats));
}

/** Adds the arguments that choose objects: kinds and names, a kind with selectors, or `-f`, and `-n`. */
export function withTargets(command: Commander): Commander {
  return (
    withFieldSelector(withSources(command))
      .argument('[kind/name...]', 'KIND NAME…, KIND/NAME…, or KIND with -l; or -f')
      .option('-l, --selector <labels>', 'objects of KIND with these labels, such as app=web')
      .option('--all', 'all objects of KIND in the namespace')
      .addOption(new Option('-A, --all-namespaces', 'with -l or --all: in all namespaces').conflicts('namespace'))
      // Allows any number of names.
      .allowExcessArguments(true)
  );
}
