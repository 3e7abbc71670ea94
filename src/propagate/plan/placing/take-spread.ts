import type { MemberCluster } from '../../../changes/members.ts';
import type { Spread } from '../../model/spec.ts';
import { fieldValuesOf } from './cluster-set.ts';
import { groupScore } from './group-score.ts';
import {
  type ClusterGroup,
  type CountRange,
  chooseClusters,
  chooseFromGroups,
  type EligibleCluster,
  printRange,
  type SpreadResult,
} from './spread.ts';

/** What is spread, and over what. */
interface SpreadDemand {
  /** At most one by cluster, and one by something else. */
  readonly spread: readonly Spread[];
  readonly replicas: number;
  /** Each cluster gets them all: room does not decide who is taken, but which group is best. */
  readonly duplicated: boolean;
}

/** A cluster that passed all filters, and where it runs. */
export interface LocatedCluster extends EligibleCluster {
  readonly cluster: MemberCluster;
}

/**
 * The clusters that a placement with such a spread takes, of those that are there in order: all without one, some of them by cluster, or those of the
 * best groups. Clusters that stand in no group are not taken by group.
 */
export function chooseBySpread<T extends LocatedCluster>(
  ordered: readonly T[],
  { spread, replicas, duplicated }: SpreadDemand,
): SpreadResult<T> {
  const cluster = spread.find(({ by }) => by === 'cluster');
  const group = spread.find(({ by }) => by !== 'cluster');
  if (group !== undefined) {
    const clusters = cluster === undefined ? { min: 1, max: Number.POSITIVE_INFINITY } : rangeOf(cluster);
    const demand = { replicas, duplicated, minGroups: group.min, minClusters: clusters.min };
    const groups = spreadGroupsOf(ordered, group).map((entry) => ({ ...entry, score: groupScore(entry.clusters, demand) }));
    return chooseFromGroups(groups, { group: rangeOf(group), cluster: clusters });
  }
  if (cluster === undefined) return { result: 'chosen', clusters: ordered };
  return chooseClusters(ordered, rangeOf(cluster), duplicated ? undefined : replicas);
}

/** The clusters by group, those of one group in the order they come. */
export function spreadGroupsOf<T extends { readonly cluster: MemberCluster }>(
  clusters: readonly T[],
  spread: Spread,
): readonly Omit<ClusterGroup<T>, 'score'>[] {
  const groups = new Map<string, T[]>();
  for (const entry of clusters) {
    const name = spreadGroupOf(entry.cluster, spread);
    if (name === undefined) continue;
    const group = groups.get(name);
    if (group === undefined) groups.set(name, [entry]);
    else group.push(entry);
  }
  return [...groups].map(([name, members]) => ({ name, clusters: members }));
}

/** The group of the cluster: its provider, region, value of the label, or its first zone in order of code units. Undefined if it has none. */
export function spreadGroupOf(cluster: MemberCluster, { by, label = '' }: Spread): string | undefined {
  switch (by) {
    case 'cluster':
      return cluster.name;
    case 'label':
      return Object.hasOwn(cluster.labels, label) ? cluster.labels[label] : undefined;
    case 'provider':
    case 'region':
    case 'zone':
      return [...fieldValuesOf(cluster, by)].sort()[0];
    default:
      return by satisfies never;
  }
}

/** The bounds of a spread as one reads them: `region 2 to 3, cluster 1 or more`. */
export function printSpread(spread: readonly Spread[]): string {
  return spread.map((entry) => `${entry.label ?? entry.by} ${printRange(rangeOf(entry))}`).join(', ');
}

function rangeOf({ min, max = Number.POSITIVE_INFINITY }: Spread): CountRange {
  return { min, max };
}
