import type { Clock } from '../../core/clock.ts';
import type { Fault } from '../../core/faults.ts';
import { backoffMs } from './backoff.ts';

const failuresToOpen = 3;
const wakeMsPerReflector = 50;

/** Whether a cluster can be reached at all, learnt from every request to it. */
export interface Breaker {
  /** Why it is open; undefined while it is closed. */
  readonly fault: Fault | undefined;
  /** An HTTP answer came, whatever it says. */
  answered(): void;
  /** A connection could not be made, or died. */
  failed(fault: Fault): void;
  /**
   * Calls back whenever the breaker closes, and after `wake`, until the signal aborts: spread over 1 s per 20 who wait, so that a cluster that comes back is
   * not run over.
   */
  onClosed(wake: () => void, signal: AbortSignal): void;
  /** Wakes all waiting callers, even if the breaker was not open: a request that failed before may work now. */
  wake(): void;
}

interface BreakerOptions {
  readonly clock: Clock;
  /** One `GET /version`. Its outcome is told to `answered` or `failed` by whoever makes it. */
  readonly probe: (signal: AbortSignal) => Promise<unknown>;
  /** After it opened or closed. */
  readonly onChange: () => void;
}

/**
 * The breaker of one cluster (docs/internals/mirror.md 3.2): three connection failures in a row open it, which is what a dead session with its streams is;
 * then one probe per step of the backoff, and any answer to anything closes it. Ends with the signal.
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
      // Whichever kind was asked for: it is the cluster that cannot be reached.
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
