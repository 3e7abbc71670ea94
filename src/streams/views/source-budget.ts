import { MusterError } from '../../core/errors.ts';

/** Bounds the number of sources that all views hold open. A source takes about 3 kB. */
export interface SourceBudget {
  /** Number of sources that are open or will be. */
  readonly taken: number;
  /**
   * Checks whether a new view with this many sources may begin. Existing views continue, also when clusters join.
   *
   * @throws {MusterError} `TOO_COSTLY` if `wanted` is too many for one view. `OVERLOADED` if all views together would have too many.
   */
  admit(wanted: number): void;
  /** Adds this many open sources. A negative number removes them. */
  add(count: number): void;
}

const defaultMax = 50_000;
const maxOfOneView = 12_000;

/**
 * Creates a budget without open sources.
 *
 * @param max Maximum number of sources of all views together. Default: 50,000. One view may have at most 12,000.
 */
export function createSourceBudget(max = defaultMax): SourceBudget {
  let taken = 0;
  return {
    get taken() {
      return taken;
    },
    admit(wanted) {
      const bound = Math.min(max, maxOfOneView);
      if (wanted > bound)
        throw new MusterError(
          'TOO_COSTLY',
          `expected a stream of at most ${bound} kinds in clusters, got ${wanted}: name fewer kinds or clusters`,
        );
      if (taken + wanted > max)
        throw new MusterError(
          'OVERLOADED',
          `expected all different streams together to read at most ${max} kinds in clusters: try again later`,
        );
    },
    add(count) {
      taken += count;
    },
  };
}
