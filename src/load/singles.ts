import type { Sight } from '../access/access.ts';
import type { ClusterApi } from '../cluster/cluster-api.ts';
import { MusterError } from '../core/errors.ts';
import type { Fault } from '../core/faults.ts';
import { keyOfKind } from '../core/kinds.ts';
import type { Log } from '../core/log.ts';
import type { ClusterName } from '../core/names.ts';
import type { MemberSettings } from '../fleet/member.ts';
import type { Model, ModelKind } from '../model/model.ts';
import { parseObjectId } from './ids.ts';
import { singleWaitMs } from './list-arguments.ts';
import type { LiveReads } from './live.ts';
import { isSecret, redact } from './manifest.ts';
import { type Ask, absenceOf, type Part, type PartsOptions, withParts } from './parts.ts';
import type { ClusterView, Found, ObjectKey, ReadContext, ReadFrom, SyncView } from './reads.ts';
import { createDeadline } from './waiting.ts';

/** A cluster of the fleet, as far as reading live needs it. */
export interface LiveMember {
  readonly settings: MemberSettings;
  readonly api: ClusterApi;
}

export interface SinglesOptions extends PartsOptions {
  readonly member: (name: ClusterName) => LiveMember | undefined;
  readonly live: LiveReads;
  readonly log: Log;
}

/** What a single field asks for. */
export interface AskedSingle {
  readonly kind: ModelKind;
  readonly key: ObjectKey;
  readonly from: ReadFrom;
}

/** What an id asks for. */
export interface AskedId {
  readonly model: Model;
  readonly id: string;
  readonly from: ReadFrom;
}

const nothing: Found = { faults: [] };

/**
 * One object by its name.
 *
 * @throws {MusterError} `BAD_INPUT` for an unknown or hidden cluster, and for a Secret that is not read live.
 */
export async function readSingle(options: SinglesOptions, context: ReadContext, { kind, key, from }: AskedSingle): Promise<Found> {
  const [cluster] = options.views.named(context.caller, [key.cluster]);
  if (cluster === undefined) return nothing;
  if (isSecret(kind) && from === 'mirror') {
    throw new MusterError(
      'BAD_INPUT',
      `expected ${kind.one} with live: true, as of Secrets only the metadata is held; ${kind.many} lists that`,
    );
  }
  return find(options, context, { cluster, kind, key, from });
}

/**
 * The object of an id. One whose cluster or kind is unknown does not exist.
 *
 * @throws {MusterError} `BAD_INPUT` if it is no id, and for a Secret read live.
 */
export async function readById(options: SinglesOptions, context: ReadContext, { model, id, from }: AskedId): Promise<Found> {
  const { group, kind: name, ...key } = parseObjectId(id);
  const kind = model.kinds.get(keyOfKind({ group, kind: name }));
  const cluster = options.views.find(context.caller, key.cluster);
  if (kind === undefined || cluster === undefined) return nothing;
  if (isSecret(kind) && from === 'live') {
    throw new MusterError('BAD_INPUT', `expected a kind other than Secret: its values are read by ${kind.one}(live: true) alone`);
  }
  const namespace = key.namespace === '' ? undefined : key.namespace;
  return find(options, context, { cluster, kind, key: { ...key, namespace }, from });
}

interface Wanted extends AskedSingle {
  readonly cluster: ClusterView;
}

async function find(options: SinglesOptions, context: ReadContext, wanted: Wanted): Promise<Found> {
  return wanted.from === 'mirror' ? findInMirror(options, context, wanted) : findLive(options, context, wanted);
}

async function findInMirror(options: SinglesOptions, context: ReadContext, { cluster, kind, key }: Wanted): Promise<Found> {
  const namespaces = key.namespace === undefined ? {} : { namespaces: [key.namespace] };
  const ask: Ask = { cluster, kind, verb: 'get', named: true, ...namespaces };
  return withParts(options, { asks: [ask], waitMs: singleWaitMs, context }, ([part]) =>
    part === undefined ? nothing : foundIn(part, key),
  );
}

function foundIn(part: Part, { namespace, name }: ObjectKey): Found {
  if (part.type === 'notServed') return nothing;
  if (part.type === 'missing') return { faults: faultsOf(part.sync) };
  // Decided before any lookup: what is hidden takes no other way than what is absent.
  const { ask, mirror, sight, sync } = part;
  if (!isInSight(sight, namespace)) return nothing;
  const object = mirror.store.get(namespace ?? '', name);
  if (object === undefined) return { faults: faultsOf(sync) };
  const { cluster, kind } = ask;
  return { row: { cluster, kind, resource: mirror.resource, object: redact(object, kind, { live: false }), sync }, faults: [] };
}

async function findLive(options: SinglesOptions, context: ReadContext, { cluster, kind, key }: Wanted): Promise<Found> {
  const { access, mirrors, member, live, log } = options;
  const ask: Ask = { cluster, kind, verb: 'get', named: true };
  const sight = await access.sightOf({ caller: context.caller, cluster: cluster.name, kind, verb: 'get' }, context.signal);
  if (sight.type === 'none') return { faults: [sight.fault] };
  if (!isInSight(sight, key.namespace)) return nothing;
  await whenDiscovered(options, context, cluster.name);
  const resource = mirrors.served(cluster.name, kind);
  const found = member(cluster.name);
  if (resource === undefined || found === undefined) return { faults: [absenceOf(ask, mirrors).fault] };
  if (isSecret(kind) && found.settings.secrets !== 'live') return { faults: [secretsForbidden(ask)] };
  const result = await live.read(context, { api: found.api, resource, namespace: key.namespace, name: key.name });
  if (result.type === 'absent') return nothing;
  if (result.type === 'failed') return { faults: [result.fault] };
  if (isSecret(kind))
    log.info({ cluster: cluster.name, namespace: key.namespace, name: key.name, caller: context.caller.key }, 'a Secret was read live');
  const object = redact(result.object, kind, { live: true });
  return { row: { cluster, kind, resource, object, sync: { ...result.sync, cluster, kind } }, faults: [] };
}

async function whenDiscovered({ mirrors, clock }: SinglesOptions, context: ReadContext, cluster: ClusterName): Promise<void> {
  if (mirrors.cluster(cluster)?.resources !== undefined) return;
  using deadline = createDeadline(singleWaitMs, clock, context.signal);
  await mirrors.whenDiscovered(cluster, deadline.signal);
  context.signal.throwIfAborted();
}

/** An object of a cluster-scoped kind is in no namespace, and so in nobody's sight who sees namespaces only. */
function isInSight(sight: Exclude<Sight, { type: 'none' }>, namespace: string | undefined): boolean {
  return sight.type === 'all' || (namespace !== undefined && sight.namespaces.has(namespace));
}

function faultsOf({ fault }: SyncView): readonly Fault[] {
  return fault === undefined ? [] : [fault];
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
