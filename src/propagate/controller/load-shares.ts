import type { Propagation } from '../model/propagation.ts';
import type { Pass } from './state/ports.ts';

/**
 * Reads the inventory live from the hub into `state.shares`, and the names of invalid shares into `state.unreadable`. Reads nothing if
 * `state.shares` is set already. False if the hub does not answer.
 */
export async function loadShares({ state, ports, term }: Pass, { metadata }: Propagation): Promise<boolean> {
  if (state.shares !== undefined) return true;
  const { namespace, uid } = metadata;
  const loaded = await ports.stores.shares.load({ namespace, uid }, term.signal);
  if ('fault' in loaded) {
    const { code, message: reason } = loaded.fault;
    if (!term.signal.aborted) ports.log.warn({ propagation: state.key, code, reason }, 'the inventory could not be read');
    return false;
  }
  state.unreadable = ports.stores.shares.unreadable({ namespace, uid }) ?? [];
  if (state.unreadable.length > 0)
    ports.log.warn({ propagation: state.key, shares: state.unreadable }, 'some ClusterShares of the inventory cannot be read');
  state.shares = new Map(loaded.map((share) => [share.cluster, share]));
  return true;
}
