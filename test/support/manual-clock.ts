import type { Clock } from '../../src/core/clock.ts';

/** A clock that stands still until the test moves it. */
export interface ManualClock extends Clock {
  /**
   * Moves time on, in steps from sleep to sleep: each one that falls due resolves at its own time, then the loop gets its turns, so that
   * sleeps begun meanwhile fall due in the same call.
   */
  advance(ms: number): Promise<void>;
  /** Moves what people read by so much, back or forth, and nothing else: a clock that was set. */
  jump(ms: number): void;
  /** Sleeps that wait now: 0 after an orderly end. */
  readonly sleepers: number;
  /** When the next one falls due, as `monotonic` counts; undefined if nobody sleeps. */
  readonly nextDueMs: number | undefined;
}

export interface ManualClockOptions {
  /** Milliseconds of the epoch at the start; by default 2026-01-01. */
  readonly startMs?: number;
  /** What chance says: by default always 0, so that every delay is the shortest. */
  readonly random?: () => number;
}

interface Sleeper {
  readonly dueMs: number;
  readonly wake: () => void;
}

/** A shorter sleep can vanish when it is added to the current time. A loop that sleeps until its deadline would then never reach the deadline. */
const leastSleepMs = 0.001;

/** A clock for one test. Nothing of it runs by itself. */
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

/** Lets everything run that needs no time: promises, and what they start by `setImmediate`. */
export async function turns(count = 5): Promise<void> {
  for (let turn = 0; turn < count; turn++) await new Promise((resolve) => setImmediate(resolve));
}
