import type { Clock } from '../core/clock.ts';

export interface DebounceOptions {
  readonly clock: Clock;
  /** Runs once nothing has called for so long … */
  readonly quietMs: number;
  /** … and at the latest so long after the first call. */
  readonly atMostMs: number;
  readonly run: () => void;
}

/**
 * Makes many calls one run. Calls that come during a run lead to another one. Nothing runs once the signal has aborted.
 *
 * @returns What to call.
 */
export function debounce({ clock, quietMs, atMostMs, run }: DebounceOptions, signal: AbortSignal): () => void {
  let calls = 0;
  let waiting = false;

  async function wait(): Promise<void> {
    const endMs = clock.monotonic() + atMostMs;
    for (let seen = 0; seen !== calls && clock.monotonic() < endMs; ) {
      seen = calls;
      await clock.sleep(Math.min(quietMs, endMs - clock.monotonic()), signal);
      if (signal.aborted) return;
    }
    waiting = false;
    run();
  }

  return () => {
    calls++;
    if (waiting || signal.aborted) return;
    waiting = true;
    void wait();
  };
}
