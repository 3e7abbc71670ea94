/** Lets so many pieces of work run at a time, the others in the order they came. */
export interface Gate {
  /**
   * Runs the work at once if there is room, else when its turn has come. Its result or rejection is given back; undefined if the signal aborted
   * before its turn: then it never runs.
   */
  pass<T>(work: () => Promise<T>, signal: AbortSignal): Promise<T | undefined>;
}

/** @param most How many run at a time, at least 1. */
export function createGate(most: number): Gate {
  const waiting = new Set<() => void>();
  let running = 0;

  function leave(): void {
    const [next] = waiting;
    // Whoever leaves hands the place on: nobody who comes meanwhile gets in between.
    if (next === undefined) running -= 1;
    else next();
  }

  /** False if the signal aborted first. */
  function turn(signal: AbortSignal): Promise<boolean> {
    return new Promise((resolve) => {
      const end = (isIn: boolean) => {
        waiting.delete(enter);
        signal.removeEventListener('abort', giveUp);
        resolve(isIn);
      };
      const enter = () => end(true);
      const giveUp = () => end(false);
      waiting.add(enter);
      signal.addEventListener('abort', giveUp, { once: true });
    });
  }

  return {
    async pass(work, signal) {
      if (signal.aborted) return undefined;
      if (running < most) running += 1;
      else if (!(await turn(signal))) return undefined;
      try {
        return await work();
      } finally {
        leave();
      }
    },
  };
}
