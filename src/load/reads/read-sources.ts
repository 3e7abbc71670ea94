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
import { isKindAnnounced, type KindInCluster, whenServed } from './announced-kinds.ts';
import type { ClusterViews } from './cluster-views.ts';
import { createDeadline } from './deadline.ts';
import type { ClusterView, ReadContext, Row, SyncView } from './reads.ts';

/** One kind of one cluster that was asked for. */
export interface SourceRequest {
  readonly cluster: ClusterView;
  readonly kind: ModelKind;
  readonly verb: 'get' | 'list';
  /** The cluster was named: that it does not serve the kind is then a fault. */
  readonly isNamed: boolean;
  /** Asked for first where not all may be listed. */
  readonly namespaces?: readonly string[] | undefined;
}

/** What is mirrored, and how much of it the caller may see. */
export interface MirroredSource {
  readonly type: 'held';
  readonly request: SourceRequest;
  readonly mirror: MirrorReader;
  readonly visibility: Exclude<Visibility, { type: 'none' }>;
  /** `MISSING` too where namespaces that are asked for are not mirrored; with a fault where none was named, and not all are. */
  readonly sync: SyncView;
  /** How true what is held is: that of every row. */
  readonly mirrorSync: SyncView;
}

/** What can be read of it now. */
export type ReadSource =
  | MirroredSource
  | { readonly type: 'missing'; readonly request: SourceRequest; readonly sync: SyncView }
  /** Nobody named the cluster, and it has no such kind. */
  | { readonly type: 'notServed'; readonly request: SourceRequest };

/** What parts are read with. */
export interface ReadSourceOptions {
  readonly mirrors: Mirrors;
  readonly access: Access;
  /** Describe the clusters as they are after a wait. Default: as they were before it. */
  readonly views?: ClusterViews | undefined;
  readonly clock: Clock;
}

export type ListSourceOptions = ReadSourceOptions & { readonly views: ClusterViews };

/** A question about several parts, whose answers belong together. */
interface SourcesRequest {
  readonly requests: readonly SourceRequest[];
  readonly waitMs: number;
  readonly context: ReadContext;
}

/**
 * Loads the mirrors of what is asked, waits for first lists, and hands over all parts in one turn: whatever `use` reads is of one moment.
 *
 * Waits at most so long, together, for clusters that have not answered yet and for lists that are neither whole nor failed. The result of `use` is
 * given back. An abort rejects with its reason.
 */
export async function withReadSources<T>(
  { mirrors, access, views, clock }: ReadSourceOptions,
  { requests, waitMs, context }: SourcesRequest,
  use: (sources: readonly ReadSource[]) => PromiseOrValue<T>,
): Promise<T> {
  let visibilities = await visibilitiesOf(requests, access, context);
  const seen = requests.filter((_, index) => visibilities[index]?.type !== 'none');
  await context.loaders.mirrors.loadAll(seen);
  let known = requests;
  const waiting = waitMs > 0 ? seen.filter((request) => isWaiting(request, { mirrors, context })) : [];
  if (waiting.length > 0) {
    using deadline = createDeadline(waitMs, clock, context);
    await Promise.all(waiting.map((request) => settle(request, { mirrors, context, signal: deadline.signal })));
    // Rights and clusters may have changed meanwhile: what is read below goes by those of now.
    visibilities = await visibilitiesOf(requests, access, context);
    known = requests.map((request) => ({ ...request, cluster: views?.find(context.caller, request.cluster.name) ?? request.cluster }));
  }
  context.signal.throwIfAborted();
  const used = use(known.map((request, index) => sourceOfRequest(request, { visibility: visibilities[index], mirrors, context })));
  return used instanceof Promise ? await used : used;
}

/** A question about one part. */
interface OneSourceRequest {
  readonly request: SourceRequest;
  readonly waitMs: number;
  readonly context: ReadContext;
}

/**
 * One part: at once if the operation holds its mirror, which has settled, and what the caller may see of it is known. Else a promise, which waits as
 * `withReadSources` does. An abort while it waits rejects with its reason.
 */
export function loadReadSource(options: ReadSourceOptions, asked: OneSourceRequest): PromiseOrValue<ReadSource> {
  const { mirrors, access } = options;
  const { request, waitMs, context } = asked;
  return mapPromiseOrValue(visibilityOf(request, access, context), (visibility) => {
    if (visibility.type === 'none') return sourceOfRequest(request, { visibility, mirrors, context });
    return mapPromiseOrValue(context.loaders.mirrors.load(request), () =>
      waitMs > 0 && isWaiting(request, { mirrors, context })
        ? settledSource(options, asked)
        : sourceOfRequest(request, { visibility, mirrors, context }),
    );
  });
}

async function settledSource(options: ReadSourceOptions, { request, waitMs, context }: OneSourceRequest): Promise<ReadSource> {
  return withReadSources(options, { requests: [request], waitMs, context }, ([source]) => source ?? { type: 'notServed', request });
}

/** Promises only where something has to be asked: the usual case costs no turn of its own. */
async function visibilitiesOf(requests: readonly SourceRequest[], access: Access, context: ReadContext): Promise<readonly Visibility[]> {
  return Promise.all(requests.map((request) => visibilityOf(request, access, context)));
}

function visibilityOf({ cluster, kind, verb }: SourceRequest, access: Access, { caller, signal }: ReadContext): PromiseOrValue<Visibility> {
  return access.visibilityOf({ caller, cluster: cluster.name, kind, verb }, signal);
}

interface Loaded {
  readonly mirrors: Mirrors;
  readonly context: ReadContext;
}

/** True if the first list is not there, or if the cluster may yet serve the kind. */
function isWaiting(request: SourceRequest, { mirrors, context }: Loaded): boolean {
  const mirror = context.loaders.mirrors.heldMirror(request);
  if (mirror !== undefined) return !mirror.settled();
  return mirrors.cluster(request.cluster.name)?.resources === undefined || isKindAnnounced(mirrors, inCluster(request));
}

async function settle(request: SourceRequest, { mirrors, context, signal }: Loaded & { readonly signal: AbortSignal }): Promise<void> {
  const { loaders } = context;
  if (loaders.mirrors.heldMirror(request) === undefined) {
    await mirrors.whenDiscovered(request.cluster.name, signal);
    if (isKindAnnounced(mirrors, inCluster(request))) await whenServed(mirrors, inCluster(request), signal);
    await loaders.mirrors.load(request);
  }
  await loaders.mirrors.heldMirror(request)?.whenSettled(signal);
}

function inCluster({ cluster, kind }: SourceRequest): KindInCluster {
  return { cluster: cluster.name, kind };
}

function sourceOfRequest(
  request: SourceRequest,
  { visibility, mirrors, context }: Loaded & { readonly visibility: Visibility | undefined },
): ReadSource {
  const missing = (state: SyncState): ReadSource => ({ type: 'missing', request, sync: syncViewOf(request, state) });
  if (visibility === undefined || visibility.type === 'none') return missing({ phase: 'MISSING', fault: visibility?.fault });
  const mirror = context.loaders.mirrors.heldMirror(request);
  if (mirror !== undefined)
    return {
      type: 'held',
      request,
      mirror,
      visibility,
      sync: sourceSyncOf(request, mirror, visibility),
      mirrorSync: syncViewOf(request, mirror.sync()),
    };
  const state = absenceOf(request, mirrors);
  return request.isNamed || state.fault.code !== 'NOT_SERVED' ? missing(state) : { type: 'notServed', request };
}

/** Why no mirror of a kind is held in a cluster: it has left, has not answered yet, does not serve the kind, or has just begun to. */
export function absenceOf(request: SourceRequest, mirrors: Mirrors): SyncState & { readonly fault: Fault } {
  const state = mirrors.cluster(request.cluster.name);
  if (state === undefined) return { phase: 'MISSING', fault: readFault(request, 'GONE') };
  if (state.resources === undefined)
    return { phase: 'SYNCING', fault: state.faults.find(preventsReading) ?? readFault(request, 'SYNCING') };
  const isServed = mirrors.served(request.cluster.name, request.kind) !== undefined;
  if (isServed || isKindAnnounced(mirrors, inCluster(request))) return { phase: 'SYNCING', fault: readFault(request, 'SYNCING') };
  return { phase: 'MISSING', fault: readFault(request, 'NOT_SERVED') };
}

/**
 * How true an answer from the mirror is: not at all for namespaces that are asked for, are in sight, and are not mirrored. Where none is named, what
 * is held is as true as it is, and the fault says that it is not all.
 */
export function sourceSyncOf(request: SourceRequest, mirror: MirrorReader, visibility: QueryVisibility): SyncView {
  const state = mirror.sync();
  const unread = state.fault === undefined ? unreadNamespacesFault(request, mirror, visibility) : undefined;
  if (unread === undefined) return syncViewOf(request, state);
  return syncViewOf(request, request.namespaces === undefined ? { ...state, fault: unread } : { phase: 'MISSING', fault: unread });
}

/** Why nothing is known of some of the namespaces that are asked for. What is not in sight takes no other way than what is absent. */
export function unreadNamespacesFault(
  { namespaces }: Pick<SourceRequest, 'namespaces'>,
  mirror: MirrorReader,
  visibility: QueryVisibility,
): Fault | undefined {
  if (namespaces === undefined) return mirror.partialListFault(visibility.type === 'all' ? 'all' : visibility.namespaces);
  return mirror.unmirroredFault(
    visibility.type === 'all' ? namespaces : namespaces.filter((namespace) => visibility.namespaces.has(namespace)),
  );
}

/** A mirror that is neither whole nor failed is a fault of its part, also where the mirror itself names none. */
export function syncViewOf(request: SourceRequest, state: SyncState): SyncView {
  const { cluster, kind } = request;
  if (state.phase !== 'SYNCING' || state.fault !== undefined) return { ...state, cluster, kind };
  return { ...state, cluster, kind, fault: readFault(request, 'SYNCING') };
}

const messages = {
  GONE: 'the cluster has left the fleet',
  SYNCING: 'the first list is not whole yet',
  NOT_SERVED: 'the cluster does not serve this kind',
} as const;

/** What is wrong with a part as a whole, in the words that lists and streams share. */
export function readFault({ cluster, kind }: Pick<SourceRequest, 'cluster' | 'kind'>, code: keyof typeof messages): Fault {
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
export function preventsReading({ code }: Fault): boolean {
  return code !== 'INSECURE' && code !== 'DUPLICATE';
}

/** What of an object of this part may be shown, as a row of it. Absent `depth`: the answer begins with it. */
export function rowOf(
  { request, mirror, mirrorSync }: MirroredSource,
  object: KubernetesObject,
  { sensitive, depth, waitMs }: RowOptions,
): Row {
  const { cluster, kind } = request;
  const metadataOnly = sensitive.has(kind);
  const shown = redact(object, { sensitive: metadataOnly, live: false });
  return { cluster, kind, resource: mirror.resource, object: shown, metadataOnly, sync: mirrorSync, depth, waitMs };
}

export interface RowOptions {
  readonly sensitive: SensitiveKinds;
  readonly depth?: number | undefined;
  readonly waitMs?: number | undefined;
}
