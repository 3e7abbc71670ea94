import type { ClusterApi } from '../cluster/cluster-api.ts';
import { createGate, type Gate } from '../core/gate.ts';

/** Writes in flight in one cluster, and in all together (docs/internals/propagation.md 5.1). */
const mostPerCluster = 10;
const mostInAll = 256;

const everywhere = createGate(mostInAll);
// By the door itself: whoever writes to a cluster, in whatever part of this process, stands in one row.
const ofClusters = new WeakMap<ClusterApi, Gate>();

/** The row in which writes to this cluster stand, whoever writes: 10 at a time, 256 in all clusters of this process. */
export function writeGateOf(api: ClusterApi): Gate {
  const held = ofClusters.get(api) ?? createGate(mostPerCluster);
  ofClusters.set(api, held);
  // The cluster's own row first: a cluster that hangs keeps 10 of the places, not all.
  return { pass: (work, signal) => held.pass(() => everywhere.pass(work, signal), signal) };
}
