import type { V1Node, V1Pod, V1PodSpec } from '@kubernetes/client-node';
import { conditionOf } from '../../../core/conditions.ts';
import type { TypedObject } from '../../../core/objects.ts';
import type { Stored } from '../../../core/stored.ts';
import { acceptsPod } from './node-fit.ts';
import { addAmounts, amountsIn, type ResourceAmounts, requestsOf, subtractAmounts, timesThatFit } from './resource-amounts.ts';
import { sumBy } from './sum-of.ts';

/** Nodes that are alike, and what is free on each: `pods` among it, without which no Pod fits. */
export interface NodeRoom {
  readonly free: ResourceAmounts;
  readonly count: number;
  /** Absent: nobody knows where it stands or what keeps Pods away, so every Pod may go there. */
  readonly node?: TypedObject<V1Node>;
}

/**
 * One for each Node: what is allocatable there without what its Pods request, unless they have ended. A Node that takes no Pods counts as none. Costs about
 * 10 µs for each Pod.
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
 * How many Pods with that spec fit, node by node, with taints and node selectors: so room that lies in pieces does not count as one. Infinity where there
 * are no Nodes at all: then nobody can tell.
 */
export function replicasThatFit(rooms: readonly NodeRoom[], podSpec: Stored<V1PodSpec> = {}): number {
  if (rooms.length === 0) return Number.POSITIVE_INFINITY;
  const suitable = rooms.filter(({ node }) => node === undefined || acceptsPod(node, podSpec));
  return replicasForRequests(suitable, requestsOf(podSpec));
}

/** How many Pods that request so much fit, wherever they may go. */
export function replicasForRequests(rooms: readonly NodeRoom[], requests: ResourceAmounts): number {
  const needs = addAmounts(requests, onePod);
  return sumBy(rooms, ({ free, count }) => count * timesThatFit(free, needs));
}

/** What one Pod takes besides what it requests. */
export const onePod: ResourceAmounts = new Map([['pods', 1]]);

function takesPods(node: TypedObject<V1Node>): boolean {
  return node.spec?.unschedulable !== true && (conditionOf(node, 'Ready')?.status ?? 'True') === 'True';
}
