import type { MemberCluster } from '../../../../src/changes/members.ts';
import { clusterName } from '../../../../src/core/names.ts';
import type { PlacementCandidate } from '../../../../src/propagate/model/placement.ts';
import type { Placement, ReplicaRule, ReplicasSpec, Spread } from '../../../../src/propagate/model/spec.ts';
import type { DivisionInput, DivisionTarget } from '../../../../src/propagate/plan/placing/divide-replicas.ts';

/** A cluster with only these properties. */
export function member(name: string, facts: Partial<Omit<MemberCluster, 'name'>> = {}): MemberCluster {
  return { name: clusterName(name), labels: {}, zones: [], taints: [], phase: 'SYNCED', faults: [], ...facts };
}

/** A candidate that passes all filters and has no copies, with the given changes. */
export function candidate(cluster: MemberCluster | string, facts: Partial<Omit<PlacementCandidate, 'cluster'>> = {}): PlacementCandidate {
  return {
    cluster: typeof cluster === 'string' ? member(cluster) : cluster,
    leaving: false,
    missingKinds: [],
    holds: false,
    previous: 0,
    ...facts,
  };
}

/** A placement on all clusters, with the given changes. */
export function placement(parts: Partial<Placement> = {}): Placement {
  return { tolerations: [], affinityGroups: [], spread: [], ...parts };
}

export function spreadBy(by: Spread['by'], min: number, max?: number): Spread {
  return { by, min, ...(max === undefined ? {} : { max }) };
}

export function rule(clusters: readonly string[] | undefined, bounds: Partial<Omit<ReplicaRule, 'set'>> = {}): ReplicaRule {
  return { set: clusters === undefined ? {} : { clusters }, weight: 1, min: 0, ...bounds };
}

/** A chosen cluster, with its previous count and its capacity for additional replicas. */
export function target(
  name: string,
  { previous = 0, capacity, tier = 0 }: { previous?: number; capacity?: number; tier?: number } = {},
): DivisionTarget {
  const cluster = member(name);
  return {
    chosen: { cluster: cluster.name, tier, score: 0, ...(capacity === undefined ? {} : { available: capacity + previous }) },
    cluster,
    previous,
    ...(capacity === undefined ? {} : { capacity }),
  };
}

/** The input of a division by weight that keeps existing replicas, with the given changes. */
export function division(
  count: number,
  chosen: readonly DivisionTarget[],
  { replicas, ...more }: Partial<Omit<DivisionInput, 'replicas'>> & { readonly replicas?: Partial<ReplicasSpec> } = {},
): DivisionInput {
  return {
    count,
    chosen,
    replicas: { mode: 'Divided', strategy: 'Weighted', rules: [], rebalance: false, ...replicas },
    fresh: false,
    rulesChanged: false,
    ...more,
  };
}
