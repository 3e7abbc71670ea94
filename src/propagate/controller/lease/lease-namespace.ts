import { fieldManager } from '../../../changes/object-client.ts';
import type { Clock } from '../../../core/clock.ts';
import type { Fault } from '../../../core/faults.ts';
import { callHub, type HubConnection } from '../../hub/hub.ts';
import { copyFault } from '../../plan/copies/copy-reason.ts';

const musterNamespace = 'muster-system';

/** Chooses the namespace of the Lease. Called again whenever the Lease cannot stay in its namespace. */
export interface LeaseNamespace {
  choose(signal: AbortSignal): Promise<string | { readonly fault: Fault }>;
}

/** Maximum time to wait for the deletion of the Namespace. A deletion usually takes seconds. With a finalizer, it may never end. */
const terminatingMs = 30_000;

/**
 * Creates the part that chooses the namespace of the Lease: `muster-system`, which is created if needed, or `default` without the rights for
 * it. While `muster-system` is being deleted, `choose` returns a fault, and the caller tries again. After 30 s of deletion, it returns
 * `default`.
 */
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
 * Returns the namespace of the Lease:
 *
 * - `muster-system`, which is created if it does not exist
 * - `default`, if the gateway may neither read nor create `muster-system`
 * - `terminating`, while `muster-system` is being deleted
 * - a fault, if the hub does not answer
 *
 * Two processes with different rights may choose different namespaces, so that both lead. This is slower, but not wrong: two leaders
 * produce the same copies as one leader (docs/promises.md, D3).
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
  // A conflict means that another gateway has just created the Namespace.
  if (made.result === 'answered' || made.fault.code === 'CONFLICT') return musterNamespace;
  return isRefusal(made.fault) ? 'default' : { fault: made.fault };
}

/** True if another attempt would not help, because rights are missing or a policy refuses. */
function isRefusal({ code }: Fault): boolean {
  return code === 'FORBIDDEN' || code === 'INVALID';
}
