import { keyOfKind } from '../../core/kinds.ts';
import { itemsOf } from '../../core/stored.ts';
import type { ObjectKey } from '../../manifests/manifest.ts';
import { groupKindOfKey } from '../../manifests/object-key.ts';
import { partKinds } from './app-kinds.ts';
import type { DiscoveredObject } from './source-objects.ts';

/**
 * The kinds of objects that may stay when a migration deletes their owner. Owned objects that run Pods, such as ReplicaSets, are deleted
 * with the owner.
 */
export const outlivingKinds = Object.values(partKinds);

/** An object that a migration deletes. */
export interface DeletedOwner {
  readonly key: ObjectKey;
  readonly uid: string;
}

/**
 * The built-in workloads. Their controllers create only Pods, ReplicaSets, ControllerRevisions and claims. No controller creates another
 * object that they own again.
 */
const builtInWorkloads: ReadonlySet<string> = new Set(['Deployment.apps', 'StatefulSet.apps', 'ReplicaSet.apps', 'ReplicationController']);

/**
 * True if Kubernetes would delete an object of `outlivingKinds` together with its owner, and a migration must prevent that. False for an
 * object that the controller of a custom workload created: that controller creates it in the other cluster too. Claims are always kept.
 */
export function isKeptFromOwner({ key, object }: DiscoveredObject, owner: DeletedOwner): boolean {
  const reference = itemsOf(object.metadata.ownerReferences).find(({ uid }) => uid === owner.uid);
  if (reference === undefined) return false;
  return isClaimKey(key) || reference.controller !== true || builtInWorkloads.has(keyOfKind(groupKindOfKey(owner.key)));
}

/** True for a PersistentVolumeClaim. Neither a migration nor its undo deletes a claim. */
export function isClaimKey(key: Pick<ObjectKey, 'apiVersion' | 'kind'>): boolean {
  return keyOfKind(groupKindOfKey(key)) === keyOfKind(partKinds.claim);
}
