import type { InventoryEntry } from '../inventory.ts';
import { kindOfKey, textOfKey } from '../object-key.ts';
import type { RenderedObject } from '../plan.ts';
import { writeRankOf } from '../write-order.ts';
import type { CopiesOutcome, CopyOutcome, CopyWork } from './copies.ts';
import { openDoor } from './copy-door.ts';
import { copyFault } from './copy-reason.ts';
import { type CopyScene, type Settled, settledGone, settledSkipped } from './copy-task.ts';
import { addressOf } from './object-address.ts';
import { asDeleting } from './pending.ts';
import { type LedgerSaved, openLedger } from './share-ledger.ts';
import { failedTaking, isBeingDeleted, type Removal, takeBack } from './take-back.ts';

/** What else a Propagation has stands in the first two ranks: in a namespace, of a kind. These go last. */
const firstRanks = 2;

interface Round extends CopyScene {
  readonly removals: readonly Removal[];
}

/**
 * Takes copies back, in the reverse order of kinds, those of one rank at the same time; what is not in the inventory is not touched. Namespaces and
 * definitions wait until all else that goes is gone. Of a kind that the cluster does not serve, as it says live, nothing is left.
 *
 * Before the first call the share is saved under its version, with what is to be deleted as `Deleting`: what its hub lost since it was read is proof of
 * nothing, so then all stays, and the log is told. In the end it is saved once, or removed when it has no entries.
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

/** Nothing is asked of the hub where nothing can come of it: what goes already, or is not in the inventory. */
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
    'nothing is taken back: the inventory is not as it was read',
  );
}

function inReverse(removals: readonly Removal[]): readonly (readonly Removal[])[] {
  const ranks = Map.groupBy(removals, ({ key }) => writeRankOf(kindOfKey(key)));
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
  if (mustWait(round, removal)) return settledSkipped(asDeleting(entry), { message: 'it waits for what is in it' });
  const address = addressOf(key, work, []);
  if (address !== undefined) return await takeBack({ ...round, removal, entry, address });
  return await takeUnserved(round, entry);
}

/** The mirror may only not have heard of the kind yet, so the cluster is asked: with a definition go all its objects. */
async function takeUnserved({ work, door, signal }: Round, entry: InventoryEntry): Promise<Settled> {
  const { apiVersion, kind } = entry.key;
  if (door.isStopped) return { result: 'stopped' };
  const isServed = await work.client.serves(entry.key, signal);
  if (signal.aborted) return { result: 'stopped' };
  if (isServed === false)
    return settledGone(entry, 'Deleted', `it is gone with its kind: the cluster does not serve ${kind} in ${apiVersion}`);
  const unknown = copyFault(work.share.cluster, 'NOT_SERVED', `the cluster is not known to serve ${kind} in ${apiVersion}`);
  return failedTaking({ entry, work }, isServed === true ? unknown : isServed.fault);
}

function mustWait({ ledger, removals }: Round, { key, how }: Removal): boolean {
  if (how.type === 'release' || writeRankOf(kindOfKey(key)) >= firstRanks) return false;
  const own = textOfKey(key);
  return removals.some(
    (other) => writeRankOf(kindOfKey(other.key)) >= firstRanks && textOfKey(other.key) !== own && ledger.get(other.key) !== undefined,
  );
}

/**
 * Takes copies back from one cluster, in the reverse order of kinds: deletes what the inventory has by its uid, after a live read, under its uid and version;
 * lets go of all with `spec.deletion.policy` Orphan and of what is `RELEASE`; of what is shared only our fields go. What was adopted is ours and goes like
 * what we made, but where `work.goingBack` says that it was taken over since: that gets its old values back and stays. What is not in the inventory is not
 * touched, nor is another object of the same name: then the entry goes and the object stays. What waits for finalizers stays in the inventory as
 * `Deleting`, with since when; asking again costs no call while the mirror shows the same. Namespaces and definitions wait until all else is gone.
 *
 * What a cluster that does not answer holds is `PendingDeletion`. A share without entries is removed.
 */
export function pruneCopies(work: CopyWork, objects: readonly RenderedObject[], signal: AbortSignal): Promise<CopiesOutcome> {
  const removals = objects.map((object): Removal => ({ key: object.key, how: removalOf(object, work), live: object.live }));
  return removeCopies(work, removals, signal);
}

function removalOf({ action }: RenderedObject, { spec, goingBack }: Pick<CopyWork, 'spec' | 'goingBack'>): Removal['how'] {
  if (action === 'RELEASE' || spec.deletion.policy === 'Orphan') return { type: 'release' };
  return goingBack === undefined ? { type: 'delete' } : { type: 'giveBack', ...goingBack };
}
