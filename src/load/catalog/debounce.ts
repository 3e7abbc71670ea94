import type { Clock } from '../../core/clock.ts';

interface DebounceOptions {
  readonly clock: Clock;
  /** The function runs after this many milliseconds without a call. */
  readonly quietMs: number;
  /** The function runs at the latest this many milliseconds after the first call. */
  readonly atMostMs: number;
  readonly run: () => void;
}

/**
 * Joins many calls into one run. Calls during a run lead to another run. Nothing runs after the signal has aborted.
 *
 * @returns The function to call.
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
