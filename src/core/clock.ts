/** Time as everything in Muster sees it, so that a test can own it. */
export interface Clock {
  /** Milliseconds of the epoch: for what people read. May jump. */
  now(): number;
  /** Milliseconds that only grow: for ages, deadlines and backoff. */
  monotonic(): number;
  /** Resolves after that time, at once and without error when the signal aborts. Leaves no timer or listener behind. */
  sleep(ms: number, signal: AbortSignal): Promise<void>;
  /** Uniform in [0, 1): chance is an input as time is. */
  random(): number;
}

/** The machine's clock. Its sleeps do not keep the process alive by themselves once their signal has aborted. */
export const systemClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  random: () => Math.random(),
  sleep: (ms, signal) =>
    new Promise((resolve) => {
      if (signal.aborted) return resolve();
      const end = () => {
        clearTimeout(timer);
        signal.removeEventListener('abort', end);
        resolve();
      };
      const timer = setTimeout(end, Math.min(Math.max(ms, 0), 0x7fffffff));
      signal.addEventListener('abort', end, { once: true });
    }),
};
