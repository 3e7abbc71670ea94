import { canonicalJson, sha256OfText } from '../../core/json/canonical-json.ts';
import type { Json } from '../../core/json.ts';
import { textOfKey } from '../../manifests/object-key.ts';
import type { LeavingCluster, RenderedCluster, RenderedObject } from '../model/plan.ts';
import { type PropagationSpec, printSpec } from '../model/spec.ts';
import type { ReplacedIntent } from './snapshot/plan-request.ts';

/** The content of a plan that its digest covers. */
export interface DigestedPlan {
  readonly spec: PropagationSpec;
  readonly clusters: readonly RenderedCluster[];
  readonly leaving: readonly LeavingCluster[];
}

/**
 * Returns SHA-256 over the content of a plan (docs/internals/propagation.md 4):
 *
 * - the spec without its requester and its `source`,
 * - the replicas and the wave of each cluster,
 * - the action and the manifest hash of each object, with uid and hash of the existing object.
 *
 * Capacities, scores and times do not change the digest. The intent that is replaced is not included: `planDigestOf` adds it.
 */
export function contentDigestOf({ spec, clusters, leaving }: DigestedPlan): string {
  const { requester: _requester, source: _source, ...content } = spec;
  const chosen = clusters.map(({ chosen: { cluster }, share, wave, objects, fault }): Json => {
    return [cluster, share?.to ?? null, share?.completions ?? null, wave, fault === undefined, objects.map(digestLineOf)];
  });
  const removals = leaving.map(({ cluster, objects }): Json => [cluster, objects.map(digestLineOf)]);
  // Lists of texts and small whole numbers have no keys to sort, so their plain JSON is canonical already.
  const text = `[${canonicalJson(printSpec(content))},${JSON.stringify(chosen)},${JSON.stringify(removals)}]`;
  return sha256OfText(text);
}

/**
 * Returns the digest of a plan, over its content and the intent that it replaces. So the plan of one editor is outdated when another editor
 * was first. `replaced` is undefined if there is no such intent yet.
 */
export function planDigestOf(content: string, replaced: ReplacedIntent | undefined): string {
  return replaced === undefined ? content : sha256OfText(`${content} ${replaced.uid} ${replaced.generation}`);
}

/**
 * Returns the digests by which the plan of a recorded generation may have been requested.
 *
 * Usually a user requests a plan and then saves its spec, so the hub had the previous generation at the time of the plan, or no intent. If
 * the spec was saved before the plan, and only the digest after it, the hub had this generation already.
 */
export function possibleDigestsOf(content: string, { uid, generation }: ReplacedIntent): readonly string[] {
  const before = generation <= 1 ? undefined : { uid, generation: generation - 1 };
  return [planDigestOf(content, before), planDigestOf(content, { uid, generation })];
}

function digestLineOf({ key, action, held, desiredHash, liveUid, liveHash }: RenderedObject): Json {
  return [textOfKey(key), action, held ?? null, desiredHash, liveUid ?? null, liveHash ?? null];
}
