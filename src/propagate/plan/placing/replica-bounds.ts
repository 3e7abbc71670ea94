import type { MemberCluster } from '../../../changes/members.ts';
import type { ReplicaRule } from '../../model/spec.ts';
import type { TieBreak } from './apportion.ts';
import { matchesSet } from './cluster-set.ts';

/** The weight and the bounds of one cluster, combined from all rules that match it. */
export interface ReplicaBounds {
  readonly weight: number;
  readonly min: number;
  /** Infinity: no maximum. */
  readonly max: number;
}

/** The bounds of a cluster if there are no rules: an equal weight, no minimum and no maximum. */
export const defaultBounds: ReplicaBounds = { weight: 1, min: 0, max: Number.POSITIVE_INFINITY };

/**
 * Combines the rules that match the cluster: the largest weight, the largest minimum, the smallest maximum. Undefined if no rule matches.
 */
export function boundsOf(rules: readonly ReplicaRule[], cluster: MemberCluster): ReplicaBounds | undefined {
  const matching = rules.filter(({ set }) => matchesSet(set, cluster));
  if (matching.length === 0) return undefined;
  return {
    weight: Math.max(...matching.map(({ weight }) => weight)),
    min: Math.max(...matching.map(({ min }) => min)),
    max: Math.min(...matching.map(({ max = Number.POSITIVE_INFINITY }) => max)),
  };
}

/** A cluster that takes part in a division of replicas. */
export interface ReplicaCandidate {
  readonly name: string;
  /**
   * The number of replicas that the previous decision gave the cluster. 0 if it was not chosen. For several workloads it may be estimated
   * (`previousCounts`).
   */
  readonly previous: number;
  /** The number of additional replicas that fit. Infinity: unlimited or unknown. */
  readonly capacity: number;
  /** Absent if no rule matches the cluster. */
  readonly bounds?: ReplicaBounds;
}

/** Options for dividing replicas between clusters. */
export interface DivisionOptions {
  /** True: each cluster starts with its `previous` replicas, and only the difference is divided. False: all replicas are divided anew. */
  readonly keepsPrevious: boolean;
  readonly tieBreak: TieBreak;
}
