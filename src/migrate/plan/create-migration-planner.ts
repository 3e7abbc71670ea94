import type { MemberCluster } from '../../changes/members.ts';
import { type Fault, fault } from '../../core/faults.ts';
import { schemaSpelling } from '../../core/json/enum-spelling.ts';
import { type GroupKind, keyOfKind } from '../../core/kinds.ts';
import type { ClusterName } from '../../core/names.ts';
import { type ConcurrencyLimit, createConcurrencyLimit } from '../../core/scheduling/concurrency-limit.ts';
import { startDeadline } from '../../core/scheduling/deadline.ts';
import { FairSemaphore } from '../../core/scheduling/fair-semaphore.ts';
import { shortenedList } from '../../core/text.ts';
import type { ObjectKey } from '../../manifests/manifest.ts';
import { groupKindOfKey, textOfKey } from '../../manifests/object-key.ts';
import { podSpecOf } from '../../manifests/pod-specs.ts';
import { hubKinds } from '../../propagate/hub/hub.ts';
import type { Propagation } from '../../propagate/model/propagation.ts';
import { isRoomHidden } from '../../propagate/plan/snapshot/hide-room.ts';
import { roomKinds } from '../../propagate/plan/snapshot/member-workloads.ts';
import { kindsToRead } from '../discover/app-kinds.ts';
import { type FoundApp, findApps, neededByOthers } from '../discover/find-apps.ts';
import { claimDeleterMessage, claimDeleterOf, statefulSetKind } from '../discover/owned-objects.ts';
import { backupBounds, backupUserOf, readLiveSource, type SourceObjects, type SourceRead } from '../discover/source-objects.ts';
import { migrationKind } from '../hub/migration-store.ts';
import { openMoveOf } from '../model/migrated-app.ts';
import type { MigrationSpec } from '../model/migration.ts';
import type { AppPlan, MigrationNote, MigrationNoteCode, MigrationPlan } from '../model/migration-plan.ts';
import { maxApps } from '../model/migration-spec-definition.ts';
import { maxAppObjects, maxMigrationObjects } from '../model/migration-status-definition.ts';
import { addRooms, type FreeRoom, noRoom, readFreeRoom, withoutFigures } from '../room/free-room.ts';
import { migrationDigestOf } from './migration-digest.ts';
import type { MigrationPlanner, MigrationPlannerPorts, MigrationPlanRequest } from './migration-planner.ts';
import { countPathOf } from './movable-manifest.ts';
import { type PreflightContext, preflightApp, type SkipReason, shownKey } from './preflight-app.ts';
import { planPropagatedApp, propagationOfObject } from './propagated-app.ts';
import { hasVolumes, keptOwned, leavingObjects, type RenderedApp, renderApp } from './render-app.ts';

/** Time limit for the mirrors of the target, and again for all dry runs and access reviews of one plan. */
const timeLimitMs = 20_000;
/** Maximum number of objects that a note names. */
const maxListed = 10;
/** Maximum number of calls of one plan that are in flight at the same time. */
const maxCalls = 16;

const propagationKind: GroupKind = { group: hubKinds.propagation.group, kind: hubKinds.propagation.kind };
const definitionKind: GroupKind = { group: 'apiextensions.k8s.io', kind: 'CustomResourceDefinition' };

/** Creates the planner of migrations. Users take turns in plans from a backup, because each plan has the objects of an archive in memory. */
export function createMigrationPlanner(ports: MigrationPlannerPorts): MigrationPlanner {
  const semaphore = new FairSemaphore(backupBounds);
  return {
    async plan(request) {
      const { spec, signal } = request;
      if (spec.source === 'Live') return await planMigration(ports, request);
      const ran = await semaphore.run(backupUserOf(spec), () => planMigration(ports, request), signal);
      if (ran.result !== 'done') throw signal.reason;
      return ran.value;
    },
  };
}

/** An application during planning. A member is absent before it is computed, and if it does not apply. */
interface AppDraft {
  readonly found: FoundApp;
  readonly rendered?: RenderedApp;
  readonly propagated?: AppPlan['propagated'];
  readonly target?: AppPlan['target'];
  readonly skipped?: SkipReason;
}

async function planMigration(ports: MigrationPlannerPorts, request: MigrationPlanRequest): Promise<MigrationPlan> {
  const { spec, signal } = request;
  if (ports.visibility !== undefined && spec.requester === undefined)
    return refusedPlan(ports, request, { notes: [requesterMissing], faults: [] });
  const isVisible = await ports.visibility?.clusters(spec, signal);
  const [from, to] = [spec.from, spec.to].map((name) => migrationClusterOf(ports, name, isVisible)) as [MigrationCluster, MigrationCluster];
  const blocked = [to, ...(spec.source === 'Live' ? [from] : [])].flatMap((one) => (one.fault === undefined ? [] : [one.fault]));
  if (blocked.length > 0) return refusedPlan(ports, request, { notes: blocked.map((one) => unreachableNote(one, spec)), faults: blocked });
  const read = await readSource(ports, request, from);
  if ('note' in read) return refusedPlan(ports, request, { notes: [read.note], faults: read.faults });
  await ports.members.objects.whenRead(
    roomKinds.map((kind) => ({ cluster: to.name, kind, inSync: true })),
    timeLimitMs,
    signal,
  );
  signal.throwIfAborted();
  const room = readFreeRoom(ports.members, to.name);
  if ('fault' in room) return refusedPlan(ports, request, { notes: [unreadableNote(room.fault)], faults: [room.fault] });
  const hidden = await hiddenRoomFault(ports, request, to.name);
  signal.throwIfAborted();
  const facts = { read, room, isSourceReachable: from.fault === undefined };
  if (hidden === undefined) return planApps(ports, request, facts);
  const shown = { ...facts, read: { ...read, faults: [...read.faults, hidden] }, room: withoutFigures(room) };
  return planApps(ports, request, shown);
}

/** Returns a fault if the requester may not see the free room of a cluster. Undefined if the room may be shown. */
async function hiddenRoomFault(
  { visibility }: MigrationPlannerPorts,
  { spec, signal }: MigrationPlanRequest,
  cluster: ClusterName,
): Promise<Fault | undefined> {
  if (!(await isRoomHidden(visibility, spec, { cluster, signal }))) return undefined;
  const message = 'the free room is not shown: the requester may not list all Nodes and all Pods of the cluster';
  return fault('FORBIDDEN', message, { cluster, retry: 'NEVER' });
}

/** The facts from which applications are planned. */
interface ReadFacts {
  readonly read: SourceRead & { readonly notes: readonly MigrationNote[] };
  readonly room: FreeRoom;
  readonly isSourceReachable: boolean;
}

async function planApps(ports: MigrationPlannerPorts, request: MigrationPlanRequest, facts: ReadFacts): Promise<MigrationPlan> {
  const { spec, namespace, signal } = request;
  const { read, room } = facts;
  const source = read.objects;
  const { apps: found, unknown } = findApps(spec, namespace, source);
  const places = (spec.namespaces ?? [namespace]).join(', ');
  const noApps = note('ERROR', 'NO_APPS', `expected workloads with these labels in ${places} of ${spec.from}, found none`);
  if (found.length === 0) return refusedPlan(ports, request, { notes: [...read.notes, noApps], faults: [], source });
  if (found.length > maxApps)
    return refusedPlan(ports, request, { notes: [tooLarge(`at most ${maxApps} applications`, found.length)], faults: [], source });
  const free = room.free();
  using deadline = startDeadline(ports.clock, timeLimitMs, signal);
  const context = contextOf(ports, request, facts);
  const drafts = await Promise.all(found.map((app) => draftOf(ports, { ...request, signal: deadline.signal }, { context, app })));
  const placed = drafts.map((draft) => withRoom(draft, room));
  const leaving = placed.flatMap(({ draft: { skipped, rendered } }) =>
    skipped || rendered === undefined ? [] : [rendered.workload, rendered.template],
  );
  const moving = new Set(leaving.map(({ key }) => textOfKey(key)));
  const uids = new Set(leaving.flatMap(({ object }) => object.metadata.uid ?? []));
  const namespaces = new Set(found.flatMap(({ key }) => key.namespace ?? []));
  const needed = neededByOthers(source, { namespaces, moving, uids });
  const apps = placed.map((one) => appPlanOf(one, needed));
  const objects = apps.reduce((sum, app) => sum + app.source.length + app.target.length, 0);
  const largest = Math.max(...apps.map((app) => Math.max(app.source.length, app.target.length)));
  const notes = [
    ...read.notes,
    ...unknown.map((name) => note('WARNING', 'UNKNOWN_APP', `expected applications of the migration in priority, got ${name}`, 'priority')),
    ...placed.flatMap(({ draft }) => notesOf(draft, { spec, source })),
    ...(apps.every(({ skipped }) => skipped !== undefined) ? [note('ERROR', 'NOTHING_FITS', 'no application can be moved')] : []),
    ...(largest > maxAppObjects ? [tooLarge(`at most ${maxAppObjects} objects of one application`, largest)] : []),
    ...(objects > maxMigrationObjects ? [tooLarge(`at most ${maxMigrationObjects} objects in all`, objects)] : []),
  ];
  const { backup } = source;
  return {
    digest: migrationDigestOf(spec, { apps, ...(backup === undefined ? {} : { backup: backup.used }) }),
    ok: notes.every(({ severity }) => severity !== 'ERROR'),
    asOfMs: Math.min(read.asOfMs, ports.clock.now()),
    ...clustersOf(ports, request),
    needs: placed.map(({ check }) => check.needs).reduce(addRooms, noRoom),
    free,
    ...(backup === undefined ? {} : { backup: backup.used }),
    apps,
    notes,
    faults: read.faults,
  };
}

function clustersOf(ports: MigrationPlannerPorts, { spec }: MigrationPlanRequest): Pick<MigrationPlan, 'from' | 'to'> {
  return { from: migrationClusterOf(ports, spec.from).name, to: migrationClusterOf(ports, spec.to).name };
}

/** A cluster of the migration. `fault` is why it cannot be reached, and absent if it can. */
interface MigrationCluster {
  readonly name: ClusterName;
  readonly fault?: Fault;
}

/** Finds a cluster. A cluster that is hidden from the requester is no member for the requester. Default: none is hidden. */
function migrationClusterOf(
  { members }: MigrationPlannerPorts,
  name: string,
  isVisible: (cluster: ClusterName) => boolean = () => true,
): MigrationCluster {
  const member: MemberCluster | undefined = members.get(name);
  const cluster = member?.name ?? (name as ClusterName);
  const about = { cluster, retry: 'LATER' } as const;
  if (member === undefined || !isVisible(cluster))
    return { name: cluster, fault: fault('GONE', 'the cluster is not a member of the fleet', about) };
  if (member.phase !== 'UNREACHABLE') return { name: cluster };
  return { name: cluster, fault: member.faults[0] ?? fault('UNREACHABLE', 'the cluster cannot be reached', about) };
}

async function readSource(
  { members, visibility, readBackup }: MigrationPlannerPorts,
  { namespace, spec, signal }: MigrationPlanRequest,
  from: MigrationCluster,
): Promise<ReadFacts['read'] | { readonly note: MigrationNote; readonly faults: readonly Fault[] }> {
  if (spec.source === 'Live') {
    const kinds = kindsToRead((spec.apps ?? []).map(({ key }) => groupKindOfKey(key)));
    const isVisible = visibility && ((kind: GroupKind) => visibility.objects(spec, { cluster: from.name, kind }, signal));
    const read = await readLiveSource({ ...members, visibleOf: isVisible }, { cluster: from.name, kinds }, signal);
    const [unread] = read.faults;
    return unread === undefined ? { ...read, notes: [] } : { note: unreadableNote(unread), faults: read.faults };
  }
  const read = await readBackup({ namespace, spec }, signal);
  signal.throwIfAborted();
  if (read.result === 'failed') return { note: read.note, faults: read.fault === undefined ? [] : [read.fault] };
  const answers = note('WARNING', 'SOURCE_REACHABLE', `${from.name} can be reached, but its objects are read from a backup`);
  const notes = [...(read.notes ?? []), ...(from.fault === undefined ? [answers] : [])];
  return { objects: read.objects, faults: [], notes, asOfMs: Number.POSITIVE_INFINITY };
}

function contextOf(ports: MigrationPlannerPorts, request: MigrationPlanRequest, facts: ReadFacts): PreflightContext | undefined {
  const { spec } = request;
  const { members, clientOf, sensitiveKinds } = ports;
  const { from, to } = clustersOf(ports, request);
  const toClient = clientOf(to, spec);
  if (toClient === undefined) return undefined;
  const fromClient = facts.isSourceReachable ? clientOf(from, spec) : undefined;
  const limit: ConcurrencyLimit = createConcurrencyLimit(maxCalls);
  return { members, source: facts.read.objects, from, to, fromClient, toClient, sensitiveKinds, limit, reviews: new Map() };
}

interface AppToDraft {
  readonly context: PreflightContext | undefined;
  readonly app: FoundApp;
}

async function draftOf(ports: MigrationPlannerPorts, request: MigrationPlanRequest, { context, app }: AppToDraft): Promise<AppDraft> {
  const { workload, key } = app;
  const { spec, signal } = request;
  if (workload === undefined)
    return { found: app, skipped: { reason: 'Invalid', message: `there is no ${shownKey(key)} in ${spec.from}` } };
  if (context === undefined) return { found: app, skipped: { reason: 'Unreachable', message: `${spec.to} cannot be reached` } };
  const other = await otherMoveMessage(ports, request, key);
  if (other !== undefined) return { found: app, skipped: { reason: 'Conflict', message: other } };
  const { objects } = ports.members;
  const definitions = [context.from, context.to].flatMap((cluster) => objects.all(cluster, definitionKind) ?? []);
  const countPath = countPathOf(key, definitions);
  if (countPath === undefined) return { found: app, skipped: { reason: 'Invalid', message: `${key.kind} has no scale subresource` } };
  const propagation = propagationOfObject(ports.hub, { cluster: context.from, uid: workload.object.metadata.uid });
  const facts = { cluster: context.from, source: context.source, countPath, factor: propagation === undefined ? spec.copies : 1 };
  const rendered = renderApp({ ...app, workload }, facts);
  if (propagation !== undefined) {
    const denied = await changeRefusalOf(ports, request, propagation);
    if (denied !== undefined) return { found: app, rendered, skipped: { reason: 'Denied', message: denied } };
    const planned = await planPropagatedApp(ports, request, propagation);
    return 'skipped' in planned ? { found: app, rendered, ...planned } : { found: app, rendered, propagated: planned };
  }
  const deleter = claimDeleterOf(workload, context.source.all(statefulSetKind, key.namespace ?? ''));
  if (deleter !== undefined)
    return { found: app, rendered, skipped: { reason: 'Invalid', message: claimDeleterMessage(deleter.key.name) } };
  return { found: app, rendered, ...(await preflightApp(context, rendered, signal)) };
}

/**
 * Returns a message if another Migration that has not ended moves this application in one of the two clusters. The message does not name a Migration
 * that is hidden from the requester. Undefined: there is no such Migration.
 */
async function otherMoveMessage(
  { migrations, visibility, hub }: MigrationPlannerPorts,
  { spec, signal }: MigrationPlanRequest,
  key: ObjectKey,
): Promise<string | undefined> {
  const other = openMoveOf(migrations?.all() ?? [], { key, clusters: [spec.from, spec.to] });
  if (other === undefined) return undefined;
  const { namespace, name } = other.metadata;
  const about = hub && { cluster: hub.cluster, kind: migrationKind, object: { namespace, name }, verb: 'get' as const };
  const isHidden = visibility !== undefined && (about === undefined || (await visibility.refusalOf(spec, about, signal)) !== undefined);
  return `${isHidden ? 'another Migration' : `Migration ${namespace}/${name}`} moves it: wait until that one has ended, or undo that one first`;
}

/**
 * Returns why the requester may not change the Propagation of an application. The reason does not name a hidden Propagation. Undefined if
 * the requester may change it.
 */
async function changeRefusalOf(
  { visibility, hub }: MigrationPlannerPorts,
  { spec, signal }: MigrationPlanRequest,
  { metadata: { namespace, name } }: Propagation,
): Promise<string | undefined> {
  if (visibility === undefined || hub === undefined) return undefined;
  const about = { cluster: hub.cluster, kind: propagationKind, object: { namespace, name } };
  if ((await visibility.refusalOf(spec, { ...about, verb: 'get' }, signal)) !== undefined)
    return 'it is propagated, and the requester may not change its Propagation';
  return (await visibility.refusalOf(spec, { ...about, verb: 'update' }, signal))?.message;
}

/** A draft with the figures of the room. */
interface PlacedDraft {
  readonly draft: AppDraft;
  readonly check: Omit<ReturnType<FreeRoom['check']>, 'fits' | 'message'>;
}

/** Checks whether an application fits after those before it. An application that is skipped takes no room. */
function withRoom(draft: AppDraft, room: FreeRoom): PlacedDraft {
  const { rendered, skipped } = draft;
  if (rendered === undefined) return { draft, check: { needs: noRoom, free: room.free() } };
  const replicas = { count: rendered.to, podSpec: podSpecOf(rendered.template.object) };
  const check = room.check(replicas, { take: skipped === undefined });
  if (skipped !== undefined || check.fits) return { draft, check };
  return { draft: { ...draft, skipped: { reason: 'Capacity', message: check.message ?? 'there is no room' } }, check };
}

function appPlanOf({ draft, check }: PlacedDraft, needed: ReadonlySet<string>): AppPlan {
  const { found, rendered, skipped, propagated, target } = draft;
  const metadata = found.workload?.object.metadata;
  const moves = skipped === undefined && rendered !== undefined && propagated === undefined;
  return {
    key: found.key,
    ...(metadata?.uid === undefined ? {} : { uid: metadata.uid }),
    labels: metadata?.labels ?? {},
    from: rendered?.from ?? 0,
    to: rendered?.to ?? 0,
    needs: check.needs,
    free: check.free,
    ...(skipped === undefined ? {} : { skipped }),
    ...(propagated === undefined ? {} : { propagated }),
    target: moves ? (target ?? []) : [],
    source: moves ? leavingObjects(rendered.objects, needed.union(secretsOfTarget(target ?? []))) : [],
  };
}

/**
 * Returns the `textOfKey`s of the Secrets that the target has already. These Secrets stay in the source: Muster does not own those of the
 * target, so an undo could not restore the data from them.
 */
function secretsOfTarget(target: NonNullable<AppDraft['target']>): ReadonlySet<string> {
  const used = target.filter(({ key, action }) => action === 'UNCHANGED' && keyOfKind(groupKindOfKey(key)) === 'Secret');
  return new Set(used.map(({ key }) => textOfKey(key)));
}

function notesOf(
  { found, rendered, skipped, propagated }: AppDraft,
  { spec: { copies, from }, source }: { readonly spec: MigrationSpec; readonly source: SourceObjects },
): readonly MigrationNote[] {
  const name = shownKey(found.key);
  if (skipped !== undefined) return [note('WARNING', schemaSpelling(skipped.reason) as MigrationNoteCode, `${name}: ${skipped.message}`)];
  const ignored = note('WARNING', 'COPIES_IGNORED', `${name} is propagated, and keeps its number of replicas`, 'copies');
  const volumes = note('WARNING', 'VOLUME_DATA', `${name} has volumes: their data do not move`);
  const owned = rendered === undefined || propagated !== undefined ? [] : keptOwned(rendered, source).map(({ key }) => shownKey(key));
  const listed = shortenedList(owned, maxListed);
  const ownerless = note('WARNING', 'OWNED_OBJECTS', `${name} owns objects that stay in ${from}, without that owner: ${listed}`);
  return [
    ...(propagated !== undefined && copies !== 1 ? [ignored] : []),
    ...(rendered !== undefined && hasVolumes(rendered) ? [volumes] : []),
    ...(owned.length > 0 ? [ownerless] : []),
  ];
}

/** Without a requester, no rights can be checked, and the engine must not act. */
const requesterMissing = note(
  'ERROR',
  'DENIED',
  'RequesterMissing: expected `requester`: in a Migration that you create without Muster, set it to your own user and groups',
);

interface Refusal {
  readonly notes: readonly MigrationNote[];
  readonly faults: readonly Fault[];
  readonly source?: SourceObjects;
}

/** Returns the plan of a migration that cannot start. It has no applications. */
function refusedPlan(ports: MigrationPlannerPorts, request: MigrationPlanRequest, { notes, faults, source }: Refusal): MigrationPlan {
  const backup = source?.backup === undefined ? {} : { backup: source.backup.used };
  const digest = migrationDigestOf(request.spec, { apps: [], ...backup });
  return {
    digest,
    ok: false,
    asOfMs: ports.clock.now(),
    ...clustersOf(ports, request),
    needs: noRoom,
    free: noRoom,
    ...backup,
    apps: [],
    notes,
    faults,
  };
}

function note(severity: MigrationNote['severity'], code: MigrationNoteCode, message: string, path?: string): MigrationNote {
  return { severity, code, message, ...(path === undefined ? {} : { path }) };
}

function tooLarge(expected: string, got: number): MigrationNote {
  return note('ERROR', 'TOO_LARGE', `expected ${expected}, got ${got}: divide the migration`);
}

function unreachableNote({ cluster, message }: Fault, { from }: MigrationSpec): MigrationNote {
  const remedy = cluster === from ? ': its applications can be moved from a backup only' : '';
  return note('ERROR', 'UNREACHABLE', `${cluster}: ${message}${remedy}`);
}

function unreadableNote(unread: Fault): MigrationNote {
  const code = unread.code === 'FORBIDDEN' || unread.code === 'UNAUTHENTICATED' ? 'DENIED' : 'UNREACHABLE';
  return note('ERROR', code, `${unread.cluster}: ${unread.message}`);
}
