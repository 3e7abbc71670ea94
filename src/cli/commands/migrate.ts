import { Argument, type Command as Commander, InvalidArgumentError, Option } from 'commander';
import type { JsonObject } from '../../core/json.ts';
import { collectValues, type GatewayFlags, type RunCommand, withGatewayOptions, withNamespace } from '../arguments/gateway-options.ts';
import { ClusterFaultReport } from '../client/cluster-faults.ts';
import { CommandFailure, exitCodes } from '../client/command-failure.ts';
import { followSubscriptionField } from '../client/follow-subscription.ts';
import type { Session } from '../client/session.ts';
import { type MigrateFlags, migrateInputOfFlags } from '../migration/migrate-input.ts';
import {
  changedAppLines,
  isUndone,
  migrationEnd,
  migrationFields,
  migrationLines,
  migrationPlanFields,
  migrationPlanLines,
  type ShownMigration,
  type ShownMigrationPlan,
} from '../migration/migration-state.ts';
import { type DocumentFormat, documentFormats, printAnswers } from '../output/print-answer.ts';
import { paintFor, printable, textOfLines } from '../output/table.ts';

type MigrateCommandFlags = GatewayFlags &
  MigrateFlags & {
    readonly plan?: boolean;
    readonly digest?: string;
    readonly wait?: boolean;
    readonly output?: DocumentFormat | 'name';
  };

const help = `
Moves workloads with their Services, Ingresses, configuration and Secrets. The
copies are healthy in the target before traffic moves, and before anything is
removed in the source.
  muster migrate --from east --to west -l app=web -n shop --plan
  muster migrate --from east --to west -l app=web -n shop --digest DIGEST --wait
  muster migrate status NAME -n shop
  muster migrate undo NAME -n shop --wait
--plan writes nothing. Its last line is the digest: with --digest, exactly this
plan is carried out, or nothing. The same flags with the same --name once more
let applications continue that have failed. Any flag about a backup means that the
manifests are read from a backup of Velero.
Without a running gateway, this process does the work, and waits until it ends.
Exits with 0 if the plan has no error, or the migration is recorded or, with
--wait, settled. Exits with 1 if it is refused, or ends paused, failed, held or
degraded.`;

/** Adds `muster migrate`: plans, starts, shows and undoes migrations. */
export function addMigrateCommand(program: Commander, run: RunCommand): void {
  withMoveOptions(withNamespace(withGatewayOptions(program.command('migrate'))))
    .description('move applications from one cluster to another, and back')
    .addArgument(new Argument('[action]', 'show or undo a migration').choices(['status', 'undo']))
    .argument('[name]', 'status, undo: the name of the migration')
    .option('--plan', 'only show what would move')
    .option('--digest <digest>', 'only the plan with this digest', digestOf)
    .option('--wait', 'wait until the migration ends')
    .addOption(new Option('-o, --output <format>', 'output format').choices([...documentFormats, 'name']))
    .addHelpText('after', help)
    .action((action: 'status' | 'undo' | undefined, name: string | undefined, flags: MigrateCommandFlags) => {
      const writes = action !== 'status' && flags.plan !== true;
      return run(flags, (session) => (action === undefined ? migrate(session, flags) : act(session, { action, name }, flags)), { writes });
    });
}

function withMoveOptions(command: Commander): Commander {
  return command
    .option('--from <cluster>', 'the cluster that the applications leave')
    .option('--to <cluster>', 'the cluster that the applications move to')
    .option('-l, --selector <labels>', 'the workloads with these labels, such as app=web')
    .option('--app <kind/name>', 'this workload; may be repeated', collectValues)
    .option('--name <name>', 'the name of the migration (default: made of the clusters and five characters)')
    .option('--copies <factor>', 'the factor for the replicas in the target, such as 0.5 (default: 1)', factorOf)
    .option('--priority <names>', 'the applications that move first, with commas between them')
    .option('--backup <name>', 'read the manifests from this Backup, or from a file .tar.gz')
    .option('--backup-labels <labels>', 'read the manifests from the newest Backup with these labels')
    .option('--backup-cluster <cluster>', 'the cluster whose Velero has the backup')
    .option('--traffic <hook>', 'the hook of the config file that moves traffic')
    .option('--deadline <duration>', 'the time for health and for the hook, such as 10m (default: no limit)')
    .option('--soak <duration>', 'the time for which both clusters run the application (default: 0s)')
    .option('--max-concurrency <number>', 'applications at a time: a number or a percentage (default: all)')
    .addOption(new Option('--on-failure <reaction>', 'the reaction to a failed application').choices(['pause', 'rollback', 'continue']))
    .option('--run-as <namespace/name>', 'the service account whose permissions are used (default: the requester)');
}

function digestOf(text: string): string {
  if (/^[0-9a-f]{64}$/.test(text)) return text;
  throw new InvalidArgumentError('Expected the 64 hexadecimal digits that muster migrate --plan printed.');
}

function factorOf(text: string): number {
  const factor = Number(text);
  if (/^\d*\.?\d+$/.test(text) && factor > 0 && factor <= 1) return factor;
  throw new InvalidArgumentError('Expected a number greater than 0 and at most 1.');
}

async function migrate(session: Session, flags: MigrateCommandFlags): Promise<number> {
  const input = await migrateInputOfFlags(session, flags);
  if (flags.plan === true) return showPlan(session, input, flags);
  const query = `mutation ($input: MigrateInput!, $digest: String) { migrate(input: $input, digest: $digest) { ${fieldsFor(flags)} } }`;
  const answer = await session.gateway.query<{ readonly migrate: ShownMigration }>(query, { input, digest: flags.digest ?? null });
  const { migrate: started } = answer;
  const word = started.createdAt === null ? 'recorded' : migrationEnd(started) === undefined ? 'continues' : 'exists already';
  const { code, end } = await follow(session, { started, word }, flags);
  if (!isUndone(end)) return code;
  session.terminal.err(`muster: ${printable(`${end.namespace}/${end.name}`)} was undone: choose another --name to migrate again\n`);
  return exitCodes.failed;
}

/** Returns the GraphQL selection of a migration. Output for programs also has the spec and the objects. */
function fieldsFor({ output }: MigrateCommandFlags): string {
  return migrationFields(output === 'json' || output === 'yaml' ? 'objects' : 'summary');
}

async function showPlan(session: Session, input: JsonObject, { output }: MigrateCommandFlags): Promise<number> {
  if (output === 'name') throw new CommandFailure(exitCodes.refused, 'expected -o json or yaml with --plan, got name');
  const fields = migrationPlanFields(output === undefined ? 'summary' : 'manifests');
  const query = `query ($input: MigrateInput!) { planMigration(input: $input) { ${fields} } }`;
  const { planMigration: plan } = await session.gateway.query<{ readonly planMigration: ShownMigrationPlan }>(query, { input });
  const { terminal } = session;
  await terminal.out(output === undefined ? textOfLines(migrationPlanLines(plan, paintFor(terminal))) : printAnswers([plan], output));
  new ClusterFaultReport(session).print(plan.faults);
  return plan.ok ? exitCodes.good : exitCodes.failed;
}

interface NamedAction {
  readonly action: 'status' | 'undo';
  readonly name: string | undefined;
}

async function act(session: Session, { action, name }: NamedAction, flags: MigrateCommandFlags): Promise<number> {
  if (name === undefined) throw new CommandFailure(exitCodes.refused, `expected the name of a migration after ${action}`);
  const key = { namespace: flags.namespace ?? 'default', name };
  if (action === 'undo') {
    const query = `mutation ($namespace: String!, $name: String!) { undoMigration(namespace: $namespace, name: $name) { ${fieldsFor(flags)} } }`;
    const answer = await session.gateway.query<{ readonly undoMigration: ShownMigration }>(query, key);
    const { undoMigration: started } = answer;
    return (await follow(session, { started, word: isUndone(started) ? 'was undone already' : 'is being undone' }, flags)).code;
  }
  const query = `query ($namespace: String!, $name: String!) { migration(namespace: $namespace, name: $name) { ${fieldsFor(flags)} } }`;
  const { migration } = await session.gateway.query<{ readonly migration: ShownMigration | null }>(query, key);
  if (migration === null)
    throw new CommandFailure(exitCodes.failed, `there is no Migration ${name} in the namespace ${key.namespace} of the hub`);
  if (flags.wait === true) return (await follow(session, { started: migration, word: 'is recorded' }, flags)).code;
  await printState(session, migration, flags.output);
  return exitCodes.good;
}

interface StartedMigration {
  readonly started: ShownMigration;
  /** The word that is printed after the name of the migration, such as `recorded`. */
  readonly word: string;
}

/** The exit code of a command, and the last state of the migration that it has seen. */
interface FollowedMigration {
  readonly code: number;
  readonly end: ShownMigration;
}

/**
 * Prints the answer of a mutation. Then follows the migration to its end if `--wait` is given, or if the gateway ends with this command. A
 * refused migration is not followed.
 */
async function follow(session: Session, { started, word }: StartedMigration, flags: MigrateCommandFlags): Promise<FollowedMigration> {
  const { terminal } = session;
  const isRefused = started.phase === 'FAILED' || started.phase === 'HELD';
  const waits = !isRefused && (session.ownsGateway || flags.wait === true);
  if (!isRefused && flags.output === undefined) await terminal.out(`${printable(`migration.muster.dev/${started.name} ${word}`)}\n`);
  if (!waits) {
    if (isRefused || flags.output !== undefined) await printState(session, started, flags.output);
    return { code: isRefused ? exitCodes.failed : exitCodes.good, end: started };
  }
  const end = await followToEnd(session, started, flags);
  if (end === undefined) return { code: exitCodes.failed, end: started };
  await printState(session, end, flags.output);
  return { code: migrationEnd(end) === 'good' ? exitCodes.good : exitCodes.failed, end };
}

/** Follows a migration until it ends, and prints each change of an application. Undefined if the command is aborted, or the Migration is deleted. */
async function followToEnd(
  session: Session,
  { namespace, name }: ShownMigration,
  flags: MigrateCommandFlags,
): Promise<ShownMigration | undefined> {
  const query = `subscription ($namespace: String!, $name: String!) { migration(namespace: $namespace, name: $name) { ${fieldsFor(flags)} } }`;
  const variables = () => ({ namespace, name });
  const report = new ClusterFaultReport(session);
  let before: ShownMigration | undefined;
  for await (const event of followSubscriptionField<ShownMigration>(session, { query, field: 'migration', variables })) {
    if (event.type === 'lost' && event.code === 'GONE') return undefined;
    if (event.type !== 'message') continue;
    const state = event.message;
    if (flags.output === undefined) await session.terminal.out(textOfLines(changedAppLines(before, state).map(printable)));
    if (migrationEnd(state) !== undefined) return state;
    report.print(state.faults);
    before = state;
  }
  return undefined;
}

async function printState(session: Session, state: ShownMigration, output: MigrateCommandFlags['output']): Promise<void> {
  const { terminal } = session;
  switch (output) {
    case 'name':
      return terminal.out(`${printable(`migration.muster.dev/${state.name}`)}\n`);
    case undefined:
      await terminal.out(textOfLines(migrationLines(state, paintFor(terminal))));
      new ClusterFaultReport(session).print(state.faults);
      return undefined;
    default:
      return terminal.out(printAnswers([state], output));
  }
}
