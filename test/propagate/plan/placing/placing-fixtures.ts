import type { MemberCluster } from '../../../../src/changes/members.ts';
import { clusterName } from '../../../../src/core/names.ts';
import type { PlacementCandidate } from '../../../../src/propagate/model/placement.ts';
import type { Placement, ReplicaRule, ReplicasSpec, Spread } from '../../../../src/propagate/model/spec.ts';
import type { DivisionInput, DivisionTarget } from '../../../../src/propagate/plan/placing/divide-replicas.ts';

/** A cluster with these facts only. */
export function member(name: string, facts: Partial<Omit<MemberCluster, 'name'>> = {}): MemberCluster {
  return { name: clusterName(name), labels: {}, zones: [], taints: [], phase: 'SYNCED', faults: [], ...facts };
}

/** A candidate that passes all filters and holds no copies. */
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

/** A placement of all clusters, with these changes. */
export function placement(parts: Partial<Placement> = {}): Placement {
  return { tolerations: [], affinityGroups: [], spread: [], ...parts };
}

export function spreadBy(by: Spread['by'], min: number, max?: number): Spread {
  return { by, min, ...(max === undefined ? {} : { max }) };
}

export function rule(clusters: readonly string[] | undefined, bounds: Partial<Omit<ReplicaRule, 'set'>> = {}): ReplicaRule {
  return { set: clusters === undefined ? {} : { clusters }, weight: 1, min: 0, ...bounds };
}

/** Chosen clusters with their previous counts and the number of additional replicas that fit. */
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

/** Replicas divided by weight, without a rebalance, with these changes. */
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
