import type { Access, AccessRequest, Visibility } from '../../access/access.ts';
import type { Clock } from '../../core/clock.ts';
import { type Fault, fault } from '../../core/faults.ts';
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
import type { MirrorKey } from './mirror-loader.ts';
import type { ClusterView, ReadContext, Row, SyncView } from './reads.ts';

/** A request for one kind in one cluster. */
export interface SourceRequest {
  readonly cluster: ClusterView;
  readonly kind: ModelKind;
  readonly verb: 'get' | 'list';
  /** True if the caller named the cluster. Then it is a fault if the cluster does not serve the kind. */
  readonly isNamed: boolean;
  /** The requested namespaces. They are listed first if the gateway may not list all namespaces. Default: all namespaces. */
  readonly namespaces?: readonly string[] | undefined;
  /** The one object to get. A caller may have the right to this object only. Default: all objects of the kind. */
  readonly object?: AccessRequest['object'];
  /** True: the right to `object` counts only if a mirrored binding gives it. Default: false. */
  readonly onlyIfBound?: boolean | undefined;
}

/** A source with a mirror, and the objects that the caller may see of it. */
export interface MirroredSource {
  readonly type: 'held';
  readonly request: SourceRequest;
  readonly mirror: MirrorReader;
  readonly visibility: Exclude<Visibility, { type: 'none' }>;
  /**
   * The sync of this source. It is `MISSING` if a requested namespace is not mirrored. If no namespace was requested and some are not mirrored,
   * it has a fault.
   */
  readonly sync: SyncView;
  /** The sync of the mirror itself. All rows have it. */
  readonly mirrorSync: SyncView;
}

/**
 * One kind in one cluster, with the data that can be read now: `held` has a mirror, `missing` has no mirror and a fault with the reason,
 * and `notServed` is left out of the answer.
 */
export type ReadSource =
  | MirroredSource
  | { readonly type: 'missing'; readonly request: SourceRequest; readonly sync: SyncView }
  /** The caller did not name the cluster, and the cluster does not serve the kind. */
  | { readonly type: 'notServed'; readonly request: SourceRequest };

/** The options for reading sources. */
export interface ReadSourceOptions {
  readonly mirrors: Mirrors;
  readonly access: Access;
  /** Returns the clusters as they are after a wait. Default: the clusters as they were before it. */
  readonly views?: ClusterViews | undefined;
  readonly clock: Clock;
}

export type ListSourceOptions = ReadSourceOptions & { readonly views: ClusterViews };

/** A request for several sources that are read at one moment. */
interface SourcesRequest {
  readonly requests: readonly SourceRequest[];
  readonly waitMs: number;
  readonly context: ReadContext;
}

/**
 * Loads the mirrors of the requests, waits for first lists, and passes all sources to `use` in one event-loop turn. So everything that `use`
 * reads is of one moment.
 *
 * Waits at most `waitMs`, in total, for clusters that have not answered yet and for lists that are neither complete nor failed. Returns the
 * result of `use`. An abort rejects with its reason.
 */
export async function withReadSources<T>(
  { mirrors, access, views, clock }: ReadSourceOptions,
  { requests, waitMs, context }: SourcesRequest,
  use: (sources: readonly ReadSource[]) => PromiseOrValue<T>,
): Promise<T> {
  let visibilities = await visibilitiesOf(requests, access, context);
  const seen = visibleRequests(requests, visibilities);
  await context.loaders.mirrors.loadAll(seen);
  let known = requests;
  const waiting = waitMs > 0 ? seen.filter((request) => isWaiting(request, { mirrors, context })) : [];
  if (waiting.length > 0) {
    using deadline = createDeadline(waitMs, clock, context);
    await Promise.all(waiting.map((request) => settle(request, { mirrors, context, signal: deadline.signal })));
    // Rights and clusters may have changed during the wait. The code below uses the current ones.
    visibilities = await visibilitiesOf(requests, access, context);
    await context.loaders.mirrors.loadAll(visibleRequests(requests, visibilities));
    known = requests.map((request) => ({ ...request, cluster: views?.find(context.caller, request.cluster.name) ?? request.cluster }));
  }
  context.signal.throwIfAborted();
  const used = use(known.map((request, index) => sourceOfRequest(request, { visibility: visibilities[index], mirrors, context })));
  return used instanceof Promise ? await used : used;
}

/** A request for one source, which waits at most `waitMs` for the first list. */
interface OneSourceRequest {
  readonly request: SourceRequest;
  readonly waitMs: number;
  readonly context: ReadContext;
}

/**
 * Returns one source: at once if the operation holds its mirror, the mirror has settled, and the rights of the caller are known. Otherwise
 * returns a promise, which waits like `withReadSources`. An abort during the wait rejects with its reason.
 */
export function loadReadSource(options: ReadSourceOptions, wanted: OneSourceRequest): PromiseOrValue<ReadSource> {
  const { mirrors, access } = options;
  const { request, waitMs, context } = wanted;
  return mapPromiseOrValue(visibilityOf(request, access, context), (visibility) => {
    if (visibility.type === 'none') return sourceOfRequest(request, { visibility, mirrors, context });
    return mapPromiseOrValue(context.loaders.mirrors.load({ ...request, visible: visibility }), () =>
      waitMs > 0 && isWaiting(request, { mirrors, context })
        ? settledSource(options, wanted)
        : sourceOfRequest(request, { visibility, mirrors, context }),
    );
  });
}

async function settledSource(options: ReadSourceOptions, { request, waitMs, context }: OneSourceRequest): Promise<ReadSource> {
  return withReadSources(options, { requests: [request], waitMs, context }, ([source]) => source ?? { type: 'notServed', request });
}

/** A request with what the caller may see of its source. Live lists contain nothing else. */
type VisibleRequest = SourceRequest & Required<Pick<MirrorKey, 'visible'>>;

/** Returns the requests of which the caller may see anything. */
function visibleRequests(requests: readonly SourceRequest[], visibilities: readonly Visibility[]): readonly VisibleRequest[] {
  return requests.flatMap((request, index) => {
    const visible = visibilities[index];
    return visible === undefined || visible.type === 'none' ? [] : [{ ...request, visible }];
  });
}

/** Returns what the caller may see of each source. It waits only for rights that must be requested. */
async function visibilitiesOf(requests: readonly SourceRequest[], access: Access, context: ReadContext): Promise<readonly Visibility[]> {
  return Promise.all(requests.map((request) => visibilityOf(request, access, context)));
}

function visibilityOf(
  { cluster, kind, verb, namespaces, object, onlyIfBound }: SourceRequest,
  access: Access,
  { caller, signal }: ReadContext,
): PromiseOrValue<Visibility> {
  return access.visibilityOf({ caller, cluster: cluster.name, kind, verb, namespaces, object, onlyIfBound }, signal);
}

interface LoadedContext {
  readonly mirrors: Mirrors;
  readonly context: ReadContext;
}

/** True if the first list has neither completed nor failed, or if the cluster may still begin to serve the kind. */
function isWaiting(request: SourceRequest, { mirrors, context }: LoadedContext): boolean {
  const mirror = context.loaders.mirrors.heldMirror(request);
  if (mirror !== undefined) return !mirror.settled();
  return mirrors.servedKinds(request.cluster.name) === undefined || isKindAnnounced(mirrors, inCluster(request));
}

async function settle(
  request: VisibleRequest,
  { mirrors, context, signal }: LoadedContext & { readonly signal: AbortSignal },
): Promise<void> {
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
  { visibility, mirrors, context }: LoadedContext & { readonly visibility: Visibility | undefined },
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
      sync: withUncheckedRights(sourceSyncOf(request, mirror, visibility), visibility),
      mirrorSync: rowSyncOf(request, mirror, { mirrors, visibility }),
    };
  const state = absenceOf(request, mirrors);
  return request.isNamed || state.fault.code !== 'NOT_SERVED' ? missing(state) : { type: 'notServed', request };
}

/** Adds the fault of namespaces whose rights could not be checked: objects in them are missing. */
function withUncheckedRights(sync: SyncView, visibility: Visibility): SyncView {
  if (visibility.type !== 'namespaces' || visibility.fault === undefined || sync.fault !== undefined) return sync;
  const { group, kind } = sync.kind;
  return { ...sync, fault: { ...visibility.fault, kind: { group, kind } } };
}

/**
 * Returns the reason why a cluster has no mirror of a kind: the cluster has left, has not answered yet, does not serve the kind, or has
 * just begun to serve it.
 */
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
 * Returns the sync of a source. It is `MISSING` if the caller may see a requested namespace that is not mirrored. If no namespace was
 * requested, it is the sync of the mirror, with a fault if the mirror lacks namespaces.
 */
export function sourceSyncOf(request: SourceRequest, mirror: MirrorReader, visibility: QueryVisibility): SyncView {
  const state = shownState(mirror, visibility);
  const unread = state.fault === undefined ? unreadNamespacesFault(request, mirror, visibility) : undefined;
  if (unread === undefined) return syncViewOf(request, state);
  return syncViewOf(request, request.namespaces === undefined ? { ...state, fault: unread } : { phase: 'MISSING', fault: unread });
}

/**
 * Returns the fault of requested namespaces that are not mirrored. Undefined if all are mirrored. Hidden namespaces are treated like absent
 * ones. Without requested namespaces, returns the fault for the namespaces that the mirror as a whole lacks.
 */
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

/**
 * Returns the state of a mirror as a caller may see it. Without the right to all namespaces it has no version, because each change of a hidden object
 * changes the version.
 */
export function shownState(mirror: MirrorReader, visibility: QueryVisibility | Fault): SyncState {
  const state = mirror.sync();
  return 'code' in visibility || visibility.type !== 'all' ? { ...state, version: undefined } : state;
}

/** Returns the sync of the rows of a source: that of its mirror. Without a mirror, it has the reason. */
export function rowSyncOf(
  request: SourceRequest,
  mirror: MirrorReader | undefined,
  { mirrors, visibility }: { readonly mirrors: Mirrors; readonly visibility: QueryVisibility | Fault },
): SyncView {
  return syncViewOf(request, mirror === undefined ? absenceOf(request, mirrors) : shownState(mirror, visibility));
}

/**
 * Turns the state of a mirror into the sync of a source. A mirror that is neither complete nor failed gets a `SYNCING` fault if it has no fault
 * of its own.
 */
export function syncViewOf(request: SourceRequest, state: SyncState): SyncView {
  const { cluster, kind } = request;
  if (state.phase !== 'SYNCING' || state.fault !== undefined) return { ...state, cluster, kind };
  return { ...state, cluster, kind, fault: readFault(request, 'SYNCING') };
}

const messages = {
  GONE: 'the cluster has left the fleet',
  SYNCING: 'the first list is not complete yet',
  NOT_SERVED: 'the cluster does not serve this kind',
} as const;

/** Creates the fault of a whole source. Lists and streams share its message. */
export function readFault({ cluster, kind }: Pick<SourceRequest, 'cluster' | 'kind'>, code: keyof typeof messages): Fault {
  const retry = code === 'SYNCING' ? 'LATER' : 'NEVER';
  return fault(code, `${keyOfKind(kind)}: ${messages[code]}`, {
    cluster: cluster.name,
    kind: { group: kind.group, kind: kind.kind },
    retry,
  });
}

/** Creates the fault for a kind that the schema does not have. Nothing is known about its objects. */
export function unknownKindFault({ name }: ClusterView, { group, kind }: GroupKind): Fault {
  const message = `${keyOfKind({ group, kind })}: this schema does not have the kind`;
  return fault('NOT_SERVED', message, { cluster: name, kind: { group, kind }, retry: 'NEVER' });
}

/** True for a fault that can prevent reading from a cluster. The other faults are about the configuration of its connection. */
export function preventsReading({ code }: Fault): boolean {
  return code !== 'INSECURE' && code !== 'DUPLICATE';
}

/** Creates a row with the parts of an object that may be shown. Without `depth`, no relation leads to the row. */
export function rowOf(source: MirroredSource, object: KubernetesObject, options: RowOptions): Row {
  return createRowsOf(source, options)(object);
}

/** Returns a function that creates the rows of one source, as `rowOf` does. */
export function createRowsOf(
  { request, mirror, mirrorSync: sync }: MirroredSource,
  { sensitive, depth, waitMs }: RowOptions,
): (object: KubernetesObject) => Row {
  const { cluster, kind } = request;
  const { resource } = mirror;
  const metadataOnly = sensitive.has(kind);
  // Objects of a mirror have no `managedFields`. Reading the metadata of each object would take as long as the rest of a page.
  const shown = (object: KubernetesObject) => (metadataOnly ? redact(object, { sensitive: true, live: false }) : object);
  return (object) => ({ cluster, kind, resource, object: shown(object), metadataOnly, sync, depth, waitMs });
}

export interface RowOptions {
  readonly sensitive: SensitiveKinds;
  readonly depth?: number | undefined;
  readonly waitMs?: number | undefined;
}
