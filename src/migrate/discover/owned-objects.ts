import type { JsonObject } from '../../core/json.ts';
import { objectAt } from '../../core/json-at.ts';
import { type GroupKind, keyOfKind } from '../../core/kinds.ts';
import type { KubernetesObject } from '../../core/objects.ts';
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
 * The built-in kinds that applications can be. Their controllers create only Pods, ReplicaSets, ControllerRevisions and claims, so they would
 * not create any other object that a workload owns again.
 */
const builtInWorkloads: ReadonlySet<string> = new Set(['Deployment.apps', 'StatefulSet.apps', 'ReplicaSet.apps', 'ReplicationController']);

/**
 * True if Kubernetes would delete an object of `outlivingKinds` together with its owner, and a migration must prevent that. False for an
 * object that the controller of a custom workload created: that controller creates it in the other cluster too. Claims are always kept.
 */
export function isKeptFromOwner({ key, object }: DiscoveredObject, owner: DeletedOwner): boolean {
  const reference = itemsOf(object.metadata.ownerReferences).find(({ uid }) => uid === owner.uid);
  if (reference === undefined) return false;
  return isClaimKey(key) || reference.controller !== true || isBuiltInWorkload(owner.key);
}

/**
 * Returns a StatefulSet that a custom workload owns and that deletes its claims when it is scaled down or deleted. The migration of the
 * workload would delete these claims: the controller of the workload may undo a change of the StatefulSet. Undefined if there is none.
 */
export function claimDeleterOf<Set extends Pick<DiscoveredObject, 'object'>>(
  workload: DiscoveredObject,
  statefulSets: readonly Set[],
): Set | undefined {
  const { uid, namespace } = workload.object.metadata;
  if (uid === undefined || isBuiltInWorkload(workload.key)) return undefined;
  return statefulSets.find(({ object }) => {
    const { metadata, spec } = object as KubernetesObject & { readonly spec?: JsonObject };
    const policy = Object.values(objectAt({ ...spec }, 'persistentVolumeClaimRetentionPolicy'));
    return (
      metadata.namespace === namespace && policy.includes('Delete') && itemsOf(metadata.ownerReferences).some((one) => one.uid === uid)
    );
  });
}

/** True for a built-in kind that applications can be: Deployment, StatefulSet, ReplicaSet or ReplicationController. */
export function isBuiltInWorkload(key: Pick<ObjectKey, 'apiVersion' | 'kind'>): boolean {
  return builtInWorkloads.has(keyOfKind(groupKindOfKey(key)));
}

/** The kind of the objects that `claimDeleterOf` searches. */
export const statefulSetKind = { group: 'apps', kind: 'StatefulSet' } as const satisfies GroupKind;

/** Returns why a custom workload with this StatefulSet of `claimDeleterOf` does not move. */
export function claimDeleterMessage(name: string): string {
  return `its StatefulSet ${name} would delete claims: set both members of its persistentVolumeClaimRetentionPolicy to Retain`;
}

/** True for a PersistentVolumeClaim. Neither a migration nor its undo deletes a claim. */
export function isClaimKey(key: Pick<ObjectKey, 'apiVersion' | 'kind'>): boolean {
  return keyOfKind(groupKindOfKey(key)) === keyOfKind(partKinds.claim);
}
