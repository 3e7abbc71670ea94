import { canonicalJson } from '../../core/json/canonical-json.ts';
import type { Json, JsonObject } from '../../core/json.ts';
import { labelsAt, listAt, objectAt } from '../../core/json-at.ts';
import { keyOfKind } from '../../core/kinds.ts';
import type { KubernetesObject } from '../../core/objects.ts';
import { withoutMembers, withoutValueAt, withValueAt } from '../../manifests/json-edits.ts';
import type { Manifest, ObjectKey } from '../../manifests/manifest.ts';
import { groupKindOfKey } from '../../manifests/object-key.ts';
import { portableOf } from '../../manifests/portable-object.ts';

/** The annotation in which `kubectl apply` keeps the manifest that was applied, with all values. */
const lastApplied = 'kubectl.kubernetes.io/last-applied-configuration';

/** The finalizers that the API server uses for a deletion. */
const deletionFinalizers: readonly Json[] = ['foregroundDeletion', 'orphan'];

/**
 * Returns an object of the source as the manifest from which an undo creates it again, with its owner references and finalizers. A Secret
 * has no data, and its annotations have no values.
 */
export function sourceManifestOf({ apiVersion, kind }: ObjectKey, object: KubernetesObject): Manifest {
  const typed = { ...(object as KubernetesObject & Manifest), apiVersion, kind };
  const finalizers = listAt(typed, 'metadata', 'finalizers').filter((one) => !deletionFinalizers.includes(one));
  const bare = withoutSecretData(portableOf(typed));
  const held = finalizers.length === 0 ? bare : withValueAt(bare, ['metadata', 'finalizers'], finalizers);
  return withOwners(held, listAt(typed, 'metadata', 'ownerReferences'));
}

/** Returns a manifest with these owner references in place of its own. */
export function withOwners(manifest: Manifest, owners: readonly Json[]): Manifest {
  const path = ['metadata', 'ownerReferences'];
  return owners.length === 0 ? withoutValueAt(manifest, path) : withValueAt(manifest, path, owners);
}

/**
 * Returns a Secret without its data, and with its annotations as empty texts: tools such as kapp keep all data in an annotation. The values
 * of Muster's annotations stay. Other manifests stay unchanged.
 */
export function withoutSecretData(manifest: Manifest): Manifest {
  if (!isSecretKey(manifest)) return manifest;
  const bare = withoutMembers(withoutValueAt(manifest, ['metadata', 'annotations', lastApplied]), ['data', 'stringData']);
  const annotations = Object.entries(labelsAt(bare, 'metadata', 'annotations'));
  const named = annotations.map(([name, value]) => [name, name.startsWith(ownPrefix) ? value : '']);
  return named.length === 0 ? bare : withValueAt(bare, ['metadata', 'annotations'], Object.fromEntries(named));
}

const ownPrefix = 'muster.dev/';

/**
 * Returns the annotations of a recorded Secret with the values that an object has. An annotation that the object does not have is left out.
 */
export function filledAnnotations(recorded: Manifest, object: JsonObject): Readonly<Record<string, string>> {
  const values = labelsAt(object, 'metadata', 'annotations');
  const filled = Object.entries(labelsAt(recorded, 'metadata', 'annotations')).flatMap(([name, value]) => {
    const known = name.startsWith(ownPrefix) ? value : values[name];
    return known === undefined ? [] : [[name, known]];
  });
  return Object.fromEntries(filled);
}

/** True if two manifests are equal. Of Secrets, only the metadata are compared: their mirrors have no other members. */
export function isSameManifest(a: Manifest, b: Manifest): boolean {
  return canonicalJson(comparedPart(a)) === canonicalJson(comparedPart(b));
}

function comparedPart(manifest: Manifest): JsonObject {
  return isSecretKey(manifest) ? objectAt(manifest, 'metadata') : manifest;
}

/** True for a Secret. Its data are never stored. */
export function isSecretKey(key: Pick<ObjectKey, 'apiVersion' | 'kind'>): boolean {
  return keyOfKind(groupKindOfKey(key)) === 'Secret';
}
