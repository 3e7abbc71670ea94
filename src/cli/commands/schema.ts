import type { Command as Commander } from 'commander';
import type { Flags } from '../../config/config.ts';

/** `muster schema`: the schema as text, without a cluster. */
export function addSchema(program: Commander, print: (flags: Flags) => Promise<void>): Commander {
  return program
    .command('schema')
    .description('print the GraphQL schema, without a cluster: of the built-in kinds and of custom ones that are remembered')
    .allowExcessArguments(false)
    .option('--schema-lock <file>', 'where custom kinds are remembered (default: as serve does)')
    .option('--config <file>', 'the config file (YAML)')
    .action((flags: Flags) => print(flags));
}
