import type { Clock } from '../../../core/clock.ts';
import { createDueTimes } from './due-times.ts';

/** A queue of keys, each with one pass at a time. */
export interface WorkQueue {
  /**
   * Queues a pass for the key. During a pass of the key, one more pass follows it. A key that is added several times before its pass gets
   * one pass.
   *
   * If another pass of the key follows, it waits four times as long as the last pass took, at maxRunning 100 ms.
   */
  add(key: string): void;
  /** Queues a pass after `ms` at the latest. If the key has an earlier time already, that time stays. */
  addAfter(key: string, ms: number): void;
  /** Resolves when no pass runs and no key waits. No pass starts after the signal has aborted. */
  idle(): Promise<void>;
}

export interface WorkQueueOptions {
  /**
   * Runs one pass. Resolves with the delay in milliseconds until the next pass, or with undefined if only `add` triggers it. The start of a
   * pass removes the earlier times that were set with `addAfter` for its key.
   */
  readonly work: (key: string) => Promise<number | undefined>;
  /** Called if `work` throws, which is a bug. Not called for an abort of the queue's signal. The key is retried with a backoff. */
  readonly onBug: (key: string, error: unknown) => void;
  /** Maximum number of keys at a time, at least 1. Further keys wait in order. */
  readonly maxRunning: number;
  readonly clock: Clock;
}

const firstRetryMs = 800;
const longestRetryMs = 300_000;

// After a pass, the next pass of the same key waits for `restFactor` times the duration of the pass, at maxRunning `longestRestMs`. A pass reads
// every cluster, and each job that ends triggers a pass. Measured with 100 clusters: without this wait, passes took half of the time until
// all copies were written.
const restFactor = 4;
const longestRestMs = 100;

/**
 * Returns the delay before the next attempt, after this number of failures in a row. After the first failure: 0.8 s. Each further failure
 * doubles it. A random factor in [1, 1.25) is then applied. At maxRunning 5 min.
 */
export function retryAfterMs(failures: number, random: number): number {
  return Math.min(longestRetryMs, firstRetryMs * 2 ** Math.min(Math.max(failures, 1) - 1, 16) * (1 + random / 4));
}

/** Creates a queue. A key never has two passes at once, and no key is lost. It ends with the signal. */
export function createWorkQueue({ work, onBug, maxRunning, clock }: WorkQueueOptions, signal: AbortSignal): WorkQueue {
  const waiting = new Set<string>();
  /** Keys with a running pass. True: another pass follows. */
  const running = new Map<string, boolean>();
  const failures = new Map<string, number>();
  /** The earliest time of the next pass of a key, by the monotonic clock. See `restFactor`. */
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
    while (!signal.aborted && running.size < maxRunning) {
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
    if (running.size === 0 && (waiting.size === 0 || signal.aborted)) resolveIdle();
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

  function resolveIdle(): void {
    const callbacks = whenIdle;
    whenIdle = [];
    for (const resolve of callbacks) resolve();
  }

  signal.addEventListener('abort', () => waiting.clear(), { once: true });
  return {
    add,
    addAfter: (key, ms) => due.set(key, ms),
    idle: () => (running.size === 0 && waiting.size === 0 ? Promise.resolve() : new Promise((resolve) => whenIdle.push(resolve))),
  };
}

/** True if the error is the abort of this signal. Such an error is no failure. */
export function isAbortOf(error: unknown, signal: AbortSignal): boolean {
  return signal.aborted && error === signal.reason;
}
