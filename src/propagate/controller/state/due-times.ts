import { awake, type Clock } from '../../../core/clock.ts';

/** One timer for each key. */
export interface DueTimes {
  /** Sets the timer of the key to end after `ms`. If it ends earlier already, it stays as it is. */
  set(key: string, ms: number): void;
  /** Removes the timer of the key. */
  clear(key: string): void;
}

interface Timer {
  readonly dueMs: number;
  readonly cancel: AbortController;
}

/** Creates timers that call `onDue` for each key when its time has come. After the signal has aborted, they call nothing. */
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
      timer?.cancel.abort(awake);
      const cancel = new AbortController();
      timers.set(key, { dueMs, cancel });
      void clock.sleep(ms, cancel.signal).then(() => {
        if (cancel.signal.aborted) return;
        timers.delete(key);
        onDue(key);
      });
    },
    clear(key) {
      timers.get(key)?.cancel.abort(awake);
      timers.delete(key);
    },
  };
}
