import { audited } from '../../audit/audited.ts';
import type { WriteContext } from '../../changes/write-context.ts';
import { MusterError } from '../../core/errors.ts';
import type { Fault } from '../../core/faults.ts';
import { keyOfKind } from '../../core/kinds.ts';
import type { ClusterName } from '../../core/names.ts';
import { followWithRights } from '../../propagate/api/hub-rights.ts';
import { pageByName } from '../../propagate/api/page-by-name.ts';
import { hubUnavailable, maxHubWaitMs, waitForMirror } from '../../propagate/api/ready-hub.ts';
import type { AnnotationChange } from '../../propagate/hub/resource-writes.ts';
import { compareVersions } from '../../store/versions.ts';
import { type MigrationWrite, migrationKind } from '../hub/migration-store.ts';
import { isSameMigration, type Migration, migrationMarks, printMigrationSpec } from '../model/migration.ts';
import type { MigrationNote, MigrationPlan } from '../model/migration-plan.ts';
import type { MigrateRequest, MigrationName, Migrations, MigrationView } from '../model/migrations.ts';
import { canResume, migrationViewOf, plannedView, shownMigrationPhase } from './migration-view.ts';
import type { MigrationHub, MigrationsPorts } from './migrations-ports.ts';
import { badInput, type RequestedMove, readMigrateInput } from './read-migrate-input.ts';

/**
 * Creates the operations on Migrations. With `ports.rights`, each is allowed only if the hub would allow it to the caller. The result needs
 * no disposal.
 */
export function createMigrations(ports: MigrationsPorts): Migrations {
  const { rights, clock } = ports;
  const onHub = (signal: AbortSignal) => readyMigrationHub(ports.hub, signal);
  return {
    plan: (context, input) => planRequested(ports, readMigrateInput(ports, context, input), context.signal),
    migrate: (context, request) => auditedMigrate(ports, context, request),
    undo: (context, name) =>
      auditedChange(ports, { context, name, field: 'undoMigration' }, async () => {
        await demandChange(ports, context, name);
        return undo(ports, { hub: await onHub(context.signal), name }, context.signal);
      }),
    async get(context, name) {
      if (rights !== undefined && !(await rights.mayGet(context, name))) return undefined;
      return readMigration(await onHub(context.signal), name);
    },
    async list(context, filter) {
      const { caller, signal } = context;
      if (rights?.maySeeHub(caller) === false) return { items: [], totalCount: 0, hasNextPage: false, hasPreviousPage: false };
      const isListed = await rights?.listed(context, filter.namespaces ?? undefined);
      const { namespaces, phases } = filter;
      const { migrations } = await onHub(signal);
      const page = pageByName(migrations.all() ?? [], {
        filter,
        isListed,
        phaseOf: shownMigrationPhase,
        sealed: [caller.key, 'migrations', namespaces ?? null, phases ?? null],
      });
      return { ...page, items: page.items.map((migration) => migrationViewOf(migration, [])) };
    },
    async follow(context, name, listener, signal) {
      const follow = async (changed: typeof listener.changed, until: AbortSignal) =>
        followMigration(await onHub(context.signal), { name, listener: changed }, until);
      if (rights === undefined) await follow(listener.changed, signal);
      else await followWithRights({ rights, clock }, { context, name, listener }, follow, signal);
    },
  };
}

/**
 * Checks that the caller may change a Migration.
 *
 * @throws {MusterError} `BAD_INPUT` if the caller may not get it, with the message for a Migration that does not exist. `FORBIDDEN` if the
 * caller may get it, but not patch it.
 */
async function demandChange({ rights }: MigrationsPorts, context: WriteContext, name: MigrationName): Promise<void> {
  const refusal = await rights?.refusalOf(context, name, ['get', 'patch']);
  if (refusal?.result === 'hidden') throw absentMigration(name);
  if (refusal !== undefined) throw new MusterError('FORBIDDEN', `the caller may not patch Migration ${name.namespace}/${name.name}`);
}

function absentMigration({ namespace, name }: MigrationName): MusterError {
  return badInput([{ path: 'name', message: `there is no Migration ${namespace}/${name}` }]);
}

/** One request that changes a Migration. `field` is its mutation field. */
interface MigrationChange {
  readonly context: WriteContext;
  readonly name: MigrationName;
  readonly field: string;
  /** Default: false. */
  readonly dryRun?: boolean;
}

/** Carries out a change with `run`, and writes it to the audit log. Denied changes are logged too. */
function auditedChange(
  { audit, hub }: MigrationsPorts,
  { context, name: { namespace, name }, field, dryRun }: MigrationChange,
  run: () => Promise<MigrationView>,
): Promise<MigrationView> {
  const { caller, requestId } = context;
  const { apiVersion, kind } = migrationKind;
  const object = { cluster: hub?.hub.cluster ?? '', apiVersion, kind, namespace, name };
  const factsOf = ({ uid, phase, faults: [failure] }: MigrationView) => {
    const refused = phase === 'Failed' ? 'REFUSED' : phase === 'Held' ? 'PLAN_STALE' : 'ACCEPTED';
    return { objects: [{ ...object, uid, result: uid === undefined ? refused : 'ACCEPTED', code: failure?.code }] };
  };
  return audited(audit, { caller, requestId, verb: field, dryRun }, { run, factsOf });
}

/**
 * Migrates if the caller may create, get and patch Migrations in the namespace. Otherwise writes nothing, and returns a Migration with the
 * phase `Failed` and a note `DENIED`.
 */
function auditedMigrate(ports: MigrationsPorts, context: WriteContext, request: MigrateRequest): Promise<MigrationView> {
  const { namespace, name } = request.input;
  return auditedChange(ports, { context, name: { namespace, name }, field: 'migrate', dryRun: request.isDryRun }, async () => {
    const requested = readMigrateInput(ports, context, request.input);
    const refusal = await ports.rights?.refusalOf(context, requested.name, ['create', 'get', 'patch']);
    if (refusal === undefined) return migrate(ports, context, { request, requested });
    const faults = refusal.result === 'refused' ? refusal.faults : [];
    return plannedView(requested, refusedPlan(ports, requested, faults), 'Failed');
  });
}

/** Returns the plan of a migration that was refused before it was planned. */
function refusedPlan({ clock }: MigrationsPorts, { spec }: RequestedMove, faults: readonly Fault[]): MigrationPlan {
  const nothing = { pods: 0, cpu: '0', memory: '0' };
  const message = 'the caller may not create, get and patch Migrations in this namespace of the hub';
  const about = { from: spec.from as ClusterName, to: spec.to as ClusterName, apps: [], needs: nothing, free: nothing };
  return { ...about, digest: '', ok: false, asOfMs: clock.now(), notes: [{ severity: 'ERROR', code: 'DENIED', message }], faults };
}

/**
 * Waits until the Migrations of the hub can be read.
 *
 * @throws {MusterError} `UNAVAILABLE` if no hub is configured, or if it cannot be read within 5 s.
 */
async function readyMigrationHub(hub: MigrationHub | undefined, signal: AbortSignal): Promise<MigrationHub> {
  if (hub === undefined) {
    throw new MusterError('UNAVAILABLE', 'there is no hub to keep Migrations: name its cluster with --hub, or as hub in the config file');
  }
  const { migrations, hub: at } = hub;
  if (migrations.unavailability() === undefined && migrations.all() !== undefined) return hub;
  await at.members.objects.whenRead([{ cluster: at.cluster, kind: migrationKind }], maxHubWaitMs, signal);
  const problem = migrations.unavailability();
  if (problem !== undefined) throw hubUnavailable(problem);
  // The read of any name shows whether the mirror has its first list.
  const read = migrations.read({ namespace: 'default', name: 'unread' });
  if (read.result === 'unread') throw hubUnavailable(read.fault);
  return hub;
}

function planRequested({ planner }: MigrationsPorts, { name, spec }: RequestedMove, signal: AbortSignal): Promise<MigrationPlan> {
  return planner.plan({ namespace: name.namespace, spec, signal });
}

async function migrate(
  ports: MigrationsPorts,
  { signal }: WriteContext,
  { request, requested }: { readonly request: MigrateRequest; readonly requested: RequestedMove },
): Promise<MigrationView> {
  const hub = await readyMigrationHub(ports.hub, signal);
  const existing = await fetchMigration(hub, requested.name, signal);
  if (existing !== undefined) checkSame(existing, requested);
  if (existing !== undefined && !request.isDryRun) return resume(ports, { hub, migration: existing, digest: request.digest }, signal);
  const plan = await planRequested(ports, requested, signal);
  const refusal = refusalOf(plan, request.digest ?? undefined);
  if (refusal !== undefined) return plannedView(requested, { ...plan, notes: [...plan.notes, ...refusal.notes] }, refusal.phase);
  if (request.isDryRun) return plannedView(requested, plan, 'Planning');
  const annotations = request.digest == null ? {} : { [migrationMarks.planDigest]: request.digest };
  const written = await hub.migrations.create(requested.name, { document: printMigrationSpec(requested.spec), annotations }, signal);
  if (written.result !== 'conflict') {
    await waitUntilMirrored(ports, { hub, migration: writtenOn(hub, written) }, signal);
    return plannedView(requested, plan, 'Planning');
  }
  // Another client has created a Migration of this name in between.
  const other = await fetchMigration(hub, requested.name, signal);
  if (other === undefined) throw new MusterError('UNAVAILABLE', 'other clients keep changing the Migration: try again');
  checkSame(other, requested);
  return migrationViewOf(other, []);
}

/** Returns why a plan is not carried out: the phase to show, and the notes to add. Undefined if it can be carried out. */
function refusalOf(plan: MigrationPlan, digest: string | undefined) {
  const stale: MigrationNote = {
    severity: 'ERROR',
    code: 'PLAN_STALE',
    message: 'an object, a count or an option differs from the plan with that digest: plan again',
  };
  if (digest !== undefined && digest !== plan.digest) return { phase: 'Held', notes: [stale] } as const;
  return plan.ok ? undefined : ({ phase: 'Failed', notes: [] } as const);
}

function checkSame(existing: Migration, { name, spec }: RequestedMove): void {
  const shown = `${name.namespace}/${name.name}`;
  if (existing.metadata.deletionTimestamp !== undefined) throw badInput([{ path: 'name', message: `Migration ${shown} is being deleted` }]);
  const isSame = !('problems' in existing.spec) && isSameMigration(existing.spec, spec);
  if (!isSame) throw badInput([{ path: 'name', message: `Migration ${shown} exists with another input: choose another name` }]);
}

interface HubMigration {
  readonly hub: MigrationHub;
  readonly migration: Migration;
}

/**
 * Requests that the applications of a Migration that have failed continue, whatever its `onFailure` is. If its plan was refused, requests
 * another plan, with the digest of this request. Does not change another Migration, or one that is being deleted.
 */
async function resume(
  ports: MigrationsPorts,
  { hub, migration, digest }: HubMigration & Pick<MigrateRequest, 'digest'>,
  signal: AbortSignal,
): Promise<MigrationView> {
  if (!canResume(migration)) return migrationViewOf(migration, []);
  const resumedAt = new Date(ports.clock.now()).toISOString();
  const planDigest = migration.status.plannedAt === undefined ? { [migrationMarks.planDigest]: digest ?? null } : {};
  return annotate(ports, { hub, migration }, { [migrationMarks.resumedAt]: resumedAt, ...planDigest }, signal);
}

/**
 * Requests the undo of a Migration. If its undo was requested before and is paused, requests that the undo continues.
 *
 * @throws {MusterError} `BAD_INPUT` if there is no such Migration.
 */
async function undo(
  ports: MigrationsPorts,
  { hub, name }: { readonly hub: MigrationHub; readonly name: MigrationName },
  signal: AbortSignal,
): Promise<MigrationView> {
  const migration = await fetchMigration(hub, name, signal);
  if (migration === undefined) throw absentMigration(name);
  const at = new Date(ports.clock.now()).toISOString();
  const isRequested = migration.metadata.annotations[migrationMarks.undo] !== undefined;
  if (isRequested && shownMigrationPhase(migration) !== 'Paused') return migrationViewOf(migration, []);
  return annotate(ports, { hub, migration }, { [isRequested ? migrationMarks.resumedAt : migrationMarks.undo]: at }, signal);
}

async function annotate(
  ports: MigrationsPorts,
  { hub, migration }: HubMigration,
  annotations: AnnotationChange,
  signal: AbortSignal,
): Promise<MigrationView> {
  const changed = writtenOn(hub, await hub.migrations.annotate(migration, annotations, signal));
  await waitUntilMirrored(ports, { hub, migration: changed }, signal);
  return migrationViewOf(changed, []);
}

/**
 * Returns the Migration after a successful write.
 *
 * @throws {MusterError} `BAD_INPUT` if the hub refuses the write. `UNAVAILABLE` if the hub does not answer, or if another client replaced
 * the Migration.
 */
function writtenOn({ hub }: MigrationHub, answer: MigrationWrite): Migration {
  switch (answer.result) {
    case 'written':
      return answer.migration;
    case 'conflict':
    case 'absent':
      throw new MusterError('UNAVAILABLE', `hub ${hub.cluster}: the Migration was replaced by another client: try again`);
    case 'failed': {
      const { code, status, message } = answer.fault;
      if (code === 'INVALID' || code === 'NOT_FOUND' || code === 'FORBIDDEN')
        throw badInput([{ path: '', message: status?.message ?? message }]);
      throw hubUnavailable(answer.fault);
    }
    default:
      return answer satisfies never;
  }
}

/** Waits until the mirror shows this version of the Migration or a later one, at most 5 s. */
async function waitUntilMirrored(
  { clock }: MigrationsPorts,
  { hub, migration: { metadata } }: HubMigration,
  signal: AbortSignal,
): Promise<void> {
  const isHeld = () => {
    const read = hub.migrations.read(metadata);
    if (read.result !== 'held') return false;
    const { uid, version } = read.migration.metadata;
    return uid !== metadata.uid || (compareVersions(version, metadata.version) ?? -1) >= 0;
  };
  await waitForMirror({ hub: hub.hub, clock, isHeld }, signal);
}

/**
 * Reads a Migration from the hub itself. Undefined if it does not exist.
 *
 * @throws {MusterError} `UNAVAILABLE` if the hub does not answer.
 */
async function fetchMigration({ migrations }: MigrationHub, name: MigrationName, signal: AbortSignal): Promise<Migration | undefined> {
  const found = await migrations.fetch(name, signal);
  if (found === 'absent') return undefined;
  if ('fault' in found) throw hubUnavailable(found.fault);
  return found;
}

function readMigration({ migrations }: MigrationHub, name: MigrationName): MigrationView | undefined {
  const read = migrations.read(name);
  if (read.result === 'unread') throw hubUnavailable(read.fault);
  return read.result === 'held' ? migrationViewOf(read.migration, read.fault === undefined ? [] : [read.fault]) : undefined;
}

/** A Migration, and the listener for its changes. The listener gets `undefined` if the Migration does not exist. */
interface MigrationFollower {
  readonly name: MigrationName;
  readonly listener: (view: MigrationView | undefined) => void;
}

function followMigration(hub: MigrationHub, { name, listener }: MigrationFollower, signal: AbortSignal): void {
  const { hub: at, migrations } = hub;
  let exists = true;
  const show = (view: MigrationView | undefined) => {
    exists = view !== undefined;
    listener(view);
  };
  show(readMigration(hub, name));
  at.members.objects.onChange((changes) => {
    const concerned = changes.some((change) => {
      if (change.cluster !== at.cluster || change.type === 'cluster' || keyOfKind(change.kind) !== keyOfKind(migrationKind)) return false;
      return change.type === 'mirror' || (change.objectName.namespace === name.namespace && change.objectName.name === name.name);
    });
    if (!concerned || migrations.read(name).result === 'unread') return;
    const view = readMigration(hub, name);
    if (view !== undefined || exists) show(view);
  }, signal);
}
