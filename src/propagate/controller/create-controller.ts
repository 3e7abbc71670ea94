import { type LeaderStatus, type Leadership, LeadershipWatch } from './lease/leadership.ts';
import { lead, type Term } from './lease/lease.ts';
import { createLeaseNamespace, type LeaseNamespaceRule } from './lease/lease-namespace.ts';
import { runTerm } from './run-term.ts';
import type { ControllerPorts } from './state/ports.ts';
import { retryAfterMs } from './state/work-queue.ts';

/** Keeps the Propagations of the hub in sync while this process leads. */
export interface Controller extends AsyncDisposable {
  /** True while this process leads: the deadline of its last renewal has not passed. */
  isLeading(): boolean;
  readonly leadership: Leadership;
}

export interface ControllerOptions extends ControllerPorts {
  /** Name of this process in the Lease. Unique per process. */
  readonly identity: string;
  readonly leaseNamespaceRule: LeaseNamespaceRule;
  /** Delay in milliseconds before the first request. Default: 0. */
  readonly startAfterMs?: number | undefined;
  /**
   * Further work of the leader, started with each term. It must end soon after the signal of its term aborts, and must not throw. Default:
   * none.
   */
  readonly leaderWork?: ((term: Term) => Promise<void>) | undefined;
}

/**
 * Maximum delay between two attempts to find a namespace for the Lease. It equals the retry interval of the Lease. So a waiting gateway
 * notices soon that the hub is back.
 */
const longestWaitMs = 2_000;

const leaseName = 'muster-controller';

/**
 * Starts the controller. It waits for the hub and for the Lease. Then it runs one term after the other (`runTerm`), until the signal aborts
 * or the controller is disposed.
 *
 * It learns of changes from the mirrors of the hub. So a Propagation that the mutation `propagate` or `kubectl apply` has written arrives
 * in `runTerm` as a change of the mirror. Disposing waits for writes that are under way, then releases the Lease.
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
  const ended = runTerms({ ...options, leadership, onTerm }, life);
  return {
    leadership,
    isLeading: () => term !== undefined && !term.signal.aborted && term.isLeading(),
    async [Symbol.asyncDispose]() {
      stop.abort();
      await ended;
    },
  };
}

interface ControllerContext extends ControllerOptions {
  readonly leadership: LeadershipWatch;
  readonly onTerm: (term: Term) => void;
}

async function runTerms(options: ControllerContext, signal: AbortSignal): Promise<void> {
  const { hub, clock, log, identity, leaseNamespaceRule, leadership, onTerm, leaderWork, startAfterMs = 0 } = options;
  const leaseNamespace = createLeaseNamespace(hub, leaseNamespaceRule, clock);
  const work = async (term: Term) => {
    onTerm(term);
    await Promise.all([runTerm(options, term), leaderWork?.(term)]);
  };
  if (startAfterMs > 0) await clock.sleep(startAfterMs, signal);
  for (let tries = 1; !signal.aborted; tries += 1) {
    const namespace = await leaseNamespace.choose(signal);
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
