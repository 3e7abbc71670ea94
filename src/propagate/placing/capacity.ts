import type { Json } from '../../core/json.ts';
import type { KubernetesObject } from '../../core/objects.ts';
import { nodeRoomsOf, replicasIn } from './node-rooms.ts';
import { minus, type ResourceAmounts, timesIn } from './resource-amounts.ts';

/** What a cluster has in all, and what of it is taken, or is being taken. */
export interface ResourceSummary {
  readonly allocatable: ResourceAmounts;
  readonly allocated: ResourceAmounts;
  readonly allocating: ResourceAmounts;
}

/**
 * How many Pods with that spec would fit besides those that are there, from the mirrors of Nodes and Pods: node by node, with taints and node selectors.
 * Whole, ≥ 0. Costs about 1 µs for each Pod and container.
 */
export function capacityOf({
  nodes,
  pods,
  podSpec,
}: {
  readonly nodes: Iterable<KubernetesObject>;
  readonly pods: Iterable<KubernetesObject>;
  readonly podSpec: Json | undefined;
}): number {
  return replicasIn(nodeRoomsOf(nodes, pods), podSpec);
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
