import { setTimeout as inRealTime } from 'node:timers/promises';
import type { ManualClock } from './manual-clock.ts';

/** Milliseconds of waiting after which a condition is checked only once per second. */
const longWaitMs = 46_000;

/** Milliseconds per step, of the clock and of the machine. Sockets run in real time, so the clock must not run too fast. */
const step = { virtualMs: 100, realMs: 4 } as const;

/** Moves the clock by this time in small steps. Sockets are read between the steps. */
export async function pass(clock: ManualClock, ms: number): Promise<void> {
  for (let left = ms; left > 0; left -= step.virtualMs) await tick(clock, Math.min(left, step.virtualMs));
}

/**
 * Moves the clock until the condition holds.
 *
 * @throws {Error} after `withinMs` of the clock. Default: a minute.
 */
export async function until(clock: ManualClock, isSo: () => Promise<boolean> | boolean, withinMs = 60_000): Promise<void> {
  const startMs = clock.monotonic();
  while (!(await isSo())) {
    const waitedMs = clock.monotonic() - startMs;
    if (waitedMs > withinMs) throw new Error(`expected it to become so within ${withinMs} ms: ${isSo}`);
    // A condition that takes long is checked less often, because each check costs a request.
    for (let ticks = waitedMs < longWaitMs ? 1 : 10; ticks > 0; ticks--) await tick(clock, step.virtualMs);
  }
}

async function tick(clock: ManualClock, ms: number): Promise<void> {
  await clock.advance(ms);
  await inRealTime(step.realMs);
}

/** Resolves with the value of the promise. The clock moves until then. */
export async function pumped<T>(clock: ManualClock, promise: Promise<T>): Promise<T> {
  let isSettled = false;
  const settled = promise.finally(() => {
    isSettled = true;
  });
  settled.catch(() => undefined);
  // The first event-loop turns are for work that needs no time, which most promises are.
  for (let turn = 0; turn < 25 && !isSettled; turn++) await inRealTime(1);
  while (!isSettled) await tick(clock, step.virtualMs);
  return settled;
}
