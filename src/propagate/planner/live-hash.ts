import { sha256OfText } from '../../core/json/canonical-json.ts';
import type { JsonObject } from '../../core/json.ts';
import type { KubernetesObject } from '../../core/objects.ts';
import { observedHashOf, type Sight } from '../copies/observed.ts';
import type { RenderedCopy } from './render-copies.ts';

/** Objects of a mirror never change, so what was hashed once is known as long as the mirror holds it. */
const known = new WeakMap<KubernetesObject, string>();

/**
 * The hash of what somebody may have meant by an object: all of it but status, managedFields, resourceVersion and generation. So it is the same whether it
 * comes from a list, a watch or a live read.
 */
export function liveHashOf(object: KubernetesObject): string {
  const before = known.get(object);
  if (before !== undefined) return before;
  // Not canonical, which takes four times as long: a server prints an object the same way in lists, watches and reads.
  const hash = sha256OfText(JSON.stringify(meantOf(object)));
  known.set(object, hash);
  return hash;
}

function meantOf(object: KubernetesObject): JsonObject {
  // Items of lists carry neither kind nor apiVersion.
  const { status: _status, apiVersion: _version, kind: _kind, metadata, ...rest } = object;
  const { managedFields: _fields, resourceVersion: _resource, generation: _generation, ...meant } = metadata;
  return { ...rest, metadata: meant };
}

/** For each object the last thing that was asked of it: mirrors never change an object, and what is at rest is asked the same again and again. */
const standing = new WeakMap<KubernetesObject, { readonly sent: string; readonly hash: string }>();

/** `observedHashOf` a copy that stands there, remembered as long as the object lives. */
export function standingHashOf(copy: RenderedCopy, object: KubernetesObject, sight: Sight): string {
  const before = standing.get(object);
  if (before?.sent === copy.hash) return before.hash;
  const hash = observedHashOf({ key: copy.key, desired: copy.manifest }, object, sight);
  standing.set(object, { sent: copy.hash, hash });
  return hash;
}
