import { type Command as Commander, Option } from 'commander';
import type { Flags } from '../../config/config.ts';
import { logLevels } from '../../config/defaults.ts';
import { collectValues } from '../arguments/gateway-options.ts';

/** Adds `muster serve`, the default command. */
export function addServeCommand(program: Commander, run: (flags: Flags) => Promise<void>): Commander {
  return program
    .command('serve', { isDefault: true })
    .description('serve GraphQL over the clusters of a kubeconfig, or over an embedded fleet without one')
    .allowExcessArguments(false)
    .option('--kubeconfig <file>', 'the kubeconfig (default: KUBECONFIG, ~/.kube/config, in-cluster)')
    .option('--context <name>', 'only this context; may be repeated (default: every context)', collectValues)
    .option('--hub <context>', 'the cluster that keeps Propagations; deploy/crds must be applied to it (default: none)')
    .option('--demo', 'use an embedded fleet of three simulated clusters')
    .option(
      '--host <address>',
      'the address to listen on; other than loopback only with authentication or --token-file (default: 127.0.0.1)',
    )
    .option('--port <number>', 'the port to listen on; 0 for any (default: 4000)')
    .option('--metrics-port <number>', 'the port of /metrics (default: the main port; with authentication, no metrics)')
    .option('--allow-origin <url>', 'a web origin that may send requests; may be repeated', collectValues)
    .option('--token-file <file>', 'a file with the bearer token that every request must have')
    .option('--read-only', 'refuse every mutation, and keep no Propagation in sync')
    .option(
      '--schema-lock <file>',
      'the file that remembers custom kinds (default: muster/schema.json in XDG_STATE_HOME; none with --demo)',
    )
    .option('--otlp <url>', 'send traces to this collector of OpenTelemetry (default: OTEL_EXPORTER_OTLP_ENDPOINT; else none)')
    .option('--federation', 'serve a subgraph for routers of Apollo Federation')
    .addOption(new Option('--log-level <level>', `${logLevels.join(', ')} (default: info)`))
    .option('--config <file>', 'the config file (YAML)')
    .action((flags: Flags) => run(flags));
}

/** Adds `muster schema`: prints the schema without a cluster. */
export function addSchemaCommand(program: Commander, print: (flags: Flags) => Promise<void>): Commander {
  return program
    .command('schema')
    .description('print the GraphQL schema without a cluster: built-in kinds, and custom kinds of the schema lock')
    .allowExcessArguments(false)
    .option('--schema-lock <file>', 'the file that remembers custom kinds (default: as serve)')
    .option('--config <file>', 'the config file (YAML)')
    .action((flags: Flags) => print(flags));
}
