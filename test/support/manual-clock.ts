import type { Clock } from '../../src/core/clock.ts';

/** A clock that moves only when the test moves it. */
export interface ManualClock extends Clock {
  /**
   * Advances the time from sleep to sleep. Each due sleep resolves at its own time. After each one, some event-loop turns run, so that a
   * sleep that begins in them can also be due within this call.
   */
  advance(ms: number): Promise<void>;
  /** Moves `now` forward or back, as when the clock of a machine is set. `monotonic` and the sleeps stay. */
  jump(ms: number): void;
  /** Number of pending sleeps. 0 after an orderly end. */
  readonly sleepers: number;
  /** The `monotonic` time at which the next sleep is due. Undefined if there is no sleep. */
  readonly nextDueMs: number | undefined;
}

export interface ManualClockOptions {
  /** Unix milliseconds at the start. Default: 2026-01-01. */
  readonly startMs?: number;
  /** Returns random numbers. Default: always 0, so that every delay is the shortest. */
  readonly random?: () => number;
}

interface Sleeper {
  readonly dueMs: number;
  readonly wake: () => void;
}

/**
 * A shorter sleep can vanish when it is added to the current time. A loop that sleeps until its deadline would then never reach the
 * deadline.
 */
const leastSleepMs = 0.001;

/** Creates a clock for one test. Its time never passes by itself. */
export function createManualClock({ startMs = Date.UTC(2026, 0, 1), random = () => 0 }: ManualClockOptions = {}): ManualClock {
  const sleepers = new Set<Sleeper>();
  let nowMs = 0;
  let offsetMs = startMs;

  function next(): Sleeper | undefined {
    let first: Sleeper | undefined;
    for (const sleeper of sleepers) if (first === undefined || sleeper.dueMs < first.dueMs) first = sleeper;
    return first;
  }

  return {
    now: () => offsetMs + nowMs,
    monotonic: () => nowMs,
    random,
    sleep: (ms, signal) =>
      new Promise((resolve) => {
        if (signal.aborted) return resolve();
        const wake = () => {
          sleepers.delete(sleeper);
          signal.removeEventListener('abort', wake);
          resolve();
        };
        const sleeper: Sleeper = { dueMs: nowMs + (ms > 0 ? Math.max(ms, leastSleepMs) : 0), wake };
        sleepers.add(sleeper);
        signal.addEventListener('abort', wake, { once: true });
      }),
    async advance(ms) {
      const endMs = nowMs + ms;
      await turns();
      for (let due = next(); due !== undefined && due.dueMs <= endMs; due = next()) {
        nowMs = Math.max(nowMs, due.dueMs);
        due.wake();
        await turns();
      }
      nowMs = endMs;
      await turns();
    },
    jump(ms) {
      offsetMs += ms;
    },
    get sleepers() {
      return sleepers.size;
    },
    get nextDueMs() {
      return next()?.dueMs;
    },
  };
}

/** Lets everything run that needs no time: promises, and work that they start with `setImmediate`. */
export async function turns(count = 5): Promise<void> {
  for (let turn = 0; turn < count; turn++) await new Promise((resolve) => setImmediate(resolve));
}
