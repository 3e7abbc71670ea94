import type { Fault } from '../../core/faults.ts';
import type { ResourceVersion } from '../../core/names.ts';
import type { ReflectorState } from './reflector-state.ts';

/** What a reflector knows of itself, now. Times are monotonic milliseconds. */
export interface ReflectorFacts {
  readonly phase: ReflectorState['phase'];
  /** A list has been committed, by it or by the one whose place it took. */
  readonly listed: boolean;
  /** Its stream stands, or the next poll is due. */
  readonly isFollowing: boolean;
  /** It has failed since the last list, and not only with a 429 that is retried within 5 s: no request needs to wait for it. */
  readonly failedOnce: boolean;
  /** The kind cannot be watched. */
  readonly polled: boolean;
  /** The right to what is held has been lost. */
  readonly forbidden: boolean;
  /** Objects of a list in the making. */
  readonly stagedCount: number;
  /** Since when no stream stands. */
  readonly streamLostMs?: number | undefined;
  /** Up to when what is held is known to be true. */
  readonly syncedMs?: number | undefined;
  readonly version?: ResourceVersion | undefined;
  /** What went wrong last, until it is made good. */
  readonly fault?: Fault | undefined;
}
