import type { TieBreak } from './apportion.ts';
import type { ReplicaBounds } from './rules.ts';

/** One cluster that replicas are divided over. */
export interface Claimant {
  readonly name: string;
  /** Replicas it has. */
  readonly previous: number;
  /** Replicas that more would fit. Infinity: unlimited or unknown. */
  readonly capacity: number;
  /** Absent: no rule matches it. */
  readonly bounds?: ReplicaBounds;
}

/** How a division is made. */
export interface Manner {
  /** Only the difference to what is there moves. Otherwise all is divided from zero. */
  readonly steady: boolean;
  readonly tieBreak: TieBreak;
}
