import { userOfAccount } from '../../access/user-in-cluster.ts';
import type { ActingIdentity } from '../../changes/acting-clients.ts';
import { describeFault } from '../../changes/describe-fault.ts';
import type { ObjectAddress, ObjectClient } from '../../changes/object-client.ts';
import { listAt, textAt } from '../../core/json-at.ts';
import { groupOfApiVersion } from '../../core/kinds.ts';
import { clusterName } from '../../core/names.ts';
import type { KubernetesObject } from '../../core/objects.ts';
import { hubObjectBeingDeleted } from '../../propagate/controller/deletion-hold.ts';
import { marksOf } from '../../propagate/plan/copies/copy-marks.ts';
import { nameOf } from './resource-store.ts';
import type { UpkeepPass } from './upkeep-pass.ts';

/** The object that the template of a resource names. */
interface CopyKey {
  readonly apiVersion: string;
  readonly kind: string;
  readonly namespace: string;
  readonly name: string;
}

/**
 * The clusters to search, and whether found copies may be deleted. `mayDelete: false`: it is unknown whether copies are kept on purpose, so
 * they stay and are reported.
 */
interface CopySearch {
  readonly clusters: readonly string[];
  readonly mayDelete: boolean;
}

/**
 * Deletes the copies that the operator placed for a resource without a Propagation of its own: the object that the template names, in each
 * cluster. Returns why copies may still exist, a text per cluster. Empty: no copy of the resource is left.
 *
 * Only the uid that was read is deleted, with the identity that writes the copies of the resource. An object that another Propagation
 * marked, or that another resource places there, is not a copy of this resource. Nothing is deleted if the Namespace of the resource or the
 * definition of its kind is being deleted.
 */
export async function operatorCopiesLeft(
  pass: UpkeepPass,
  resource: KubernetesObject,
  { clusters, mayDelete }: CopySearch,
): Promise<readonly string[]> {
  const key = copyKeyOf(resource);
  if (key === undefined) return [`spec.template names no object, so the copies are unknown (${clusters.join(', ')})`];
  const { hub } = pass.ports;
  const { namespace } = nameOf(resource);
  const { apiVersion, kind } = resource;
  const owner = { name: resource.metadata.name, uid: resource.metadata.uid ?? '' };
  const owners = apiVersion === undefined || kind === undefined ? [] : [{ apiVersion, kind, ...owner }];
  const ending = await hubObjectBeingDeleted(hub, { namespace, owners }, pass.term.signal);
  if (ending !== undefined) return ['fault' in ending ? describeFault(ending.fault) : `${ending.reason}, so no copy is deleted`];
  const left = await Promise.all(
    clusters.map(async (cluster) => {
      const why = await deleteCopy(pass, resource, { key, cluster, mayDelete });
      return why === undefined ? undefined : `${cluster}: ${why}`;
    }),
  );
  return left.filter((why) => why !== undefined);
}

/** Deletes the copy in one cluster. Returns why it may still exist. Undefined if the cluster has no copy of the resource. */
async function deleteCopy(
  pass: UpkeepPass,
  resource: KubernetesObject,
  { key, cluster, mayDelete }: { readonly key: CopyKey; readonly cluster: string; readonly mayDelete: boolean },
): Promise<string | undefined> {
  const { ports, term } = pass;
  const member = clusterName(cluster);
  const client = pass.fleet.has(cluster) ? ports.clientOf(member, identityFor(pass, resource)) : undefined;
  if (client === undefined) return 'the cluster is not in the fleet';
  const served = ports.hub.members.objects.served(member, { group: groupOfApiVersion(key.apiVersion), kind: key.kind });
  if (served === undefined) return 'the cluster has not answered yet';
  // A cluster that does not serve a kind has no objects of it.
  if (served === 'absent' || isPlacedByAnother(pass, resource, { key, cluster })) return undefined;
  const address = { resource: served, ...(served.namespaced ? { namespace: key.namespace } : {}), name: key.name };
  const found = await client.get(address, term.signal);
  if (found.result === 'failed') return describeFault(found.fault);
  if (found.result === 'absent' || isMarkedByAnother(pass, found.object)) return undefined;
  if (!mayDelete) return 'it is unknown whether the copy is kept on purpose. To delete it, use kubectl';
  return deleteObject(pass, { client, address, object: found.object });
}

interface CopyToDelete {
  readonly client: ObjectClient;
  readonly address: ObjectAddress;
  readonly object: KubernetesObject;
}

async function deleteObject({ term }: UpkeepPass, { client, address, object }: CopyToDelete): Promise<string | undefined> {
  const { uid, deletionTimestamp } = object.metadata;
  if (deletionTimestamp !== undefined) return 'the copy is being deleted';
  const conditions = { preconditions: { uid }, cascade: 'Background', run: 'real', mayWrite: () => term.isLeading() } as const;
  const deleted = await client.delete({ ...address, ...conditions }, term.signal);
  return deleted.result === 'failed' ? describeFault(deleted.fault) : 'the copy is being deleted';
}

function copyKeyOf(resource: KubernetesObject): CopyKey | undefined {
  const at = (...path: readonly string[]) => textAt(resource, 'spec', 'template', ...path) ?? '';
  const [apiVersion, kind, name] = [at('apiVersion'), at('kind'), at('metadata', 'name')];
  if (apiVersion === '' || kind === '' || name === '') return undefined;
  return { apiVersion, kind, namespace: at('metadata', 'namespace') || nameOf(resource).namespace, name };
}

/** Returns the identity that writes the copies of a resource. As in its Propagation, a ServiceAccount requests its own work. */
function identityFor({ ports: { serviceAccount } }: UpkeepPass, resource: KubernetesObject): ActingIdentity {
  if (serviceAccount === undefined) return { runAs: { type: 'requester' } };
  const account = { namespace: nameOf(resource).namespace, name: serviceAccount };
  return { runAs: { type: 'serviceAccount', ...account }, requester: { user: userOfAccount(account), groups: [], extra: {} } };
}

/** True if a Propagation other than the deleted one of this resource wrote the object. */
function isMarkedByAnother({ ports, state }: UpkeepPass, object: KubernetesObject): boolean {
  const { propagation, source } = marksOf(object);
  if (propagation === undefined) return false;
  return source !== state.key || ports.propagations.read(state.place).result !== 'absent';
}

/** True if a resource that is not being deleted places the same object in the cluster. */
function isPlacedByAnother(
  { resources }: UpkeepPass,
  { metadata }: KubernetesObject,
  { key, cluster }: { readonly key: CopyKey; readonly cluster: string },
): boolean {
  return (resources.all() ?? []).some((other) => {
    if (other.metadata.uid === metadata.uid || other.metadata.deletionTimestamp !== undefined) return false;
    const own = copyKeyOf(other);
    return (
      own !== undefined &&
      groupOfApiVersion(own.apiVersion) === groupOfApiVersion(key.apiVersion) &&
      [own.kind === key.kind, own.namespace === key.namespace, own.name === key.name].every(Boolean) &&
      listAt(other, 'spec', 'placement', 'clusters').some((placed) => textAt(placed, 'name') === cluster)
    );
  });
}
