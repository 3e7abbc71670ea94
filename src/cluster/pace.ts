import type { Clock } from '../core/clock.ts';

/** After this much work the event loop gets its turn, so that a big list delays nobody. */
const maxWorkMs = 8;

/** Measures work between waits. */
export interface Pace {
  /** Nothing was done since: something was awaited that did not come from this turn. */
  rested(): void;
  /** Gives the loop its turn if this one has lasted 8 ms. */
  breathe(): Promise<void> | undefined;
}

export function createPace(clock: Clock): Pace {
  let sinceMs = clock.monotonic();
  return {
    rested() {
      sinceMs = clock.monotonic();
    },
    breathe() {
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
