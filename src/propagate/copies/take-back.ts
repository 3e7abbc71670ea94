import type { Fault } from '../../core/faults.ts';
import type { KubernetesObject } from '../../core/objects.ts';
import type { InventoryEntry } from '../inventory.ts';
import type { ObjectAddress } from '../object-client.ts';
import type { ObjectKey } from '../spec.ts';
import type { GoingBack, OldValues } from './copies.ts';
import type { DoorAnswer } from './copy-door.ts';
import { deletionOf, isAnnounced, isLetGo, isOfAnother, marksOf, takenOverOf, withMarks } from './copy-marks.ts';
import { type CopyScene, outcomeOf, type Settled, settledGone, settledSkipped, settledWith } from './copy-task.ts';
import { isRaced, racedFault, staleCopy } from './copy-to-write.ts';
import { asDeleting, asPending } from './pending.ts';
import { applyAsIs, orphanCopy, replaceWith, withdrawCopy } from './release-copy.ts';
import { keptOf } from './taking.ts';

/** What is to become of a copy that is no longer wanted. */
export interface Removal {
  readonly key: ObjectKey;
  /**
   * `release`: it stays whole, without our marks. `giveBack`: what was taken over since gets its old values, then as `release`; what we made is deleted.
   * What is shared stays in any case, without our fields.
   */
  readonly how: { readonly type: 'delete' | 'release' } | ({ readonly type: 'giveBack' } & GoingBack);
  /** What the mirror says: one that is going already is not asked about. */
  readonly live?: KubernetesObject | undefined;
  /** Only if it still is as that write of ours left it, or one of the generation that is taken back: a compensation leaves what moved. */
  readonly ifGeneration?: number | undefined;
}

/** What is known where one copy is taken back. */
interface CopyToTake extends CopyScene {
  readonly removal: Removal;
  readonly entry: InventoryEntry;
  readonly address: ObjectAddress;
}

type TakeStep = Settled | { readonly result: 'again' };

const mostTurns = 4;

/** The garbage collector's own: they go by themselves. */
const collectors: ReadonlySet<string> = new Set(['foregroundDeletion', 'orphan']);

/**
 * Takes one copy back: by the uid of the inventory, confirmed by a live read, under that uid and the version read. Whatever else stands there is left,
 * and the entry goes; so is our own object where another Propagation wrote it since.
 */
export async function takeBack(copy: CopyToTake): Promise<Settled> {
  const { removal, entry, address, door } = copy;
  if (removal.live !== undefined && isBeingDeleted(removal, entry)) return deleting(copy, removal.live);
  for (let turn = 0; turn < mostTurns; turn += 1) {
    const step = await takeStep(copy, await door.get(address));
    if (step.result !== 'again') return step;
  }
  return failedTaking(copy, racedFault(copy, 'it was changed by others each time it was to be taken back'));
}

/** By its mirror the very object of the inventory is being deleted: nothing is asked and nothing written. */
export function isBeingDeleted({ live }: Pick<Removal, 'live'>, { uid }: InventoryEntry): boolean {
  return live !== undefined && live.metadata.uid === uid && deletionOf(live) !== undefined;
}

async function takeStep(copy: CopyToTake, read: DoorAnswer): Promise<TakeStep> {
  switch (read.result) {
    case 'answered':
      return await takeSeen(copy, read.object);
    case 'absent':
      return settledGone(copy.entry, 'Deleted');
    case 'failed':
      return failedTaking(copy, read.fault);
    case 'stopped':
      return read;
    default:
      return read satisfies never;
  }
}

/** The same of what was just read. `again`: it changed meanwhile. */
export async function takeSeen(copy: CopyToTake, object: KubernetesObject): Promise<TakeStep> {
  const { removal, entry, work } = copy;
  if (!isOurs(copy, object)) return settledGone(entry, 'Skipped', 'another object of that name stands there');
  if (isOfAnother(object, work)) return leaveToAnother(copy, object);
  if (isLetGo(entry, object, work)) return settledGone(entry, 'Skipped', 'it is not ours any more');
  if (removal.ifGeneration !== undefined && ![removal.ifGeneration, work.generation].includes(marksOf(object).generation ?? Number.NaN))
    return settledSkipped(entry, { message: 'it was changed since' });
  const stale = staleCopy(copy, object);
  if (stale !== undefined) return stale;
  return deletionOf(object) === undefined ? await takeOurs(copy, object) : deleting(copy, object);
}

/** One field manager has one set of fields: what we would take away is what the other one wrote. */
function leaveToAnother({ entry, work }: CopyToTake, object: KubernetesObject): Settled {
  const { kind, namespace, name } = entry.key;
  const { owner, share, log } = work;
  const { source = '' } = marksOf(object);
  const message = `it is not ours any more: it belongs to another Propagation: ${source}`;
  log.info({ cluster: share.cluster, kind, namespace, name, propagation: `${owner.namespace}/${owner.name}` }, `left alone: ${message}`);
  return settledGone(entry, 'Skipped', message);
}

async function takeOurs(copy: CopyToTake, object: KubernetesObject): Promise<TakeStep> {
  const { door, address, removal, entry } = copy;
  const { how, key } = removal;
  const taken = takenOverOf(entry, object);
  if (entry.state === 'Shared' || taken?.as === 'Shared')
    return ended(copy, await withdrawCopy(door, address, { key, object }), () => settledGone(entry, 'Orphaned'));
  switch (how.type) {
    case 'delete':
      return await deleteSeen(copy, object);
    case 'release':
      return ended(copy, await orphanCopy(door, address, { object }), () => settledGone(entry, 'Orphaned'));
    case 'giveBack':
      return taken === undefined || taken.revision <= how.to
        ? await deleteSeen(copy, object)
        : await giveBack(copy, object, keptOf(taken, how));
    default:
      return how satisfies never;
  }
}

/** In two writes: until the second, the object says that it is ours, so that a crash between them is gone on from. */
async function giveBack(copy: CopyToTake, object: KubernetesObject, old: OldValues | undefined): Promise<TakeStep> {
  const { door, address, entry } = copy;
  if (old === undefined) {
    const message = 'let go as it is: nothing is kept of what it held before';
    return ended(copy, await orphanCopy(door, address, { object }), () => settledGone(entry, 'Orphaned', message));
  }
  const put = await putBack(copy, object, old);
  const restored = () => settledGone(entry, 'Restored');
  if (put.result !== 'answered') return ended(copy, put, restored);
  const { owners = [] } = old;
  return ended(copy, await orphanCopy(door, address, { object: put.object, owners }), restored);
}

function putBack({ door, address, work, entry }: CopyToTake, object: KubernetesObject, { values, whole }: OldValues): Promise<DoorAnswer> {
  const generation = marksOf(object).generation ?? work.generation;
  const manifest = withMarks(values, { owner: work.owner, generation, intent: entry.intent });
  return whole === true ? replaceWith(door, address, { manifest, object }) : applyAsIs(door, address, { manifest, object });
}

/** The uid is the proof; of what was announced and perhaps written, the intent. A label proves nothing. */
function isOurs({ entry, work }: CopyToTake, object: KubernetesObject): boolean {
  if (entry.uid !== undefined && entry.uid === object.metadata.uid) return true;
  return isAnnounced(entry, object, work);
}

async function deleteSeen(copy: CopyToTake, object: KubernetesObject): Promise<TakeStep> {
  const { door, address, work, entry } = copy;
  const { uid, resourceVersion } = object.metadata;
  const { cascade } = work.spec.deletion;
  const answer = await door.write((client, signal) =>
    client.delete({ ...address, preconditions: { uid, resourceVersion }, cascade, run: 'real' }, signal),
  );
  if (answer.result === 'answered' && deletionOf(answer.object) !== undefined) return deleting(copy, answer.object);
  return ended(copy, answer, () => settledGone(entry, 'Deleted'));
}

/** What a write that takes back came to. */
function ended(copy: CopyToTake, answer: DoorAnswer, done: () => Settled): TakeStep {
  switch (answer.result) {
    case 'answered':
      return done();
    case 'absent':
      return settledGone(copy.entry, 'Deleted');
    case 'failed':
      return isRaced(answer.fault) ? { result: 'again' } : failedTaking(copy, answer.fault);
    case 'stopped':
      return answer;
    default:
      return answer satisfies never;
  }
}

/** It goes as soon as others let it: since when is the server's own word. No finalizer but ours is ever removed, and copies have none of ours. */
function deleting(copy: CopyToTake, object: KubernetesObject): Settled {
  const { entry, work } = copy;
  const { since, finalizers } = deletionOf(object) ?? { since: '', finalizers: [] };
  const { fault: _fault, ...known } = entry;
  const { uid } = object.metadata;
  const kept: InventoryEntry = { ...asDeleting(known), action: 'Deleted', ...(uid === undefined ? {} : { uid }) };
  const foreign = finalizers.filter((name) => !collectors.has(name));
  const outcome = { ...outcomeOf(kept, 'Deleted'), ...(uid === undefined ? {} : { uid }) };
  if (foreign.length === 0) return { result: 'settled', entry: kept, outcome };
  const message = `being deleted since ${since}, waits for ${foreign.join(', ')}`;
  const fault = racedFault({ work }, message);
  return {
    result: 'settled',
    entry: { ...kept, fault: { code: fault.code, message, since } },
    outcome: { ...outcome, fault, reason: 'ForeignFinalizer', message },
  };
}

/** It could not be taken back; where nobody answers it is to go as soon as somebody does. */
export function failedTaking({ entry, work }: Pick<CopyToTake, 'entry' | 'work'>, fault: Fault): Settled {
  const isAway = fault.code === 'UNREACHABLE' || fault.code === 'TIMED_OUT' || fault.code === 'GONE';
  const settled = settledWith(isAway ? asPending(entry) : entry, fault, { now: work.clock.now() });
  if (settled.result === 'stopped' || settled.outcome.reason !== 'Denied') return settled;
  const message = `its deletion was refused: ${settled.outcome.message ?? ''}; it is tried again within a minute, and at once after resumePropagation`;
  return { ...settled, outcome: { ...settled.outcome, message } };
}
