import PQueue from 'p-queue';

/**
 * Limits how many pieces of work run at the same time. Further pieces wait. A higher priority starts first. Pieces of one priority start in the
 * order of the calls.
 */
export interface ConcurrencyLimit {
  /**
   * Runs the work when there is room, and returns its result or rejection. Undefined if the signal aborts before the work has started;
   * the work then never runs.
   *
   * @param priority Default: 0.
   */
  run<T>(work: () => Promise<T>, signal: AbortSignal, priority?: number): Promise<T | undefined>;
}

/**
 * Creates a limit. Only work that is passed to this limit counts towards it.
 *
 * @param max Maximum number of pieces that run at the same time, at least 1.
 */
export function createConcurrencyLimit(max: number): ConcurrencyLimit {
  const queue = new PQueue({ concurrency: max });
  return {
    async run(work, signal, priority = 0) {
      if (signal.aborted) return undefined;
      // p-queue frees the slot of aborted work before that work has ended. So p-queue receives only aborts that happen while the work
      // waits.
      const waiting = new AbortController();
      const leave = () => waiting.abort();
      signal.addEventListener('abort', leave);
      const begin = () => {
        signal.removeEventListener('abort', leave);
        return work();
      };
      try {
        return await queue.add(begin, { signal: waiting.signal, priority });
      } catch (error) {
        if (waiting.signal.aborted) return undefined;
        throw error;
      }
    },
  };
}
