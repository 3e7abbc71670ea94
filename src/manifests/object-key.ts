import { type GroupKind, groupOfApiVersion } from '../core/kinds.ts';
import type { NamespacedName } from '../store/member-objects.ts';
import type { Manifest, ObjectKey } from './manifest.ts';

/** Returns the key of the object that a manifest describes. */
export function keyOfManifest({ apiVersion, kind, metadata: { name, namespace } }: Manifest): ObjectKey {
  return { apiVersion, kind, ...(namespace === undefined ? {} : { namespace }), name };
}

/**
 * Returns a text for comparing keys. The text is the same for all versions of the API group. Sorted by their texts, keys are in order of
 * group, kind, namespace and name.
 */
export function textOfKey(key: ObjectKey): string {
  // No group, kind, namespace or name contains a slash.
  return `${groupOfApiVersion(key.apiVersion)}/${key.kind}/${key.namespace ?? ''}/${key.name}`;
}

/** Returns the kind of the object, without its version. */
export function groupKindOfKey({ apiVersion, kind }: Pick<ObjectKey, 'apiVersion' | 'kind'>): GroupKind {
  return { group: groupOfApiVersion(apiVersion), kind };
}

/** Returns the namespace and name by which a mirror finds the object. The namespace is empty for cluster-scoped kinds. */
export function namespacedNameOf({ namespace, name }: ObjectKey): NamespacedName {
  return { namespace: namespace ?? '', name };
}
