import type { Visibility } from '../../access/access.ts';
import type { ClusterApi } from '../../cluster/cluster-api.ts';
import { MusterError } from '../../core/errors.ts';
import type { Fault } from '../../core/faults.ts';
import { keyOfKind } from '../../core/kinds.ts';
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
import { createDeadline } from './deadline.ts';
import { objectWaitMs } from './list-arguments.ts';
import {
  absenceOf,
  type ListSourceOptions,
  type MirroredSource,
  preventsReading,
  type ReadSource,
  type RowOptions,
  rowOf,
  type SourceRequest,
  withReadSources,
} from './read-sources.ts';
import type { ClusterObjectKey, ClusterView, FoundObject, ReadContext, ReadFrom } from './reads.ts';

/** A cluster of the fleet, as far as reading live needs it. */
export interface LiveMember {
  readonly settings: MemberSettings;
  readonly api: ClusterApi;
}

interface ReadObjectOptions extends ListSourceOptions {
  readonly member: (name: ClusterName) => LiveMember | undefined;
  readonly sensitive: SensitiveKinds;
  readonly log: Log;
}

/** What a single field asks for. */
interface ObjectRequest {
  readonly kind: ModelKind;
  /** With a uid that object alone. */
  readonly key: ClusterObjectKey & Pick<NamedObject, 'uid'>;
  readonly from: ReadFrom;
}

/** What an id asks for. */
interface ObjectIdRequest {
  readonly model: Model;
  readonly id: string;
  readonly from: ReadFrom;
}

const nothing: FoundObject = { faults: [] };

/**
 * One object by its name.
 *
 * @throws {MusterError} `BAD_INPUT` for an unknown or hidden cluster, and for a sensitive kind that is not read live.
 */
export async function readObject(
  options: ReadObjectOptions,
  context: ReadContext,
  { kind, key, from }: ObjectRequest,
): Promise<FoundObject> {
  const [cluster] = options.views.named(context.caller, [key.cluster]);
  if (cluster === undefined) return nothing;
  if (options.sensitive.has(kind) && from === 'mirror') {
    throw new MusterError(
      'BAD_INPUT',
      `expected ${kind.one} with live: true, as of ${keyOfKind(kind)} only the metadata is held; ${kind.many} lists that`,
    );
  }
  return find(options, context, { cluster, kind, key, from });
}

/**
 * The object of an id. One whose cluster or kind is unknown does not exist.
 *
 * @throws {MusterError} `BAD_INPUT` if it is no id, and for a sensitive kind read live.
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
      `expected a kind other than ${keyOfKind(kind)}: its values are read by ${kind.one}(live: true) alone`,
    );
  }
  return find(options, context, { cluster, kind, key, from });
}

interface ObjectInClusterRequest extends ObjectRequest {
  readonly cluster: ClusterView;
}

async function find(options: ReadObjectOptions, context: ReadContext, asked: ObjectInClusterRequest): Promise<FoundObject> {
  // The empty text asks for a cluster-scoped object: it is the only way where another cluster has the kind in namespaces.
  const wanted = asked.key.namespace === '' ? { ...asked, key: { ...asked.key, namespace: undefined } } : asked;
  if (!isInScope(options, wanted)) return nothing;
  return wanted.from === 'mirror' ? findInMirror(options, context, wanted) : findLive(options, context, wanted);
}

/**
 * False if the cluster has the kind in namespaces and the key names none, or the other way round: then there is no such object. True for a custom kind
 * of a cluster whose discovery is not known yet: clusters may differ in its scope.
 */
function isInScope({ mirrors }: ReadObjectOptions, { cluster, kind, key }: ObjectInClusterRequest): boolean {
  if (kind.source !== 'BUILT_IN' && mirrors.cluster(cluster.name)?.resources === undefined) return true;
  const { namespaced } = mirrors.served(cluster.name, kind) ?? kind;
  return namespaced === (key.namespace !== undefined);
}

async function findInMirror(
  options: ReadObjectOptions,
  context: ReadContext,
  { cluster, kind, key }: ObjectInClusterRequest,
): Promise<FoundObject> {
  const namespaces = key.namespace === undefined ? undefined : [key.namespace];
  const request: SourceRequest = { cluster, kind, verb: 'get', isNamed: true, namespaces };
  return withReadSources(options, { requests: [request], waitMs: objectWaitMs, context }, ([source]) =>
    source === undefined ? nothing : findInSource(source, key, { sensitive: options.sensitive }),
  );
}

/** The object of that name in the part. With a uid that one alone: another object of the name is none. */
export function findInSource(source: ReadSource, { namespace, name, uid }: NamedObject, options: RowOptions): FoundObject {
  if (source.type === 'notServed') return nothing;
  if (source.type === 'missing') return source.sync.fault === undefined ? nothing : { faults: [source.sync.fault] };
  const { object, fault } = lookUpObject(source, { namespace, name, uid });
  if (object !== undefined) return { row: rowOf(source, object, options), faults: [] };
  return fault === undefined ? nothing : { faults: [fault] };
}

/**
 * The object of that name and, where one is said, that uid; or none, with the fault for which it may be there all the same.
 *
 * @param objects As of an earlier moment. Default: as they are now.
 */
export function lookUpObject(
  { mirror, visibility, sync }: MirroredSource,
  { namespace, name, uid }: NamedObject,
  objects: Pick<FrozenObjects, 'get'> = mirror.store,
): LookedUp {
  // Decided before any lookup: what is hidden takes no other way than what is absent.
  if (!isVisible(visibility, namespace)) return {};
  const object = objects.get(namespace ?? '', name);
  if (object === undefined || (uid !== undefined && object.metadata.uid !== uid)) return { fault: sync.fault };
  return { object };
}

/** What names an object in a part. */
interface NamedObject extends Pick<ClusterObjectKey, 'namespace' | 'name'> {
  readonly uid?: string | undefined;
}

interface LookedUp {
  readonly object?: KubernetesObject;
  readonly fault?: Fault | undefined;
}

async function findLive(
  options: ReadObjectOptions,
  context: ReadContext,
  { cluster, kind, key }: ObjectInClusterRequest,
): Promise<FoundObject> {
  const { access, mirrors, member } = options;
  const away = unreachableFaultOf(mirrors.cluster(cluster.name));
  if (away !== undefined) return { faults: [aboutKind(away, kind)] };
  const request: SourceRequest = { cluster, kind, verb: 'get', isNamed: true };
  const visibility = await access.visibilityOf({ caller: context.caller, cluster: cluster.name, kind, verb: 'get' }, context.signal);
  if (visibility.type === 'none') return { faults: [aboutKind(visibility.fault, kind)] };
  if (!isVisible(visibility, key.namespace)) return nothing;
  await whenDiscovered(options, context, cluster.name);
  const resource = mirrors.served(cluster.name, kind);
  const found = member(cluster.name);
  if (resource === undefined || found === undefined) return { faults: [aboutKind(absenceOf(request, mirrors).fault, kind)] };
  if (isSecret(kind) && found.settings.secrets !== 'live') return { faults: [secretsForbidden(request)] };
  const result = await context.loaders.live.load({ api: found.api, resource, namespace: key.namespace, name: key.name });
  context.signal.throwIfAborted();
  if (result.type === 'absent') return nothing;
  if (result.type === 'failed') return { faults: [aboutKind(result.fault, kind)] };
  if (key.uid !== undefined && result.object.metadata.uid !== key.uid) return nothing;
  const sensitive = options.sensitive.has(kind);
  if (sensitive) logValuesRead(options.log, context, { cluster, kind, key });
  const object = redact(result.object, { sensitive, live: true });
  return { row: { cluster, kind, resource, object, sync: { ...result.sync, cluster, kind } }, faults: [] };
}

/** What is known not to answer is not asked: a request would take all its time to learn the same. One that never answered yet is tried. */
function unreachableFaultOf(state: ClusterStatus | undefined): Fault | undefined {
  return state?.phase === 'UNREACHABLE' ? state.faults.find(preventsReading) : undefined;
}

/** A fault of a cluster keeps this kind from being read: so it is told of the kind. */
function aboutKind(fault: Fault, { group, kind }: ModelKind): Fault {
  return fault.kind === undefined ? { ...fault, kind: { group, kind } } : fault;
}

/** Who has seen whose values, without them. */
function logValuesRead(log: Log, { caller }: ReadContext, { cluster, kind, key }: Omit<ObjectInClusterRequest, 'from'>): void {
  const { namespace, name } = key;
  const read = { cluster: cluster.name, namespace, name, caller: caller.key };
  if (isSecret(kind)) log.info(read, 'a Secret was read live');
  else log.info({ ...read, kind: keyOfKind(kind) }, 'an object of a sensitive kind was read live');
}

async function whenDiscovered({ mirrors, clock }: ReadObjectOptions, context: ReadContext, cluster: ClusterName): Promise<void> {
  if (mirrors.cluster(cluster)?.resources !== undefined) return;
  using deadline = createDeadline(objectWaitMs, clock, context);
  await mirrors.whenDiscovered(cluster, deadline.signal);
  context.signal.throwIfAborted();
}

/** An object of a cluster-scoped kind is in no namespace, and so in nobody's sight who sees namespaces only. */
function isVisible(visibility: Exclude<Visibility, { type: 'none' }>, namespace: string | undefined): boolean {
  return visibility.type === 'all' || (namespace !== undefined && visibility.namespaces.has(namespace));
}

function secretsForbidden({ cluster, kind }: SourceRequest): Fault {
  return {
    code: 'FORBIDDEN',
    cluster: cluster.name,
    kind: { group: kind.group, kind: kind.kind },
    message: 'the config of the gateway does not allow Secrets of this cluster to be read live',
    retry: 'NEVER',
  };
}
