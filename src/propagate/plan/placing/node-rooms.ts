import type { V1Node, V1Pod, V1PodSpec } from '@kubernetes/client-node';
import { conditionOf } from '../../../core/conditions.ts';
import type { TypedObject } from '../../../core/objects.ts';
import type { Stored } from '../../../core/stored.ts';
import { acceptsPod } from './node-fit.ts';
import { addAmounts, amountsIn, type ResourceAmounts, requestsOf, subtractAmounts, timesThatFit } from './resource-amounts.ts';
import { sumBy } from './sum-by.ts';

/** Equal Nodes, and the free resources of each. `free` includes `pods`: without it, no Pod fits. */
export interface NodeRoom {
  readonly free: ResourceAmounts;
  readonly count: number;
  /** The Node, for its labels and taints. Absent if these are unknown, so every Pod may run there. */
  readonly node?: TypedObject<V1Node>;
}

/**
 * Returns the free resources of each Node: its allocatable resources minus the requests of its Pods. Pods that have ended are not counted.
 * The entry of a Node that takes no new Pods has a count of 0. Takes about 10 µs per Pod.
 */
export function nodeRoomsOf(nodes: Iterable<TypedObject<V1Node>>, pods: Iterable<TypedObject<V1Pod>>): readonly NodeRoom[] {
  const used = new Map<string, ResourceAmounts>();
  for (const { spec, status } of pods) {
    const name = spec?.nodeName;
    const phase = status?.phase;
    if (name === undefined || phase === 'Succeeded' || phase === 'Failed') continue;
    used.set(name, addAmounts(used.get(name) ?? new Map(), addAmounts(requestsOf(spec), onePod)));
  }
  return [...nodes].map((node) => {
    const allocatable = amountsIn(node.status?.allocatable);
    return { node, count: takesPods(node) ? 1 : 0, free: subtractAmounts(allocatable, used.get(node.metadata.name) ?? new Map()) };
  });
}

/**
 * Returns the number of Pods with this spec that fit. Counts per Node, because a Pod cannot be split between Nodes, and respects taints and
 * node selectors. Infinity if there are no Nodes: then the room is unknown.
 */
export function replicasThatFit(rooms: readonly NodeRoom[], podSpec: Stored<V1PodSpec> = {}): number {
  if (rooms.length === 0) return Number.POSITIVE_INFINITY;
  const suitable = rooms.filter(({ node }) => node === undefined || acceptsPod(node, podSpec));
  return replicasForRequests(suitable, requestsOf(podSpec));
}

/** Returns the number of Pods with these requests that fit, without regard to taints and selectors. */
export function replicasForRequests(rooms: readonly NodeRoom[], requests: ResourceAmounts): number {
  const needs = addAmounts(requests, onePod);
  return sumBy(rooms, ({ free, count }) => count * timesThatFit(free, needs));
}

/** The resources that every Pod needs in addition to its requests: one Pod slot of the Node. */
export const onePod: ResourceAmounts = new Map([['pods', 1]]);

function takesPods(node: TypedObject<V1Node>): boolean {
  return node.spec?.unschedulable !== true && (conditionOf(node, 'Ready')?.status ?? 'True') === 'True';
}
