import type { MemberCluster } from '../../../changes/members.ts';
import type { Spread } from '../../model/spec.ts';
import {
  type ClusterGroup,
  type CountRange,
  chooseClusters,
  chooseFromGroups,
  type EligibleCluster,
  printRange,
  type SpreadResult,
} from './choose-clusters.ts';
import { fieldValuesOf } from './cluster-set.ts';
import { groupScore } from './group-score.ts';

/** The replicas that need room. */
interface ReplicaDemand {
  readonly replicas: number;
  /** True if each cluster gets all replicas. Then room affects the score of groups, but not the choice of clusters within them. */
  readonly duplicated: boolean;
}

/** The spread of a placement, and the replicas that need room. */
export interface SpreadDemand extends ReplicaDemand {
  /** The spread of the placement: at most one entry by cluster, and one by another property. */
  readonly spread: readonly Spread[];
}

/** A cluster that passed all filters, with its labels and location. */
export interface LocatedCluster extends EligibleCluster {
  readonly cluster: MemberCluster;
}

/** How clusters are chosen by the spread of a placement. */
export interface SpreadRules {
  /**
   * The entries of the spread whose property, such as the region, every chosen cluster must have. Clusters without a value for it are
   * filtered out.
   */
  readonly required: readonly Spread[];
  /** Chooses from the clusters that passed the filters, which are sorted, best first. */
  readonly choose: <T extends LocatedCluster>(ordered: readonly T[], demand: ReplicaDemand) => SpreadResult<T>;
}

/** Returns the rules of Muster. */
export function musterSpreadRules(spread: readonly Spread[]): SpreadRules {
  return {
    required: spread,
    choose: (ordered, demand) => chooseBySpread(ordered, { ...demand, spread: normalizedSpread(spread) }),
  };
}

/** Returns the spread with a minimum of at least one cluster, and with a maximum of groups that does not exceed the maximum of clusters. */
function normalizedSpread(spread: readonly Spread[]): readonly Spread[] {
  const maxClusters = spread.find(({ by }) => by === 'cluster')?.max;
  return spread.map((entry) => {
    if (entry.by === 'cluster') return { ...entry, min: Math.max(1, entry.min) };
    return maxClusters === undefined ? entry : { ...entry, max: Math.min(maxClusters, entry.max ?? maxClusters) };
  });
}

/**
 * Chooses clusters by the spread of a placement, from a sorted list. Without a spread, chooses all. With a spread by cluster, chooses the
 * first ones. With a spread by another property, chooses clusters of the best groups; a cluster without that property is not chosen.
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

/** Groups clusters by the property of the spread. Within a group, clusters keep their order. */
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

/**
 * Returns the group of a cluster: its name, provider, region, label value, or its first zone in order of code units. Undefined if it has
 * none.
 */
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

/** Prints the bounds of a spread for users: `region 2 to 3, cluster 1 or more`. */
export function printSpread(spread: readonly Spread[]): string {
  return spread.map((entry) => `${entry.label ?? entry.by} ${printRange(rangeOf(entry))}`).join(', ');
}

function rangeOf({ min, max = Number.POSITIVE_INFINITY }: Spread): CountRange {
  return { min, max };
}
