import type { Clock } from '../../core/clock.ts';
import type { Fault } from '../../core/faults.ts';
import { backoffMs } from './backoff.ts';

const failuresToOpen = 3;
const wakeMsPerReflector = 50;

/** Tracks whether a cluster can be reached, by the results of all requests to it. */
export interface Breaker {
  /** Why the breaker is open. Undefined while it is closed. */
  readonly fault: Fault | undefined;
  /** Closes the breaker and resets the count of failures. Call this method after any HTTP answer, even an error. */
  answered(): void;
  /** Counts a failure. The third failure in a row opens the breaker. Call this method after a connection failed or was lost. */
  failed(fault: Fault): void;
  /**
   * Calls back after the breaker closes, and after `wake`, until the signal aborts. The callbacks are spread over 1 s per 20 callers, to
   * protect a cluster that has just returned.
   */
  onClosed(wake: () => void, signal: AbortSignal): void;
  /** Calls the callbacks of `onClosed`, even if the breaker was not open, because a request that failed before may succeed now. */
  wake(): void;
}

interface BreakerOptions {
  readonly clock: Clock;
  /** Sends `GET /version`. The observed API then reports the result to `answered` or `failed`. */
  readonly probe: (signal: AbortSignal) => Promise<unknown>;
  /** Called after the breaker opened or closed. */
  readonly onChange: () => void;
}

/**
 * Creates the breaker of one cluster (docs/internals/mirror.md 3.2). Three connection failures in a row open it. All streams of a lost
 * HTTP/2 connection fail together, so this loss usually opens the breaker at once. While the breaker is open, a probe is sent after each
 * wait of the backoff. Any answer closes the breaker.
 *
 * Stops probing when the signal aborts.
 */
export function createBreaker({ clock, probe, onChange }: BreakerOptions, signal: AbortSignal): Breaker {
  const waiting = new Set<{ readonly wake: () => void; readonly signal: AbortSignal }>();
  let failures = 0;
  let open: { readonly fault: Fault; readonly ended: AbortController } | undefined;

  async function probing(ended: AbortSignal): Promise<void> {
    for (let attempt = 0; !ended.aborted; attempt++) {
      await clock.sleep(backoffMs({ attempt, random: clock.random() }), ended);
      if (!ended.aborted) await probe(ended);
    }
  }

  function close(): void {
    if (open === undefined) return;
    open.ended.abort();
    open = undefined;
    wakeAll();
    onChange();
  }

  function wakeAll(): void {
    const spreadMs = waiting.size > 1 ? waiting.size * wakeMsPerReflector : 0;
    for (const { wake, signal: until } of waiting) {
      void clock.sleep(clock.random() * spreadMs, until).then(() => {
        if (!until.aborted) wake();
      });
    }
  }

  signal.addEventListener('abort', () => open?.ended.abort(), { once: true });
  return {
    get fault() {
      return open?.fault;
    },
    answered() {
      failures = 0;
      close();
    },
    failed(fault) {
      failures++;
      if (open !== undefined || failures < failuresToOpen || signal.aborted) return;
      // The fault is of the whole cluster, so it does not name the kind of the failed request.
      const { kind: _, ...ofCluster } = fault;
      open = { fault: { ...ofCluster, sinceMs: clock.now() }, ended: new AbortController() };
      void probing(open.ended.signal);
      onChange();
    },
    wake: wakeAll,
    onClosed(wake, until) {
      if (until.aborted) return;
      const waiter = { wake, signal: until };
      waiting.add(waiter);
      until.addEventListener('abort', () => waiting.delete(waiter), { once: true });
    },
  };
}
