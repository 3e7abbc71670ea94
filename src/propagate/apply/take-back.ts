import type { ObjectAddress } from '../../changes/object-client.ts';
import type { Fault } from '../../core/faults.ts';
import type { KubernetesObject } from '../../core/objects.ts';
import type { ObjectKey } from '../../manifests/manifest.ts';
import type { InventoryEntry, OldValues } from '../model/inventory.ts';
import { deletionOf, isAnnounced, isLetGo, isOfAnother, marksOf, takenOverOf, withMarks } from '../plan/copies/copy-marks.ts';
import {
  isRaced,
  outcomeOf,
  racedFault,
  type Settled,
  settledGone,
  settledSkipped,
  settledWith,
  staleCopy,
} from '../plan/copies/copy-task.ts';
import type { GoingBack } from '../plan/copies/copy-work.ts';
import type { DoorAnswer } from './copy-door.ts';
import type { CopyScene } from './copy-to-write.ts';
import { asDeleting, asPending } from './pending.ts';
import { applyAsIs, orphanCopy, replaceWith, withdrawCopy } from './release-copy.ts';
import { keptOf } from './taking.ts';

/** How to remove one copy that is no longer wanted. */
export interface Removal {
  readonly key: ObjectKey;
  /**
   * - `delete`: the copy is deleted.
   * - `release`: the object stays, without marks and fields of Muster.
   * - `giveBack`: an object that was taken over after the target revision gets its old values and is released. A created copy is deleted.
   *
   * A shared object always stays, without Muster's fields.
   */
  readonly how: { readonly type: 'delete' | 'release' } | ({ readonly type: 'giveBack' } & GoingBack);
  /** The object in the mirror. If it is being deleted already, no call is made. */
  readonly live?: KubernetesObject | undefined;
  /**
   * The generation of Muster's last write to the copy. The copy is removed only if it carries this generation or the one that is rolled
   * back. Otherwise it has changed since and stays.
   */
  readonly ifGeneration?: number | undefined;
}

/** The inputs for removing one copy. */
interface CopyToTake extends CopyScene {
  readonly removal: Removal;
  readonly entry: InventoryEntry;
  readonly address: ObjectAddress;
}

type TakeStep = Settled | { readonly result: 'again' };

const mostTurns = 4;

/** Finalizers of the garbage collector. It removes them without help. */
const collectors: ReadonlySet<string> = new Set(['foregroundDeletion', 'orphan']);

/**
 * Removes one copy. A live read must confirm the uid from the inventory, and the write is guarded by that uid and the version read.
 *
 * If the name belongs to another object now, or if another Propagation wrote the object since, the object stays and the entry is removed.
 */
export async function takeBack(copy: CopyToTake): Promise<Settled> {
  const { removal, entry, address, door } = copy;
  if (removal.live !== undefined && isBeingDeleted(removal, entry)) return deleting(copy, removal.live);
  for (let turn = 0; turn < mostTurns; turn += 1) {
    const step = await takeStep(copy, await door.get(address));
    if (step.result !== 'again') return step;
  }
  return failedTaking(copy, racedFault(copy, 'it changed each time before it could be removed'));
}

/** True if the mirror shows that the object of the entry is being deleted. Then no call is needed. */
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

/** Removes the copy, given the object that was just read. `again`: the object changed in between and must be read once more. */
export async function takeSeen(copy: CopyToTake, object: KubernetesObject): Promise<TakeStep> {
  const { removal, entry, work } = copy;
  if (!isOurs(copy, object)) return settledGone(entry, 'Skipped', 'another object has this name now');
  if (isOfAnother(object, work)) return leaveToAnother(copy, object);
  if (isLetGo(entry, object, work)) return settledGone(entry, 'Skipped', 'it does not belong to this Propagation any more');
  if (removal.ifGeneration !== undefined && ![removal.ifGeneration, work.generation].includes(marksOf(object).generation ?? Number.NaN))
    return settledSkipped(entry, { message: 'it has changed since it was written' });
  const stale = staleCopy(copy, object);
  if (stale !== undefined) return stale;
  return deletionOf(object) === undefined ? await takeOurs(copy, object) : deleting(copy, object);
}

/**
 * Leaves an object that another Propagation took over. All Propagations share one field manager: removing its fields would remove those of
 * the other one.
 */
function leaveToAnother({ entry, work }: CopyToTake, object: KubernetesObject): Settled {
  const { kind, namespace, name } = entry.key;
  const { owner, share, log } = work;
  const { source = '' } = marksOf(object);
  const message = `it belongs to another Propagation: ${source}`;
  log.info({ cluster: share.cluster, kind, namespace, name, propagation: `${owner.namespace}/${owner.name}` }, `not changed: ${message}`);
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

/**
 * Restores the old values and releases the object, in two writes. The object keeps Muster's marks until the second write, so a crash in
 * between can be continued.
 */
async function giveBack(copy: CopyToTake, object: KubernetesObject, old: OldValues | undefined): Promise<TakeStep> {
  const { door, address, entry } = copy;
  if (old === undefined) {
    const message = 'released without its old values: none are stored';
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

/**
 * True if the object is the copy of this entry. The proof is the uid. For a copy whose uid was not saved, it is the intent token. A label
 * proves nothing.
 */
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

/** Turns the answer of the last write into the result of the removal. */
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

/**
 * Returns the result for a copy that the server is deleting. The start time comes from the server. Muster removes no finalizers of others,
 * and its copies have none of Muster.
 */
function deleting(copy: CopyToTake, object: KubernetesObject): Settled {
  const { entry, work } = copy;
  const { since, finalizers } = deletionOf(object) ?? { since: '', finalizers: [] };
  const { fault: _fault, ...known } = entry;
  const { uid } = object.metadata;
  const kept: InventoryEntry = { ...asDeleting(known), action: 'Deleted', ...(uid === undefined ? {} : { uid }) };
  const foreign = finalizers.filter((name) => !collectors.has(name));
  const outcome = { ...outcomeOf(kept, 'Deleted'), ...(uid === undefined ? {} : { uid }) };
  if (foreign.length === 0) return { result: 'settled', entry: kept, outcome };
  const message = `its deletion began at ${since} and waits for ${foreign.join(', ')}`;
  const fault = racedFault({ work }, message);
  return {
    result: 'settled',
    entry: { ...kept, fault: { code: fault.code, message, since } },
    outcome: { ...outcome, fault, reason: 'ForeignFinalizer', message },
  };
}

/** Returns the result for a copy that could not be removed. If the cluster does not answer, the copy is deleted as soon as it answers. */
export function failedTaking({ entry, work }: Pick<CopyToTake, 'entry' | 'work'>, fault: Fault): Settled {
  const isAway = fault.code === 'UNREACHABLE' || fault.code === 'TIMED_OUT' || fault.code === 'GONE';
  const settled = settledWith(isAway ? asPending(entry) : entry, fault, { now: work.clock.now() });
  if (settled.result === 'stopped' || settled.outcome.reason !== 'Denied') return settled;
  const refusal = `its deletion was refused: ${settled.outcome.message ?? ''}`;
  const message = `${refusal}; Muster retries within a minute, or at once after resumePropagation`;
  return { ...settled, outcome: { ...settled.outcome, message } };
}
