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
import { currentObjectOf } from '../api-versions/current-api.ts';
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
 * The clusters to search for copies, and whether found copies may be deleted. `mayDelete: false`: it is unknown whether they must stay, so they stay
 * and are reported.
 */
interface CopySearch {
  readonly clusters: readonly string[];
  readonly mayDelete: boolean;
}

/**
 * Deletes the copies that the operator placed for a resource whose Propagation does not exist. A copy is the object that the template names, in each
 * of the clusters. Returns a text for each cluster in which a copy may still exist, with the reason. Empty: no copy is left.
 *
 * Only the uid that was read is deleted, with the identity that writes the copies of the resource. An object that another Propagation has marked, or
 * that another resource places there, is no copy of this resource. Nothing is deleted while the Namespace of the resource or the definition of its
 * kind is being deleted.
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
  if (served === 'absent') return undefined;
  const resources = pass.resources.all();
  if (resources === undefined) return 'the resources of the hub are unread, so one of them may place the same object';
  if (resources.some((other) => isPlacedBy(pass, other, { resource, key, cluster, isNamespaced: served.namespaced }))) return undefined;
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
  const key = templateKeyOf(resource);
  return key.apiVersion === '' || key.kind === '' || key.name === '' ? undefined : key;
}

/**
 * Returns the key of the object in the template, in the version that clusters serve: an `extensions/v1beta1` Deployment is one of `apps/v1`.
 * The texts that the template lacks are empty.
 */
function templateKeyOf(resource: KubernetesObject): CopyKey {
  const at = (...path: readonly string[]) => textAt(resource, 'spec', 'template', ...path) ?? '';
  const namespace = at('metadata', 'namespace') || nameOf(resource).namespace;
  const written = { apiVersion: at('apiVersion'), kind: at('kind') };
  const apiVersion = textAt(currentObjectOf(written, '').object, 'apiVersion') ?? '';
  return { apiVersion, kind: written.kind, namespace, name: at('metadata', 'name') };
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
  return source !== state.key || ports.propagations.read(state.name).result !== 'absent';
}

interface PlacedCopy {
  readonly resource: KubernetesObject;
  readonly key: CopyKey;
  readonly cluster: string;
  readonly isNamespaced: boolean;
}

/**
 * True if `other` is another resource, is not being deleted, and places the same object in the cluster. Counts broken resources too, because
 * the operator may have placed their objects before they broke. A template without an apiVersion or a kind matches objects of every kind. The
 * namespaces of cluster-scoped objects do not matter.
 */
function isPlacedBy({ ports, fleet }: UpkeepPass, other: KubernetesObject, { resource, key, cluster, isNamespaced }: PlacedCopy): boolean {
  if (other.metadata.uid === resource.metadata.uid || other.metadata.deletionTimestamp !== undefined) return false;
  const own = templateKeyOf(other);
  const isSameKind =
    (own.apiVersion === '' || groupOfApiVersion(own.apiVersion) === groupOfApiVersion(key.apiVersion)) &&
    (own.kind === '' || own.kind === key.kind);
  if (!isSameKind || own.name !== key.name || (isNamespaced && own.namespace !== key.namespace)) return false;
  const names = listAt(other, 'spec', 'placement', 'clusters').map((placed) => textAt(placed, 'name') ?? '');
  // A resource without a usable name is placed in the main cluster, which is the hub (`multiClusterResourceImporter`).
  const isInHub = cluster === ports.hub.cluster && !names.some((name) => fleet.has(name));
  return isInHub || names.includes(cluster);
}
