import { type Command as Commander, Option } from 'commander';
import { type GatewayFlags, type RunCommand, withGatewayOptions } from '../../arguments/gateway-options.ts';
import { exitCodes } from '../../client/command-failure.ts';
import { jsonText } from '../../output/json-text.ts';

/** Adds `muster version`: shows the versions of the command line, of the gateway and of the clusters. */
export function addVersionCommand(program: Commander, run: RunCommand, version: string): void {
  withGatewayOptions(program.command('version'))
    .description('show the versions of the command line, the gateway and the clusters')
    .addOption(new Option('-o, --output <format>', 'output format').choices(['json']))
    .action((flags: GatewayFlags & { readonly output?: 'json' }) =>
      run(flags, async ({ gateway, terminal, clusters: names }) => {
        const query = 'query ($names: [String!]) { gateway { version } clusters(names: $names) { name version } }';
        const answer = await gateway.query<Versions>(query, { names });
        const { clusters } = answer;
        const lines = [
          `muster   ${version}`,
          `gateway  ${answer.gateway.version}`,
          ...clusters.map((one) => `${one.name}  ${one.version ?? 'unknown'}`),
        ];
        const text =
          flags.output === 'json' ? jsonText({ muster: version, gateway: answer.gateway.version, clusters }, 2) : lines.join('\n');
        await terminal.out(`${text}\n`);
        return exitCodes.good;
      }),
    );
}

interface Versions {
  readonly gateway: { readonly version: string };
  readonly clusters: readonly { readonly name: string; readonly version: string | null }[];
}
