import { sha256OfText } from '../../../core/json/canonical-json.ts';
import type { JsonObject } from '../../../core/json.ts';
import type { KubernetesObject } from '../../../core/objects.ts';
import { observedHashOf, type Sight } from './observed.ts';
import type { RenderedCopy } from '../render-copies.ts';

/** The hash of each object, cached while the object is in memory. Objects of a mirror never change. */
const known = new WeakMap<KubernetesObject, string>();

/**
 * Returns the hash of the content of an object: without status, managedFields, resourceVersion and generation. It is equal for the object
 * from a list, a watch or a live read.
 */
export function liveHashOf(object: KubernetesObject): string {
  const before = known.get(object);
  if (before !== undefined) return before;
  // Canonical JSON would take four times as long. It is not needed, because a server prints an object in the same way in lists, watches and
  // reads.
  const hash = sha256OfText(JSON.stringify(meantOf(object)));
  known.set(object, hash);
  return hash;
}

function meantOf(object: KubernetesObject): JsonObject {
  // Items of lists have neither kind nor apiVersion.
  const { status: _status, apiVersion: _version, kind: _kind, metadata, ...rest } = object;
  const { managedFields: _fields, resourceVersion: _resource, generation: _generation, ...meant } = metadata;
  return { ...rest, metadata: meant };
}

/** The last hash per object. Objects of a mirror never change, and a plan without changes computes the same hashes again and again. */
const standing = new WeakMap<KubernetesObject, { readonly sent: string; readonly hash: string }>();

/** Returns `observedHashOf` an existing copy, cached while the object is in memory. */
export function standingHashOf(copy: RenderedCopy, object: KubernetesObject, sight: Sight): string {
  const before = standing.get(object);
  if (before?.sent === copy.hash) return before.hash;
  const hash = observedHashOf({ key: copy.key, desired: copy.manifest }, object, sight);
  standing.set(object, { sent: copy.hash, hash });
  return hash;
}
