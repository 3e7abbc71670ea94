import type { Json } from '../../core/json.ts';
import { textOfKey } from '../object-key.ts';
import type { LeavingCluster, RenderedCluster, RenderedObject } from '../plan.ts';
import { canonicalJson, sha256OfText } from '../rendering/canonical.ts';
import { printSpec } from '../spec/print-spec.ts';
import type { PropagationSpec } from '../spec.ts';

/** What a digest stands for. */
export interface DigestedPlan {
  readonly spec: PropagationSpec;
  readonly clusters: readonly RenderedCluster[];
  readonly leaving: readonly LeavingCluster[];
}

/**
 * SHA-256 over what propagation.md 4 names: the spec, but not who asked and when; of each cluster its count and wave; of each object its action, the hash
 * of what is sent, and uid and hash of what stands there. So capacities, scores and times do not move it.
 */
export function digestOf({ spec, clusters, leaving }: DigestedPlan): string {
  const { requester: _requester, ...asked } = spec;
  const chosen = clusters.map(({ chosen: { cluster }, share, wave, objects, fault }): Json => {
    return [cluster, share?.to ?? null, share?.completions ?? null, wave, fault === undefined, objects.map(linesOf)];
  });
  const going = leaving.map(({ cluster, objects }): Json => [cluster, objects.map(linesOf)]);
  // Lists of texts and numbers are canonical as they are printed: no keys, and no numbers but small whole ones.
  const text = `[${canonicalJson(printSpec(asked))},${JSON.stringify(chosen)},${JSON.stringify(going)}]`;
  return sha256OfText(text);
}

function linesOf({ key, action, held, desiredHash, liveUid, liveHash }: RenderedObject): Json {
  return [textOfKey(key), action, held ?? null, desiredHash, liveUid ?? null, liveHash ?? null];
}
