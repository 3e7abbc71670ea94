import { type LeaderStatus, type Leadership, LeadershipWatch } from './lease/leadership.ts';
import { lead, type Term } from './lease/lease.ts';
import { createLeaseNamespace } from './lease/lease-namespace.ts';
import { runTerm } from './run-term.ts';
import type { ControllerPorts } from './state/ports.ts';
import { retryAfterMs } from './state/work-queue.ts';

/** Keeps what the hub's Propagations say true, while its process leads. */
export interface Controller extends AsyncDisposable {
  /** This process leads now: its deadline has not passed. */
  isLeading(): boolean;
  readonly leadership: Leadership;
}

export interface ControllerOptions extends ControllerPorts {
  /** Unique per process. */
  readonly identity: string;
  /** How long it waits before its first request. Default: 0. */
  readonly startAfterMs?: number | undefined;
}

/** As often as for the Lease itself: who waits to lead is not to be the last to learn that the hub is back. */
const longestWaitMs = 2_000;

const leaseName = 'muster-controller';

/**
 * Starts it: it waits for the hub, for the Lease, and then works, term after term, until the signal aborts or it is disposed of. Disposing waits for
 * what is being written and gives the Lease back.
 */
export function createController(options: ControllerOptions, signal: AbortSignal): Controller {
  const stop = new AbortController();
  const life = AbortSignal.any([signal, stop.signal]);
  let term: Term | undefined;
  const { stores, clock, log } = options;
  const leadership = new LeadershipWatch({ propagations: stores.propagations, clock, log }, life);
  const onTerm = (next: Term) => {
    term = next;
  };
  const ended = controlling({ ...options, leadership, onTerm }, life);
  return {
    leadership,
    isLeading: () => term !== undefined && !term.signal.aborted && term.isLeading(),
    async [Symbol.asyncDispose]() {
      stop.abort();
      await ended;
    },
  };
}

interface Controlling extends ControllerOptions {
  readonly leadership: LeadershipWatch;
  readonly onTerm: (term: Term) => void;
}

async function controlling(options: Controlling, signal: AbortSignal): Promise<void> {
  const { hub, clock, log, identity, leadership, onTerm, startAfterMs = 0 } = options;
  const place = createLeaseNamespace(hub, clock);
  const work = (term: Term) => {
    onTerm(term);
    return runTerm(options, term);
  };
  if (startAfterMs > 0) await clock.sleep(startAfterMs, signal);
  for (let tries = 1; !signal.aborted; tries += 1) {
    const namespace = await place.choose(signal);
    if (typeof namespace === 'string') {
      const onTry = (found: LeaderStatus) => {
        if (found.leader !== 'nobody') tries = 0;
        leadership.recordTry(found);
      };
      await lead({ hub, namespace, name: leaseName, identity, clock, log, onTry }, work, signal);
    } else if (!signal.aborted) leadership.recordTry({ leader: 'nobody', why: namespace.fault.message });
    await clock.sleep(Math.min(longestWaitMs, retryAfterMs(Math.max(1, tries), clock.random())), signal);
  }
}
