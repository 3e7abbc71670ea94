import type { Clock } from '../../core/clock.ts';
import type { ReadContext } from './reads.ts';

/** A signal that aborts after a time, or when an outer signal does. Disposing it stops the timer. */
interface Deadline extends Disposable {
  readonly signal: AbortSignal;
}

/**
 * Creates a deadline that passes after `ms`, and at the latest at `waitUntilMs` of the operation. If no time is left, its signal is aborted
 * from the start.
 */
export function createDeadline(ms: number, clock: Clock, { signal, waitUntilMs }: Pick<ReadContext, 'signal' | 'waitUntilMs'>): Deadline {
  const ended = new AbortController();
  const restMs = Math.min(ms, (waitUntilMs ?? Number.POSITIVE_INFINITY) - clock.monotonic());
  if (restMs <= 0) ended.abort();
  else void clock.sleep(restMs, AbortSignal.any([signal, ended.signal])).then(() => ended.abort());
  return {
    signal: ended.signal,
    [Symbol.dispose]: () => ended.abort(),
  };
}
