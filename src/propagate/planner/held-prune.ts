import type { ClusterName } from '../../core/names.ts';
import type { ClusterShare, InventoryEntry } from '../inventory.ts';
import { textOfKey } from '../object-key.ts';
import type { LeavingCluster, RenderedCluster, RenderedObject } from '../plan.ts';

/** What a prune is judged by. */
export interface PruneFacts {
  /** All of the inventory. */
  readonly shares: readonly ClusterShare[];
  readonly clusters: readonly RenderedCluster[];
  /** Also of clusters that are no members: what stands there goes when they are back. */
  readonly leaving: readonly LeavingCluster[];
  /** Clusters that are no members, and whose copies stay. */
  readonly away: readonly ClusterName[];
}

const mostPercent = 30;
const mostObjects = 3;

/**
 * Why what would go must be confirmed first (propagation.md 5.4): nothing is wanted anywhere any more, or more than 30 % and more than 3 of the objects
 * of the inventory would be deleted. What is on its way out already does not count. Undefined: it may go.
 */
export function heldPrune({ shares, clusters, leaving, away }: PruneFacts): string | undefined {
  const entries = shares.flatMap((share) => share.entries);
  if (entries.length === 0) return undefined;
  const isWanted =
    away.length > 0 || clusters.some(({ objects, fault }) => fault !== undefined || objects.some((object) => !isRemoval(object)));
  if (!isWanted) return `nothing is wanted anywhere, and ${entries.length} objects are there`;
  const staying = entries.filter((entry) => !isGoing(entry)).length;
  const onTheWay = new Set(
    shares.flatMap(({ cluster, entries: all }) => all.filter(isGoing).map(({ key }) => `${cluster} ${textOfKey(key)}`)),
  );
  const going = [...clusters.map(({ chosen, objects }) => ({ cluster: chosen.cluster, objects })), ...leaving]
    .flatMap(({ cluster, objects }) => objects.filter(({ action }) => action === 'DELETE').map(({ key }) => `${cluster} ${textOfKey(key)}`))
    .filter((object) => !onTheWay.has(object)).length;
  if (going <= mostObjects || going * 100 <= mostPercent * staying) return undefined;
  return `${going} of ${staying} objects would be deleted`;
}

function isGoing({ state }: InventoryEntry): boolean {
  return state === 'Deleting' || state === 'PendingDeletion';
}

/** True for what is not wanted any more. */
export function isRemoval({ action }: Pick<RenderedObject, 'action'>): boolean {
  return action === 'DELETE' || action === 'RELEASE';
}
