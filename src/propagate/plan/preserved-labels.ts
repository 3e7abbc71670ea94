import type { PreservedIn } from '../model/propagation.ts';
import type { EvictingPlacement } from './place-with-evictions.ts';
import type { PlanSnapshot } from './snapshot/snapshot.ts';

/**
 * Returns the labels that copies keep from their predecessors: those of earlier plans, and those of clusters that take over in this plan. A
 * cluster keeps its labels as long as it is chosen, or until it takes over from another cluster.
 */
export function preservedAfter(
  { spec: { failover }, evictions = [], preserved = [] }: PlanSnapshot,
  { clusters, moves }: EvictingPlacement,
): readonly PreservedIn[] {
  const chosen = new Set<string>(clusters.map(({ chosen: one }) => one.cluster));
  const added = moves.flatMap(({ cluster, to: [only, ...others] }): readonly PreservedIn[] => {
    const eviction = evictions.find((one) => one.cluster === cluster);
    if (failover?.purge !== 'Directly' || only === undefined || others.length > 0 || eviction === undefined) return [];
    const { preserved: objects = [], notPreserved } = eviction;
    if (objects.length === 0 && notPreserved === undefined) return [];
    return [{ cluster: only, objects, ...(notPreserved === undefined ? {} : { notPreserved }) }];
  });
  const fresh = new Set(added.map(({ cluster }) => cluster));
  return [...preserved.filter(({ cluster }) => chosen.has(cluster) && !fresh.has(cluster)), ...added];
}
