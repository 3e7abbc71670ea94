import type { ClusterName } from '../../core/names.ts';
import { textOfKey } from '../../manifests/object-key.ts';
import { type ClusterShare, isBeingRemoved } from '../model/inventory.ts';
import type { LeavingCluster, RenderedCluster, RenderedObject } from '../model/plan.ts';

/** The facts that decide whether a prune is held. */
interface PruneFacts {
  /** The whole inventory. */
  readonly shares: readonly ClusterShare[];
  readonly clusters: readonly RenderedCluster[];
  /**
   * Clusters from which all copies are removed. Includes clusters outside the fleet, whose copies are removed when these clusters are back.
   */
  readonly leaving: readonly LeavingCluster[];
  /** Clusters outside the fleet that may still match the placement. Their copies stay. */
  readonly away: readonly ClusterName[];
  /**
   * The largest number of existing copies since this generation was decided (`PropagationStatus.mostObjects`). Default: the current number.
   */
  readonly mostObjects?: number | undefined;
}

const maxPercent = 30;
const maxUnconfirmed = 3;

/**
 * Returns why a prune must be confirmed first (docs/internals/propagation.md 5.4). Undefined: no confirmation is needed.
 *
 * A prune is held if the intent wants no object in any cluster any more. It is also held if it would delete more than three copies and more
 * than 30 % of them. The 30 % are of the largest number of copies since the generation was decided (`mostObjects`). Copies deleted since
 * then count as deletions too, so that deletions one by one are held as well. Copies that are being deleted already do not count as
 * existing. Copies that move to other clusters do not count at all.
 */
export function reasonToHoldPrune({ shares: all, clusters, leaving: unwanted, away, mostObjects = 0 }: PruneFacts): string | undefined {
  const moving = movingClusters(unwanted);
  const shares = all.filter(({ cluster }) => !moving.has(cluster));
  const leaving = unwanted.filter(({ cluster }) => !moving.has(cluster));
  const entries = shares.flatMap((share) => share.entries);
  if (entries.length === 0) return undefined;
  const isWanted =
    away.length > 0 || clusters.some(({ objects, fault }) => fault !== undefined || objects.some((object) => !isRemoval(object)));
  if (!isWanted) return `the intent wants no object in any cluster, but ${entries.length} objects exist`;
  const copyCount = countCopies(shares);
  const beingRemoved = new Set(
    shares.flatMap(({ cluster, entries: held }) => held.filter(isBeingRemoved).map(({ key }) => `${cluster} ${textOfKey(key)}`)),
  );
  const deletions = [...clusters.map(({ chosen, objects }) => ({ cluster: chosen.cluster, objects })), ...leaving]
    .flatMap(({ cluster, objects }) => objects.filter(({ action }) => action === 'DELETE').map(({ key }) => `${cluster} ${textOfKey(key)}`))
    .filter((object) => !beingRemoved.has(object)).length;
  const maxCount = Math.max(mostObjects, copyCount);
  const totalLoss = maxCount - copyCount + deletions;
  if (deletions === 0 || totalLoss <= maxUnconfirmed || totalLoss * 100 <= maxPercent * maxCount) return undefined;
  const now = `${deletions} of ${copyCount} objects would be deleted`;
  return totalLoss === deletions ? now : `${now}, ${totalLoss} of ${maxCount} in total since this was decided`;
}

/** Returns the number of inventory entries that are not being deleted. */
export function countCopies(shares: Iterable<ClusterShare>): number {
  let sum = 0;
  for (const { entries } of shares) sum += entries.filter((entry) => !isBeingRemoved(entry)).length;
  return sum;
}

/** Returns the clusters whose copies move to other clusters. */
export function movingClusters(leaving: readonly LeavingCluster[]): ReadonlySet<ClusterName> {
  return new Set(leaving.filter(({ isMove }) => isMove === true).map(({ cluster }) => cluster));
}

/** True for objects that the intent does not want any more. */
export function isRemoval({ action }: Pick<RenderedObject, 'action'>): boolean {
  return action === 'DELETE' || action === 'RELEASE';
}
