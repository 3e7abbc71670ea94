import { awake, type Clock } from '../../core/clock.ts';

const periodMs = 30_000;
const spacingMs = 1_000;

/** Checks the identity of a cluster repeatedly, to notice when another cluster answers at its address. */
export interface IdentityChecks {
  /** Checks again after a second. Called when a request was answered, perhaps by another cluster. */
  soon(): void;
}

interface IdentityChecksOptions {
  readonly clock: Clock;
  /** Makes one check. It is never called again before the promise resolves. */
  readonly check: (signal: AbortSignal) => Promise<void>;
}

/** Checks every 30 s ± 20 %, and one second after `soon`. Ends when the signal aborts. */
export function createIdentityChecks({ clock, check }: IdentityChecksOptions, signal: AbortSignal): IdentityChecks {
  let requested = false;
  let sleeping = new AbortController();

  async function running(): Promise<void> {
    while (!signal.aborted) {
      if (!requested) await sleep(periodMs * (0.8 + 0.4 * clock.random()));
      if (requested) await clock.sleep(spacingMs, signal);
      // A request that is answered during the check may have reached another cluster than the check. Such a request needs a later check.
      requested = false;
      if (!signal.aborted) await check(signal);
    }
  }

  async function sleep(ms: number): Promise<void> {
    sleeping = new AbortController();
    await clock.sleep(ms, sleeping.signal);
  }

  signal.addEventListener('abort', () => sleeping.abort(), { once: true });
  void running();
  return {
    soon() {
      if (requested) return;
      requested = true;
      sleeping.abort(awake);
    },
  };
}
