import type { Access, Caller } from '../access/access.ts';
import { MusterError } from '../core/errors.ts';
import { type Fault, fault } from '../core/faults.ts';
import { apiVersionOf, type GroupKind, groupOfApiVersion, keyOfKind, type ServedResource } from '../core/kinds.ts';
import { type ClusterName, isPathSegment } from '../core/names.ts';
import { nearestWord } from '../core/nearest-word.ts';
import { parseObjectId } from '../core/object-ids.ts';
import type { ObjectKey } from '../manifests/manifest.ts';
import type { Members } from './members.ts';
import type { TargetInput } from './object-changes.ts';
import type { ObjectAddress, Preconditions } from './object-client.ts';

/** One object to change, in a cluster that is in the fleet and visible to the caller. */
export interface ChangeTarget {
  readonly cluster: ClusterName;
  readonly kind: GroupKind;
  /**
   * The API version to use. Absent if the target has an id, which contains no version. The version that the cluster serves is then used.
   */
  readonly apiVersion?: string;
  readonly namespace?: string;
  readonly name: string;
  readonly preconditions: Preconditions;
}

/** The address of a target in its cluster, or why it is unknown. */
export type AddressedTarget =
  | { readonly result: 'addressed'; readonly address: ObjectAddress; readonly key: ObjectKey }
  | { readonly result: 'failed'; readonly key: ObjectKey; readonly fault: Fault };

/** Maximum number of writes in one mutation. */
const maxWrites = 1_000;

/** Maximum wait for the discovery of a cluster that has not answered yet. */
const discoveryMs = 10_000;

/**
 * Parses the targets of a mutation and finds their clusters. Makes no call to a cluster.
 *
 * @throws {MusterError} `BAD_INPUT` for more than 1,000 targets, an invalid name or id, and unknown or hidden clusters.
 */
export function parseTargets(
  targets: readonly TargetInput[],
  within: { readonly members: Members; readonly access: Access; readonly caller: Caller },
): readonly ChangeTarget[] {
  checkCount(targets.length);
  return targets.map((target, index) => {
    const read = 'id' in target ? readId(target.id) : readRef(target.ref, `targets[${index}].ref`);
    return { ...read, cluster: visibleCluster(read.cluster, within) };
  });
}

/**
 * Checks the number of writes.
 *
 * @throws {MusterError} `BAD_INPUT` above the maximum.
 */
export function checkCount(count: number): void {
  if (count > maxWrites) throw new MusterError('BAD_INPUT', `expected at most ${maxWrites} writes in one mutation, got ${count}`);
}

/**
 * Returns the cluster with this name.
 *
 * @throws {MusterError} `BAD_INPUT` if the cluster is unknown or hidden from the caller. The message suggests the most similar visible
 * name.
 */
export function visibleCluster(
  name: string,
  { members, access, caller }: { readonly members: Pick<Members, 'all' | 'get'>; readonly access: Access; readonly caller: Caller },
): ClusterName {
  const found = members.get(name);
  if (found !== undefined && access.maySeeCluster(caller, found.name)) return found.name;
  const names = members.all().map((member) => member.name);
  const near = nearestWord(
    name.slice(0, 253),
    names.filter((known) => access.maySeeCluster(caller, known)),
  );
  const hint = near === undefined ? '' : `; did you mean ${near}?`;
  throw new MusterError('BAD_INPUT', `no cluster named ${JSON.stringify(name.slice(0, 80))}${hint}`);
}

type ReadTarget = Omit<ChangeTarget, 'cluster'> & { readonly cluster: string };

function readId(id: string): ReadTarget {
  const { cluster, group, kind, namespace, name, uid } = parseObjectId(id);
  checkNames({ namespace, name }, 'id');
  return { cluster, kind: { group, kind }, ...(namespace === '' ? {} : { namespace }), name, preconditions: { uid } };
}

function readRef(ref: Extract<TargetInput, { readonly ref: unknown }>['ref'], path: string): ReadTarget {
  const { cluster, apiVersion, kind, name, uid, resourceVersion } = ref;
  const namespace = ref.namespace ?? '';
  checkNames({ namespace, name }, path);
  return {
    cluster,
    apiVersion,
    kind: { group: groupOfApiVersion(apiVersion), kind },
    ...(namespace === '' ? {} : { namespace }),
    name,
    preconditions: { uid: uid ?? undefined, resourceVersion: resourceVersion ?? undefined },
  };
}

function checkNames({ namespace, name }: { readonly namespace: string; readonly name: string }, path: string): void {
  const wrong = !isPathSegment(name)
    ? ['name', name]
    : namespace !== '' && !isPathSegment(namespace)
      ? ['namespace', namespace]
      : undefined;
  if (wrong === undefined) return;
  const [field, text = ''] = wrong;
  throw new MusterError(
    'BAD_INPUT',
    `${path}.${field}: expected a name of 1 to 253 characters that is one segment of a path, got ${JSON.stringify(text.slice(0, 80))}`,
  );
}

/**
 * Returns the address of the target, by the resource that its cluster serves for the kind. Waits at most 10 s for a cluster that has not
 * answered yet. Fails with a fault if the cluster is away or does not serve the kind.
 */
export async function addressOfTarget(target: ChangeTarget, members: Members, signal: AbortSignal): Promise<AddressedTarget> {
  const { cluster, kind } = target;
  const about = { cluster, kind };
  const member = members.get(cluster);
  const key = keyOf(target);
  if (member === undefined) {
    return { result: 'failed', key, fault: fault('GONE', 'the cluster has left the fleet', { ...about, retry: 'NEVER' }) };
  }
  const away = member.phase === 'UNREACHABLE' ? member.faults.at(0) : undefined;
  if (away !== undefined) return { result: 'failed', key, fault: { ...away, kind } };
  const served = await servedBy(target, members, signal);
  if (served === undefined) {
    const unread = member.faults.at(0) ?? fault('SYNCING', 'the cluster has not answered yet', { cluster, retry: 'LATER' });
    return { result: 'failed', key, fault: { ...unread, kind } };
  }
  if (served === 'absent') {
    const named = target.apiVersion === undefined ? keyOfKind(kind) : `${kind.kind} of ${target.apiVersion}`;
    return { result: 'failed', key, fault: fault('NOT_SERVED', `the cluster does not serve ${named}`, { ...about, retry: 'LATER' }) };
  }
  return addressed(target, served);
}

/**
 * Returns the address of the target. A namespaced object without a namespace is in `default`, as for kubectl. An object of a cluster-scoped
 * kind has no namespace.
 */
function addressed({ namespace = 'default', name }: ChangeTarget, resource: ServedResource): AddressedTarget {
  const place = resource.namespaced ? { namespace } : {};
  const key = { apiVersion: apiVersionOf(resource), kind: resource.kind, ...place, name };
  return { result: 'addressed', address: { resource, ...place, name }, key };
}

async function servedBy(
  { cluster, kind, apiVersion }: ChangeTarget,
  { objects }: Members,
  signal: AbortSignal,
): Promise<ServedResource | 'absent' | undefined> {
  const kindOrVersion = apiVersion === undefined ? kind : { apiVersion, kind: kind.kind };
  const known = objects.served(cluster, kindOrVersion);
  if (known !== undefined) return known;
  await objects.whenRead([{ cluster, kind }], discoveryMs, signal);
  signal.throwIfAborted();
  return objects.served(cluster, kindOrVersion);
}

function keyOf({ apiVersion, kind, namespace, name }: ChangeTarget): ObjectKey {
  return { apiVersion: apiVersion ?? kind.group, kind: kind.kind, ...(namespace === undefined ? {} : { namespace }), name };
}
