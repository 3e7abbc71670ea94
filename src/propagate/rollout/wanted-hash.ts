import { sha256OfText } from '../../core/json/canonical-json.ts';
import type { RenderedObject } from '../model/plan.ts';
import { isRemoval } from '../plan/held-prune.ts';

const hashes = new WeakMap<readonly unknown[], string>();

/**
 * Returns a hash of the objects that are wanted in one cluster. Deletions do not count. Cached per list, because a rendered list never
 * changes.
 */
export function wantedHashOf(objects: readonly Pick<RenderedObject, 'action' | 'desiredHash'>[]): string {
  const known = hashes.get(objects);
  if (known !== undefined) return known;
  const wanted = objects.filter((object) => !isRemoval(object)).map(({ desiredHash }) => desiredHash);
  const hash = sha256OfText(JSON.stringify(wanted)).slice(0, 32);
  hashes.set(objects, hash);
  return hash;
}
