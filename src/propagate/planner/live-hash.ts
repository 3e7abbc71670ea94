import { sha256OfText } from '../../core/canonical-json.ts';
import type { JsonObject } from '../../core/json.ts';
import type { KubernetesObject } from '../../core/objects.ts';

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
