import type { Fault } from '../../core/faults.ts';
import type { ResourceVersion } from '../../core/names.ts';
import type { ReflectorState } from './reflector-state.ts';

/** The current state of a reflector for its owner. Times are monotonic milliseconds. */
export interface ReflectorFacts {
  readonly phase: ReflectorState['phase'];
  /** True once a list was committed, by this reflector or by its predecessor. */
  readonly listed: boolean;
  /**
   * True while the reflector watches, or waits for the next poll. A watch also counts before the server has answered, unless the last
   * request failed.
   */
  readonly isFollowing: boolean;
  /**
   * True if a request of the reflector has failed since the last list. A query then does not wait for the next list. A 429 that is retried
   * within 5 s does not count.
   */
  readonly failedOnce: boolean;
  /** True if the kind cannot be watched and is polled instead. */
  readonly polled: boolean;
  /** True if the right to the mirrored objects was lost. */
  readonly forbidden: boolean;
  /** Number of objects in a list that is being received. */
  readonly stagedCount: number;
  /** The time since which `isFollowing` is false. Undefined while it is true. */
  readonly streamLostMs?: number | undefined;
  /** The time up to which the mirrored objects are known to be correct, when it is read. Undefined before the first list. */
  readonly syncedMs?: number | undefined;
  readonly version?: ResourceVersion | undefined;
  /** The last problem, until a request succeeds. */
  readonly fault?: Fault | undefined;
}
