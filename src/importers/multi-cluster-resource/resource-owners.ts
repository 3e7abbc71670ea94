import { groupOfApiVersion } from '../../core/kinds.ts';
import type { OwnerReference } from '../../core/objects.ts';
import type { Propagation } from '../../propagate/model/propagation.ts';

/** True for the kind MultiClusterResource, in any version. */
export function isMultiClusterResourceKind({ apiVersion = '', kind }: Pick<OwnerReference, 'apiVersion' | 'kind'>): boolean {
  return kind === 'MultiClusterResource' && groupOfApiVersion(apiVersion) === 'mulitcluster.practice.com';
}

/** True if the owner is a MultiClusterResource of this name. */
export function isResourceReference(owner: OwnerReference, resource: { readonly name: string }): boolean {
  return isMultiClusterResourceKind(owner) && owner.name === resource.name;
}

/** True if a MultiClusterResource with the name of the Propagation owns it, whether or not that resource still exists. */
export function isOwnedByName({ metadata }: Pick<Propagation, 'metadata'>): boolean {
  return metadata.owners.some((owner) => isResourceReference(owner, metadata));
}
