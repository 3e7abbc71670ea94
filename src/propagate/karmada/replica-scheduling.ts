import type { ReplicasSpec } from '../model/spec.ts';
import type { ClusterAffinity } from './cluster-affinity.ts';
import { setOfAffinity } from './cluster-affinity.ts';

/** Karmada's ReplicaSchedulingStrategy (policy/v1alpha1). */
export interface ReplicaScheduling {
  readonly replicaSchedulingType?: string;
  readonly replicaDivisionPreference?: string;
  readonly weightPreference?: {
    readonly staticWeightList?: readonly { readonly targetCluster?: ClusterAffinity; readonly weight?: number }[] | null;
    readonly dynamicWeight?: string;
  } | null;
}

/** True for the type Duplicated and for a missing strategy. A strategy without a type is unknown, so it is not Duplicated. */
export function isDuplicated(scheduling: ReplicaScheduling | null | undefined): boolean {
  return scheduling === null || scheduling === undefined || scheduling.replicaSchedulingType === 'Duplicated';
}

/** True for division by fixed weights. Missing weights count as fixed. */
export function isStaticWeighted({ replicaSchedulingType, replicaDivisionPreference, weightPreference }: ReplicaScheduling): boolean {
  if (replicaSchedulingType !== 'Divided' || replicaDivisionPreference !== 'Weighted') return false;
  return (weightPreference?.dynamicWeight ?? '') === '';
}

/** True for division by free room, and for division into as few clusters as possible. */
export function isDynamicDivided({ replicaScheduling: scheduling }: { readonly replicaScheduling?: ReplicaScheduling | null }): {
  readonly dynamic: boolean;
} {
  if (scheduling?.replicaSchedulingType !== 'Divided') return { dynamic: false };
  const { replicaDivisionPreference } = scheduling;
  const isByRoom = replicaDivisionPreference === 'Weighted' && !isStaticWeighted(scheduling);
  return { dynamic: isByRoom || replicaDivisionPreference === 'Aggregated' };
}

/** Converts the strategy to a `ReplicasSpec`. Undefined: the strategy is unknown. */
export function replicasSpecOf(scheduling: ReplicaScheduling | null | undefined): ReplicasSpec | undefined {
  if (scheduling === null || scheduling === undefined || isDuplicated(scheduling)) return replicasSpec('Duplicated', 'Weighted');
  if (scheduling.replicaSchedulingType !== 'Divided') return undefined;
  switch (scheduling.replicaDivisionPreference) {
    case 'Aggregated':
      return replicasSpec('Divided', 'Aggregated');
    case 'Weighted':
      if (!isStaticWeighted(scheduling)) return replicasSpec('Divided', 'Available');
      return { ...replicasSpec('Divided', 'Weighted'), rules: rulesOf(scheduling) };
    default:
      return undefined;
  }
}

function replicasSpec(mode: ReplicasSpec['mode'], strategy: ReplicasSpec['strategy']): ReplicasSpec {
  return { mode, strategy, rules: [], rebalance: false };
}

function rulesOf({ weightPreference }: ReplicaScheduling): ReplicasSpec['rules'] {
  return (weightPreference?.staticWeightList ?? []).map(({ targetCluster, weight = 0 }) => ({
    set: setOfAffinity(targetCluster ?? {}),
    weight,
    min: 0,
  }));
}
