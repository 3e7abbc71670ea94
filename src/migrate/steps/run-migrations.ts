import { keyOfKind } from '../../core/kinds.ts';
import { loggableError } from '../../core/loggable-error.ts';
import { type ConcurrencyLimit, createConcurrencyLimit } from '../../core/scheduling/concurrency-limit.ts';
import { whenAborted } from '../../core/scheduling/until-aborted.ts';
import { createInterests, type Interests } from '../../propagate/controller/events/interests.ts';
import type { Term } from '../../propagate/controller/lease/lease.ts';
import { createWorkQueue, retryAfterMs, type WorkQueue } from '../../propagate/controller/state/work-queue.ts';
import type { HubObjectName } from '../../propagate/hub/hub.ts';
import type { MemberChange } from '../../store/member-objects.ts';
import type { KeptManifest } from '../hub/app-revision-store.ts';
import { migrationKind } from '../hub/migration-store.ts';
import { isEnded, isReturning, openMoveOf } from '../model/migrated-app.ts';
import { type Migration, migrationMarks } from '../model/migration.ts';
import type { MigrationStatus } from '../model/migration-status-definition.ts';
import { runnableApps } from './app-state.ts';
import { beginMigration, isRefused } from './begin-migration.ts';
import { MigrationRecord } from './migration-record.ts';
import { interestsOfApp, runApp } from './run-app.ts';
import type { MigrationPorts, ValidMigration } from './step-ports.ts';
import { withUserRequests } from './user-requests.ts';

/** Maximum number of passes at a time, of Migrations and of applications together. */
const maxPasses = 32;

/** One Migration during a term. */
interface MigrationRun {
  readonly record: MigrationRecord;
  /** The indexes of the applications that the last pass allowed to run. */
  active: ReadonlySet<number>;
  readonly revisions: Map<string, readonly KeptManifest[]>;
  /** The number of attempts to begin that failed in a row. */
  failures: number;
}

interface Engine {
  readonly ports: MigrationPorts;
  readonly term: Term;
  readonly runs: Map<string, MigrationRun>;
  readonly interests: Interests;
  readonly queue: WorkQueue;
  /** Only one Migration begins at a time, so that each sees the applications of those before it. */
  readonly begins: ConcurrencyLimit;
  /** The uids of the Migrations that were read from the hub in this term and had no plan. */
  readonly unplanned: Set<string>;
}

/**
 * Carries out the Migrations of the hub for one term. A key of the queue is a Migration (`namespace/name`), or one of its applications
 * (`namespace/name#index`). The pass of a Migration plans it, records requests of users, and starts applications. The pass of an application
 * runs its steps. Changes of the Migration, of the objects of its applications and of the two clusters trigger passes.
 *
 * Resolves when the term has ended and all work that it started has ended.
 */
export async function runMigrations(ports: MigrationPorts, term: Term): Promise<void> {
  const { members } = ports.hub;
  const work = (key: string) => passOf(engine, key);
  const onBug = (key: string, error: unknown) =>
    ports.log.error({ migration: key, error: loggableError(error) }, 'bug: a pass of a migration threw an error');
  const queue = createWorkQueue({ work, onBug, maxRunning: maxPasses, clock: ports.clock }, term.signal);
  const engine: Engine = {
    ...{ ports, term, queue, runs: new Map(), interests: createInterests(members.objects, term.signal) },
    ...{ begins: createConcurrencyLimit(1), unplanned: new Set() },
  };
  members.objects.onChange((changes) => {
    for (const change of changes) {
      if (isOfMigrations(change, ports)) onMigrationChange(engine, change);
      else for (const key of engine.interests.keysOf(change)) queue.add(key);
    }
  }, term.signal);
  enqueueAll(engine);
  await whenAborted(term.signal);
  await queue.idle();
}

function isOfMigrations(change: MemberChange, { hub }: MigrationPorts): boolean {
  return change.type !== 'cluster' && change.cluster === hub.cluster && keyOfKind(change.kind) === keyOfKind(migrationKind);
}

function onMigrationChange(engine: Engine, change: MemberChange): void {
  if (change.type === 'object') engine.queue.add(`${change.objectName.namespace}/${change.objectName.name}`);
  else enqueueAll(engine);
}

function enqueueAll({ ports, queue, runs }: Engine): void {
  for (const { metadata } of ports.migrations.all() ?? []) queue.add(`${metadata.namespace}/${metadata.name}`);
  for (const key of runs.keys()) queue.add(key);
}

async function passOf(engine: Engine, key: string): Promise<number | undefined> {
  const [migration = '', index] = key.split('#');
  if (index === undefined) return await passOfMigration(engine, migration);
  const { ports, term, runs, interests, queue } = engine;
  const run = runs.get(migration);
  const app = run?.record.migration.status.apps?.[Number(index)];
  // Releasing a mirror is reported as a change, which triggers passes. So an application that has ended gets no interests, not even during
  // a pass.
  if (run === undefined || app === undefined || (isEnded(app) && !isReturning(app))) {
    interests.set(key, []);
    return undefined;
  }
  interests.set(key, interestsOfApp(ports.hub.cluster, run.record.migration, app));
  const laterMoves = () => laterMovesOf(engine, run.record.migration);
  const againMs = await runApp({ ports, term, record: run.record, index: Number(index), revisions: run.revisions, laterMoves });
  const after = run.record.migration.status.apps?.[Number(index)];
  if (after === undefined || (isEnded(after) && !isReturning(after))) interests.set(key, []);
  if (after !== app) queue.add(migration);
  return againMs;
}

async function passOfMigration(engine: Engine, key: string): Promise<number | undefined> {
  const { ports, runs, term } = engine;
  const name = nameOf(key);
  const read = ports.migrations.read(name);
  if (read.result === 'unread') return undefined;
  if (read.result === 'absent') {
    forget(engine, key);
    return undefined;
  }
  const { migration } = read;
  if (!isValid(migration)) return await refuseInvalid(engine, migration);
  const known = runs.get(key);
  if (known !== undefined && known.record.migration.metadata.uid !== migration.metadata.uid) forget(engine, key);
  const run = runs.get(key) ?? newRun(engine, migration);
  runs.set(key, run);
  run.record.observe(migration);
  const { status, metadata } = run.record.migration;
  if (status.plannedAt === undefined) {
    if (metadata.deletionTimestamp !== undefined) return await release(engine, run);
    return isRefused(run.record.migration) ? await recordIdleUndo(engine, run) : await begin(engine, run);
  }
  const now = new Date(ports.clock.now()).toISOString();
  if (withUserRequests(run.record.migration, now) !== undefined) {
    const isSaved = await run.record.save((current) => withUserRequests({ ...run.record.migration, status: current }, now));
    if (!isSaved) return term.signal.aborted ? undefined : 1_000;
    // Queues all runnable applications again: a waiting one, such as one in its soak, then sees the request at once.
    run.active = new Set();
  }
  startApps(engine, key, run);
  return metadata.deletionTimestamp === undefined ? undefined : await release(engine, run);
}

/** Queues the applications that have become runnable. Those that run already continue by themselves. */
function startApps({ queue }: Engine, key: string, run: MigrationRun): void {
  const { status, spec } = run.record.migration;
  const runnable = new Set(runnableApps(status, spec));
  for (const index of runnable) if (!run.active.has(index)) queue.add(`${key}#${index}`);
  run.active = runnable;
}

async function begin(engine: Engine, run: MigrationRun): Promise<number | undefined> {
  const { ports, term, queue } = engine;
  const { record } = run;
  const held = await ports.migrations.setFinalizer(record.migration, 'present', term.signal);
  if (held.result !== 'written') return retryLater(engine, run);
  record.observe(held.migration);
  const begun = await beginMigration(ports, record.migration, term.signal);
  if ('fault' in begun) return retryLater(engine, run);
  // If a cluster does not answer, the plan is made again later, until a user requests the undo.
  const isUndoRequested = record.migration.metadata.annotations[migrationMarks.undo] !== undefined;
  const isAway =
    !isUndoRequested && begun.status.phase === 'Failed' && begun.status.notes?.some(({ code }) => code === 'UNREACHABLE') === true;
  const next = isAway ? { ...begun.status, phase: 'Planning' as const } : begun.status;
  const isSaved = await engine.begins.run(
    async () => !(await meetsOtherMove(engine, record.migration, next)) && record.save(() => next),
    term.signal,
  );
  if (!isSaved || isAway) return retryLater(engine, run);
  run.failures = 0;
  const { namespace, name } = record.migration.metadata;
  queue.add(`${namespace}/${name}`);
  return undefined;
}

/**
 * True if another Migration, which has not ended, moves an application of this status in one of its clusters. The plan did not see the other
 * Migration if both were planned at the same time. Also true if the hub does not answer.
 */
async function meetsOtherMove(engine: Engine, { metadata: { uid }, spec: { from, to } }: ValidMigration, { apps = [] }: MigrationStatus) {
  const moved = apps.filter(({ step }) => step !== 'Skipped');
  if (moved.length === 0) return false;
  const others = await currentMigrations(engine);
  const open = others?.filter((other) => other.metadata.uid !== uid);
  return open === undefined || moved.some(({ key }) => openMoveOf(open, { key, clusters: [from, to] }) !== undefined);
}

/**
 * Returns all Migrations, those of this process with the status that was saved last. The mirror may be behind the process that led before,
 * so a Migration without a plan is read from the hub once in a term. Undefined if the hub does not answer.
 */
async function currentMigrations({ ports, runs, unplanned, term }: Engine): Promise<readonly Migration[] | undefined> {
  const current: Migration[] = [];
  for (const mirrored of ports.migrations.all() ?? []) {
    const { namespace, name, uid } = mirrored.metadata;
    const known = runs.get(`${namespace}/${name}`)?.record.migration ?? mirrored;
    const isCurrent = known.status.plannedAt !== undefined || unplanned.has(uid);
    const read = isCurrent ? known : await ports.migrations.fetch(mirrored.metadata, term.signal);
    if (read === 'absent') continue;
    if ('fault' in read) return undefined;
    if (read.status.plannedAt === undefined) unplanned.add(uid);
    current.push(read);
  }
  return current;
}

/** Returns the Migrations that were planned after this one. An undo waits for those of the same application. */
function laterMovesOf({ ports, runs }: Engine, { status: { plannedAt = '' }, metadata }: ValidMigration): readonly Migration[] {
  const rankOf = (at: string, uid: string) => `${at} ${uid}`;
  const own = rankOf(plannedAt, metadata.uid);
  return (ports.migrations.all() ?? [])
    .map((one) => runs.get(`${one.metadata.namespace}/${one.metadata.name}`)?.record.migration ?? one)
    .filter(({ status, metadata: { uid } }) => status.plannedAt !== undefined && rankOf(status.plannedAt, uid) > own);
}

/** Records the undo of a Migration that was refused. Such a Migration has moved nothing. */
async function recordIdleUndo({ term }: Engine, { record }: MigrationRun): Promise<number | undefined> {
  const undoSince = record.migration.metadata.annotations[migrationMarks.undo];
  if (undoSince === undefined || undoSince === record.migration.status.undoSince) return undefined;
  const isSaved = await record.save((status) => ({ ...status, undoSince }));
  return isSaved || term.signal.aborted ? undefined : 1_000;
}

function retryLater({ ports, term }: Engine, run: MigrationRun): number | undefined {
  run.failures += 1;
  return term.signal.aborted ? undefined : retryAfterMs(run.failures, ports.clock.random());
}

/** Removes the finalizer of a Migration that is being deleted, once the move or the undo of every application has ended. */
async function release({ ports, term }: Engine, { record }: MigrationRun): Promise<number | undefined> {
  const { migration } = record;
  if ((migration.status.apps ?? []).some((app) => isReturning(app) || !isEnded(app))) return undefined;
  const released = await ports.migrations.setFinalizer(migration, 'absent', term.signal);
  return released.result === 'failed' || released.result === 'conflict' ? 1_000 : undefined;
}

async function refuseInvalid({ ports, term }: Engine, migration: Migration): Promise<undefined> {
  if (!('problems' in migration.spec) || migration.status.phase === 'Failed') return undefined;
  const notes = migration.spec.problems.map(({ path, message }) => ({ severity: 'ERROR', code: 'INVALID', message, path })).slice(0, 100);
  const status = { ...migration.status, observedGeneration: migration.metadata.generation, phase: 'Failed' as const, notes };
  await ports.migrations.patchStatus(migration, status, term.signal);
  return undefined;
}

function newRun({ ports, term }: Engine, migration: ValidMigration): MigrationRun {
  const options = { store: ports.migrations, mayWrite: () => term.isLeading(), log: ports.log };
  return { record: new MigrationRecord(migration, options, term.signal), active: new Set(), revisions: new Map(), failures: 0 };
}

function forget({ runs, interests }: Engine, key: string): void {
  const run = runs.get(key);
  runs.delete(key);
  for (const index of run?.record.migration.status.apps?.keys() ?? []) interests.set(`${key}#${index}`, []);
}

function nameOf(key: string): HubObjectName {
  const [namespace = '', name = ''] = key.split('/');
  return { namespace, name };
}

function isValid(migration: Migration): migration is ValidMigration {
  return !('problems' in migration.spec);
}
