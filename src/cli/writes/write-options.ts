import { type Command as Commander, Option } from 'commander';
import { withSources } from '../arguments/gateway-options.ts';
import { resultFormats } from './write-results.ts';

/** The kind of dry run: each API server tries the write (`server`), no API server is asked (`client`), or the write is real (`none`). */
type DryRun = 'server' | 'client' | 'none';

/** The flag of commands that have a dry run. */
export interface DryRunFlags {
  readonly dryRun?: DryRun;
}

/** Replaces a `--dry-run` without value by `--dry-run=server`. As in kubectl, a value follows only after `=`, never as the next word. */
export function withDryRunValues(args: readonly string[]): readonly string[] {
  return args.map((arg) => (arg === '--dry-run' ? '--dry-run=server' : arg));
}

/** Adds `--dry-run`. */
export function withDryRun(command: Commander, description: string): Commander {
  return command.addOption(new Option('--dry-run <how>', description).choices(['server', 'client', 'none']));
}

/** True if the command is no dry run. */
export function isRealRun({ dryRun = 'none' }: DryRunFlags): boolean {
  return dryRun === 'none';
}

/** Adds the options of commands that write objects: `--dry-run` and `-o`. */
export function withWrites(command: Commander): Commander {
  return withDryRun(command, 'write nothing; show the changes (=server, the default value) or only the objects (=client)').addOption(
    new Option('-o, --output <format>', 'output format of the results').choices(resultFormats),
  );
}

/** Adds the arguments that name objects: kinds and names, or `-f`, and `-n`. */
export function withTargets(command: Commander): Commander {
  return (
    withSources(command)
      .argument('[kind/name...]', 'KIND NAME…, or KIND/NAME…; or -f')
      // Allows any number of names.
      .allowExcessArguments(true)
  );
}
