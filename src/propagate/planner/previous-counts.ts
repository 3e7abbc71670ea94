import { textOfKey } from '../object-key.ts';
import { apportion } from '../placing/apportion.ts';
import { sumOf } from '../placing/sum-of.ts';
import { workloadCountOf } from '../placing/workload-count.ts';
import type { ObjectKey } from '../spec.ts';
import type { PreviousDecision, SnapshotCluster } from './snapshot.ts';

/** One workload of the template, and how many of it there are to be. */
export interface CountedWorkload {
  readonly index: number;
  readonly key: ObjectKey;
  readonly count: number;
}

/** Replicas that a workload, by its index, had in a cluster. */
export type PreviousCounts = (cluster: string, index: number) => number;

/**
 * What steady division begins with. Of several workloads a decision keeps the sum alone: what of it each had is what its copies say, where those make up
 * that sum. Where they do not, as their mirror is unread or somebody changed them, it is what the other clusters leave of the workload.
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
  const told = placed.filter(({ sum, counts }) => sumOf([...counts.values()], (count) => count) === sum);
  const untold = placed.filter((one) => !told.includes(one));
  const all = new Map(told.map(({ name, counts }) => [`${name}`, new Map(counts)]));
  for (const { name } of untold) all.set(name, new Map());
  for (const { index, count } of workloads) {
    const rest = Math.max(0, count - sumOf(told, ({ counts }) => counts.get(index) ?? 0));
    const parties = untold.map(({ name, sum }) => ({ name, weight: sum }));
    for (const [name, seats] of apportion(rest, parties).seats) all.get(name)?.set(index, seats);
  }
  return (cluster, index) => all.get(cluster)?.get(index) ?? 0;
}

/** By index, as the copies stand; of one that is not there 0. */
function countsIn({ live }: SnapshotCluster, workloads: readonly CountedWorkload[]): ReadonlyMap<number, number> {
  return new Map(
    workloads.map(({ index, key }) => {
      const copy = live.get(textOfKey(key));
      // Items of lists do not say what they are.
      const stands = copy?.result === 'held' ? { ...copy.object, apiVersion: key.apiVersion, kind: key.kind } : undefined;
      return [index, (stands === undefined ? undefined : workloadCountOf(stands))?.count ?? 0];
    }),
  );
}
