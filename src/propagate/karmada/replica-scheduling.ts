import type { ReplicasSpec } from '../spec.ts';
import type { ClusterAffinity } from './cluster-affinity.ts';
import { setOfAffinity } from './cluster-affinity.ts';

/** ReplicaSchedulingStrategy (policy/v1alpha1). */
export interface ReplicaScheduling {
  readonly replicaSchedulingType?: string;
  readonly replicaDivisionPreference?: string;
  readonly weightPreference?: {
    readonly staticWeightList?: readonly { readonly targetCluster?: ClusterAffinity; readonly weight?: number }[] | null;
    readonly dynamicWeight?: string;
  } | null;
}

/** A cluster with replicas. */
export interface TargetCluster {
  readonly name: string;
  readonly replicas?: number;
}

/** No strategy is Duplicated; one without a type is none that is known. */
export function isDuplicated(scheduling: ReplicaScheduling | null | undefined): boolean {
  return scheduling === null || scheduling === undefined || scheduling.replicaSchedulingType === 'Duplicated';
}

/** Weighted by fixed weights, or by none given. */
export function isStaticWeighted({ replicaSchedulingType, replicaDivisionPreference, weightPreference }: ReplicaScheduling): boolean {
  if (replicaSchedulingType !== 'Divided' || replicaDivisionPreference !== 'Weighted') return false;
  return (weightPreference?.dynamicWeight ?? '') === '';
}

/**
 * How replicas are divided, as a spec of ours. Fixed weights are always divided from zero; a weight of 0 is as good as no rule. Undefined: a strategy that
 * is none.
 */
export function replicasSpecOf(scheduling: ReplicaScheduling | null | undefined): ReplicasSpec | undefined {
  if (scheduling === null || scheduling === undefined || isDuplicated(scheduling)) return replicasSpec('Duplicated', 'Weighted');
  if (scheduling.replicaSchedulingType !== 'Divided') return undefined;
  switch (scheduling.replicaDivisionPreference) {
    case 'Aggregated':
      return replicasSpec('Divided', 'Aggregated');
    case 'Weighted':
      if (!isStaticWeighted(scheduling)) return replicasSpec('Divided', 'Available');
      return { ...replicasSpec('Divided', 'Weighted'), rebalance: true, rules: rulesOf(scheduling) };
    default:
      return undefined;
  }
}

function replicasSpec(mode: ReplicasSpec['mode'], strategy: ReplicasSpec['strategy']): ReplicasSpec {
  return { mode, strategy, rules: [], rebalance: false };
}

function rulesOf({ weightPreference }: ReplicaScheduling): ReplicasSpec['rules'] {
  return (weightPreference?.staticWeightList ?? [])
    .map(({ targetCluster, weight = 0 }) => ({ set: setOfAffinity(targetCluster ?? {}), weight, min: 0 }))
    .filter(({ weight }) => weight > 0);
}
