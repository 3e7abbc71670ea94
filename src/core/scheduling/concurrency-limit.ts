import PQueue from 'p-queue';

/** Lets so many pieces of work run at a time, the others in the order they came. */
export interface ConcurrencyLimit {
  /**
   * Runs the work at once if there is room, else when its turn has come. Its result or rejection is given back; undefined if the signal aborted
   * before its turn: then it never runs.
   */
  run<T>(work: () => Promise<T>, signal: AbortSignal): Promise<T | undefined>;
}

/** @param most How many run at a time, at least 1. */
export function createConcurrencyLimit(most: number): ConcurrencyLimit {
  const queue = new PQueue({ concurrency: most });
  return {
    async run(work, signal) {
      if (signal.aborted) return undefined;
      // The queue gives away the place of aborted work before that work has ended: it learns of an abort only while the work waits.
      const waiting = new AbortController();
      const leave = () => waiting.abort();
      signal.addEventListener('abort', leave);
      const begin = () => {
        signal.removeEventListener('abort', leave);
        return work();
      };
      try {
        return await queue.add(begin, { signal: waiting.signal });
      } catch (error) {
        if (waiting.signal.aborted) return undefined;
        throw error;
      }
    },
  };
}
