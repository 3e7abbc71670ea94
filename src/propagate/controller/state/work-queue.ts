import type { Clock } from '../../../core/clock.ts';
import { createDueTimes } from './due-times.ts';

/** Keys that have something to do. */
export interface WorkQueue {
  /**
   * Now; while its work runs, once more after it; and if it is to be looked at again, not before it has rested four times as long as its pass took, at
   * most 100 ms. However often it is added meanwhile, it is done once.
   */
  add(key: string): void;
  /** After that time at the latest: of several times the first holds. */
  addAfter(key: string, ms: number): void;
  /** Resolves once nothing runs any more; begins nothing after the signal aborted. */
  idle(): Promise<void>;
}

export interface WorkQueueOptions {
  /**
   * One pass. Gives after how many milliseconds the key has something to do again by itself; undefined: not before it is added. Times asked for with
   * `addAfter` before the pass began are over with it.
   */
  readonly work: (key: string) => Promise<number | undefined>;
  /** What `work` threw, unless that is the abort of the queue's own signal: a bug, as it answers for everything else. The key is tried again with a backoff. */
  readonly onBug: (key: string, error: unknown) => void;
  /** How many keys at a time, at least 1. The others wait in the order they came. */
  readonly most: number;
  readonly clock: Clock;
}

const firstRetryMs = 800;
const longestRetryMs = 300_000;

// A pass looks at every cluster, and each cluster that is done asks for one: with 100 of them passes alone took half the time of a propagation.
const restFactor = 4;
const longestRestMs = 100;

/** How long to wait after so many failures in a row (1: the first): 0.8 s doubling to 5 min, times a random factor in [1, 1.25). Never above 5 min. */
export function retryAfterMs(failures: number, random: number): number {
  return Math.min(longestRetryMs, firstRetryMs * 2 ** Math.min(Math.max(failures, 1) - 1, 16) * (1 + random / 4));
}

/** A queue by key: no key twice at once, no key forgotten. All of it ends with the signal. */
export function createWorkQueue({ work, onBug, most, clock }: WorkQueueOptions, signal: AbortSignal): WorkQueue {
  const waiting = new Set<string>();
  /** Those at work; true: once more afterwards. */
  const running = new Map<string, boolean>();
  const failures = new Map<string, number>();
  /** Until when keys rest that had a pass. */
  const rests = new Map<string, number>();
  let whenIdle: (() => void)[] = [];
  const due = createDueTimes(clock, add, signal);

  function add(key: string): void {
    if (signal.aborted) return;
    const restMs = (rests.get(key) ?? 0) - clock.monotonic();
    if (running.has(key)) running.set(key, true);
    else if (restMs > 0) due.set(key, restMs);
    else waiting.add(key);
    next();
  }

  function next(): void {
    while (!signal.aborted && running.size < most) {
      const [key] = waiting;
      if (key === undefined) return;
      waiting.delete(key);
      void run(key);
    }
  }

  async function run(key: string): Promise<void> {
    running.set(key, false);
    due.clear(key);
    const sinceMs = clock.monotonic();
    const againMs = await once(key);
    const isAgain = running.get(key) === true;
    running.delete(key);
    if (againMs === undefined && !isAgain) rests.delete(key);
    else rests.set(key, clock.monotonic() + Math.min(restFactor * (clock.monotonic() - sinceMs), longestRestMs));
    if (againMs !== undefined) due.set(key, againMs);
    if (isAgain) add(key);
    next();
    if (running.size === 0 && (waiting.size === 0 || signal.aborted)) tellIdle();
  }

  async function once(key: string): Promise<number | undefined> {
    try {
      const againMs = await work(key);
      failures.delete(key);
      return againMs;
    } catch (error) {
      if (isAbortOf(error, signal)) return undefined;
      onBug(key, error);
      const count = (failures.get(key) ?? 0) + 1;
      failures.set(key, count);
      return retryAfterMs(count, clock.random());
    }
  }

  function tellIdle(): void {
    const told = whenIdle;
    whenIdle = [];
    for (const tell of told) tell();
  }

  signal.addEventListener('abort', () => waiting.clear(), { once: true });
  return {
    add,
    addAfter: (key, ms) => due.set(key, ms),
    idle: () => (running.size === 0 && waiting.size === 0 ? Promise.resolve() : new Promise((resolve) => whenIdle.push(resolve))),
  };
}

/** True if that was thrown because the signal aborted: nobody is at fault, and nothing is told. */
export function isAbortOf(error: unknown, signal: AbortSignal): boolean {
  return signal.aborted && error === signal.reason;
}
