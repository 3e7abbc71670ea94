import { type GroupKind, groupOf } from '../core/kinds.ts';
import type { ObjectPlace } from '../store/member-objects.ts';
import type { Manifest, ObjectKey } from './spec.ts';

/** The key of what a manifest describes. */
export function keyOfManifest({ apiVersion, kind, metadata: { name, namespace } }: Manifest): ObjectKey {
  return { apiVersion, kind, ...(namespace === undefined ? {} : { namespace }), name };
}

/**
 * A text that is equal for keys of the same object in a cluster: whatever version of its group it is named in. Sorts by group, kind, namespace, name.
 */
export function textOfKey(key: ObjectKey): string {
  // None of the parts can hold a slash.
  return `${groupOf(key.apiVersion)}/${key.kind}/${key.namespace ?? ''}/${key.name}`;
}

/** The kind of what is named, in whatever version. */
export function kindOfKey({ apiVersion, kind }: Pick<ObjectKey, 'apiVersion' | 'kind'>): GroupKind {
  return { group: groupOf(apiVersion), kind };
}

/** Where it stands in a mirror. */
export function placeOfKey({ namespace, name }: ObjectKey): ObjectPlace {
  return { namespace: namespace ?? '', name };
}
