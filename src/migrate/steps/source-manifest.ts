import { canonicalJson } from '../../core/json/canonical-json.ts';
import type { JsonObject } from '../../core/json.ts';
import { objectAt } from '../../core/json-at.ts';
import { keyOfKind } from '../../core/kinds.ts';
import type { KubernetesObject } from '../../core/objects.ts';
import { withoutValueAt } from '../../manifests/json-edits.ts';
import type { Manifest, ObjectKey } from '../../manifests/manifest.ts';
import { groupKindOfKey } from '../../manifests/object-key.ts';
import { portableOf } from '../../manifests/portable-object.ts';

/** The annotation in which `kubectl apply` keeps the manifest that was applied, with all values. */
const lastApplied = 'kubectl.kubernetes.io/last-applied-configuration';

/** Returns an object of the source as the manifest from which an undo creates it again. A Secret has no data. */
export function sourceManifestOf({ apiVersion, kind }: ObjectKey, object: KubernetesObject): Manifest {
  return withoutSecretData(portableOf({ ...(object as KubernetesObject & Manifest), apiVersion, kind }));
}

/** Returns a Secret without the members that contain its data. Other manifests stay unchanged. */
export function withoutSecretData(manifest: Manifest): Manifest {
  if (!isSecretKey(manifest)) return manifest;
  const { data: _data, stringData: _stringData, ...rest } = manifest;
  return withoutValueAt(rest as Manifest, ['metadata', 'annotations', lastApplied]);
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
