import { sha256OfText } from '../../core/json/canonical-json.ts';
import type { ClusterName } from '../../core/names.ts';
import { textOfKey } from '../../manifests/object-key.ts';
import { type ClusterShare, type InventoryEntry, isBeingRemoved } from '../model/inventory.ts';
import type { RenderedObject, RenderedPlan } from '../model/plan.ts';
import { type HeldPrune, marks, type Propagation } from '../model/propagation.ts';
import { isRemoval, movingClusters } from '../plan/held-prune.ts';
import type { PlanVerdict } from './state/propagation-state.ts';

/** The copies that a plan deletes and whose deletion has not started yet. */
export type OpenPrune = Pick<HeldPrune, 'objects' | 'clusters'>;

/**
 * Collects the deletions of a plan that have not started yet, identified by cluster, key and uid. The result does not depend on other parts
 * of the plan. Clusters that are no members are left out, because no copy can be deleted there. So are copies that move to other clusters.
 */
export function openPrune(
  { clusters, leaving }: Pick<RenderedPlan, 'clusters' | 'leaving'>,
  shares: ReadonlyMap<ClusterName, ClusterShare>,
  isMember: (cluster: ClusterName) => boolean,
): OpenPrune {
  const all = [...clusters.map(({ chosen, objects }) => ({ cluster: chosen.cluster, objects })), ...leaving];
  const moving = movingClusters(leaving);
  const found = all
    .filter(({ cluster }) => isMember(cluster) && !moving.has(cluster))
    .map(({ cluster, objects }) => ({ cluster, proofs: proofsOf(objects, shares.get(cluster)) }))
    .filter(({ proofs }) => proofs.length > 0)
    .sort((a, b) => (a.cluster < b.cluster ? -1 : 1));
  return {
    objects: found.reduce((sum, { proofs }) => sum + proofs.length, 0),
    clusters: found.map(({ cluster, proofs }) => ({ cluster, digest: shortHashOf(proofs) })),
  };
}

/**
 * True if a user confirmed this prune: the confirmed digest is that of `held`, and `held` has the same deletions in each cluster of this
 * prune.
 */
export function isConfirmed({ clusters }: OpenPrune, held: HeldPrune | undefined, confirmed: string | undefined): boolean {
  if (held === undefined || held.digest !== confirmed) return false;
  const known = new Map(held.clusters.map(({ cluster, digest }) => [cluster, digest]));
  return clusters.every(({ cluster, digest }) => known.get(cluster) === digest);
}

/**
 * Returns the held prune of the status if it has the same deletions, else a new held prune with a digest of its own. A confirmation of an
 * earlier prune does not count for a later one.
 */
export function heldPruneOf(prune: OpenPrune, before: HeldPrune | undefined, nowMs: number): HeldPrune {
  const text = textOfClusters(prune);
  if (before !== undefined && textOfClusters(before) === text) return before;
  const since = new Date(nowMs).toISOString();
  return { digest: sha256OfText(`${since}\n${text}`), since, ...prune };
}

/**
 * Returns the number of copies with which later prunes of this generation are compared: a prune of a large part of them is held. It is the
 * largest number of copies since the generation was decided. Once all deletions of a confirmed prune have started, it is the number of
 * existing copies. Copies that move to other clusters do not count.
 */
export function maxObjectsOf(
  { metadata, status }: Propagation,
  {
    existing,
    moved,
    wasDecided,
    verdict,
  }: { readonly existing: number; readonly moved: number; readonly wasDecided: boolean; readonly verdict: PlanVerdict },
): number {
  const { prune, mostObjects = 0 } = status;
  const isConfirmedOnce = prune !== undefined && prune.digest === metadata.annotations[marks.confirmPrune];
  const isOver = isConfirmedOnce && verdict.result === 'do' && verdict.prune === undefined;
  return wasDecided && !isOver ? Math.max(mostObjects - moved, existing) : existing;
}

function proofsOf(objects: readonly RenderedObject[], share: ClusterShare | undefined): readonly string[] {
  const entries = new Map(share?.entries.map((entry) => [textOfKey(entry.key), entry]));
  return objects
    .filter(isRemoval)
    .flatMap(({ key }) => proofOf(entries.get(textOfKey(key))) ?? [])
    .sort();
}

function proofOf(entry: InventoryEntry | undefined): string | undefined {
  if (entry === undefined || isBeingRemoved(entry)) return undefined;
  return JSON.stringify([textOfKey(entry.key), entry.uid ?? null, entry.uid === undefined ? (entry.intent ?? null) : null]);
}

function textOfClusters({ clusters }: OpenPrune): string {
  return JSON.stringify(clusters.map(({ cluster, digest }) => [cluster, digest]));
}

function shortHashOf(proofs: readonly string[]): string {
  return sha256OfText(proofs.join('\n')).slice(0, 32);
}
