import { sha256OfText } from '../../core/json/canonical-json.ts';
import type { RenderedObject } from '../model/plan.ts';
import { isRemoval } from '../plan/held-prune.ts';

const hashes = new WeakMap<readonly unknown[], string>();

/**
 * Stands for what is wanted in one cluster, whatever goes from there: a rollout's mark is of that alone. Made once for each list, which nobody changes.
 */
export function wantedHashOf(objects: readonly Pick<RenderedObject, 'action' | 'desiredHash'>[]): string {
  const known = hashes.get(objects);
  if (known !== undefined) return known;
  const wanted = objects.filter((object) => !isRemoval(object)).map(({ desiredHash }) => desiredHash);
  const hash = sha256OfText(JSON.stringify(wanted)).slice(0, 32);
  hashes.set(objects, hash);
  return hash;
}
