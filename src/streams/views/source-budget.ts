import { MusterError } from '../../core/errors.ts';

/** How many sources all views may hold open: each is a follower of its mirror, with what it knows, about 3 kB. */
export interface SourceBudget {
  /** Held open, or about to be. */
  readonly taken: number;
  /**
   * Whether a view of so many may begin. Those that there are go on, also when clusters join.
   *
   * @throws {MusterError} `TOO_COSTLY` if that is too many for one view, `OVERLOADED` if it is too many beside the others.
   */
  admit(wanted: number): void;
  /** So many more; fewer, if it is negative. */
  add(count: number): void;
}

const defaultMost = 50_000;
const mostOfOne = 12_000;

/** @param most 50,000 by default, of which one view has at most 12,000. */
export function createSourceBudget(most = defaultMost): SourceBudget {
  let taken = 0;
  return {
    get taken() {
      return taken;
    },
    admit(wanted) {
      const bound = Math.min(most, mostOfOne);
      if (wanted > bound)
        throw new MusterError(
          'TOO_COSTLY',
          `expected a stream of at most ${bound} kinds in clusters, got ${wanted}: name fewer kinds or clusters`,
        );
      if (taken + wanted > most)
        throw new MusterError(
          'OVERLOADED',
          `expected all different streams together to read at most ${most} kinds in clusters: try again later`,
        );
    },
    add(count) {
      taken += count;
    },
  };
}
