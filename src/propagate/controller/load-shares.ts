import type { ClusterShare } from '../model/inventory.ts';
import type { Propagation } from '../model/propagation.ts';
import { sharesOf } from './clusters/announced-copies.ts';
import type { Pass } from './state/ports.ts';
import { readAgain } from './write-status.ts';

/**
 * Reads the inventory live from the hub into `state.shares`, and the names of invalid shares into `state.unreadable`. Also reads the
 * Propagation live into `state.latest`, and saves the shares of clusters that its status announces: another process may have created copies
 * there. Reads nothing if `state.shares` is set already. False if the hub does not answer, or if another process saves shares.
 */
export async function loadShares(pass: Pass, { metadata }: Propagation): Promise<boolean> {
  const { state, ports, term } = pass;
  if (state.shares !== undefined) return true;
  const { namespace, uid } = metadata;
  const [loaded, isRead] = await Promise.all([ports.stores.shares.load({ namespace, uid }, term.signal), readAgain(pass)]);
  if ('fault' in loaded || !isRead) {
    const { code, message: reason } = 'fault' in loaded ? loaded.fault : { code: undefined, message: 'the Propagation was not read' };
    if (!term.signal.aborted) ports.log.warn({ propagation: state.key, code, reason }, 'the inventory could not be read');
    return false;
  }
  state.unreadable = ports.stores.shares.unreadable({ namespace, uid }) ?? [];
  if (state.unreadable.length > 0)
    ports.log.warn({ propagation: state.key, shares: state.unreadable }, 'some ClusterShares of the inventory cannot be read');
  const known = new Set([...loaded.map(({ name }) => name), ...state.unreadable]);
  const { latest } = state;
  const announced = latest?.metadata.uid === uid ? sharesOf(latest.metadata, latest.status.announced) : [];
  const saved = await Promise.all(announced.filter(({ name }) => !known.has(name)).map((share) => saveShare(pass, share)));
  if (saved.includes(undefined)) return false;
  const shares = [...loaded, ...saved.filter((share) => share !== undefined)];
  state.shares = new Map(shares.map((share) => [share.cluster, share]));
  return true;
}

/** Creates the share on the hub. Undefined if the hub did not save it, or if this process does not lead. */
async function saveShare({ ports, term, hubWrites }: Pass, share: ClusterShare): Promise<ClusterShare | undefined> {
  const save = async () => (term.isLeading() ? await ports.stores.shares.save(share, term.signal) : undefined);
  const saved = await hubWrites.send('first', save, term.signal);
  return saved?.result === 'saved' ? saved.share : undefined;
}
