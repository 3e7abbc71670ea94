import type { ObjectAddress } from '../../changes/object-client.ts';
import type { Fault } from '../../core/faults.ts';
import type { KubernetesObject } from '../../core/objects.ts';
import type { ObjectKey } from '../../manifests/manifest.ts';
import type { InventoryEntry, OldValues } from '../model/inventory.ts';
import {
  deletionOf,
  hasAnnouncedIntent,
  isReleased,
  isWrittenByAnotherPropagation,
  marksOf,
  takenOverOf,
  withMarks,
} from '../plan/copies/copy-marks.ts';
import {
  type CopyResult,
  copyOutcomeOf,
  failedResult,
  isRaceFault,
  raceFault,
  removedResult,
  skippedResult,
  staleCopyResult,
} from '../plan/copies/copy-task.ts';
import type { RollbackTarget } from '../plan/copies/copy-work.ts';
import type { CopyContext } from './copy-to-write.ts';
import { markDeleting, markPendingDeletion } from './deletion-state.ts';
import type { GuardedAnswer } from './guarded-client.ts';
import { storedValuesOf } from './plan-take-over.ts';
import { applyToExisting, releaseCopy, replaceExisting, withdrawFields } from './release-copy.ts';

/** How to remove one copy that is no longer wanted. */
export interface Removal {
  readonly key: ObjectKey;
  /**
   * How the copy is removed:
   *
   * - `delete`: the copy is deleted.
   * - `release`: the object stays, without marks and fields of Muster.
   * - `giveBack`: an object that was taken over after the target revision gets its old values and is released. Any other copy is deleted.
   *
   * A shared object always stays, without Muster's fields.
   */
  readonly how: { readonly type: 'delete' | 'release' } | ({ readonly type: 'giveBack' } & RollbackTarget);
  /**
   * The object in the mirror. If it shows that the copy is being deleted already, no call is made. Absent if the mirror has no such object.
   */
  readonly live?: KubernetesObject | undefined;
  /**
   * The generation of Muster's last write to the copy. The copy is removed only if its mark has this generation or the generation that is
   * rolled back. With another generation, or none, it has changed since that write, and stays. Default: the generation is not checked.
   */
  readonly lastGeneration?: number | undefined;
}

/** The inputs for removing one copy. */
interface CopyToRemove extends CopyContext {
  readonly removal: Removal;
  readonly entry: InventoryEntry;
  readonly address: ObjectAddress;
}

type RemovalAttempt = CopyResult | { readonly result: 'retry' };

const maxAttempts = 4;

/** The finalizers that the garbage collector of Kubernetes sets and removes itself. */
const garbageCollectorFinalizers: ReadonlySet<string> = new Set(['foregroundDeletion', 'orphan']);

/**
 * Removes one copy. A live read must confirm the uid from the inventory. The write is guarded by that uid and by the version that was read.
 *
 * If the name belongs to another object now, or if another Propagation wrote the object since, the object stays and the entry is removed.
 */
export async function removeCopy(copy: CopyToRemove): Promise<CopyResult> {
  const { removal, entry, address, guardedClient } = copy;
  if (removal.live !== undefined && isDeletionInMirror(removal, entry)) return deletingResult(copy, removal.live);
  for (let attempt = 0; attempt < maxAttempts; attempt += 1) {
    const step = await attemptRemoval(copy, await guardedClient.get(address));
    if (step.result !== 'retry') return step;
  }
  return failedRemoval(copy, raceFault(copy, 'it changed each time before it could be removed'));
}

/** True if the mirror shows that the object of the entry is being deleted. The deletion then needs no call. */
export function isDeletionInMirror({ live }: Pick<Removal, 'live'>, { uid }: InventoryEntry): boolean {
  return live !== undefined && live.metadata.uid === uid && deletionOf(live) !== undefined;
}

async function attemptRemoval(copy: CopyToRemove, read: GuardedAnswer): Promise<RemovalAttempt> {
  switch (read.result) {
    case 'answered':
      return await removeExisting(copy, read.object);
    case 'absent':
      return removedResult(copy.entry, 'Deleted');
    case 'failed':
      return failedRemoval(copy, read.fault);
    case 'stopped':
      return read;
    default:
      return read satisfies never;
  }
}

/** Removes the copy, given the object that was just read. `retry`: the object has changed since that read and must be read once more. */
export async function removeExisting(copy: CopyToRemove, object: KubernetesObject): Promise<RemovalAttempt> {
  const { removal, entry, work } = copy;
  if (!isOurs(copy, object)) return removedResult(entry, 'Skipped', 'another object has this name now');
  if (isWrittenByAnotherPropagation(object, work)) return leaveToAnother(copy, object);
  if (isReleased(entry, object, work)) return removedResult(entry, 'Skipped', 'it does not belong to this Propagation any more');
  if (removal.lastGeneration !== undefined && ![removal.lastGeneration, work.generation].includes(marksOf(object).generation ?? Number.NaN))
    return skippedResult(entry, { message: 'it has changed since it was written' });
  const stale = staleCopyResult(copy, object);
  if (stale !== undefined) return stale;
  return deletionOf(object) === undefined ? await removeOwnCopy(copy, object) : deletingResult(copy, object);
}

/**
 * Leaves an object that another Propagation took over: logs this, and removes the entry. Its fields stay: all Propagations write with the
 * same field manager, so a removal would also hit the fields of the other Propagation.
 */
function leaveToAnother({ entry, work }: CopyToRemove, object: KubernetesObject): CopyResult {
  const { kind, namespace, name } = entry.key;
  const { owner, share, log } = work;
  const { source = '' } = marksOf(object);
  const message = `it belongs to another Propagation: ${source}`;
  log.info({ cluster: share.cluster, kind, namespace, name, propagation: `${owner.namespace}/${owner.name}` }, `not changed: ${message}`);
  return removedResult(entry, 'Skipped', message);
}

async function removeOwnCopy(copy: CopyToRemove, object: KubernetesObject): Promise<RemovalAttempt> {
  const { guardedClient, address, removal, entry } = copy;
  const { how, key } = removal;
  const taken = takenOverOf(entry, object);
  if (entry.state === 'Shared' || taken?.as === 'Shared')
    return attemptOf(copy, await withdrawFields(guardedClient, address, { key, object }), () => removedResult(entry, 'Orphaned'));
  switch (how.type) {
    case 'delete':
      return await deleteExisting(copy, object);
    case 'release':
      return attemptOf(copy, await releaseCopy(guardedClient, address, { object }), () => removedResult(entry, 'Orphaned'));
    case 'giveBack':
      return taken === undefined || taken.revision <= how.targetRevision
        ? await deleteExisting(copy, object)
        : await giveBack(copy, object, storedValuesOf(taken, how));
    default:
      return how satisfies never;
  }
}

/**
 * Restores the old values and releases the object, in two writes. The object keeps Muster's marks until the second write, so a later pass
 * can continue after a crash in between.
 */
async function giveBack(copy: CopyToRemove, object: KubernetesObject, old: OldValues | undefined): Promise<RemovalAttempt> {
  const { guardedClient, address, entry } = copy;
  if (old === undefined) {
    const message = 'released without its old values: none are stored';
    return attemptOf(copy, await releaseCopy(guardedClient, address, { object }), () => removedResult(entry, 'Orphaned', message));
  }
  const put = await restoreOldValues(copy, object, old);
  const restored = () => removedResult(entry, 'Restored');
  if (put.result !== 'answered') return attemptOf(copy, put, restored);
  const { owners = [] } = old;
  return attemptOf(copy, await releaseCopy(guardedClient, address, { object: put.object, owners }), restored);
}

function restoreOldValues(
  { guardedClient, address, work, entry }: CopyToRemove,
  object: KubernetesObject,
  { values, whole }: OldValues,
): Promise<GuardedAnswer> {
  const generation = marksOf(object).generation ?? work.generation;
  const manifest = withMarks(values, { owner: work.owner, generation, intent: entry.intent });
  return whole === true
    ? replaceExisting(guardedClient, address, { manifest, object, exact: work.spec.exact })
    : applyToExisting(guardedClient, address, { manifest, object });
}

/**
 * True if the object is the copy of this entry. The proof is the uid, or the intent token for a copy whose uid was not saved. A label
 * proves nothing.
 */
function isOurs({ entry, work }: CopyToRemove, object: KubernetesObject): boolean {
  if (entry.uid !== undefined && entry.uid === object.metadata.uid) return true;
  return hasAnnouncedIntent(entry, object, work);
}

async function deleteExisting(copy: CopyToRemove, object: KubernetesObject): Promise<RemovalAttempt> {
  const { guardedClient, address, work, entry } = copy;
  const { uid, resourceVersion } = object.metadata;
  const { cascade } = work.spec.deletion;
  const answer = await guardedClient.write((client, signal) =>
    client.delete({ ...address, preconditions: { uid, resourceVersion }, cascade, run: 'real' }, signal),
  );
  if (answer.result === 'answered' && deletionOf(answer.object) !== undefined) return deletingResult(copy, answer.object);
  return attemptOf(copy, answer, () => removedResult(entry, 'Deleted'));
}

/** Turns the answer to the last write of a removal into the result of the removal. If the write succeeded, returns the result of `done`. */
function attemptOf(copy: CopyToRemove, answer: GuardedAnswer, done: () => CopyResult): RemovalAttempt {
  switch (answer.result) {
    case 'answered':
      return done();
    case 'absent':
      return removedResult(copy.entry, 'Deleted');
    case 'failed':
      return isRaceFault(answer.fault) ? { result: 'retry' } : failedRemoval(copy, answer.fault);
    case 'stopped':
      return answer;
    default:
      return answer satisfies never;
  }
}

/**
 * Returns the result for a copy that the server is deleting. The fault names finalizers of other controllers, because Muster does not remove
 * them. Muster sets no finalizer on copies.
 */
function deletingResult(copy: CopyToRemove, object: KubernetesObject): CopyResult {
  const { entry, work } = copy;
  const { since, finalizers } = deletionOf(object) ?? { since: '', finalizers: [] };
  const { fault: _fault, ...known } = entry;
  const { uid } = object.metadata;
  const kept: InventoryEntry = { ...markDeleting(known), action: 'Deleted', ...(uid === undefined ? {} : { uid }) };
  const foreign = finalizers.filter((name) => !garbageCollectorFinalizers.has(name));
  const outcome = { ...copyOutcomeOf(kept, 'Deleted'), ...(uid === undefined ? {} : { uid }) };
  if (foreign.length === 0) return { result: 'finished', entry: kept, outcome };
  const message = `its deletion began at ${since} and waits for ${foreign.join(', ')}`;
  const fault = raceFault({ work }, message);
  return {
    result: 'finished',
    entry: { ...kept, fault: { code: fault.code, message, since } },
    outcome: { ...outcome, fault, reason: 'ForeignFinalizer', message },
  };
}

/**
 * Returns the result for a copy that could not be removed. If the cluster does not answer, the copy becomes `PendingDeletion` and is
 * deleted as soon as the cluster answers again.
 */
export function failedRemoval({ entry, work }: Pick<CopyToRemove, 'entry' | 'work'>, fault: Fault): CopyResult {
  const isAway = fault.code === 'UNREACHABLE' || fault.code === 'TIMED_OUT' || fault.code === 'GONE';
  const result = failedResult(isAway ? markPendingDeletion(entry) : entry, fault, { now: work.clock.now() });
  if (result.result === 'stopped' || result.outcome.reason !== 'Denied') return result;
  const refusal = `its deletion was refused: ${result.outcome.message ?? ''}`;
  const message = `${refusal}; Muster retries within a minute, or at once after resumePropagation`;
  return { ...result, outcome: { ...result.outcome, message } };
}
