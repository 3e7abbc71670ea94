import { sha256OfText } from '../core/json/canonical-json.ts';
import type { JsonObject } from '../core/json.ts';
import type { KubernetesObject } from '../core/objects.ts';

/**
 * Returns the hash of the content of an object: without status, managedFields, resourceVersion and generation. The hash is the same whether
 * the object comes from a list, a watch or a live read.
 */
export function liveHashOf(object: KubernetesObject): string {
  const before = hashes.get(object);
  if (before !== undefined) return before;
  // Canonical JSON would take four times as long. It is not needed, because a server prints an object in the same way in lists, watches and
  // reads.
  const hash = sha256OfText(JSON.stringify(contentOf(object)));
  hashes.set(object, hash);
  return hash;
}

/** The hash of each object, cached while the object is in memory. Objects of a mirror never change. */
const hashes = new WeakMap<KubernetesObject, string>();

function contentOf(object: KubernetesObject): JsonObject {
  // Items of lists have neither kind nor apiVersion.
  const { status: _status, apiVersion: _version, kind: _kind, metadata, ...rest } = object;
  const { managedFields: _fields, resourceVersion: _resource, generation: _generation, ...meant } = metadata;
  return { ...rest, metadata: meant };
}
