import { sumBy } from './sum-of.ts';

/** What the score of a group is made from. */
export interface ScoredCluster {
  readonly score: number;
  /** Replicas it has or may have. Infinity: unlimited or unknown. */
  readonly available: number;
}

/** What the group is to hold. */
export interface GroupDemand {
  readonly replicas: number;
  /** Each cluster gets them all; otherwise they are divided. */
  readonly duplicated: boolean;
  /** Least groups, and least clusters over all groups. */
  readonly minGroups: number;
  readonly minClusters: number;
}

/** Room counts first: the locality of clusters is between 0 and 100. */
const roomFactor = 1000;

/**
 * How well a group of clusters, in order, would hold its part: room first, then how many of the clusters counted have the object already
 * (docs/internals/propagation.md 3.2, "Group score").
 */
export function groupScore(clusters: readonly ScoredCluster[], demand: GroupDemand): number {
  return demand.duplicated ? duplicatedScore(clusters, demand) : dividedScore(clusters, demand);
}

function duplicatedScore(clusters: readonly ScoredCluster[], { replicas }: GroupDemand): number {
  const valid = clusters.filter(({ available }) => available >= replicas);
  return valid.length === 0 ? 0 : roomFactor * valid.length + meanScore(valid);
}

function dividedScore(clusters: readonly ScoredCluster[], { replicas, minGroups, minClusters }: GroupDemand): number {
  const part = Math.ceil(replicas / Math.max(1, minGroups));
  const least = Math.max(minGroups, minClusters);
  let available = 0;
  const enough = clusters.findIndex((cluster, index) => {
    available += cluster.available;
    return index + 1 >= least && available >= part;
  });
  const visited = enough < 0 ? clusters : clusters.slice(0, enough + 1);
  return roomFactor * Math.min(available, part) + meanScore(visited);
}

function meanScore(clusters: readonly ScoredCluster[]): number {
  return clusters.length === 0 ? 0 : Math.floor(sumBy(clusters, ({ score }) => score) / clusters.length);
}
