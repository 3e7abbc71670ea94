import type { V1ObjectMeta, V1OwnerReference } from '@kubernetes/client-node';
import type { Json, JsonObject } from './json.ts';
import type { Stored } from './stored.ts';

/** The metadata of an object in a mirror: as the server sent it, without `managedFields`. */
export type ObjectMetadata = JsonObject & Stored<V1ObjectMeta> & { readonly name: string };

export type OwnerReference = Stored<V1OwnerReference>;

/**
 * One object of a cluster, as the server sent it. It is shared by all readers of a mirror and never changed.
 *
 * Items in lists of built-in kinds have no `kind` and no `apiVersion`. Take both from the kind of the list.
 */
export interface KubernetesObject extends JsonObject {
  readonly apiVersion?: string;
  readonly kind?: string;
  readonly metadata: ObjectMetadata;
}

/** An object with the fields of a client-node model. */
export type TypedObject<T> = KubernetesObject & Stored<T>;

/** The fields that identify an object and its state. `namespace` is `''` for cluster-scoped kinds. `uid` is `''` if the object has none. */
export interface ObjectIdentity {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  readonly version: string;
}

/** Returns the identity of an object. */
export function identityOf({ metadata }: KubernetesObject): ObjectIdentity {
  return { namespace: metadata.namespace ?? '', name: metadata.name, uid: metadata.uid ?? '', version: metadata.resourceVersion ?? '' };
}

/** True if the value is an object with a `metadata.name`, as every Kubernetes object is. */
export function isKubernetesObject(value: Json | undefined): value is KubernetesObject {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false;
  const metadata = (value as JsonObject).metadata;
  return (
    typeof metadata === 'object' &&
    metadata !== null &&
    typeof (metadata as JsonObject).name === 'string' &&
    (metadata as JsonObject).name !== ''
  );
}
