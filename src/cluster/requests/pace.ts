import type { Clock } from '../../core/clock.ts';

/** After this much work the event loop gets its turn, so that a big list delays nobody. */
const maxWorkMs = 8;

/** Measures work between waits. */
export interface Pace {
  /** Gives the loop its turn if this one has lasted 8 ms. */
  breathe(): Promise<void> | undefined;
}

export function createPace(clock: Clock): Pace {
  let sinceMs = clock.monotonic();
  return {
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
