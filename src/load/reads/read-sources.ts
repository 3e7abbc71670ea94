import type { Access, Visibility } from '../../access/access.ts';
import type { Clock } from '../../core/clock.ts';
import type { Fault } from '../../core/faults.ts';
import { type GroupKind, keyOfKind } from '../../core/kinds.ts';
import type { KubernetesObject } from '../../core/objects.ts';
import { redact } from '../../core/redaction.ts';
import { mapPromiseOrValue, type PromiseOrValue } from '../../core/scheduling/promise-or-value.ts';
import type { SensitiveKinds } from '../../core/sensitive-kinds.ts';
import type { ModelKind } from '../../model/model.ts';
import type { QueryVisibility } from '../../store/query-source.ts';
import type { MirrorReader, Mirrors, SyncState } from '../../watch/mirrors.ts';
import { isAnnounced, type KindInCluster, whenServed } from './announced-kinds.ts';
import type { ClusterViews } from './cluster-views.ts';
import { createDeadline } from './deadline.ts';
import type { ClusterView, ReadContext, Row, SyncView } from './reads.ts';

/** One kind of one cluster that was asked for. */
export interface Ask {
  readonly cluster: ClusterView;
  readonly kind: ModelKind;
  readonly verb: 'get' | 'list';
  /** The cluster was named: that it does not serve the kind is then a fault. */
  readonly named: boolean;
  /** Asked for first where not all may be listed. */
  readonly namespaces?: readonly string[] | undefined;
}

/** What is mirrored, and how much of it the caller may see. */
export interface HeldPart {
  readonly type: 'held';
  readonly ask: Ask;
  readonly mirror: MirrorReader;
  readonly sight: Exclude<Visibility, { type: 'none' }>;
  /** `MISSING` too where namespaces that are asked for are not mirrored; with a fault where none was named, and not all are. */
  readonly sync: SyncView;
  /** How true what is held is: that of every row. */
  readonly heldSync: SyncView;
}

/** What can be read of it now. */
export type Part =
  | HeldPart
  | { readonly type: 'missing'; readonly ask: Ask; readonly sync: SyncView }
  /** Nobody named the cluster, and it has no such kind. */
  | { readonly type: 'notServed'; readonly ask: Ask };

/** What parts are read with. */
export interface PartOptions {
  readonly mirrors: Mirrors;
  readonly access: Access;
  /** Describe the clusters as they are after a wait. Default: as they were before it. */
  readonly views?: ClusterViews | undefined;
  readonly clock: Clock;
}

export type PartsOptions = PartOptions & { readonly views: ClusterViews };

/** A question about several parts, whose answers belong together. */
interface AskedParts {
  readonly asks: readonly Ask[];
  readonly waitMs: number;
  readonly context: ReadContext;
}

/**
 * Loads the mirrors of what is asked, waits for first lists, and hands over all parts in one turn: whatever `use` reads is of one moment.
 *
 * Waits at most so long, together, for clusters that have not answered yet and for lists that are neither whole nor failed. The result of `use` is
 * given back. An abort rejects with its reason.
 */
export async function withParts<T>(
  { mirrors, access, views, clock }: PartOptions,
  { asks, waitMs, context }: AskedParts,
  use: (parts: readonly Part[]) => PromiseOrValue<T>,
): Promise<T> {
  let sights = await sightsOf(asks, access, context);
  const seen = asks.filter((_, index) => sights[index]?.type !== 'none');
  await context.loaders.mirrors.loadAll(seen);
  let known = asks;
  const waiting = waitMs > 0 ? seen.filter((ask) => isWaiting(ask, { mirrors, context })) : [];
  if (waiting.length > 0) {
    using deadline = createDeadline(waitMs, clock, context);
    await Promise.all(waiting.map((ask) => settle(ask, { mirrors, context, signal: deadline.signal })));
    // Rights and clusters may have changed meanwhile: what is read below goes by those of now.
    sights = await sightsOf(asks, access, context);
    known = asks.map((ask) => ({ ...ask, cluster: views?.find(context.caller, ask.cluster.name) ?? ask.cluster }));
  }
  context.signal.throwIfAborted();
  const used = use(known.map((ask, index) => partOf(ask, { sight: sights[index], mirrors, context })));
  return used instanceof Promise ? await used : used;
}

/** A question about one part. */
interface AskedPart {
  readonly ask: Ask;
  readonly waitMs: number;
  readonly context: ReadContext;
}

/**
 * One part: at once if the operation holds its mirror, which has settled, and what the caller may see of it is known. Else a promise, which waits as
 * `withParts` does. An abort while it waits rejects with its reason.
 */
export function partOfOne(options: PartOptions, asked: AskedPart): PromiseOrValue<Part> {
  const { mirrors, access } = options;
  const { ask, waitMs, context } = asked;
  return mapPromiseOrValue(sightOf(ask, access, context), (sight) => {
    if (sight.type === 'none') return partOf(ask, { sight, mirrors, context });
    return mapPromiseOrValue(context.loaders.mirrors.load(ask), () =>
      waitMs > 0 && isWaiting(ask, { mirrors, context }) ? settledPart(options, asked) : partOf(ask, { sight, mirrors, context }),
    );
  });
}

async function settledPart(options: PartOptions, { ask, waitMs, context }: AskedPart): Promise<Part> {
  return withParts(options, { asks: [ask], waitMs, context }, ([part]) => part ?? { type: 'notServed', ask });
}

/** Promises only where something has to be asked: the usual case costs no turn of its own. */
async function sightsOf(asks: readonly Ask[], access: Access, context: ReadContext): Promise<readonly Visibility[]> {
  return Promise.all(asks.map((ask) => sightOf(ask, access, context)));
}

function sightOf({ cluster, kind, verb }: Ask, access: Access, { caller, signal }: ReadContext): PromiseOrValue<Visibility> {
  return access.visibilityOf({ caller, cluster: cluster.name, kind, verb }, signal);
}

interface Loaded {
  readonly mirrors: Mirrors;
  readonly context: ReadContext;
}

/** True if the first list is not there, or if the cluster may yet serve the kind. */
function isWaiting(ask: Ask, { mirrors, context }: Loaded): boolean {
  const mirror = context.loaders.mirrors.held(ask);
  if (mirror !== undefined) return !mirror.settled();
  return mirrors.cluster(ask.cluster.name)?.resources === undefined || isAnnounced(mirrors, inCluster(ask));
}

async function settle(ask: Ask, { mirrors, context, signal }: Loaded & { readonly signal: AbortSignal }): Promise<void> {
  const { loaders } = context;
  if (loaders.mirrors.held(ask) === undefined) {
    await mirrors.whenDiscovered(ask.cluster.name, signal);
    if (isAnnounced(mirrors, inCluster(ask))) await whenServed(mirrors, inCluster(ask), signal);
    await loaders.mirrors.load(ask);
  }
  await loaders.mirrors.held(ask)?.whenSettled(signal);
}

function inCluster({ cluster, kind }: Ask): KindInCluster {
  return { cluster: cluster.name, kind };
}

function partOf(ask: Ask, { sight, mirrors, context }: Loaded & { readonly sight: Visibility | undefined }): Part {
  const missing = (state: SyncState): Part => ({ type: 'missing', ask, sync: syncViewOf(ask, state) });
  if (sight === undefined || sight.type === 'none') return missing({ phase: 'MISSING', fault: sight?.fault });
  const mirror = context.loaders.mirrors.held(ask);
  if (mirror !== undefined)
    return { type: 'held', ask, mirror, sight, sync: partSyncOf(ask, mirror, sight), heldSync: syncViewOf(ask, mirror.sync()) };
  const state = absenceOf(ask, mirrors);
  return ask.named || state.fault.code !== 'NOT_SERVED' ? missing(state) : { type: 'notServed', ask };
}

/** Why no mirror of a kind is held in a cluster: it has left, has not answered yet, does not serve the kind, or has just begun to. */
export function absenceOf(ask: Ask, mirrors: Mirrors): SyncState & { readonly fault: Fault } {
  const state = mirrors.cluster(ask.cluster.name);
  if (state === undefined) return { phase: 'MISSING', fault: faultOf(ask, 'GONE') };
  if (state.resources === undefined) return { phase: 'SYNCING', fault: state.faults.find(isReason) ?? faultOf(ask, 'SYNCING') };
  const isServed = mirrors.served(ask.cluster.name, ask.kind) !== undefined;
  if (isServed || isAnnounced(mirrors, inCluster(ask))) return { phase: 'SYNCING', fault: faultOf(ask, 'SYNCING') };
  return { phase: 'MISSING', fault: faultOf(ask, 'NOT_SERVED') };
}

/**
 * How true an answer from the mirror is: not at all for namespaces that are asked for, are in sight, and are not mirrored. Where none is named, what
 * is held is as true as it is, and the fault says that it is not all.
 */
export function partSyncOf(ask: Ask, mirror: MirrorReader, sight: QueryVisibility): SyncView {
  const state = mirror.sync();
  const unread = state.fault === undefined ? unreadFaultOf(ask, mirror, sight) : undefined;
  if (unread === undefined) return syncViewOf(ask, state);
  return syncViewOf(ask, ask.namespaces === undefined ? { ...state, fault: unread } : { phase: 'MISSING', fault: unread });
}

/** Why nothing is known of some of the namespaces that are asked for. What is not in sight takes no other way than what is absent. */
export function unreadFaultOf({ namespaces }: Pick<Ask, 'namespaces'>, mirror: MirrorReader, sight: QueryVisibility): Fault | undefined {
  if (namespaces === undefined) return mirror.partialListFault(sight.type === 'all' ? 'all' : sight.namespaces);
  return mirror.unmirroredFault(sight.type === 'all' ? namespaces : namespaces.filter((namespace) => sight.namespaces.has(namespace)));
}

/** A mirror that is neither whole nor failed is a fault of its part, also where the mirror itself names none. */
export function syncViewOf(ask: Ask, state: SyncState): SyncView {
  const { cluster, kind } = ask;
  if (state.phase !== 'SYNCING' || state.fault !== undefined) return { ...state, cluster, kind };
  return { ...state, cluster, kind, fault: faultOf(ask, 'SYNCING') };
}

const messages = {
  GONE: 'the cluster has left the fleet',
  SYNCING: 'the first list is not whole yet',
  NOT_SERVED: 'the cluster does not serve this kind',
} as const;

/** What is wrong with a part as a whole, in the words that lists and streams share. */
export function faultOf({ cluster, kind }: Pick<Ask, 'cluster' | 'kind'>, code: keyof typeof messages): Fault {
  const retry = code === 'SYNCING' ? 'LATER' : 'NEVER';
  return {
    code,
    cluster: cluster.name,
    kind: { group: kind.group, kind: kind.kind },
    message: `${keyOfKind(kind)}: ${messages[code]}`,
    retry,
  };
}

/** That the schema has no such kind, so that nobody can tell of its objects. */
export function unknownKindFault({ name }: ClusterView, { group, kind }: GroupKind): Fault {
  const message = `${keyOfKind({ group, kind })}: no kind of this schema`;
  return { code: 'NOT_SERVED', cluster: name, kind: { group, kind }, message, retry: 'NEVER' };
}

/** True for what can keep a cluster from answering: the way it is reached cannot. */
export function isReason({ code }: Fault): boolean {
  return code !== 'INSECURE' && code !== 'DUPLICATE';
}

/** What of an object of this part may be shown, as a row of it. Absent `depth`: the answer begins with it. */
export function rowOf({ ask, mirror, heldSync }: HeldPart, object: KubernetesObject, { sensitive, depth, waitMs }: RowOptions): Row {
  const { cluster, kind } = ask;
  const metadataOnly = sensitive.has(kind);
  const shown = redact(object, { sensitive: metadataOnly, live: false });
  return { cluster, kind, resource: mirror.resource, object: shown, metadataOnly, sync: heldSync, depth, waitMs };
}

export interface RowOptions {
  readonly sensitive: SensitiveKinds;
  readonly depth?: number | undefined;
  readonly waitMs?: number | undefined;
}
