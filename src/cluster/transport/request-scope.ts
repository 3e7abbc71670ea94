import type { Clock } from '../../core/clock.ts';
import { type ClusterFailure, clusterFailure } from '../cluster-failure.ts';

/**
 * The lifetime of one request. It ends with the caller's signal, at a deadline, or when it is disposed of. Everything that the request
 * still has open is then reset.
 */
export interface RequestScope extends Disposable {
  /** Aborted when the lifetime ends. Its reason is the failure of the deadline that has passed, or `abandonedFailure`. */
  readonly signal: AbortSignal;
  /** Sets the deadline, in place of an earlier one. If the deadline passes, the request ends with the failure `what`. */
  setDeadline(ms: number, what: ClusterFailure): void;
  /** Removes the deadline. */
  clearDeadline(): void;
  /** True once one of the outer signals has aborted. The caller then expects no further result. */
  readonly isAbandoned: boolean;
  /** The failure of the deadline that ended the request. Undefined before the end, and after an abort by the caller. */
  readonly failure: ClusterFailure | undefined;
}

/** The failure of a request that its caller has ended. No caller reads it. */
export const abandonedFailure: ClusterFailure = clusterFailure('UNREACHABLE', 'the request was ended by its caller');

/**
 * Begins the lifetime of one request. It ends with the first of the outer signals. Disposing of it leaves no timer and no listener behind.
 */
export function openRequestScope(outer: readonly AbortSignal[], clock: Clock): RequestScope {
  const controller = new AbortController();
  let untilMs = Number.POSITIVE_INFINITY;
  let wakesMs = Number.POSITIVE_INFINITY;
  let what: ClusterFailure = clusterFailure('TIMED_OUT', 'the time is up');
  let nap: AbortController | undefined;

  // One sleep serves many deadlines. If the deadline has moved to a later time, the sleep wakes too early once. That costs far less than a
  // timer per chunk.
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
  const end = () => controller.abort(abandonedFailure);
  if (isAbandoned()) end();
  else for (const signal of outer) signal.addEventListener('abort', end, { once: true });

  return {
    signal: controller.signal,
    setDeadline(ms, breaks) {
      what = breaks;
      untilMs = clock.monotonic() + ms;
      if (nap === undefined) void guard();
      else if (untilMs < wakesMs) nap.abort();
    },
    clearDeadline() {
      untilMs = Number.POSITIVE_INFINITY;
    },
    get isAbandoned() {
      return isAbandoned();
    },
    get failure() {
      return isAbandoned() ? undefined : failureOfSignal(controller.signal);
    },
    [Symbol.dispose]() {
      for (const signal of outer) signal.removeEventListener('abort', end);
      untilMs = Number.POSITIVE_INFINITY;
      controller.abort(abandonedFailure);
      // `abort` without a reason would create an error with a stack for each request.
      nap?.abort(abandonedFailure);
    },
  };
}

/** Returns the failure with which a request was ended. Undefined if the signal has not aborted, or has aborted without a failure. */
export function failureOfSignal(signal: AbortSignal): ClusterFailure | undefined {
  const reason: unknown = signal.reason;
  return typeof reason === 'object' && reason !== null && 'code' in reason && 'retry' in reason ? (reason as ClusterFailure) : undefined;
}
