import type { KubernetesObject } from '../../core/objects.ts';
import type { InventoryEntry } from '../inventory.ts';
import { liveHashOf } from '../planner/live-hash.ts';
import type { CopyWork } from './copies.ts';
import { deletionOf, isAnnounced, isLetGo, isMarkedFor, isOfAnother, marksOf, takenOverOf } from './copy-marks.ts';
import { copyFault } from './copy-reason.ts';
import { type Settled, settledSkipped, settledWith } from './copy-task.ts';
import { type CopyAtHand, failedCopy, racedFault, staleCopy } from './copy-to-write.ts';
import { isHidden } from './observed.ts';
import { isAppliedByUs } from './owned-fields.ts';

/** Of an object that our own writes marked, and that no entry has: the hub lost it, or somebody took it away there. */
export const lostWords = 'it exists and carries our marks, but the inventory does not know it: conflict Adopt takes it back';

/** The fault message for an object that differs from the state that the plan saw, if a plan with a digest was requested. */
export const changedWords = 'it was changed since it was planned';

/** What an object that stands where a copy is to be means for it. */
type Judgement =
  | { readonly result: 'ours'; readonly state: 'Owned' | 'Shared' }
  /** It is somebody's, and is to be taken into the inventory (`Owned`), or to get our fields and stay his (`Shared`). */
  | { readonly result: 'theirs'; readonly as: 'Owned' | 'Shared' }
  | Settled;

/** Judges it by the inventory, by the marks of our own writes, and by `conflict` (docs/internals/propagation.md 5.2). Pure. */
export function judgeObject(copy: CopyAtHand, object: KubernetesObject): Judgement {
  const { task, work } = copy;
  const deletion = deletionOf(object);
  if (deletion !== undefined) {
    const fault = racedFault(copy, `it is being deleted since ${deletion.since}`);
    return settledWith(task.entry, fault, { now: work.clock.now(), reason: 'Terminating' });
  }
  const stale = staleCopy({ entry: task.entry, work }, object);
  if (stale !== undefined) return stale;
  if (isChangedSincePlanned(copy, object)) return failedCopy(copy, racedFault(copy, changedWords));
  return isOurs(copy, object) ? { result: 'ours', state: stateOf(task.entry, object) } : judgeStranger(copy, object);
}

/** What the inventory has of an object that it does not know: what it knew was another object, and nothing of that holds for this one. */
export function strangersEntry({ key, uid, intent, health, fault }: InventoryEntry): InventoryEntry {
  // A token that an object has carried may have been copied with it.
  const kept = { ...(intent === undefined || uid !== undefined ? {} : { intent }), ...(fault === undefined ? {} : { fault }) };
  return { key, state: 'Intended', health, ...kept };
}

/**
 * The uid is the proof; until it was saved, the intent is, which was saved first and which only our own write carries. An object that another
 * Propagation took over is not ours any more. Only `OVERWRITE` takes it back.
 */
function isOurs({ task, work }: CopyAtHand, object: KubernetesObject): boolean {
  const { uid } = task.entry;
  // What is theirs again is theirs, whatever a crash left in the inventory.
  if (uid !== undefined && uid === object.metadata.uid) return !isLetGo(task.entry, object, work) && !isTakenByAnother(object, work);
  return isAnnounced(task.entry, object, work);
}

/**
 * True if another Propagation took the object over, and this one is not to take it back. For the object of a mirror true means only that it may be so.
 */
export function isTakenByAnother(object: KubernetesObject, { spec, owner }: Pick<CopyWork, 'spec' | 'owner'>): boolean {
  return spec.conflict !== 'Overwrite' && isOfAnother(object, { owner }) && !isMarkedFor(object, owner);
}

/** What was announced as shared, and written before a crash, is shared. */
function stateOf(entry: InventoryEntry, object: KubernetesObject): 'Owned' | 'Shared' {
  return entry.state === 'Shared' || takenOverOf(entry, object)?.as === 'Shared' ? 'Shared' : 'Owned';
}

/** A plan with a digest covers the objects that it saw. After the planned write of a copy every change of the copy is drift, whatever its marks are. */
function isChangedSincePlanned({ task, work }: CopyAtHand, object: KubernetesObject): boolean {
  const { liveHash, desiredHash, key } = task.object;
  const { uid, appliedHash } = task.entry;
  if (work.pinned !== true || liveHash === undefined || isHidden(key, work)) return false;
  if (uid === object.metadata.uid && appliedHash === desiredHash) return false;
  return marksOf(object).generation !== work.generation && liveHashOf(object) !== liveHash;
}

function judgeStranger({ task, work }: CopyAtHand, object: KubernetesObject): Judgement {
  const stranger = { work, task: { ...task, entry: strangersEntry(task.entry) } };
  switch (work.spec.conflict) {
    case 'Abort':
      return conflict(stranger, isLost({ task, work }, object) ? lostWords : whyNotOurs({ task, work }, object));
    case 'CreateOnly':
      return settledSkipped(stranger.task.entry, { message: 'it exists already' });
    case 'Adopt':
    case 'ServerSideApply': {
      const other = otherOwner(stranger, object);
      if (other !== undefined) return conflict(stranger, other);
      return { result: 'theirs', as: work.spec.conflict === 'Adopt' ? 'Owned' : 'Shared' };
    }
    case 'Overwrite':
      return { result: 'theirs', as: 'Owned' };
    default:
      return work.spec.conflict satisfies never;
  }
}

/** The inventory knows of no object there, not of another one. */
function isLost({ task, work }: CopyAtHand, object: KubernetesObject): boolean {
  return task.entry.uid === undefined && isMarkedFor(object, work.owner);
}

function whyNotOurs({ task, work }: CopyAtHand, object: KubernetesObject): string {
  if (task.entry.uid !== object.metadata.uid || !isTakenByAnother(object, work)) return 'it exists and is not ours';
  return `it belongs to another Propagation: ${marksOf(object).source ?? ''}`;
}

/** Whose it is, where taking it would undo what Muster does or did there: one field manager has one set of fields, and drops what it leaves out. */
function otherOwner({ work }: CopyAtHand, object: KubernetesObject): string | undefined {
  const { propagation, source = '' } = marksOf(object);
  const isApplied = isAppliedByUs(object);
  if (isApplied && isOfAnother(object, work) && !isMarkedFor(object, work.owner)) return `it belongs to another Propagation: ${source}`;
  if (isApplied && propagation === undefined && work.spec.conflict === 'ServerSideApply')
    return 'it holds fields that were applied with Muster';
  return undefined;
}

function conflict(copy: CopyAtHand, message: string): Settled {
  return failedCopy(copy, copyFault(copy.work.share.cluster, 'CONFLICT', message));
}
