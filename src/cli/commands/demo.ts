import { Argument, type Command as Commander } from 'commander';
import { demoHub, demoOutages, stoppedCluster } from '../../config/demo-outages.ts';
import type { GatewayFlags, RunCommand } from '../arguments/gateway-options.ts';
import { CommandFailure, exitCodes } from '../client/command-failure.ts';
import type { Session } from '../client/session.ts';

type DemoAction = 'stop' | 'start';

const help = `
  stop   makes the cluster unreachable: its connections break, and no new ones
         are accepted. Its Pods continue to run
  start  makes it reachable again
For drills with \`muster serve --demo\`. The hub cannot be stopped.
  muster demo stop us-prod --gateway 127.0.0.1:4000
Exits with 2 if the gateway serves other clusters, or none is named.`;

/** Adds `muster demo`: makes a cluster of a running embedded fleet unreachable, and brings it back. */
export function addDemoCommand(program: Commander, run: RunCommand): void {
  program
    .command('demo')
    .allowExcessArguments(false)
    .description('make a cluster of the embedded fleet unreachable, and bring it back')
    .addArgument(new Argument('<action>', 'the action').choices(['stop', 'start']))
    .argument('<cluster>', 'name of the cluster')
    .option('--gateway <url>', 'the gateway of the embedded fleet (default: MUSTER_GATEWAY)')
    .option('--token-file <file>', 'a file with its bearer token')
    .addHelpText('after', help)
    .action((action: DemoAction, cluster: string, flags: GatewayFlags) =>
      // If the command would need its own gateway, it is refused: the embedded fleet of an own gateway ends with the command.
      run(flags, (session) => changeOutage(session, action, cluster), { writes: async () => refuseGateway() }),
    );
}

const stateQuery = '{ gateway { demo } clusters { name } }';
const patchMutation = `mutation ($targets: [Target!]!, $patch: JSON!) {
  patch(targets: $targets, patch: $patch, type: MERGE) { ok results { fault { message } } }
}`;

interface DemoState {
  readonly gateway: { readonly demo: boolean };
  readonly clusters: readonly { readonly name: string }[];
}

interface PatchAnswer {
  readonly patch: {
    readonly ok: boolean;
    readonly results: readonly { readonly fault?: { readonly message: string } | null }[];
  };
}

async function changeOutage({ gateway, terminal }: Session, action: DemoAction, cluster: string): Promise<number> {
  const { gateway: found, clusters } = await gateway.query<DemoState>(stateQuery, {});
  if (!found.demo) refuseGateway();
  if (cluster === demoHub)
    throw new CommandFailure(exitCodes.refused, `${demoHub} is the hub of the embedded fleet, and cannot be stopped`);
  const names = clusters.map(({ name }) => name).filter((name) => name !== demoHub);
  if (!names.includes(cluster)) throw new CommandFailure(exitCodes.refused, `expected ${names.join(' or ')}, got ${cluster}`);
  const patch = { data: { [cluster]: action === 'stop' ? stoppedCluster : null } };
  const answer = await gateway.query<PatchAnswer>(patchMutation, { targets: [{ ref: { cluster: demoHub, ...demoOutages } }], patch });
  const [result] = answer.patch.results;
  if (!answer.patch.ok) throw new CommandFailure(exitCodes.failed, result?.fault?.message ?? 'the cluster was not changed');
  await terminal.out(`${cluster} ${action === 'stop' ? 'stopped' : 'started'}\n`);
  return exitCodes.good;
}

function refuseGateway(): never {
  throw new CommandFailure(exitCodes.refused, 'expected --gateway with a gateway that was started with `muster serve --demo`');
}
