import type { KubernetesObject } from '../../core/objects.ts';
import { observedHashOf, type Sight } from '../copies/observed.ts';
import type { RenderedCopy } from './render-copies.ts';

/** For each object the last thing that was asked of it: mirrors never change an object, and what is at rest is asked the same again and again. */
const known = new WeakMap<KubernetesObject, { readonly sent: string; readonly hash: string }>();

/** `observedHashOf` a copy that stands there, remembered as long as the object lives. */
export function standingHashOf(copy: RenderedCopy, object: KubernetesObject, sight: Sight): string {
  const before = known.get(object);
  if (before?.sent === copy.hash) return before.hash;
  const hash = observedHashOf({ key: copy.key, desired: copy.manifest }, object, sight);
  known.set(object, { sent: copy.hash, hash });
  return hash;
}
