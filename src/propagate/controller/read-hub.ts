import type { Propagation } from '../model/propagation.ts';
import type { Pass } from './state/ports.ts';

/** The inventory from the hub itself, unless the run has it. False if the hub does not say. */
export async function loadShares({ run, ports, term }: Pass, { metadata }: Propagation): Promise<boolean> {
  if (run.shares !== undefined) return true;
  const { namespace, uid } = metadata;
  const loaded = await ports.stores.shares.load({ namespace, uid }, term.signal);
  if ('fault' in loaded) {
    const { code, message: reason } = loaded.fault;
    if (!term.signal.aborted) ports.log.warn({ propagation: run.key, code, reason }, 'the inventory could not be read');
    return false;
  }
  run.unreadable = ports.stores.shares.unreadable({ namespace, uid }) ?? [];
  if (run.unreadable.length > 0) ports.log.warn({ propagation: run.key, shares: run.unreadable }, 'a part of the inventory cannot be read');
  run.shares = new Map(loaded.map((share) => [share.cluster, share]));
  return true;
}
