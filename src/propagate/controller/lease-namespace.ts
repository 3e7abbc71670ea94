import type { Fault } from '../../core/faults.ts';
import type { ServedResource } from '../../core/kinds.ts';
import type { ObjectAddress, ObjectClient } from '../object-client.ts';

const ours = 'muster-system';

const namespaceKind: ServedResource = {
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

/**
 * Where the Lease stands: in `muster-system`, which is made if it is not there; in `default` if we may neither see nor make it. A fault if the hub
 * does not answer.
 *
 * Two processes with different rights may come to different namespaces and both lead: that is slower, not wrong (D3).
 */
export async function leaseNamespaceOf(client: ObjectClient, signal: AbortSignal): Promise<string | { readonly fault: Fault }> {
  const address: ObjectAddress = { resource: namespaceKind, name: ours };
  const found = await client.get(address, signal);
  if (found.result === 'answered') return ours;
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
