import { awake, type Clock } from '../../core/clock.ts';
import { backoffMs } from './backoff.ts';

const periodMs = 300_000;
const spacingMs = 500;

/** Discovers the kinds of a cluster again and again. */
export interface DiscoveryLoop {
  /** Requests the next discovery within this time, but not within half a second after the last one has ended. */
  soon(ms: number): void;
}

interface DiscoveryLoopOptions {
  readonly clock: Clock;
  /** Makes one discovery. Resolves with true if it succeeded. */
  readonly discover: (signal: AbortSignal) => Promise<boolean>;
}

/**
 * Starts a loop that calls `discover`: at once, then every 5 minutes ± 20 %. After a failure, the next call follows after a
 * backoff instead. `soon` requests an earlier call. The loop ends when the signal aborts.
 */
export function createDiscoveryLoop({ clock, discover }: DiscoveryLoopOptions, signal: AbortSignal): DiscoveryLoop {
  let dueMs = clock.monotonic();
  let sleeping = new AbortController();
  let earliestMs = 0;
  let failures = 0;

  async function running(): Promise<void> {
    while (!signal.aborted) {
      await untilDue();
      if (signal.aborted) return;
      dueMs = Number.POSITIVE_INFINITY;
      const succeeded = await discover(signal);
      failures = succeeded ? 0 : failures + 1;
      const restMs = succeeded ? periodMs * (0.8 + 0.4 * clock.random()) : backoffMs({ attempt: failures - 1, random: clock.random() });
      earliestMs = clock.monotonic() + spacingMs;
      dueMs = Math.max(earliestMs, Math.min(dueMs, clock.monotonic() + restMs));
    }
  }

  async function untilDue(): Promise<void> {
    while (!signal.aborted && clock.monotonic() < dueMs) {
      sleeping = new AbortController();
      await clock.sleep(dueMs - clock.monotonic(), sleeping.signal);
    }
  }

  signal.addEventListener('abort', () => sleeping.abort(), { once: true });
  void running();
  return {
    soon(ms) {
      const askedMs = Math.max(earliestMs, clock.monotonic() + ms);
      if (askedMs >= dueMs) return;
      dueMs = askedMs;
      sleeping.abort(awake);
    },
  };
}
