import type { MemberCluster } from '../../../changes/members.ts';
import type { ReplicaRule } from '../../model/spec.ts';
import type { TieBreak } from './apportion.ts';
import { matchesSet } from './cluster-set.ts';

/** What the rules say of one cluster together. */
export interface ReplicaBounds {
  readonly weight: number;
  readonly min: number;
  /** Infinity: none. */
  readonly max: number;
}

/** No rule says anything: an equal part, without bounds. */
export const defaultBounds: ReplicaBounds = { weight: 1, min: 0, max: Number.POSITIVE_INFINITY };

/** Of the rules that match the cluster the largest weight, the largest minimum and the smallest maximum. Undefined: none matches. */
export function boundsOf(rules: readonly ReplicaRule[], cluster: MemberCluster): ReplicaBounds | undefined {
  const matching = rules.filter(({ set }) => matchesSet(set, cluster));
  if (matching.length === 0) return undefined;
  return {
    weight: Math.max(...matching.map(({ weight }) => weight)),
    min: Math.max(...matching.map(({ min }) => min)),
    max: Math.min(...matching.map(({ max = Number.POSITIVE_INFINITY }) => max)),
  };
}

/** One cluster that replicas are divided over. */
export interface ReplicaCandidate {
  readonly name: string;
  /** Replicas it has. */
  readonly previous: number;
  /** Replicas that more would fit. Infinity: unlimited or unknown. */
  readonly capacity: number;
  /** Absent: no rule matches it. */
  readonly bounds?: ReplicaBounds;
}

/** How a division is made. */
export interface DivisionOptions {
  /** Only the difference to what is there moves. Otherwise all is divided from zero. */
  readonly keepsPrevious: boolean;
  readonly tieBreak: TieBreak;
}
