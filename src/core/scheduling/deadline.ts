import type { Clock } from '../clock.ts';

/** A time limit for several calls together. Disposing of it frees its timer. */
export interface TimeLimit extends Disposable {
  /** Aborts with the request or at the deadline. */
  readonly signal: AbortSignal;
  readonly hasPassed: () => boolean;
}

/** Starts a deadline of `ms` milliseconds. If the signal of the request aborts before, the deadline never passes. */
export function startDeadline(clock: Clock, ms: number, signal: AbortSignal): TimeLimit {
  const late = new AbortController();
  const ended = new AbortController();
  void clock.sleep(ms, AbortSignal.any([signal, ended.signal])).then(() => {
    if (!ended.signal.aborted) late.abort();
  });
  return {
    signal: AbortSignal.any([signal, late.signal]),
    hasPassed: () => late.signal.aborted && !signal.aborted,
    [Symbol.dispose]: () => ended.abort(),
  };
}
