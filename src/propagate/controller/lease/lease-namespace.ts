import { fieldManager } from '../../../changes/object-client.ts';
import type { Clock } from '../../../core/clock.ts';
import type { Fault } from '../../../core/faults.ts';
import { callHub, type HubConnection } from '../../hub/hub.ts';
import { copyFault } from '../../plan/copies/copy-reason.ts';

const musterNamespace = 'muster-system';

/** Chooses where the Lease stands, again whenever it cannot stand there any more. */
export interface LeaseNamespace {
  choose(signal: AbortSignal): Promise<string | { readonly fault: Fault }>;
}

/** A Namespace is mostly gone within seconds. One that a finalizer keeps may stay for ever. */
const terminatingMs = 30_000;

/** As `leaseNamespaceOf`. Waits up to 30 s for `muster-system` to be gone where it is being deleted, and takes `default` after that. */
export function createLeaseNamespace(hub: HubConnection, clock: Pick<Clock, 'monotonic'>): LeaseNamespace {
  let terminatingSinceMs: number | undefined;
  return {
    async choose(signal) {
      const found = await leaseNamespaceOf(hub, signal);
      if (found !== 'terminating') {
        terminatingSinceMs = undefined;
        return found;
      }
      terminatingSinceMs ??= clock.monotonic();
      if (clock.monotonic() - terminatingSinceMs > terminatingMs) return 'default';
      return { fault: copyFault(hub.cluster, 'CONFLICT', `the Namespace ${musterNamespace} of the Lease is being deleted`) };
    },
  };
}

/**
 * Where the Lease stands: in `muster-system`, which is made if it is not there; in `default` if we may neither see nor make it. `terminating`:
 * `muster-system` is being deleted. A fault if the hub does not answer.
 *
 * Two processes with different rights may come to different namespaces and both lead: that is slower, not wrong (D3).
 */
export async function leaseNamespaceOf(
  hub: HubConnection,
  signal: AbortSignal,
): Promise<'muster-system' | 'default' | 'terminating' | { readonly fault: Fault }> {
  const found = await callHub(hub, ({ CoreV1Api }, transport) => new CoreV1Api(transport).readNamespace({ name: musterNamespace }), signal);
  if (found.result === 'answered') return found.value.metadata?.deletionTimestamp === undefined ? musterNamespace : 'terminating';
  if (found.fault.code !== 'NOT_FOUND') return isRefusal(found.fault) ? 'default' : { fault: found.fault };
  const request = { body: { metadata: { name: musterNamespace } }, fieldManager };
  const made = await callHub(hub, ({ CoreV1Api }, transport) => new CoreV1Api(transport).createNamespace(request), signal);
  // A conflict: another gateway has just made it.
  if (made.result === 'answered' || made.fault.code === 'CONFLICT') return musterNamespace;
  return isRefusal(made.fault) ? 'default' : { fault: made.fault };
}

/** Asking again would not help: rights are missing, or somebody's policy says no. */
function isRefusal({ code }: Fault): boolean {
  return code === 'FORBIDDEN' || code === 'INVALID';
}
