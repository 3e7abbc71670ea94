import type { Clock } from '../../core/clock.ts';
import { backoffMs } from './backoff.ts';

const periodMs = 300_000;
const spacingMs = 500;

/** Asks a cluster again and again what it serves. */
export interface DiscoveryLoop {
  /** Again after that time at the latest; never sooner than half a second after the last answer. */
  soon(ms: number): void;
}

interface DiscoveryLoopOptions {
  readonly clock: Clock;
  /** Before the first time. */
  readonly delayMs: number;
  /** Once. True if the cluster has said it. */
  readonly discover: (signal: AbortSignal) => Promise<boolean>;
}

/** After the delay, then every 5 minutes ± 20 %, by the backoff after a failure, and whenever told. Ends with the signal. */
export function createDiscoveryLoop({ clock, delayMs, discover }: DiscoveryLoopOptions, signal: AbortSignal): DiscoveryLoop {
  let dueMs = clock.monotonic() + delayMs;
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
      sleeping.abort();
    },
  };
}
