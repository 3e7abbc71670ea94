import type { Clock } from '../../core/clock.ts';
import { type Breakage, breakage } from '../classify.ts';

/** The life of one request: it ends with the caller's signal, when a deadline passes, or when it is disposed of; what is still open of it then is reset. */
export interface RequestScope extends Disposable {
  /** Its reason is a `Breakage` when a deadline has passed. */
  readonly signal: AbortSignal;
  /** Sets the deadline, in place of the one before: `what` is what is told when it passes. */
  within(ms: number, what: Breakage): void;
  /** No deadline until the next `within`. */
  relax(): void;
  /** True once one of the outer signals has aborted: nobody is to be told anything any more. */
  readonly abandoned: boolean;
  /** Why it ended: the deadline's breakage, or undefined while it stands and after the caller's abort. */
  readonly broken: Breakage | undefined;
}

/** What a request that was ended from outside is told; nobody reads it. */
export const abandoned: Breakage = breakage('UNREACHABLE', 'the request was ended by its caller');

/** Opens the scope of one request, which none of these signals outlives. Disposing it leaves no timer and no listener behind. */
export function openRequestScope(outer: readonly AbortSignal[], clock: Clock): RequestScope {
  const controller = new AbortController();
  let untilMs = Number.POSITIVE_INFINITY;
  let wakesMs = Number.POSITIVE_INFINITY;
  let what: Breakage = breakage('TIMED_OUT', 'the time is up');
  let nap: AbortController | undefined;

  // One sleep serves many deadlines: a later one only lets it wake in vain, which is far cheaper than a timer per chunk.
  const guard = async () => {
    while (untilMs < Number.POSITIVE_INFINITY && !controller.signal.aborted) {
      const remainingMs = untilMs - clock.monotonic();
      if (remainingMs <= 0) return controller.abort(what);
      nap = new AbortController();
      wakesMs = untilMs;
      await clock.sleep(remainingMs, nap.signal);
    }
    nap = undefined;
    wakesMs = Number.POSITIVE_INFINITY;
  };
  const isAbandoned = () => outer.some((signal) => signal.aborted);
  const end = () => controller.abort(abandoned);
  if (isAbandoned()) end();
  else for (const signal of outer) signal.addEventListener('abort', end, { once: true });

  return {
    signal: controller.signal,
    within(ms, breaks) {
      what = breaks;
      untilMs = clock.monotonic() + ms;
      if (nap === undefined) void guard();
      else if (untilMs < wakesMs) nap.abort();
    },
    relax() {
      untilMs = Number.POSITIVE_INFINITY;
    },
    get abandoned() {
      return isAbandoned();
    },
    get broken() {
      return isAbandoned() ? undefined : breakageIn(controller.signal);
    },
    [Symbol.dispose]() {
      for (const signal of outer) signal.removeEventListener('abort', end);
      untilMs = Number.POSITIVE_INFINITY;
      controller.abort(abandoned);
      // Without a reason it would make an error with a stack, for each request, that nobody reads.
      nap?.abort(abandoned);
    },
  };
}

/** The breakage a scope was ended with; undefined if it stands or was ended otherwise. */
export function breakageIn(signal: AbortSignal): Breakage | undefined {
  const reason: unknown = signal.reason;
  return typeof reason === 'object' && reason !== null && 'code' in reason && 'retry' in reason ? (reason as Breakage) : undefined;
}

/** The promise's value, or undefined as soon as the signal aborts. The promise goes on: others may wait for it. */
export function untilAborted<T>(promise: Promise<T>, signal: AbortSignal): Promise<T | undefined> {
  if (signal.aborted) return Promise.resolve(undefined);
  return new Promise((resolve, reject) => {
    const abort = () => resolve(undefined);
    signal.addEventListener('abort', abort, { once: true });
    promise.then(resolve, reject).finally(() => signal.removeEventListener('abort', abort));
  });
}
