import type { Caller } from '../access/access.ts';
import { MusterError } from '../core/errors.ts';

/** Maximum number of writes of one caller in progress. It is five times the maximum of one mutation field. */
const maxWrites = 5_000;

/** Counts the writes to single objects that each caller has in progress. Keeps nothing about a caller without writes. */
export class WritesInProgress {
  readonly #callers = new Map<string, number>();

  /**
   * Counts writes of a caller until the result is disposed of. Local mode has one caller, whose writes are not counted.
   *
   * @throws {MusterError} `OVERLOADED` if the caller would have more than 5,000 writes in progress.
   */
  take({ key, user }: Caller, count: number): Disposable | undefined {
    if (user === undefined) return undefined;
    const before = this.#callers.get(key) ?? 0;
    if (before + count > maxWrites)
      throw new MusterError(
        'OVERLOADED',
        `expected at most ${maxWrites} writes of one caller at a time, got ${count} more while ${before} are in progress: try again later`,
      );
    this.#callers.set(key, before + count);
    const taken = new DisposableStack();
    taken.defer(() => {
      const left = (this.#callers.get(key) ?? count) - count;
      if (left === 0) this.#callers.delete(key);
      else this.#callers.set(key, left);
    });
    return taken;
  }
}
