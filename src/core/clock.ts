/** The source of time and random numbers for the whole process. Tests pass a clock of their own. */
export interface Clock {
  /** Returns Unix milliseconds, for times that people read. The clock may jump forward and back. */
  now(): number;
  /** Returns milliseconds that only grow, for ages, deadlines and backoff. */
  monotonic(): number;
  /** Resolves after this time, or at once and without an error when the signal aborts. Leaves no timer and no listener behind. */
  sleep(ms: number, signal: AbortSignal): Promise<void>;
  /** Returns a random number in [0, 1), uniformly distributed. */
  random(): number;
}

/** The reason with which a sleep is ended early. An abort without a reason creates an error with a stack, which takes longer than the sleep. */
export const awake = Symbol('awake');

/** The clock of the machine. A sleep whose signal has aborted does not keep the process alive. */
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
