import { canonicalJson, sha256OfText } from '../../core/json/canonical-json.ts';
import type { Json } from '../../core/json.ts';
import { textOfKey } from '../object-key.ts';
import type { LeavingCluster, RenderedCluster, RenderedObject } from '../plan.ts';
import { printSpec } from '../spec/definition.ts';
import type { PropagationSpec } from '../spec.ts';

/** What a digest stands for. */
export interface DigestedPlan {
  readonly spec: PropagationSpec;
  readonly clusters: readonly RenderedCluster[];
  readonly leaving: readonly LeavingCluster[];
}

/** The intent on the hub that a plan replaces. */
export interface ReplacedIntent {
  readonly uid: string;
  readonly generation: number;
}

/**
 * SHA-256 over what docs/internals/propagation.md 4 names: the spec, but not who asked and when; of each cluster its count and wave; of each object its action, the hash
 * of what is sent, and uid and hash of what stands there. So capacities, scores and times do not move it. The intent that is replaced is not in it.
 */
export function contentDigestOf({ spec, clusters, leaving }: DigestedPlan): string {
  const { requester: _requester, ...asked } = spec;
  const chosen = clusters.map(({ chosen: { cluster }, share, wave, objects, fault }): Json => {
    return [cluster, share?.to ?? null, share?.completions ?? null, wave, fault === undefined, objects.map(linesOf)];
  });
  const going = leaving.map(({ cluster, objects }): Json => [cluster, objects.map(linesOf)]);
  // Lists of texts and numbers are canonical as they are printed: no keys, and no numbers but small whole ones.
  const text = `[${canonicalJson(printSpec(asked))},${JSON.stringify(chosen)},${JSON.stringify(going)}]`;
  return sha256OfText(text);
}

/**
 * The digest of a plan, over its content and the intent that it replaces. So the plan of one editor is stale when another editor was first. `replaced` is
 * undefined if there is no such intent yet.
 */
export function digestOf(content: string, replaced: ReplacedIntent | undefined): string {
  return replaced === undefined ? content : sha256OfText(`${content} ${replaced.uid} ${replaced.generation}`);
}

/**
 * The digests by which the plan of a recorded generation may have been requested. The plan was made earlier, when the hub had the previous generation or
 * none. It was made from this generation itself if only the requested digest was changed.
 */
export function digestsOf(content: string, { uid, generation }: ReplacedIntent): readonly string[] {
  const before = generation <= 1 ? undefined : { uid, generation: generation - 1 };
  return [digestOf(content, before), digestOf(content, { uid, generation })];
}

function linesOf({ key, action, held, desiredHash, liveUid, liveHash }: RenderedObject): Json {
  return [textOfKey(key), action, held ?? null, desiredHash, liveUid ?? null, liveHash ?? null];
}
