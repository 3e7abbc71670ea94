import { createConcurrencyLimit } from '../../../core/scheduling/concurrency-limit.ts';
import type { ShareSaved, ShareStore } from '../../model/inventory.ts';

/**
 * When a write starts while others wait.
 *
 * - `first`: copies are written only after it.
 * - `next`: it records what was done to copies.
 * - `last`: it only reports something.
 */
type WriteOrder = 'first' | 'next' | 'last';

/**
 * Orders the writes of all Propagations of a term on the hub. After the loss of a cluster, many Propagations write at once. Copies are then
 * written before progress is reported.
 */
export interface HubWrites {
  /**
   * Sends the write when there is room, and returns its result. At most 16 writes are under way. After an abort, the write is called at
   * once: it must check the signal itself, and also whether this process leads.
   */
  send<T>(order: WriteOrder, write: () => Promise<T>, signal: AbortSignal): Promise<T>;
}

const maxWrites = 16;
const priorities: Readonly<Record<WriteOrder, number>> = { first: 2, next: 1, last: 0 };

export function createHubWrites(): HubWrites {
  const limit = createConcurrencyLimit(maxWrites);
  return {
    async send(order, write, signal) {
      const sent = await limit.run(async () => ({ result: await write() }), signal, priorities[order]);
      return sent === undefined ? await write() : sent.result;
    },
  };
}

/**
 * Returns the store with ordered saves. A save whose turn comes when `mayWrite` is false is not sent, and gives `conflict`: another process
 * may have saved the share by now.
 */
export function withOrderedSaves(shares: ShareStore, hubWrites: HubWrites, mayWrite: () => boolean): ShareStore {
  const conflict: ShareSaved = { result: 'conflict' };
  return {
    load: (owner, signal) => shares.load(owner, signal),
    remove: (share, signal) => shares.remove(share, signal),
    save: (share, signal) =>
      hubWrites.send(orderOf(share.entries), async () => (mayWrite() ? await shares.save(share, signal) : conflict), signal),
  };
}

function orderOf(entries: Parameters<ShareStore['save']>[0]['entries']): WriteOrder {
  if (entries.some(({ state }) => state === 'Intended')) return 'first';
  return entries.some(({ state }) => state === 'PendingDeletion') ? 'last' : 'next';
}
