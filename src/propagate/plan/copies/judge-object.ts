import type { KubernetesObject } from '../../../core/objects.ts';
import { liveHashOf } from '../../../manifests/live-hash.ts';
import type { InventoryEntry } from '../../model/inventory.ts';
import {
  deletionOf,
  hasAnnouncedIntent,
  isMarkedFor,
  isReleased,
  isWrittenByAnotherPropagation,
  marksOf,
  takenOverOf,
} from './copy-marks.ts';
import { copyFault } from './copy-reason.ts';
import { type CopyResult, type CopyToJudge, failedCopy, failedResult, raceFault, skippedResult, staleCopyResult } from './copy-task.ts';
import type { CopyWork } from './copy-work.ts';
import { hasHiddenValues } from './observed-hash.ts';
import { isAppliedByUs } from './owned-fields.ts';

/**
 * The fault message for an object that carries marks of this Propagation but has no inventory entry. The hub lost the entry, or a user
 * deleted it.
 */
export const lostEntryMessage =
  'it carries the marks of this Propagation, but its inventory entry is missing: conflict Adopt takes it over again';

/**
 * The fault message for an object that has changed since the plan. Used only if a plan with a digest was requested. The inventory stores this
 * text and later passes compare it, so a new wording would not match entries of an older gateway.
 */
export const changedMessage = 'it was changed since it was planned';

/**
 * The judgement of an existing object that has the name of a planned copy. `ours`: the object is our copy. `CopyResult`: the object is not
 * written, and this is the result of the copy.
 */
type Judgement =
  | { readonly result: 'ours'; readonly state: 'Owned' | 'Shared' }
  /**
   * The object belongs to another owner. `Owned`: Muster takes it over as a copy. `Shared`: Muster adds its fields, and the object still
   * belongs to its owner.
   */
  | { readonly result: 'foreign'; readonly as: 'Owned' | 'Shared' }
  | CopyResult;

/**
 * Decides whether an existing object is our copy or belongs to another owner (docs/internals/propagation.md 5.2). It uses the inventory,
 * the marks of Muster's own writes and `conflict`. Pure.
 */
export function judgeObject(copy: CopyToJudge, object: KubernetesObject): Judgement {
  const { task, work } = copy;
  const deletion = deletionOf(object);
  if (deletion !== undefined) {
    const fault = raceFault(copy, `its deletion began at ${deletion.since}`);
    return failedResult(task.entry, fault, { now: work.clock.now(), reason: 'Terminating' });
  }
  const stale = staleCopyResult({ entry: task.entry, work }, object);
  if (stale !== undefined) return stale;
  if (isChangedSincePlanned(copy, object)) return failedCopy(copy, raceFault(copy, changedMessage));
  return isOurs(copy, object) ? { result: 'ours', state: stateOf(task.entry, object) } : judgeForeignObject(copy, object);
}

/**
 * Returns an inventory entry for an object that the inventory does not know. The entry in the argument describes another object of that
 * name, so only its health, fault and unused intent token are kept.
 */
export function entryForUnknownObject({ key, uid, intent, health, fault }: InventoryEntry): InventoryEntry {
  // An entry with a uid means that an object already carried the intent token. Users may have copied the token with that object, so it
  // proves nothing any more.
  const kept = { ...(intent === undefined || uid !== undefined ? {} : { intent }), ...(fault === undefined ? {} : { fault }) };
  return { key, state: 'Intended', health, ...kept };
}

/**
 * True if the object is our copy. The proof is the saved uid. Before a uid is saved, the proof is the intent token: the inventory saves it
 * before the first write, and only Muster's own write carries it.
 *
 * An object that another Propagation took over is no longer our copy. Muster takes it back only with conflict `Overwrite`.
 */
function isOurs({ task, work }: CopyToJudge, object: KubernetesObject): boolean {
  const { uid } = task.entry;
  // An object that was given back to its owner is not ours, even if a crash left its uid in the inventory.
  if (uid !== undefined && uid === object.metadata.uid) return !isReleased(task.entry, object, work) && !isTakenOverByAnother(object, work);
  return hasAnnouncedIntent(task.entry, object, work);
}

/**
 * True if another Propagation took the object over. False with conflict `Overwrite`, because this Propagation then takes the object back.
 * An object from a mirror has no `managedFields`. For such an object, true means "possibly".
 */
export function isTakenOverByAnother(object: KubernetesObject, { spec, owner }: Pick<CopyWork, 'spec' | 'owner'>): boolean {
  return spec.conflict !== 'Overwrite' && isWrittenByAnotherPropagation(object, { owner }) && !isMarkedFor(object, owner);
}

/** Returns the state of our copy. It is also `Shared` if the inventory announced it as shared and the process crashed after the write. */
function stateOf(entry: InventoryEntry, object: KubernetesObject): 'Owned' | 'Shared' {
  return entry.state === 'Shared' || takenOverOf(entry, object)?.as === 'Shared' ? 'Shared' : 'Owned';
}

/**
 * True if the object has changed since a plan with a digest was made. False once the copy was written as planned: a later change is then
 * drift.
 */
function isChangedSincePlanned({ task, work }: CopyToJudge, object: KubernetesObject): boolean {
  const { liveUid, liveHash, desiredHash, key } = task.object;
  const { uid, appliedHash } = task.entry;
  const existed = liveUid !== undefined || liveHash !== undefined;
  if (work.pinned !== true || !existed || hasHiddenValues(key, work)) return false;
  if (uid === object.metadata.uid && appliedHash === desiredHash) return false;
  if (marksOf(object).generation === work.generation) return false;
  // A copy that the plan left unchanged has no hash. Then only another object of its name counts as a change.
  return liveHash === undefined ? object.metadata.uid !== liveUid : liveHashOf(object) !== liveHash;
}

function judgeForeignObject({ task, work }: CopyToJudge, object: KubernetesObject): Judgement {
  const foreign = { work, task: { ...task, entry: entryForUnknownObject(task.entry) } };
  switch (work.spec.conflict) {
    case 'Abort':
      return conflict(foreign, isLost({ task, work }, object) ? lostEntryMessage : whyNotOurs({ task, work }, object));
    case 'CreateOnly':
      return skippedResult(foreign.task.entry, {
        message: 'it exists already, and conflict mode CreateOnly never changes an existing object',
      });
    case 'Adopt':
    case 'ServerSideApply': {
      const other = otherOwner(foreign, object);
      if (other !== undefined) return conflict(foreign, other);
      return { result: 'foreign', as: work.spec.conflict === 'Adopt' ? 'Owned' : 'Shared' };
    }
    case 'Overwrite':
      return { result: 'foreign', as: 'Owned' };
    default:
      return work.spec.conflict satisfies never;
  }
}

/**
 * True if the inventory has lost its entry for this object: the object has marks of this Propagation, and `task.entry` has no uid. An entry
 * with a uid is not lost, but describes another object of that name.
 */
function isLost({ task, work }: CopyToJudge, object: KubernetesObject): boolean {
  return task.entry.uid === undefined && isMarkedFor(object, work.owner);
}

function whyNotOurs({ task, work }: CopyToJudge, object: KubernetesObject): string {
  if (task.entry.uid !== object.metadata.uid || !isTakenOverByAnother(object, work)) {
    const mayAdopt = work.spec.conflict === 'Abort' && !isTakenOverByAnother(object, work);
    const remedy = mayAdopt ? ': conflict Adopt or Overwrite takes it over' : '';
    return `it exists and does not belong to this Propagation${remedy}`;
  }
  return ownedByAnotherMessage(object);
}

/**
 * Returns the fault message if taking over the object would undo other writes of Muster. Undefined if it would not.
 *
 * All writes of Muster have one field manager with one set of fields. An apply removes the fields of that set that it omits.
 */
function otherOwner({ work }: CopyToJudge, object: KubernetesObject): string | undefined {
  if (!isAppliedByUs(object)) return undefined;
  if (isTakenOverByAnother(object, work)) return ownedByAnotherMessage(object);
  return marksOf(object).propagation === undefined && work.spec.conflict === 'ServerSideApply'
    ? 'it holds fields that were applied with Muster'
    : undefined;
}

/** Returns the fault message for a copy of another Propagation, as its marks name it. */
export function ownedByAnotherMessage(object: KubernetesObject): string {
  return `it belongs to another Propagation: ${marksOf(object).source ?? ''}`;
}

function conflict(copy: CopyToJudge, message: string): CopyResult {
  return failedCopy(copy, copyFault(copy.work.share.cluster, 'CONFLICT', message));
}
