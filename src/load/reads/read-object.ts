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
import { singleWaitMs } from './list-arguments.ts';
import {
  type Ask,
  absenceOf,
  type HeldPart,
  isReason,
  type Part,
  type PartsOptions,
  type RowOptions,
  rowOf,
  withParts,
} from './read-sources.ts';
import type { ClusterView, Found, ObjectKey, ReadContext, ReadFrom } from './reads.ts';

/** A cluster of the fleet, as far as reading live needs it. */
export interface LiveMember {
  readonly settings: MemberSettings;
  readonly api: ClusterApi;
}

interface SinglesOptions extends PartsOptions {
  readonly member: (name: ClusterName) => LiveMember | undefined;
  readonly sensitive: SensitiveKinds;
  readonly log: Log;
}

/** What a single field asks for. */
interface AskedSingle {
  readonly kind: ModelKind;
  /** With a uid that object alone. */
  readonly key: ObjectKey & Pick<NamedObject, 'uid'>;
  readonly from: ReadFrom;
}

/** What an id asks for. */
interface AskedId {
  readonly model: Model;
  readonly id: string;
  readonly from: ReadFrom;
}

const nothing: Found = { faults: [] };

/**
 * One object by its name.
 *
 * @throws {MusterError} `BAD_INPUT` for an unknown or hidden cluster, and for a sensitive kind that is not read live.
 */
export async function readSingle(options: SinglesOptions, context: ReadContext, { kind, key, from }: AskedSingle): Promise<Found> {
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
export async function readById(options: SinglesOptions, context: ReadContext, { model, id, from }: AskedId): Promise<Found> {
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

interface Wanted extends AskedSingle {
  readonly cluster: ClusterView;
}

async function find(options: SinglesOptions, context: ReadContext, asked: Wanted): Promise<Found> {
  // The empty text asks for a cluster-scoped object: it is the only way where another cluster has the kind in namespaces.
  const wanted = asked.key.namespace === '' ? { ...asked, key: { ...asked.key, namespace: undefined } } : asked;
  if (!isInScope(options, wanted)) return nothing;
  return wanted.from === 'mirror' ? findInMirror(options, context, wanted) : findLive(options, context, wanted);
}

/**
 * False if the cluster has the kind in namespaces and the key names none, or the other way round: then there is no such object. True for a custom kind
 * of a cluster whose discovery is not known yet: clusters may differ in its scope.
 */
function isInScope({ mirrors }: SinglesOptions, { cluster, kind, key }: Wanted): boolean {
  if (kind.source !== 'BUILT_IN' && mirrors.cluster(cluster.name)?.resources === undefined) return true;
  const { namespaced } = mirrors.served(cluster.name, kind) ?? kind;
  return namespaced === (key.namespace !== undefined);
}

async function findInMirror(options: SinglesOptions, context: ReadContext, { cluster, kind, key }: Wanted): Promise<Found> {
  const namespaces = key.namespace === undefined ? undefined : [key.namespace];
  const ask: Ask = { cluster, kind, verb: 'get', named: true, namespaces };
  return withParts(options, { asks: [ask], waitMs: singleWaitMs, context }, ([part]) =>
    part === undefined ? nothing : foundIn(part, key, { sensitive: options.sensitive }),
  );
}

/** The object of that name in the part. With a uid that one alone: another object of the name is none. */
export function foundIn(part: Part, { namespace, name, uid }: NamedObject, options: RowOptions): Found {
  if (part.type === 'notServed') return nothing;
  if (part.type === 'missing') return part.sync.fault === undefined ? nothing : { faults: [part.sync.fault] };
  const { object, fault } = lookUpIn(part, { namespace, name, uid });
  if (object !== undefined) return { row: rowOf(part, object, options), faults: [] };
  return fault === undefined ? nothing : { faults: [fault] };
}

/**
 * The object of that name and, where one is said, that uid; or none, with the fault for which it may be there all the same.
 *
 * @param objects As of an earlier moment. Default: as they are now.
 */
export function lookUpIn(
  { mirror, sight, sync }: HeldPart,
  { namespace, name, uid }: NamedObject,
  objects: Pick<FrozenObjects, 'get'> = mirror.store,
): LookedUp {
  // Decided before any lookup: what is hidden takes no other way than what is absent.
  if (!isInSight(sight, namespace)) return {};
  const object = objects.get(namespace ?? '', name);
  if (object === undefined || (uid !== undefined && object.metadata.uid !== uid)) return { fault: sync.fault };
  return { object };
}

/** What names an object in a part. */
interface NamedObject extends Pick<ObjectKey, 'namespace' | 'name'> {
  readonly uid?: string | undefined;
}

interface LookedUp {
  readonly object?: KubernetesObject;
  readonly fault?: Fault | undefined;
}

async function findLive(options: SinglesOptions, context: ReadContext, { cluster, kind, key }: Wanted): Promise<Found> {
  const { access, mirrors, member } = options;
  const away = awayFaultOf(mirrors.cluster(cluster.name));
  if (away !== undefined) return { faults: [aboutKind(away, kind)] };
  const ask: Ask = { cluster, kind, verb: 'get', named: true };
  const sight = await access.visibilityOf({ caller: context.caller, cluster: cluster.name, kind, verb: 'get' }, context.signal);
  if (sight.type === 'none') return { faults: [aboutKind(sight.fault, kind)] };
  if (!isInSight(sight, key.namespace)) return nothing;
  await whenDiscovered(options, context, cluster.name);
  const resource = mirrors.served(cluster.name, kind);
  const found = member(cluster.name);
  if (resource === undefined || found === undefined) return { faults: [aboutKind(absenceOf(ask, mirrors).fault, kind)] };
  if (isSecret(kind) && found.settings.secrets !== 'live') return { faults: [secretsForbidden(ask)] };
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
function awayFaultOf(state: ClusterStatus | undefined): Fault | undefined {
  return state?.phase === 'UNREACHABLE' ? state.faults.find(isReason) : undefined;
}

/** A fault of a cluster keeps this kind from being read: so it is told of the kind. */
function aboutKind(fault: Fault, { group, kind }: ModelKind): Fault {
  return fault.kind === undefined ? { ...fault, kind: { group, kind } } : fault;
}

/** Who has seen whose values, without them. */
function logValuesRead(log: Log, { caller }: ReadContext, { cluster, kind, key }: Omit<Wanted, 'from'>): void {
  const { namespace, name } = key;
  const read = { cluster: cluster.name, namespace, name, caller: caller.key };
  if (isSecret(kind)) log.info(read, 'a Secret was read live');
  else log.info({ ...read, kind: keyOfKind(kind) }, 'an object of a sensitive kind was read live');
}

async function whenDiscovered({ mirrors, clock }: SinglesOptions, context: ReadContext, cluster: ClusterName): Promise<void> {
  if (mirrors.cluster(cluster)?.resources !== undefined) return;
  using deadline = createDeadline(singleWaitMs, clock, context);
  await mirrors.whenDiscovered(cluster, deadline.signal);
  context.signal.throwIfAborted();
}

/** An object of a cluster-scoped kind is in no namespace, and so in nobody's sight who sees namespaces only. */
function isInSight(sight: Exclude<Visibility, { type: 'none' }>, namespace: string | undefined): boolean {
  return sight.type === 'all' || (namespace !== undefined && sight.namespaces.has(namespace));
}

function secretsForbidden({ cluster, kind }: Ask): Fault {
  return {
    code: 'FORBIDDEN',
    cluster: cluster.name,
    kind: { group: kind.group, kind: kind.kind },
    message: 'the config of the gateway does not allow Secrets of this cluster to be read live',
    retry: 'NEVER',
  };
}
