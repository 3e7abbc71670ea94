import type { Clock } from '../../core/clock.ts';

interface DebounceOptions {
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
  let lastCallMs = 0;
  let waiting = false;

  async function wait(): Promise<void> {
    const endMs = clock.monotonic() + atMostMs;
    const leftMs = () => Math.min(lastCallMs + quietMs, endMs) - clock.monotonic();
    for (let ms = leftMs(); ms > 0; ms = leftMs()) {
      await clock.sleep(ms, signal);
      if (signal.aborted) return;
    }
    waiting = false;
    run();
  }

  return () => {
    lastCallMs = clock.monotonic();
    if (waiting || signal.aborted) return;
    waiting = true;
    void wait();
  };
}
