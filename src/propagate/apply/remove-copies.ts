import { groupKindOfKey, textOfKey } from '../../manifests/object-key.ts';
import { writeRankOf } from '../../manifests/write-order.ts';
import type { InventoryEntry } from '../model/inventory.ts';
import type { RenderedObject } from '../model/plan.ts';
import { copyFault } from '../plan/copies/copy-reason.ts';
import { type CopyResult, removedResult, skippedResult } from '../plan/copies/copy-task.ts';
import type { CopiesOutcome, CopyOutcome, CopyWork } from '../plan/copies/copy-work.ts';
import { copyAddressOf } from '../plan/copies/object-address.ts';
import type { CopyContext } from './copy-to-write.ts';
import { markDeleting } from './deletion-state.ts';
import { createGuardedClient } from './guarded-client.ts';
import { failedRemoval, isDeletionInMirror, type Removal, removeCopy } from './remove-copy.ts';
import { createShareLedger, type LedgerSaved } from './share-ledger.ts';

/** Objects with a write rank below this number are removed last: Namespaces and CustomResourceDefinitions. Other copies depend on them. */
const ranksRemovedLast = 2;

interface RemovalBatch extends CopyContext {
  readonly removals: readonly Removal[];
}

/**
 * Removes copies in the reverse write order of kinds. Copies of one write rank are removed at the same time. Objects that are not in the
 * inventory are not changed. Namespaces and CustomResourceDefinitions wait until all other copies of `removals` are gone. If live discovery
 * reports that the cluster does not serve a kind any more, the copies of this kind count as deleted.
 *
 * Before the first call, the share is saved under its version, with the copies to delete as `Deleting`. If the share on the hub has changed
 * since it was read, it does not prove any more which copies are ours: no copy is removed, and a warning is logged. At the end the share is
 * saved once more, or removed if it is empty.
 */
export async function removeCopies(work: CopyWork, removals: readonly Removal[], signal: AbortSignal): Promise<CopiesOutcome> {
  const guardedClient = createGuardedClient(work, signal);
  const ledger = createShareLedger(work);
  const outcomes = new Map<Removal, CopyOutcome>();
  const batch: RemovalBatch = { work, guardedClient, ledger, signal, removals };
  const confirmed = await confirmInventory(batch);
  if (confirmed.result === 'failed') return { result: 'failed', fault: confirmed.fault, share: ledger.saved, copies: [] };
  if (confirmed.result === 'stopped') return { result: 'stopped', share: ledger.saved, copies: [] };
  for (const rank of inReverse(removals)) {
    const results = await Promise.all(rank.map((removal) => removeOne(batch, removal)));
    for (const [index, removal] of rank.entries()) {
      const one = results[index];
      if (one === undefined || one.result === 'stopped') continue;
      outcomes.set(removal, one.outcome);
      ledger.put(removal.key, one.entry);
    }
  }
  const saved = await ledger.save(signal);
  const copies = removals.map((removal) => outcomes.get(removal)).filter((outcome) => outcome !== undefined);
  const gathered = { share: ledger.saved, copies };
  if (saved.result === 'failed') return { result: 'failed', fault: saved.fault, ...gathered };
  return { result: saved.result === 'stopped' || guardedClient.isStopped ? 'stopped' : 'done', ...gathered };
}

/**
 * Marks the copies to delete as `Deleting` and saves the share under its version. Makes no hub call if every copy is being deleted already
 * or is not in the inventory.
 */
async function confirmInventory({ work, ledger, signal, removals }: RemovalBatch): Promise<LedgerSaved> {
  const known = removals.flatMap((removal) => {
    const entry = ledger.get(removal.key);
    return entry === undefined || isDeletionInMirror(removal, entry) ? [] : [{ removal, entry }];
  });
  if (known.length === 0) return { result: 'saved' };
  for (const { removal, entry } of known) {
    if (removal.how.type === 'delete' && entry.state !== 'PendingDeletion') ledger.put(removal.key, markDeleting(entry));
  }
  const saved = await ledger.confirm(signal);
  if (saved.result === 'stopped' && !signal.aborted && work.mayWrite()) warnChangedInventory(work);
  return saved;
}

function warnChangedInventory({ log, owner, share }: CopyWork): void {
  const propagation = `${owner.namespace}/${owner.name}`;
  log.warn(
    { propagation, cluster: share.cluster, entries: share.entries.length },
    'removed no copies: the inventory on the hub has changed since it was read',
  );
}

function inReverse(removals: readonly Removal[]): readonly (readonly Removal[])[] {
  const ranks = Map.groupBy(removals, ({ key }) => writeRankOf(groupKindOfKey(key)));
  return [...ranks].toSorted(([a], [b]) => b - a).map(([, rank]) => rank);
}

async function removeOne(batch: RemovalBatch, removal: Removal): Promise<CopyResult> {
  const { work, ledger } = batch;
  const { key } = removal;
  const entry = ledger.get(key);
  if (entry === undefined) {
    const message = 'it is not in the inventory';
    return { result: 'finished', entry, outcome: { key, action: 'Skipped', message } };
  }
  if (mustWait(batch, removal)) return skippedResult(markDeleting(entry), { message: 'it waits until the other copies are gone' });
  const address = copyAddressOf(key, work, []);
  if (address !== undefined) return await removeCopy({ ...batch, removal, entry, address });
  return await removeUnserved(batch, entry);
}

/**
 * Returns the result for a copy whose kind is not among the known kinds of the cluster. A live discovery call decides, because the known
 * kinds may be outdated. If the cluster does not serve the kind, the copy was deleted together with its CustomResourceDefinition.
 */
async function removeUnserved({ work, guardedClient, signal }: RemovalBatch, entry: InventoryEntry): Promise<CopyResult> {
  const { apiVersion, kind } = entry.key;
  if (guardedClient.isStopped) return { result: 'stopped' };
  const isServed = await work.client.serves(entry.key, signal);
  if (signal.aborted) return { result: 'stopped' };
  if (isServed === false)
    return removedResult(entry, 'Deleted', `it was deleted with its kind: the cluster does not serve ${kind} in ${apiVersion}`);
  const unknown = copyFault(work.share.cluster, 'NOT_SERVED', `the cluster is not known to serve ${kind} in ${apiVersion}`);
  return failedRemoval({ entry, work }, isServed === true ? unknown : isServed.fault);
}

function mustWait({ ledger, removals }: RemovalBatch, { key, how }: Removal): boolean {
  if (how.type === 'release' || writeRankOf(groupKindOfKey(key)) >= ranksRemovedLast) return false;
  const own = textOfKey(key);
  return removals.some(
    (other) =>
      writeRankOf(groupKindOfKey(other.key)) >= ranksRemovedLast && textOfKey(other.key) !== own && ledger.get(other.key) !== undefined,
  );
}

/**
 * Removes copies from one cluster, in the reverse write order of kinds. Objects that are not in the inventory are not changed.
 *
 * - A copy is deleted only after a live read confirmed its uid. The deletion is guarded by that uid and the version read.
 * - With `spec.deletion.policy` Orphan, and for the action `RELEASE`, an object is released instead: it stays without marks.
 * - From a shared object only Muster's fields are removed.
 * - An adopted object is deleted like a created one. But if `work.rollback` is set and the object was taken over after the target revision,
 *   it gets its old values back and stays.
 * - If another object has the name now, that object stays and the entry is removed.
 * - A copy that waits for finalizers stays in the inventory as `Deleting`, with the start time. As long as the mirror shows the object as
 *   being deleted, no call is made for it.
 * - Namespaces and CustomResourceDefinitions wait until all other copies are gone.
 *
 * If the cluster does not answer, the copies become `PendingDeletion`. A share without entries is removed.
 */
export function pruneCopies(work: CopyWork, objects: readonly RenderedObject[], signal: AbortSignal): Promise<CopiesOutcome> {
  const removals = objects.map((object): Removal => ({ key: object.key, how: removalOf(object, work), live: object.live }));
  return removeCopies(work, removals, signal);
}

function removalOf({ action }: RenderedObject, { spec, rollback }: Pick<CopyWork, 'spec' | 'rollback'>): Removal['how'] {
  if (action === 'RELEASE' || spec.deletion.policy === 'Orphan') return { type: 'release' };
  return rollback === undefined ? { type: 'delete' } : { type: 'giveBack', ...rollback };
}
