import type { MemberCluster } from '../members.ts';
import { matchesSet } from '../placing/cluster-set.ts';
import type { RolloutSpec } from '../spec.ts';

/** In which wave which cluster is. */
interface PlannedWaves {
  /** Those with at least one cluster, in order. What no wave matched is in the last, `rest`; without waves all are in one, `all`. */
  readonly names: readonly string[];
  /** Index in `names`, of every cluster given. */
  readonly waveOf: ReadonlyMap<string, number>;
}

/** The first wave that matches a cluster has it (propagation.md 2.1). */
export function planWaves({ waves }: Pick<RolloutSpec, 'waves'>, clusters: readonly MemberCluster[]): PlannedWaves {
  const all = [...waves.map(({ name, set }) => ({ name, set })), { name: waves.length === 0 ? 'all' : 'rest', set: {} }];
  const first = new Map(clusters.map((cluster) => [cluster.name, all.findIndex(({ set }) => matchesSet(set, cluster))]));
  const used = [...new Set(first.values())].toSorted((a, b) => a - b);
  return {
    names: used.map((index) => all[index]?.name ?? ''),
    waveOf: new Map([...first].map(([cluster, index]) => [cluster, used.indexOf(index)])),
  };
}
