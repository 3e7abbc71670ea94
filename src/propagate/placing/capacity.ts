import { minus, type ResourceAmounts, timesIn } from './resource-amounts.ts';

/** What a cluster has in all, and what of it is taken, or is being taken. */
export interface ResourceSummary {
  readonly allocatable: ResourceAmounts;
  readonly allocated: ResourceAmounts;
  readonly allocating: ResourceAmounts;
}

/** Pods that the cluster still takes; ≥ 0. */
export function freePods({ allocatable, allocated, allocating }: ResourceSummary): number {
  const podsIn = (amounts: ResourceAmounts): number => amounts.get('pods') ?? 0;
  return Math.max(0, podsIn(allocatable) - podsIn(allocated) - podsIn(allocating));
}

/** How often the requests fit into the sums, whatever lies in pieces: at most `freePods`, unless they ask for nothing else. */
export function replicasInSummary(summary: ResourceSummary, requests: ResourceAmounts): number {
  return timesIn(minus(minus(summary.allocatable, summary.allocated), summary.allocating), requests);
}

/** The least of what several estimates say. Undefined if none knows. */
export function leastOf(estimates: readonly (number | undefined)[]): number | undefined {
  const known = estimates.filter((estimate) => estimate !== undefined);
  return known.length === 0 ? undefined : Math.min(...known);
}
