import { sha256OfText } from '../../core/json/canonical-json.ts';
import type { ClusterName } from '../../core/names.ts';
import { textOfKey } from '../../manifests/object-key.ts';
import { type ClusterShare, type InventoryEntry, isBeingRemoved } from '../model/inventory.ts';
import type { RenderedObject, RenderedPlan } from '../model/plan.ts';
import { type HeldPrune, marks, type Propagation } from '../model/propagation.ts';
import { isRemoval } from '../plan/held-prune.ts';
import type { PlanVerdict } from './state/propagation-state.ts';

/** What a plan would take away, as far as nobody began to. */
export type OpenPrune = Pick<HeldPrune, 'objects' | 'clusters'>;

/**
 * What of the inventory a plan takes away and is not on its way yet, by cluster, key and uid: it stays the same whatever else of the plan changes. In
 * clusters that are no members nothing can go: they are not in it.
 */
export function openPrune(
  { clusters, leaving }: Pick<RenderedPlan, 'clusters' | 'leaving'>,
  shares: ReadonlyMap<ClusterName, ClusterShare>,
  isMember: (cluster: ClusterName) => boolean,
): OpenPrune {
  const all = [...clusters.map(({ chosen, objects }) => ({ cluster: chosen.cluster, objects })), ...leaving];
  const found = all
    .filter(({ cluster }) => isMember(cluster))
    .map(({ cluster, objects }) => ({ cluster, proofs: proofsOf(objects, shares.get(cluster)) }))
    .filter(({ proofs }) => proofs.length > 0)
    .sort((a, b) => (a.cluster < b.cluster ? -1 : 1));
  return {
    objects: found.reduce((sum, { proofs }) => sum + proofs.length, 0),
    clusters: found.map(({ cluster, proofs }) => ({ cluster, digest: shortHashOf(proofs) })),
  };
}

/** Whether that prune was confirmed: by the digest of one that was held, which had all of it, or what is left of it. */
export function isConfirmed({ clusters }: OpenPrune, held: HeldPrune | undefined, confirmed: string | undefined): boolean {
  if (held === undefined || held.digest !== confirmed) return false;
  const known = new Map(held.clusters.map(({ cluster, digest }) => [cluster, digest]));
  return clusters.every(({ cluster, digest }) => known.get(cluster) === digest);
}

/** The prune as it is held: the one that is held already if it is the same, else one that begins now. What was confirmed once confirms none that comes later. */
export function heldPruneOf(prune: OpenPrune, before: HeldPrune | undefined, nowMs: number): HeldPrune {
  const said = textOfClusters(prune);
  if (before !== undefined && textOfClusters(before) === said) return before;
  const since = new Date(nowMs).toISOString();
  return { digest: sha256OfText(`${since}\n${said}`), since, ...prune };
}

/** What later prunes of the generation are judged by: the most that stood at once since it was decided; since what was confirmed is on its way, what stands. */
export function mostObjectsOf(
  { metadata, status }: Propagation,
  { existing, isKept, verdict }: { readonly existing: number; readonly isKept: boolean; readonly verdict: PlanVerdict },
): number {
  const { prune, mostObjects = 0 } = status;
  const isConfirmedOnce = prune !== undefined && prune.digest === metadata.annotations[marks.confirmPrune];
  const isOver = isConfirmedOnce && verdict.result === 'do' && verdict.prune === undefined;
  return isKept && !isOver ? Math.max(mostObjects, existing) : existing;
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
