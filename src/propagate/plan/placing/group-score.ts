import { sumBy } from './sum-by.ts';

/** The properties of a cluster on which the score of its group depends. */
export interface ScoredCluster {
  readonly score: number;
  /** The number of replicas that fit, including existing ones. Infinity: unlimited or unknown. */
  readonly available: number;
}

/** The requirements on all groups together. */
export interface GroupDemand {
  readonly replicas: number;
  /** True: each cluster gets all replicas. False: the replicas are divided. */
  readonly duplicated: boolean;
  /** The minimum number of groups, and the minimum number of clusters in all groups together. */
  readonly minGroups: number;
  readonly minClusters: number;
}

/** The factor of room in a score. It exceeds the score of a cluster (0 to 100), so room counts first. */
const roomFactor = 1000;

/**
 * Scores a group of sorted clusters (docs/internals/propagation.md 3.2, "Group score"). Room for the replicas counts first, then the mean
 * score of the clusters that are needed. A cluster with copies has a higher score.
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
