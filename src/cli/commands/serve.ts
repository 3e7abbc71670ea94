import { type Command as Commander, Option } from 'commander';
import type { Flags } from '../../config/config.ts';
import { logLevels } from '../../config/defaults.ts';
import { collectValues } from '../arguments/gateway-options.ts';

/** Adds `muster serve`, the default command. */
export function addServeCommand(program: Commander, run: (flags: Flags) => Promise<void>): Commander {
  return program
    .command('serve', { isDefault: true })
    .description('answer GraphQL over the clusters of a kubeconfig, or over an embedded fleet where there is none')
    .allowExcessArguments(false)
    .option('--kubeconfig <file>', 'the kubeconfig (default: KUBECONFIG, ~/.kube/config, in-cluster)')
    .option('--context <name>', 'only this context; may be repeated (default: every context)', collectValues)
    .option('--hub <context>', 'the cluster that keeps Propagations; deploy/crds must be applied to it (default: none)')
    .option('--demo', 'an embedded fleet of three clusters that live')
    .option('--host <address>', 'the address to listen on; other than loopback only with --token-file (default: 127.0.0.1)')
    .option('--port <number>', 'the port to listen on; 0 for any (default: 4000)')
    .option('--allow-origin <url>', 'a web origin that may ask; may be repeated', collectValues)
    .option('--token-file <file>', 'a file with the bearer token that every request must show')
    .option(
      '--schema-lock <file>',
      'where custom kinds are remembered (default: muster/schema.json in XDG_STATE_HOME; nowhere with --demo)',
    )
    .addOption(new Option('--log-level <level>', `${logLevels.join(', ')} (default: info)`))
    .option('--config <file>', 'the config file (YAML)')
    .action((flags: Flags) => run(flags));
}

/** Adds `muster schema`: prints the schema without a cluster. */
export function addSchemaCommand(program: Commander, print: (flags: Flags) => Promise<void>): Commander {
  return program
    .command('schema')
    .description('print the GraphQL schema, without a cluster: of the built-in kinds and of custom ones that are remembered')
    .allowExcessArguments(false)
    .option('--schema-lock <file>', 'where custom kinds are remembered (default: as serve does)')
    .option('--config <file>', 'the config file (YAML)')
    .action((flags: Flags) => print(flags));
}
