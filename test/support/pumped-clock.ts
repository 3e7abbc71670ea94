import { setTimeout as inRealTime } from 'node:timers/promises';
import type { ManualClock } from './manual-clock.ts';

/** After so long a wait a test may look once per second only. */
const longWaitMs = 46_000;

/** So much of the clock's time passes per step, and so much of the machine's: sockets are as fast as ever, so time may not fly. */
const step = { virtualMs: 100, realMs: 4 } as const;

/** Moves the clock by so much, in small steps between which sockets get their turns. */
export async function pass(clock: ManualClock, ms: number): Promise<void> {
  for (let left = ms; left > 0; left -= step.virtualMs) await tick(clock, Math.min(left, step.virtualMs));
}

/** Moves the clock on until it is so. @throws {Error} after `withinMs` of its time, a minute by default. */
export async function until(clock: ManualClock, isSo: () => Promise<boolean> | boolean, withinMs = 60_000): Promise<void> {
  const startMs = clock.monotonic();
  while (!(await isSo())) {
    const waitedMs = clock.monotonic() - startMs;
    if (waitedMs > withinMs) throw new Error(`expected it to become so within ${withinMs} ms: ${isSo}`);
    // What takes long is asked for less often: each question costs a request.
    for (let ticks = waitedMs < longWaitMs ? 1 : 10; ticks > 0; ticks--) await tick(clock, step.virtualMs);
  }
}

async function tick(clock: ManualClock, ms: number): Promise<void> {
  await clock.advance(ms);
  await inRealTime(step.realMs);
}

/** What the promise gives, with time going on until it does. */
export async function pumped<T>(clock: ManualClock, promise: Promise<T>): Promise<T> {
  let isSettled = false;
  const settled = promise.finally(() => {
    isSettled = true;
  });
  settled.catch(() => undefined);
  // The first turns are for what needs no time: most of what is asked.
  for (let turn = 0; turn < 25 && !isSettled; turn++) await inRealTime(1);
  while (!isSettled) await tick(clock, step.virtualMs);
  return settled;
}
