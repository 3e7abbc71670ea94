import { groupKindOfKey, textOfKey } from '../../manifests/object-key.ts';
import { writeRankOf } from '../../manifests/write-order.ts';
import type { InventoryEntry } from '../model/inventory.ts';
import type { RenderedObject } from '../model/plan.ts';
import { copyFault } from '../plan/copies/copy-reason.ts';
import { type Settled, settledGone, settledSkipped } from '../plan/copies/copy-task.ts';
import type { CopiesOutcome, CopyOutcome, CopyWork } from '../plan/copies/copy-work.ts';
import { addressOf } from '../plan/copies/object-address.ts';
import { openDoor } from './copy-door.ts';
import type { CopyScene } from './copy-to-write.ts';
import { asDeleting } from './pending.ts';
import { type LedgerSaved, openLedger } from './share-ledger.ts';
import { failedTaking, isBeingDeleted, type Removal, takeBack } from './take-back.ts';

/** Number of write ranks whose objects are removed last: Namespaces and CustomResourceDefinitions. Other copies depend on them. */
const firstRanks = 2;

interface Round extends CopyScene {
  readonly removals: readonly Removal[];
}

/**
 * Removes copies in the reverse write order of kinds. Copies of one rank are removed at the same time. Objects that are not in the
 * inventory are not changed. Namespaces and CustomResourceDefinitions wait until all other copies of `removals` are gone. If live discovery
 * says that the cluster does not serve a kind any more, its copies count as deleted.
 *
 * Before the first call, the share is saved under its version, with the copies to delete as `Deleting`. If the share on the hub has changed
 * since it was read, it is no proof any more: no copy is removed, and a warning is logged. At the end the share is saved once more, or
 * removed if it is empty.
 */
export async function removeCopies(work: CopyWork, removals: readonly Removal[], signal: AbortSignal): Promise<CopiesOutcome> {
  const door = openDoor(work, signal);
  const ledger = openLedger(work);
  const outcomes = new Map<Removal, CopyOutcome>();
  const round: Round = { work, door, ledger, signal, removals };
  const confirmed = await confirm(round);
  if (confirmed.result === 'failed') return { result: 'failed', fault: confirmed.fault, share: ledger.saved, copies: [] };
  if (confirmed.result === 'stopped') return { result: 'stopped', share: ledger.saved, copies: [] };
  for (const rank of inReverse(removals)) {
    const settled = await Promise.all(rank.map((removal) => removeOne(round, removal)));
    for (const [index, removal] of rank.entries()) {
      const one = settled[index];
      if (one === undefined || one.result === 'stopped') continue;
      outcomes.set(removal, one.outcome);
      ledger.put(removal.key, one.entry);
    }
  }
  const saved = await ledger.save(signal);
  const copies = removals.map((removal) => outcomes.get(removal)).filter((outcome) => outcome !== undefined);
  const gathered = { share: ledger.saved, copies };
  if (saved.result === 'failed') return { result: 'failed', fault: saved.fault, ...gathered };
  return { result: saved.result === 'stopped' || door.isStopped ? 'stopped' : 'done', ...gathered };
}

/** Makes no hub call if every copy is being deleted already or is not in the inventory. */
async function confirm({ work, ledger, signal, removals }: Round): Promise<LedgerSaved> {
  const known = removals.flatMap((removal) => {
    const entry = ledger.get(removal.key);
    return entry === undefined || isBeingDeleted(removal, entry) ? [] : [{ removal, entry }];
  });
  if (known.length === 0) return { result: 'saved' };
  for (const { removal, entry } of known) {
    if (removal.how.type === 'delete' && entry.state !== 'PendingDeletion') ledger.put(removal.key, asDeleting(entry));
  }
  const saved = await ledger.confirm(signal);
  if (saved.result === 'stopped' && !signal.aborted && work.mayWrite()) tellLost(work);
  return saved;
}

function tellLost({ log, owner, share }: CopyWork): void {
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

async function removeOne(round: Round, removal: Removal): Promise<Settled> {
  const { work, ledger } = round;
  const { key } = removal;
  const entry = ledger.get(key);
  if (entry === undefined) {
    const message = 'it is not in the inventory';
    return { result: 'settled', entry, outcome: { key, action: 'Skipped', message } };
  }
  if (mustWait(round, removal)) return settledSkipped(asDeleting(entry), { message: 'it waits until the other copies are gone' });
  const address = addressOf(key, work, []);
  if (address !== undefined) return await takeBack({ ...round, removal, entry, address });
  return await takeUnserved(round, entry);
}

/**
 * The mirror may not know the kind yet, so the cluster is asked. When a CustomResourceDefinition is deleted, all its objects are deleted
 * too.
 */
async function takeUnserved({ work, door, signal }: Round, entry: InventoryEntry): Promise<Settled> {
  const { apiVersion, kind } = entry.key;
  if (door.isStopped) return { result: 'stopped' };
  const isServed = await work.client.serves(entry.key, signal);
  if (signal.aborted) return { result: 'stopped' };
  if (isServed === false)
    return settledGone(entry, 'Deleted', `it was deleted with its kind: the cluster does not serve ${kind} in ${apiVersion}`);
  const unknown = copyFault(work.share.cluster, 'NOT_SERVED', `the cluster is not known to serve ${kind} in ${apiVersion}`);
  return failedTaking({ entry, work }, isServed === true ? unknown : isServed.fault);
}

function mustWait({ ledger, removals }: Round, { key, how }: Removal): boolean {
  if (how.type === 'release' || writeRankOf(groupKindOfKey(key)) >= firstRanks) return false;
  const own = textOfKey(key);
  return removals.some(
    (other) => writeRankOf(groupKindOfKey(other.key)) >= firstRanks && textOfKey(other.key) !== own && ledger.get(other.key) !== undefined,
  );
}

/**
 * Removes copies from one cluster, in the reverse write order of kinds. Objects that are not in the inventory are not changed.
 *
 * - A copy is deleted only after a live read confirmed its uid. The deletion is guarded by that uid and the version read.
 * - With `spec.deletion.policy` Orphan, and for the action `RELEASE`, an object is released instead: it stays without marks.
 * - From a shared object only Muster's fields are removed.
 * - An adopted object is deleted like a created one. But if `work.goingBack` shows that it was taken over since then, it gets its old
 *   values back and stays.
 * - If another object has the name now, that object stays and the entry is removed.
 * - A copy that waits for finalizers stays in the inventory as `Deleting`, with the start time. While the mirror shows no change, it costs
 *   no call.
 * - Namespaces and CustomResourceDefinitions wait until all other copies are gone.
 *
 * If the cluster does not answer, the copies become `PendingDeletion`. A share without entries is removed.
 */
export function pruneCopies(work: CopyWork, objects: readonly RenderedObject[], signal: AbortSignal): Promise<CopiesOutcome> {
  const removals = objects.map((object): Removal => ({ key: object.key, how: removalOf(object, work), live: object.live }));
  return removeCopies(work, removals, signal);
}

function removalOf({ action }: RenderedObject, { spec, goingBack }: Pick<CopyWork, 'spec' | 'goingBack'>): Removal['how'] {
  if (action === 'RELEASE' || spec.deletion.policy === 'Orphan') return { type: 'release' };
  return goingBack === undefined ? { type: 'delete' } : { type: 'giveBack', ...goingBack };
}
