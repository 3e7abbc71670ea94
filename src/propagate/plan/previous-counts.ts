import type { ObjectKey } from '../../manifests/manifest.ts';
import { textOfKey } from '../../manifests/object-key.ts';
import { apportion } from './placing/apportion.ts';
import { sumBy } from './placing/sum-by.ts';
import { workloadCountOf } from './placing/workload-count.ts';
import type { PreviousDecision, SnapshotCluster } from './snapshot/snapshot.ts';

/** One workload of the template with its wanted number of replicas. */
export interface CountedWorkload {
  readonly index: number;
  readonly key: ObjectKey;
  readonly count: number;
}

/** Returns the previous replicas of a workload (by its index) in a cluster. */
export type PreviousCounts = (cluster: string, index: number) => number;

/**
 * Returns the counts from which a new division starts.
 *
 * For several workloads, a decision records only their sum per cluster. If the counts of the existing copies in a cluster add up to its
 * sum, they are used. If not, a mirror is unread or a copy was changed, and the counts of that cluster are estimated. The estimate takes
 * the replicas of each workload, subtracts those in clusters with known counts, and divides the rest among the clusters with unknown
 * counts, in proportion to their recorded sums.
 */
export function previousCounts(
  previous: PreviousDecision | undefined,
  workloads: readonly CountedWorkload[],
  clusters: readonly SnapshotCluster[],
): PreviousCounts {
  if (previous === undefined) return () => 0;
  if (workloads.length === 1) return (cluster) => previous.replicas.get(cluster) ?? 0;
  const placed = clusters.flatMap((entry) => {
    const sum = previous.replicas.get(entry.cluster.name) ?? 0;
    return sum === 0 ? [] : [{ name: entry.cluster.name, sum, counts: countsIn(entry, workloads) }];
  });
  const known = placed.filter(({ sum, counts }) => sumBy([...counts.values()], (count) => count) === sum);
  const unknown = placed.filter((one) => !known.includes(one));
  const all = new Map(known.map(({ name, counts }) => [`${name}`, new Map(counts)]));
  for (const { name } of unknown) all.set(name, new Map());
  for (const { index, count } of workloads) {
    const rest = Math.max(0, count - sumBy(known, ({ counts }) => counts.get(index) ?? 0));
    const parties = unknown.map(({ name, sum }) => ({ name, weight: sum }));
    for (const [name, seats] of apportion(rest, parties).seats) all.get(name)?.set(index, seats);
  }
  return (cluster, index) => all.get(cluster)?.get(index) ?? 0;
}

/** Returns the counts of the existing copies, by index. 0 for a missing copy. */
function countsIn({ live }: SnapshotCluster, workloads: readonly CountedWorkload[]): ReadonlyMap<number, number> {
  return new Map(
    workloads.map(({ index, key }) => {
      const copy = live.get(textOfKey(key));
      // Items of lists have no kind and apiVersion.
      const existing = copy?.result === 'held' ? { ...copy.object, apiVersion: key.apiVersion, kind: key.kind } : undefined;
      return [index, (existing === undefined ? undefined : workloadCountOf(existing))?.count ?? 0];
    }),
  );
}
