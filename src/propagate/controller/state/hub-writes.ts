import type { Clock } from '../../../core/clock.ts';
import { createConcurrencyLimit } from '../../../core/scheduling/concurrency-limit.ts';
import type { ShareSaved, ShareStore } from '../../model/inventory.ts';

/**
 * When a write starts while others wait.
 *
 * - `first`: new copies are written only after it.
 * - `next`: it records what was done or will be done to existing copies.
 * - `last`: it reports the state of a Propagation.
 */
type WriteOrder = 'first' | 'next' | 'last';

/**
 * Orders the statuses and the saves of inventories of all Propagations of a term. After the loss of a cluster, many Propagations write to
 * the hub at once. Copies are then written before progress is reported.
 */
export interface HubWrites {
  /**
   * Sends the write when there is room, and returns its result. At most 10 writes are under way. Those of an earlier order start first. But
   * a write that waits longer than those of an earlier order by its delay (5 s for `next`, 10 s for `last`) starts before them. After an
   * abort, the write is called at once: it must check the signal itself, and also whether this process leads.
   */
  send<T>(order: WriteOrder, write: () => Promise<T>, signal: AbortSignal): Promise<T>;
}

/** The hub takes 10 writes of one process at a time (`createObjectClient`). Further ones would wait there, in the order of their arrival. */
const maxWrites = 10;

/**
 * Milliseconds by which a write counts as later than it arrived. Without this bound, a status would wait as long as any copies are
 * written. The start of an outage is in a status too (`awaySince`), and evictions wait for it.
 */
const delaysMs: Readonly<Record<WriteOrder, number>> = { first: 0, next: 5_000, last: 10_000 };

export function createHubWrites(clock: Pick<Clock, 'monotonic'>): HubWrites {
  const limit = createConcurrencyLimit(maxWrites);
  return {
    async send(order, write, signal) {
      const dueMs = clock.monotonic() + delaysMs[order];
      const sent = await limit.run(async () => ({ result: await write() }), signal, -dueMs);
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
  return entries.some(({ state }) => state === 'Intended') ? 'first' : 'next';
}
