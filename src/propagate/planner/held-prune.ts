import type { ClusterName } from '../../core/names.ts';
import { type ClusterShare, isOnItsWay } from '../inventory.ts';
import { textOfKey } from '../object-key.ts';
import type { LeavingCluster, RenderedCluster, RenderedObject } from '../plan.ts';

/** What a prune is judged by. */
interface PruneFacts {
  /** All of the inventory. */
  readonly shares: readonly ClusterShare[];
  readonly clusters: readonly RenderedCluster[];
  /** Also of clusters that are no members: what stands there goes when they are back. */
  readonly leaving: readonly LeavingCluster[];
  /** Clusters that are no members, and whose copies stay. */
  readonly away: readonly ClusterName[];
  /** The most objects that stood at once since this generation was decided (`PropagationStatus.mostObjects`). Absent: what stands now. */
  readonly mostObjects?: number | undefined;
}

const mostPercent = 30;
const mostUnasked = 3;

/**
 * Why what would go must be confirmed first (docs/internals/propagation.md 5.4): nothing is wanted anywhere any more, or more than 30 % and more than 3 of the objects
 * of the inventory would be deleted, together with what went since the generation was decided, so that what goes one by one is held as well. Nothing is held
 * where all that goes is on its way out already. Undefined: it may go.
 */
export function heldPrune({ shares, clusters, leaving, away, mostObjects = 0 }: PruneFacts): string | undefined {
  const entries = shares.flatMap((share) => share.entries);
  if (entries.length === 0) return undefined;
  const isWanted =
    away.length > 0 || clusters.some(({ objects, fault }) => fault !== undefined || objects.some((object) => !isRemoval(object)));
  if (!isWanted) return `nothing is wanted anywhere, and ${entries.length} objects are there`;
  const standing = standingIn(shares);
  const onTheWay = new Set(
    shares.flatMap(({ cluster, entries: all }) => all.filter(isOnItsWay).map(({ key }) => `${cluster} ${textOfKey(key)}`)),
  );
  const going = [...clusters.map(({ chosen, objects }) => ({ cluster: chosen.cluster, objects })), ...leaving]
    .flatMap(({ cluster, objects }) => objects.filter(({ action }) => action === 'DELETE').map(({ key }) => `${cluster} ${textOfKey(key)}`))
    .filter((object) => !onTheWay.has(object)).length;
  const most = Math.max(mostObjects, standing);
  const lost = most - standing + going;
  if (going === 0 || lost <= mostUnasked || lost * 100 <= mostPercent * most) return undefined;
  const now = `${going} of ${standing} objects would be deleted`;
  return lost === going ? now : `${now}, and ${lost} of ${most} be gone since this was decided`;
}

/** How many objects of the inventory are not on their way out. */
export function standingIn(shares: Iterable<ClusterShare>): number {
  let sum = 0;
  for (const { entries } of shares) sum += entries.filter((entry) => !isOnItsWay(entry)).length;
  return sum;
}

/** True for what is not wanted any more. */
export function isRemoval({ action }: Pick<RenderedObject, 'action'>): boolean {
  return action === 'DELETE' || action === 'RELEASE';
}
