import type { Clock } from '../core/clock.ts';

/** A signal that aborts after a time, or when the outer one does. Disposing it ends its timer. */
export interface Deadline extends Disposable {
  readonly signal: AbortSignal;
}

/** A deadline from now on. With 0 ms it has already passed. */
export function createDeadline(ms: number, clock: Clock, outer: AbortSignal): Deadline {
  const ended = new AbortController();
  if (ms <= 0) ended.abort();
  else void clock.sleep(ms, AbortSignal.any([outer, ended.signal])).then(() => ended.abort());
  return {
    signal: ended.signal,
    [Symbol.dispose]: () => ended.abort(),
  };
}
