import { type Command as Commander, Option } from 'commander';
import { type GatewayFlags, type RunCommand, withGatewayOptions } from '../arguments/gateway-options.ts';
import { CommandFailure, exitCodes } from '../client/command-failure.ts';
import type { Session } from '../client/session.ts';
import { jsonText } from '../output/json-text.ts';
import { printable, renderTable } from '../output/table.ts';

const whoamiHelp = `
The gateway answers for the caller of the request only. Without --gateway and
MUSTER_GATEWAY the command starts a gateway of its own, in local mode: it acts
with the rights of the kubeconfig.`;

const canIHelp = `
VERB is a verb of Kubernetes, such as list, get or delete. Without -n the
question is about all namespaces together. Prints one line per cluster: yes, no,
or unknown if the cluster did not answer, and why. Clusters in which the caller
may see nothing are left out, as in every answer of the gateway.
  muster auth can-i list pods
  muster auth can-i delete deployments.apps/web -n shop
  muster auth can-i get pods --subresource log -n shop
Exits with 0 if every cluster says yes, else with 1.`;

interface AuthFlags extends GatewayFlags {
  readonly output?: 'json';
}

interface CanIFlags extends AuthFlags {
  readonly namespace?: string;
  readonly subresource?: string;
}

/** Adds `muster auth whoami` and `muster auth can-i`. */
export function addAuthCommand(program: Commander, run: RunCommand): void {
  const auth = program.command('auth').description('show who you are and what you may do');
  withGatewayOptions(auth.command('whoami'))
    .description('show your user and groups, as the gateway sees them')
    .addOption(outputOption())
    .addHelpText('after', whoamiHelp)
    .action((flags: AuthFlags) => run(flags, (session) => showCaller(session, flags)));
  withGatewayOptions(auth.command('can-i'))
    .description('show in which clusters you may do something, and why')
    .argument('<verb>', 'the verb, such as list')
    .argument('<kind>', 'the kind, or KIND/NAME for one object')
    .option('-n, --namespace <name>', 'in this namespace (default: all namespaces together)')
    .addOption(new Option('-A, --all-namespaces', 'all namespaces together, as without -n').conflicts('namespace'))
    .option('--subresource <name>', 'a subresource, such as log or scale')
    .addOption(outputOption())
    .addHelpText('after', canIHelp)
    .action((verb: string, kind: string, flags: CanIFlags) => run(flags, (session) => showRights(session, { verb, kind }, flags)));
}

function outputOption(): Option {
  return new Option('-o, --output <format>', 'output format').choices(['json']);
}

interface Caller {
  readonly local: boolean;
  readonly name: string | null;
  readonly uid: string | null;
  readonly groups: readonly string[];
  readonly issuer: string | null;
}

async function showCaller({ gateway, terminal }: Session, { output }: AuthFlags): Promise<number> {
  const { whoami } = await gateway.query<{ readonly whoami: Caller }>('{ whoami { local name uid groups issuer } }', {});
  await terminal.out(output === 'json' ? `${jsonText(whoami, 2)}\n` : textOfCaller(whoami));
  return exitCodes.good;
}

function textOfCaller({ local, name, uid, groups, issuer }: Caller): string {
  if (local) return 'local mode: no authentication, every caller has the rights of the kubeconfig of the gateway\n';
  const rows = [
    ['user', name ?? ''],
    ['groups', groups.join(', ') || '<none>'],
    ...(uid === null ? [] : [['uid', uid]]),
    ['issuer', issuer ?? ''],
  ];
  return rows.map(([title = '', value = '']) => `${`${title}:`.padEnd(9)}${printable(value)}\n`).join('');
}

interface RightAnswer {
  readonly cluster: { readonly name: string };
  readonly allowed: boolean | null;
  readonly reason: string;
  readonly namespaces: readonly string[];
}

const rightsQuery = `query ($verb: String!, $kind: String!, $name: String, $namespace: String, $subresource: String, $clusters: [String!]) {
  canI(verb: $verb, kind: $kind, name: $name, namespace: $namespace, subresource: $subresource, clusters: $clusters) {
    cluster { name } allowed reason namespaces
  }
}`;

async function showRights(
  { gateway, terminal, clusters }: Session,
  requested: { readonly verb: string; readonly kind: string },
  { namespace, subresource, output }: CanIFlags,
): Promise<number> {
  const [kind = '', name, ...more] = requested.kind.split('/');
  if (kind === '' || name === '' || more.length > 0)
    throw new CommandFailure(exitCodes.refused, `expected KIND or KIND/NAME, got ${requested.kind}`);
  const variables = {
    verb: requested.verb,
    kind,
    name: name ?? null,
    namespace: namespace ?? null,
    subresource: subresource ?? null,
    clusters,
  };
  const { canI } = await gateway.query<{ readonly canI: readonly RightAnswer[] }>(rightsQuery, variables);
  await terminal.out(output === 'json' ? `${jsonText(canI, 2)}\n` : textOfRights(canI));
  if (canI.length === 0) terminal.err('No clusters found\n');
  return canI.length > 0 && canI.every(({ allowed }) => allowed === true) ? exitCodes.good : exitCodes.failed;
}

function textOfRights(answers: readonly RightAnswer[]): string {
  const wordOf = (allowed: boolean | null) => (allowed === null ? 'unknown' : allowed ? 'yes' : 'no');
  return renderTable(
    ['CLUSTER', 'ANSWER', 'WHY'],
    answers.map(({ cluster, allowed, reason }) => [cluster.name, wordOf(allowed), reason]),
  );
}
