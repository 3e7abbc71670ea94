import { type Command as Commander, Option } from 'commander';
import { withSources } from './gateway-options.ts';
import { resultFormats } from './write-results.ts';

/** Adds the options of commands that write single objects: `--dry-run` and `-o`. */
export function withWrites(command: Commander): Commander {
  return command
    .option('--dry-run', 'write nothing, and show what would change')
    .addOption(new Option('-o, --output <format>', 'how results are printed').choices(resultFormats));
}

/** Adds what says which objects are meant: their kinds and names, or `-f`, and `-n`. */
export function withTargets(command: Commander): Commander {
  return (
    withSources(command)
      .argument('[kind/name...]', 'what: KIND NAME…, or KIND/NAME…; or -f')
      // Any number of them.
      .allowExcessArguments(true)
  );
}
