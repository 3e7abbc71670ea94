import { apiForCaller } from '../../access/caller-api.ts';
import { isVisibleIn } from '../../access/is-visible-in.ts';
import type { Audit } from '../../audit/audit.ts';
import { audited } from '../../audit/audited.ts';
import type { ClusterApi } from '../../cluster/cluster-api.ts';
import { MusterError } from '../../core/errors.ts';
import { type Fault, fault } from '../../core/faults.ts';
import { apiVersionOf, keyOfKind } from '../../core/kinds.ts';
import type { Log } from '../../core/log.ts';
import type { ClusterName } from '../../core/names.ts';
import { parseObjectId } from '../../core/object-ids.ts';
import type { KubernetesObject } from '../../core/objects.ts';
import { isSecret, redact } from '../../core/redaction.ts';
import type { SensitiveKinds } from '../../core/sensitive-kinds.ts';
import type { MemberSettings } from '../../fleet/member.ts';
import type { Model, ModelKind } from '../../model/model.ts';
import type { FrozenObjects } from '../../store/mirror-store.ts';
import type { ClusterStatus } from '../../watch/mirrors.ts';
import type { ClusterViews } from './cluster-views.ts';
import { createDeadline } from './deadline.ts';
import { objectWaitMs } from './list-arguments.ts';
import {
  absenceOf,
  type ListSourceOptions,
  type MirroredSource,
  preventsReading,
  type ReadSource,
  type ReadSourceOptions,
  type RowOptions,
  rowOf,
  type SourceRequest,
  withReadSources,
} from './read-sources.ts';
import type { ClusterObjectKey, ClusterView, FoundObject, ReadContext, ReadFrom } from './reads.ts';

/** The config and the API client of one cluster in the fleet. A live read needs both. */
export interface LiveMember {
  readonly settings: MemberSettings;
  readonly api: ClusterApi;
}

/** True if the cluster is not mirrored, so that all its objects are read as the caller. */
export function isReadLive(member: Pick<LiveMember, 'settings'> | undefined): boolean {
  return member?.settings.authorization === 'live';
}

/** The parts that read one object from its API server. */
export interface LiveReadOptions extends ReadSourceOptions {
  readonly member: (name: ClusterName) => LiveMember | undefined;
  readonly sensitive: SensitiveKinds;
  readonly log: Log;
}

interface ReadObjectOptions extends LiveReadOptions, ListSourceOptions {
  /** Records live reads of sensitive kinds. */
  readonly audit: Audit;
  readonly views: ClusterViews;
}

/** A request for one object by cluster and name, such as that of the field `pod`. */
interface ObjectRequest {
  readonly kind: ModelKind;
  /** The cluster, namespace and name of the object. With a uid, the object is found only if it has this uid. */
  readonly key: ClusterObjectKey & Pick<NamedObject, 'uid'>;
  readonly from: ReadFrom;
}

/** A request for one object by its opaque id. */
interface ObjectIdRequest {
  readonly model: Model;
  readonly id: string;
  readonly from: ReadFrom;
}

const nothing: FoundObject = { faults: [] };

/**
 * Reads one object by its name.
 *
 * @throws {MusterError} `BAD_INPUT` for an unknown or hidden cluster, and for a sensitive kind that is not read live.
 */
export async function readOneObject(
  options: ReadObjectOptions,
  context: ReadContext,
  { kind, key, from }: ObjectRequest,
): Promise<FoundObject> {
  const [cluster] = options.views.named(context.caller, [key.cluster]);
  if (cluster === undefined) return nothing;
  if (options.sensitive.has(kind) && from === 'mirror') {
    throw new MusterError(
      'BAD_INPUT',
      `expected ${kind.one} with live: true, because only the metadata of ${keyOfKind(kind)} is mirrored; ${kind.many} lists it`,
    );
  }
  return find(options, context, { cluster, kind, key, from });
}

/**
 * Reads the object of an id. An object of an unknown cluster or kind does not exist.
 *
 * @throws {MusterError} `BAD_INPUT` if the text is no id, and for a live read of a sensitive kind.
 */
export async function readObjectById(
  options: ReadObjectOptions,
  context: ReadContext,
  { model, id, from }: ObjectIdRequest,
): Promise<FoundObject> {
  const { group, kind: name, ...key } = parseObjectId(id);
  const kind = model.kinds.get(keyOfKind({ group, kind: name }));
  const cluster = options.views.find(context.caller, key.cluster);
  if (kind === undefined || cluster === undefined) return nothing;
  if (options.sensitive.has(kind) && from === 'live') {
    throw new MusterError(
      'BAD_INPUT',
      `expected a kind other than ${keyOfKind(kind)}: its values can only be read with ${kind.one}(live: true)`,
    );
  }
  return find(options, context, { cluster, kind, key, from });
}

interface ObjectInClusterRequest extends ObjectRequest {
  readonly cluster: ClusterView;
}

async function find(options: ReadObjectOptions, context: ReadContext, request: ObjectInClusterRequest): Promise<FoundObject> {
  // An empty namespace requests a cluster-scoped object. If the kind is namespaced in another cluster, the schema requires the argument
  // `namespace`, so it cannot be left out.
  const wanted = request.key.namespace === '' ? { ...request, key: { ...request.key, namespace: undefined } } : request;
  if (!isInScope(options, wanted)) return nothing;
  const isSensitive = options.sensitive.has(wanted.kind);
  if (wanted.from === 'live' && isSensitive) return readValues(options, context, wanted);
  // A list of a sensitive kind requests metadata only. A request for one object would get its values too.
  const isLive = wanted.from === 'live' || (isReadLive(options.member(wanted.cluster.name)) && !isSensitive);
  return isLive ? findLive(options, context, wanted) : findInMirror(options, context, wanted);
}

/** Reads an object of a sensitive kind live, and records the read, denied or not, before the values are returned. */
function readValues(options: ReadObjectOptions, context: ReadContext, request: ObjectInClusterRequest): Promise<FoundObject> {
  const { kind, cluster, key } = request;
  const { caller, requestId } = context;
  const apiVersion = apiVersionOf(options.mirrors.served(cluster.name, kind) ?? { group: kind.group, version: 'v1' });
  const object = { cluster: cluster.name, apiVersion, kind: kind.kind, namespace: key.namespace, name: key.name };
  return audited(
    options.audit,
    { caller, requestId, verb: 'get' },
    {
      run: () => findLive(options, context, request),
      factsOf: ({ row, faults: [failure] }) => {
        const uid = row?.object.metadata.uid;
        const outcome = row === undefined ? { result: 'FAILED', code: failure?.code ?? 'NOT_FOUND' } : { result: 'READ', uid };
        return { objects: [{ ...object, ...outcome }] };
      },
    },
  );
}

/**
 * True if the key fits the kind: it has a namespace for a namespaced kind, and none for a cluster-scoped kind. If it does not fit, the
 * object does not exist.
 *
 * Always true for a custom kind of a cluster whose discovery is not known yet, because the kind may be namespaced in one cluster and
 * cluster-scoped in another.
 */
function isInScope({ mirrors }: ReadSourceOptions, { cluster, kind, key }: ObjectInClusterRequest): boolean {
  if (kind.source !== 'BUILT_IN' && mirrors.servedKinds(cluster.name) === undefined) return true;
  const { namespaced } = mirrors.served(cluster.name, kind) ?? kind;
  return namespaced === (key.namespace !== undefined);
}

async function findInMirror(
  options: ReadObjectOptions,
  context: ReadContext,
  { cluster, kind, key }: ObjectInClusterRequest,
): Promise<FoundObject> {
  const namespaces = key.namespace === undefined ? undefined : [key.namespace];
  const object = { namespace: key.namespace, name: key.name };
  const request: SourceRequest = { cluster, kind, verb: 'get', isNamed: true, namespaces, object };
  return withReadSources(options, { requests: [request], waitMs: objectWaitMs, context }, ([source]) =>
    source === undefined ? nothing : findInSource(source, key, { sensitive: options.sensitive }),
  );
}

/**
 * Returns the row of the object with this name and, if given, this uid. Without a row: `faults` says why the object may exist all the same,
 * and is empty if the object does not exist.
 */
export function findInSource(source: ReadSource, { namespace, name, uid }: NamedObject, options: RowOptions): FoundObject {
  if (source.type === 'notServed') return nothing;
  if (source.type === 'missing') return source.sync.fault === undefined ? nothing : { faults: [source.sync.fault] };
  const { object, fault } = lookUpObject(source, { namespace, name, uid });
  if (object !== undefined) return { row: rowOf(source, object, options), faults: [] };
  return fault === undefined ? nothing : { faults: [fault] };
}

/**
 * Looks up the object with this name and, if given, this uid. If the object is not found, returns the fault of the source, if any: the
 * object may then exist although the mirror lacks it.
 *
 * @param objects The objects to search, such as those of an earlier moment. Default: the current ones.
 */
export function lookUpObject(
  { mirror, visibility, sync }: MirroredSource,
  { namespace, name, uid }: NamedObject,
  objects: Pick<FrozenObjects, 'get'> = mirror.store,
): LookedUp {
  // Visibility is checked before any lookup, so that a hidden object and an absent object take the same time.
  if (!isVisibleIn(visibility, namespace)) return {};
  const object = objects.get(namespace ?? '', name);
  if (object === undefined || (uid !== undefined && object.metadata.uid !== uid)) return { fault: sync.fault };
  return { object };
}

/** The name of an object within a source. */
interface NamedObject extends Pick<ClusterObjectKey, 'namespace' | 'name'> {
  readonly uid?: string | undefined;
}

interface LookedUp {
  readonly object?: KubernetesObject;
  readonly fault?: Fault | undefined;
}

/**
 * Reads one object from its API server as the caller. An object that the caller may not get looks absent, and has the fault `FORBIDDEN` if the
 * caller may get no object of the kind in the cluster. For a sensitive kind, the row has the values.
 */
export async function findLive(
  options: LiveReadOptions,
  context: ReadContext,
  { cluster, kind, key }: Omit<ObjectInClusterRequest, 'from'>,
): Promise<FoundObject> {
  const { mirrors, member } = options;
  const away = unreachableFaultOf(mirrors.cluster(cluster.name));
  if (away !== undefined) return { faults: [aboutKind(away, kind)] };
  const request: SourceRequest = { cluster, kind, verb: 'get', isNamed: true };
  // Rights are about resources, and discovery knows the resource of a kind.
  await whenDiscovered(options, context, cluster.name);
  const resource = mirrors.served(cluster.name, kind);
  const found = member(cluster.name);
  if (resource === undefined || found === undefined) return { faults: [aboutKind(absenceOf(request, mirrors).fault, kind)] };
  // With `authorization: live`, the API server decides about the request itself, and no review is needed before it.
  const refused = isReadLive(found) ? undefined : await refusalOfLive(options, context, { cluster, kind, key });
  if (refused !== undefined) return refused;
  if (isSecret(kind) && found.settings.secrets !== 'live') return { faults: [secretsForbidden(request)] };
  const { namespace, name } = key;
  const result = await context.loaders.live.load({ api: apiForCaller(found, context), resource, namespace, name });
  context.signal.throwIfAborted();
  if (result.type === 'absent') return nothing;
  if (result.type === 'failed') return unreadLive(options, context, { cluster, kind, key, fault: result.fault });
  if (key.uid !== undefined && result.object.metadata.uid !== key.uid) return nothing;
  const sensitive = options.sensitive.has(kind);
  if (sensitive) logValuesRead(options.log, context, { cluster, kind, key });
  const object = redact(result.object, { sensitive, live: true });
  return { row: { cluster, kind, resource, object, sync: { ...result.sync, cluster, kind } }, faults: [] };
}

/**
 * Returns the result for an object that the caller may not get. Undefined if a request is to be sent: the caller may get the object, or the
 * kind is sensitive. For a sensitive kind the API server decides, and answers the same for hidden and absent objects.
 */
async function refusalOfLive(
  { access, sensitive }: LiveReadOptions,
  { caller, signal }: ReadContext,
  { cluster, kind, key: { namespace, name } }: Omit<ObjectInClusterRequest, 'from'>,
): Promise<FoundObject | undefined> {
  if (caller.user !== undefined && sensitive.has(kind)) return undefined;
  const object = { namespace, name };
  const visibility = await access.visibilityOf({ caller, cluster: cluster.name, kind, verb: 'get', object }, signal);
  if (visibility.type === 'none') return { faults: [aboutKind(visibility.fault, kind)] };
  return isVisibleIn(visibility, namespace) ? undefined : nothing;
}

/**
 * Returns the result of a failed read. With authentication, a refusal by the API server must not show whether the object exists, nor its name.
 * For a sensitive kind it becomes a fault, which an absent object gets too. For any other kind, the object looks absent, with the fault of the
 * kind if the caller may get no object of it.
 *
 * A refusal of an object that the caller may get is a fault. It has another reason: for example, the gateway may not impersonate the caller.
 */
async function unreadLive(
  { access, sensitive, mirrors }: LiveReadOptions,
  { caller, signal }: ReadContext,
  { cluster, kind, key, fault: failure }: Omit<ObjectInClusterRequest, 'from'> & { readonly fault: Fault },
): Promise<FoundObject> {
  if (caller.user === undefined || failure.code !== 'FORBIDDEN') return { faults: [aboutKind(failure, kind)] };
  if (!sensitive.has(kind)) {
    const { namespaced } = mirrors.served(cluster.name, kind) ?? kind;
    const namespaces = [(namespaced ? key.namespace : key.name) ?? ''];
    const request = { caller, cluster: cluster.name, kind, verb: 'get' } as const;
    const ofKind = await access.visibilityOf({ ...request, namespaces }, signal);
    if (ofKind.type === 'none') return { faults: [aboutKind(ofKind.fault, kind)] };
    if (isVisibleIn(ofKind, namespaces[0])) return { faults: [aboutKind(failure, kind)] };
    // A rule with `resourceNames` allows single objects only.
    const object = { namespace: namespaced ? key.namespace : undefined, name: key.name };
    const ofObject = await access.visibilityOf({ ...request, object }, signal);
    return isVisibleIn(ofObject, namespaces[0]) ? { faults: [aboutKind(failure, kind)] } : nothing;
  }
  const message = `${keyOfKind(kind)}: the caller may not get this object`;
  return {
    faults: [fault('FORBIDDEN', message, { cluster: failure.cluster, kind: { group: kind.group, kind: kind.kind }, retry: 'NEVER' })],
  };
}

/**
 * Returns the fault of a cluster that is known not to answer: a request would only time out. Undefined if the request should be tried, also
 * for a cluster that has never answered.
 */
function unreachableFaultOf(state: ClusterStatus | undefined): Fault | undefined {
  return state?.phase === 'UNREACHABLE' ? state.faults.find(preventsReading) : undefined;
}

/** Adds the kind to a fault of the cluster, because the fault prevents reading this kind. */
function aboutKind(fault: Fault, { group, kind }: ModelKind): Fault {
  return fault.kind === undefined ? { ...fault, kind: { group, kind } } : fault;
}

/** Logs which caller read which sensitive object, without the values of the object. */
function logValuesRead(log: Log, { caller }: ReadContext, { cluster, kind, key }: Omit<ObjectInClusterRequest, 'from'>): void {
  const { namespace, name } = key;
  const read = { cluster: cluster.name, namespace, name, caller: caller.key };
  if (isSecret(kind)) log.info(read, 'a Secret was read live');
  else log.info({ ...read, kind: keyOfKind(kind) }, 'an object of a sensitive kind was read live');
}

async function whenDiscovered({ mirrors, clock }: ReadSourceOptions, context: ReadContext, cluster: ClusterName): Promise<void> {
  if (mirrors.servedKinds(cluster) !== undefined) return;
  using deadline = createDeadline(objectWaitMs, clock, context);
  await mirrors.whenDiscovered(cluster, deadline.signal);
  context.signal.throwIfAborted();
}

function secretsForbidden({ cluster, kind }: SourceRequest): Fault {
  return fault('FORBIDDEN', 'the config of the gateway does not allow Secrets of this cluster to be read live', {
    cluster: cluster.name,
    kind: { group: kind.group, kind: kind.kind },
    retry: 'NEVER',
  });
}
