import { conflictsIn, type FieldManagerConflict } from '../../changes/describe-fault.ts';
import type { ObjectCallResult } from '../../changes/object-client.ts';
import type { KubernetesObject } from '../../core/objects.ts';
import type { InventoryEntry } from '../model/inventory.ts';
import { withMarks } from '../plan/copies/copy-marks.ts';
import { failedCopy, isRaceFault, writtenResult } from '../plan/copies/copy-task.ts';
import { hasManagedKeysRecord } from '../plan/copies/managed-keys.ts';
import { fingerprintHasPath, updatesTurnedToApply, withLeftValues, withoutMusterPaths } from '../plan/copies/owned-fields.ts';
import { type CopyToWrite, type CopyWriteAttempt, entryAfterWrite, patchOwners } from './copy-to-write.ts';
import { maxCorrections } from './corrections.ts';
import type { GuardedAnswer } from './guarded-client.ts';
import { applyToExisting, replaceExisting } from './release-copy.ts';

/** One write to an existing object. It succeeds only if the object has not changed since it was read. */
interface CopyUpdate {
  readonly object: KubernetesObject;
  /** True: fields of other managers are overwritten. */
  readonly force: boolean;
  /**
   * The state of the inventory entry after the write: our own copy (`Owned`), or an object of another owner to which Muster adds its fields
   * (`Shared`).
   */
  readonly state: 'Owned' | 'Shared';
}

/**
 * Writes an existing object, guarded by uid and resourceVersion.
 *
 * Overwrites fields of other managers in three cases only: Muster sent the fields before, `conflict` is Overwrite, or `force` is set. The
 * first two cases are logged.
 */
export async function updateCopy(copy: CopyToWrite, given: CopyUpdate): Promise<CopyWriteAttempt> {
  const owned = await correctOwners(copy, given);
  if ('result' in owned) return owned;
  const update = { ...given, object: owned.object };
  const answer = await send(copy, update);
  switch (answer.result) {
    case 'answered':
      return writtenAttempt(copy, update, answer);
    case 'absent':
      return { result: 'retry' };
    case 'failed': {
      const conflicts = conflictsIn(answer.fault);
      if (!update.force && conflicts.length > 0 && mayForce(copy, conflicts)) {
        logForcedFields(copy, conflicts);
        return await updateCopy(copy, { ...update, force: true });
      }
      return isRaceFault(answer.fault) ? { result: 'retry' } : failedCopy(copy, answer.fault);
    }
    case 'stopped':
      return answer;
    default:
      return answer satisfies never;
  }
}

/**
 * Corrects the owners of fields before the write, in two cases.
 *
 * - After a replacement, Muster owns fields by `Update`. An apply removes a field that it omits only if Muster owns the field by `Apply`.
 *   So the ownership of these fields becomes `Apply`.
 * - Muster gives up the ownership of fields that are left to other managers. If it still owned them, an apply that omits these fields would
 *   remove their values.
 */
async function correctOwners(
  copy: CopyToWrite,
  { object, state }: CopyUpdate,
): Promise<CopyWriteAttempt | { readonly object: KubernetesObject }> {
  const { leftPaths = [] } = copy.task.object;
  const { metadata } = object;
  const isToTurn = isApplied(copy, state) && hasManagedKeysRecord(object);
  // A mirror does not hold the owners of fields, so `retry` makes the caller read the object live.
  if (isToTurn && metadata.managedFields === undefined) return { result: 'retry' };
  const turned = isToTurn ? updatesTurnedToApply(object) : undefined;
  const ours = turned === undefined ? object : { ...object, metadata: { ...metadata, managedFields: turned } };
  const managedFields = withoutMusterPaths(ours, leftPaths) ?? turned;
  return managedFields === undefined ? { object } : await patchOwners(copy, object, managedFields);
}

/** True if the copy is written by an apply. A shared object belongs to its other owners, so it is never replaced as a whole. */
function isApplied({ work }: CopyToWrite, state: CopyUpdate['state']): boolean {
  return work.spec.write === 'Apply' || state === 'Shared';
}

function send(copy: CopyToWrite, { object, force, state }: CopyUpdate): Promise<GuardedAnswer> {
  const { guardedClient, task, work, desired } = copy;
  const { address, entry } = task;
  const manifest = withMarks(desired, { ...work, intent: entry.intent });
  if (isApplied(copy, state)) return applyToExisting(guardedClient, address, { manifest, object, force });
  return replaceExisting(guardedClient, address, {
    manifest: withLeftValues(manifest, task.object, object),
    object,
    exact: work.spec.exact,
    overriding: task.object.overriding,
  });
}

function writtenAttempt(
  copy: CopyToWrite,
  { object, state }: CopyUpdate,
  answer: Extract<ObjectCallResult, { result: 'answered' }>,
): CopyWriteAttempt {
  const isChanged = answer.object.metadata.resourceVersion !== object.metadata.resourceVersion;
  const entry = entryAfterWrite(copy, answer.object, state);
  const action = isChanged ? 'Configured' : 'Unchanged';
  return writtenResult(isChanged && copy.task.purpose === 'correct' ? withCorrection(copy, entry) : entry, {
    action,
    warnings: answer.warnings,
    written: answer.object,
  });
}

/**
 * Adds the time of this correction to the entry. `maxCorrections` limits how often Muster corrects a copy that another manager keeps
 * changing.
 */
function withCorrection({ work }: CopyToWrite, entry: InventoryEntry): InventoryEntry {
  const corrections = [...(entry.corrections ?? []), new Date(work.clock.now()).toISOString()].slice(-maxCorrections);
  return { ...entry, corrections };
}

/**
 * True if Muster may overwrite all these fields: it sent them before, or `conflict` is Overwrite (docs/internals/propagation.md 7, Drift).
 */
function mayForce({ task, work }: CopyToWrite, conflicts: readonly FieldManagerConflict[]): boolean {
  const { sent = '' } = task.entry;
  return work.spec.conflict === 'Overwrite' || conflicts.every(({ path }) => fingerprintHasPath(sent, path));
}

function logForcedFields({ task, work }: CopyToWrite, conflicts: readonly FieldManagerConflict[]): void {
  const { kind, namespace, name } = task.object.key;
  const { owner, generation, share } = work;
  const propagation = `${owner.namespace}/${owner.name}`;
  work.log.info(
    { cluster: share.cluster, kind, namespace, name, propagation, generation, conflicts },
    'overwrote fields of other managers by force',
  );
}
