import type { KubernetesObject, OwnerReference } from '../../core/objects.ts';
import type { Propagation } from '../../propagate/model/propagation.ts';
import { isOwnedByName, isResourceReference } from '../multi-cluster-resource/resource-owners.ts';
import { resourceKind } from './resource-store.ts';

/**
 * The relation of a Propagation to a resource of the same name.
 *
 * - `own`: the resource owns it.
 * - `inherited`: the resource becomes its owner. The Propagation was imported from this resource, or belonged to a deleted one of this
 *   name.
 * - `foreign`: it belongs to another owner or to a user, and is not changed.
 */
export type ResourceOwnership = 'own' | 'inherited' | 'foreign';

export function ownershipOf(propagation: Propagation, resource: KubernetesObject, hub: string): ResourceOwnership {
  const { owners } = propagation.metadata;
  if (owners.some((owner) => isResourceReference(owner, resource.metadata) && owner.uid === resource.metadata.uid)) return 'own';
  if (owners.some((owner) => owner.controller === true && !isResourceReference(owner, resource.metadata))) return 'foreign';
  return isOwnedByName(propagation) || isImportedFrom(propagation, hub) ? 'inherited' : 'foreign';
}

/** Returns the owners of the Propagation with this resource as the one that controls it. */
export function ownersWith(resource: KubernetesObject, before: readonly OwnerReference[]): readonly OwnerReference[] {
  const { apiVersion, kind } = resourceKind;
  const { name, uid = '' } = resource.metadata;
  const others = before.filter((owner) => !isResourceReference(owner, { name }));
  return [...others, { apiVersion: resource.apiVersion ?? apiVersion, kind, name, uid, controller: true }];
}

/** Returns the owners of the Propagation without the resource of its own name. */
export function ownersWithoutResource({ owners, name }: Propagation['metadata']): readonly OwnerReference[] {
  return owners.filter((owner) => !isResourceReference(owner, { name }));
}

/** True if the Propagation was imported from the resource of its own namespace and name on this hub, or from its manifest. */
function isImportedFrom({ metadata, spec }: Propagation, hub: string): boolean {
  const source = 'problems' in spec ? undefined : spec.source;
  if (source?.system !== 'MultiClusterResource' || (source.cluster !== undefined && source.cluster !== hub)) return false;
  return source.objects.some(
    (object) =>
      object.kind === resourceKind.kind && object.name === metadata.name && (object.namespace ?? 'default') === metadata.namespace,
  );
}
