import { type Command as Commander, InvalidArgumentError } from 'commander';
import type { EnvironmentVariables } from '../../config/config.ts';
import { defaultSystemNamespace } from '../../config/defaults.ts';
import { collectValues } from '../arguments/gateway-options.ts';
import { CommandFailure, exitCodes } from '../client/command-failure.ts';
import type { RegistrationOutcome, Registrations } from '../client/registrations.ts';
import { printable, renderTable } from '../output/table.ts';
import type { Terminal } from '../output/terminal.ts';
import { type DryRunFlags, isRealRun, withDryRun } from '../writes/write-options.ts';

const joinHelp = `
Creates an account in the cluster, with rights to read every kind that it
serves now, but no Secrets, and registers the cluster on the hub with a token of
that account. Gateways of the hub read the cluster from then on. Uses the rights
of both contexts; no gateway is needed.
  muster join south --hub north --label tier=prod --region eu-2
  muster join south --hub north --rotate
A second join brings rights, labels, region and provider up to date, and keeps
the token. Labels, region and provider that are not given stay as they are.
Without --write, it takes away rights to write, unless --rotate is given.
Exits with 1 if a step fails; what this run has created is deleted then. Exits
with 2 if the command line is wrong.`;

const leaveHelp = `
Deletes what muster join has created, on the hub and in the cluster. Objects that
muster join has not created stay.
  muster leave south --hub north
  muster leave south --hub north --hub-only
Exits with 1 and changes nothing if copies of Propagations are in the cluster,
unless --abandon, or if the cluster does not answer, unless --hub-only.`;

interface RegistrationFlags extends DryRunFlags {
  readonly hub?: string;
  readonly kubeconfig?: string;
  readonly namespace: string;
}

interface JoinFlags extends RegistrationFlags {
  readonly name?: string;
  readonly label?: readonly string[];
  readonly region?: string;
  readonly provider?: string;
  readonly write?: boolean;
  readonly rotate?: boolean;
  readonly tokenLifetime: number;
}

interface LeaveFlags extends RegistrationFlags {
  readonly context?: string;
  readonly abandon?: boolean;
  readonly hubOnly?: boolean;
}

/** The parts of the program that `muster join` and `muster leave` need. */
interface RegistrationSession {
  readonly registrations: Registrations;
  readonly terminal: Terminal;
  readonly environment: EnvironmentVariables;
  /** Called with the exit code of the command. */
  readonly onEnd: (exitCode: number) => void;
}

/** Adds `muster join` and `muster leave`. They need no gateway. */
export function addRegistrationCommands(program: Commander, session: RegistrationSession): void {
  const { registrations, onEnd } = session;
  withRegistrationOptions(program.command('join'))
    .description('register a cluster on the hub, with an account of its own')
    .argument('<context>', 'the context of the cluster in the kubeconfig')
    .option('--name <name>', 'the name of the cluster on the hub (default: the context)')
    .option('--label <key=value>', 'a label of the cluster; may be repeated (default: the existing ones)', collectValues)
    .option('--region <region>', 'the region of the cluster (default: the existing one, else that of its Nodes)')
    .option('--provider <provider>', 'the cloud provider of the cluster (default: the existing one, else that of its Nodes)')
    .option('--write', 'also allow to write workloads and their settings, for Propagations')
    .option('--rotate', 'make a new token and revoke the old one')
    .option('--token-lifetime <duration>', 'the life of the token; gateways renew it before', parseLifetime, parseLifetime('2160h'))
    .addHelpText('after', joinHelp)
    .action(async (context: string, flags: JoinFlags) => {
      const { label, region, provider, write = false, rotate = false, tokenLifetime: lifetimeSeconds } = flags;
      const common = commonInput(flags, flags.name ?? context, { ...session, advice: ': set it with --name' });
      const labels = label === undefined ? undefined : Object.fromEntries(label.map(parseLabel));
      const outcome = await registrations.join({ ...common, context, labels, region, provider, write, rotate, lifetimeSeconds });
      onEnd(await printOutcome(session, common, outcome));
    });
  withRegistrationOptions(program.command('leave'))
    .description('delete what muster join has created, on the hub and in the cluster')
    .argument('<name>', 'the name of the cluster on the hub')
    .option('--context <name>', 'the context of the cluster in the kubeconfig (default: the name)')
    .option('--abandon', 'leave copies of Propagations in the cluster as they are')
    .option('--hub-only', 'delete only the objects on the hub, for a cluster that does not answer')
    .addHelpText('after', leaveHelp)
    .action(async (name: string, flags: LeaveFlags) => {
      const { hubOnly = false, abandon = false } = flags;
      const common = commonInput(flags, name, session);
      const context = hubOnly ? undefined : (flags.context ?? name);
      onEnd(await printOutcome(session, common, await registrations.leave({ ...common, context, abandon })));
    });
}

function withRegistrationOptions(command: Commander): Commander {
  return withDryRun(
    command
      .allowExcessArguments(false)
      .option('--hub <context>', 'the context of the hub (default: MUSTER_HUB, else the current context)')
      .option('--kubeconfig <file>', 'the kubeconfig (default: KUBECONFIG, ~/.kube/config)')
      .option('-n, --namespace <name>', 'the system namespace of the hub, with the Secrets of clusters', defaultSystemNamespace),
    'write nothing; show what would be done',
  );
}

/**
 * Checks the name, and returns the input that `muster join` and `muster leave` have in common.
 *
 * @param advice The end of the error message about an invalid name.
 * @throws {CommandFailure} if the name is invalid.
 */
function commonInput(
  flags: RegistrationFlags,
  name: string,
  { environment, advice = '' }: RegistrationSession & { readonly advice?: string },
) {
  if (!/^[a-z0-9](?:[-a-z0-9]{0,46}[a-z0-9])?$/.test(name))
    throw new CommandFailure(
      exitCodes.refused,
      `expected a name of at most 48 small letters, digits and -, got ${name.slice(0, 80)}${advice}`,
    );
  const { kubeconfig, namespace } = flags;
  const hub = flags.hub ?? (environment.MUSTER_HUB || undefined);
  return { name, namespace, hub, kubeconfig, dryRun: !isRealRun(flags) };
}

const labelName = /^(?:[a-z0-9](?:[-a-z0-9.]{0,251}[a-z0-9])?\/)?[A-Za-z0-9](?:[-\w.]{0,61}[A-Za-z0-9])?$/;
const labelText = /^(?:[A-Za-z0-9](?:[-\w.]{0,61}[A-Za-z0-9])?)?$/;

function parseLabel(text: string): readonly [string, string] {
  const [key = '', value, ...more] = text.split('=');
  if (labelName.test(key) && value !== undefined && labelText.test(value) && more.length === 0) return [key, value];
  throw new CommandFailure(exitCodes.refused, `expected a label such as tier=prod, got ${text.slice(0, 80)}`);
}

const secondsOfUnit: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3_600 };

/** Kubernetes makes no tokens with a shorter life. */
const shortestSeconds = 600;
/** Kubernetes makes no tokens with a longer life. */
const longestSeconds = 2 ** 32;

/** Parses a duration such as `2160h` or `1h30m` to seconds. */
function parseLifetime(text: string): number {
  const parts = [...text.matchAll(/(\d{1,9})([smh])/g)];
  const seconds = parts.reduce((sum, [, count, unit = '']) => sum + Number(count) * (secondsOfUnit[unit] ?? 0), 0);
  if (parts.map(([part]) => part).join('') === text && seconds >= shortestSeconds && seconds <= longestSeconds) return seconds;
  throw new InvalidArgumentError('Expected a duration of at least 10m, such as 2160h.');
}

async function printOutcome(
  { terminal }: RegistrationSession,
  { dryRun }: { readonly dryRun: boolean },
  outcome: RegistrationOutcome,
): Promise<number> {
  const suffix = dryRun ? ' (dry run)' : '';
  const rows = outcome.steps.map(({ cluster, object, action }) => [cluster, object, `${action}${suffix}`]);
  await terminal.out(renderTable(['CLUSTER', 'OBJECT', 'ACTION'], rows));
  if (outcome.result === 'failed') throw new CommandFailure(exitCodes.failed, outcome.message);
  for (const note of outcome.notes) terminal.err(`note: ${printable(note)}\n`);
  return exitCodes.good;
}
