import type { Clock } from '../../core/clock.ts';
import type { Fault } from '../../core/faults.ts';
import type { ServedResource } from '../../core/kinds.ts';
import { deletionOf } from '../copies/copy-marks.ts';
import { copyFault } from '../copies/copy-reason.ts';
import type { ObjectAddress, ObjectClient } from '../object-client.ts';

const ours = 'muster-system';

/** The kind of Namespaces, as every API server serves it. */
export const namespaceKind: ServedResource = {
  group: '',
  kind: 'Namespace',
  version: 'v1',
  versions: ['v1'],
  resource: 'namespaces',
  singular: 'namespace',
  namespaced: false,
  verbs: ['get', 'patch'],
  shortNames: ['ns'],
  categories: [],
};

/** Chooses where the Lease stands, again whenever it cannot stand there any more. */
export interface LeasePlace {
  choose(signal: AbortSignal): Promise<string | { readonly fault: Fault }>;
}

/** A Namespace is mostly gone within seconds. One that a finalizer keeps may stay for ever. */
const terminatingMs = 30_000;

/** As `leaseNamespaceOf`. Waits up to 30 s for `muster-system` to be gone where it is being deleted, and takes `default` after that. */
export function createLeasePlace(client: ObjectClient, clock: Pick<Clock, 'monotonic'>): LeasePlace {
  let terminatingSinceMs: number | undefined;
  return {
    async choose(signal) {
      const found = await leaseNamespaceOf(client, signal);
      if (found !== 'terminating') {
        terminatingSinceMs = undefined;
        return found;
      }
      terminatingSinceMs ??= clock.monotonic();
      if (clock.monotonic() - terminatingSinceMs > terminatingMs) return 'default';
      return { fault: copyFault(client.cluster, 'CONFLICT', `the Namespace ${ours} of the Lease is being deleted`) };
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
  client: ObjectClient,
  signal: AbortSignal,
): Promise<'muster-system' | 'default' | 'terminating' | { readonly fault: Fault }> {
  const address: ObjectAddress = { resource: namespaceKind, name: ours };
  const found = await client.get(address, signal);
  if (found.result === 'answered') return deletionOf(found.object) === undefined ? ours : 'terminating';
  if (found.result === 'failed') return isRefusal(found.fault) ? 'default' : { fault: found.fault };
  const manifest = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: ours } };
  const made = await client.apply({ ...address, manifest, preconditions: {}, force: false, run: 'real' }, signal);
  if (made.result === 'answered') return ours;
  if (made.result === 'absent') return 'default';
  return isRefusal(made.fault) ? 'default' : { fault: made.fault };
}

/** Asking again would not help: rights are missing, or somebody's policy says no. */
function isRefusal({ code }: Fault): boolean {
  return code === 'FORBIDDEN' || code === 'INVALID';
}
