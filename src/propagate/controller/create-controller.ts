import type { Hub } from '../hub/hub.ts';
import type { ObjectClient } from '../object-client.ts';
import { absentClient } from './absent-client.ts';
import { lead, type Term } from './lease.ts';
import { leaseNamespaceOf } from './lease-namespace.ts';
import type { ControllerPorts } from './ports.ts';
import { workATerm } from './work-a-term.ts';
import { retryAfterMs } from './work-queue.ts';

/** Keeps what the hub's Propagations say true, while its process leads. */
export interface Controller extends AsyncDisposable {
  /** This process leads now: its deadline has not passed. */
  isLeading(): boolean;
}

export interface ControllerOptions extends ControllerPorts {
  /** Unique per process. */
  readonly identity: string;
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
  const ended = controlling(options, life, (next) => {
    term = next;
  });
  return {
    isLeading: () => term !== undefined && !term.signal.aborted && term.isLeading(),
    async [Symbol.asyncDispose]() {
      stop.abort();
      await ended;
    },
  };
}

async function controlling(options: ControllerOptions, signal: AbortSignal, onTerm: (term: Term) => void): Promise<void> {
  const { hub, clock, log, identity } = options;
  const client = hubClientOf(hub);
  for (let failures = 1; !signal.aborted; failures += 1) {
    const namespace = await leaseNamespaceOf(client, signal);
    if (typeof namespace !== 'string') {
      await clock.sleep(Math.min(longestWaitMs, retryAfterMs(failures, clock.random())), signal);
      continue;
    }
    const work = (term: Term) => {
      onTerm(term);
      return workATerm(options, term);
    };
    await lead({ client, namespace, name: leaseName, identity, clock, log }, work, signal);
  }
}

/** Of the hub as it is connected at each call: it may leave the fleet and join again while somebody waits to lead. */
function hubClientOf({ cluster, client }: Hub): ObjectClient {
  const now = () => client() ?? absentClient(cluster);
  return {
    cluster,
    get: (address, signal) => now().get(address, signal),
    apply: (request, signal) => now().apply(request, signal),
    replace: (request, signal) => now().replace(request, signal),
    patch: (request, signal) => now().patch(request, signal),
    delete: (request, signal) => now().delete(request, signal),
    serves: (kind, signal) => now().serves(kind, signal),
    may: (review, signal) => now().may(review, signal),
  };
}
