import type { Clock } from '../../../core/clock.ts';

/** When keys have something to do by themselves: one time for each. */
export interface DueTimes {
  /** After that time at the latest: of several times the first holds. */
  set(key: string, ms: number): void;
  /** It is not due by itself any more. */
  clear(key: string): void;
}

interface Timer {
  readonly dueMs: number;
  readonly cancel: AbortController;
}

/** Tells each key once its time has come. Nothing is told once the signal has aborted. */
export function createDueTimes(clock: Clock, onDue: (key: string) => void, signal: AbortSignal): DueTimes {
  const timers = new Map<string, Timer>();
  signal.addEventListener(
    'abort',
    () => {
      for (const { cancel } of timers.values()) cancel.abort();
      timers.clear();
    },
    { once: true },
  );
  return {
    set(key, ms) {
      const dueMs = clock.monotonic() + Math.max(ms, 0);
      const timer = timers.get(key);
      if (signal.aborted || (timer !== undefined && timer.dueMs <= dueMs)) return;
      timer?.cancel.abort();
      const cancel = new AbortController();
      timers.set(key, { dueMs, cancel });
      void clock.sleep(ms, cancel.signal).then(() => {
        if (cancel.signal.aborted) return;
        timers.delete(key);
        onDue(key);
      });
    },
    clear(key) {
      timers.get(key)?.cancel.abort();
      timers.delete(key);
    },
  };
}
