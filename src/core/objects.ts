import type { V1ObjectMeta, V1OwnerReference } from '@kubernetes/client-node';
import type { Json, JsonObject } from './json.ts';
import type { Stored } from './stored.ts';

/** The metadata of an object as it is held: as served, without `managedFields`. */
export type ObjectMetadata = JsonObject & Stored<V1ObjectMeta> & { readonly name: string };

export type OwnerReference = Stored<V1OwnerReference>;

/**
 * One object of a cluster, as served. Items of lists of built-in kinds carry neither `kind` nor `apiVersion`: who needs them takes them from
 * the kind. Shared by all readers of a mirror: nobody changes it.
 */
export interface KubernetesObject extends JsonObject {
  readonly apiVersion?: string;
  readonly kind?: string;
  readonly metadata: ObjectMetadata;
}

/** An object of a built-in kind. */
export type TypedObject<T> = KubernetesObject & Stored<T>;

/** What tells an object and its state apart without reading the rest. `namespace` is `''` for cluster-scoped ones, `uid` for what has none. */
export interface ObjectIdentity {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  readonly version: string;
}

/** The identity of an object. */
export function identityOf({ metadata }: KubernetesObject): ObjectIdentity {
  return { namespace: metadata.namespace ?? '', name: metadata.name, uid: metadata.uid ?? '', version: metadata.resourceVersion ?? '' };
}

/** True if the value has the shape every object has: an object with `metadata.name`. */
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
