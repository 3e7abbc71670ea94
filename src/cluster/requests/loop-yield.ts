import type { Clock } from '../../core/clock.ts';

/** Milliseconds of work after which the event loop continues with other work, so that a large list does not block it. */
const maxWorkMs = 8;

/** Interrupts long work, so that the event loop can do other work. */
export interface LoopYield {
  /** Returns a promise for the next event-loop turn if the current work has lasted 8 ms, else undefined. */
  yieldIfDue(): Promise<void> | undefined;
}

export function createLoopYield(clock: Clock): LoopYield {
  let sinceMs = clock.monotonic();
  return {
    yieldIfDue() {
      if (clock.monotonic() - sinceMs < maxWorkMs) return undefined;
      return new Promise((resolve) =>
        setImmediate(() => {
          sinceMs = clock.monotonic();
          resolve();
        }),
      );
    },
  };
}
