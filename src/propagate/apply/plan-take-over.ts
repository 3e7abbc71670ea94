import { randomUUID } from 'node:crypto';
import { sha256Of } from '../../core/json/canonical-json.ts';
import type { KubernetesObject } from '../../core/objects.ts';
import type { InventoryEntry, OldValues, TakenOver } from '../model/inventory.ts';
import type { CopyToJudge } from '../plan/copies/copy-task.ts';
import type { CopyWork, RollbackTarget } from '../plan/copies/copy-work.ts';
import { entryForUnknownObject, judgeObject } from '../plan/copies/judge-object.ts';
import { oldValuesOf } from '../plan/copies/observed-hash.ts';

/** The entry and the old values of an object of another owner. Both are saved before the first write to it. */
export interface PlannedTakeOver {
  /** The new entry, which records the take-over. If the current entry records it already, this is the same JavaScript object. */
  readonly entry: InventoryEntry;
  /**
   * The old values. They are stored before the entry is saved, and the entry is saved before the object is written. Absent if they are
   * stored already, or if none are stored: for shared objects, Secrets and values over 1 MiB.
   */
  readonly oldValues?: OldValues;
}

/**
 * Returns the entry and the old values to save before an object is taken over. Undefined for our own copy, and for an object that must not
 * be taken over. Pure, except for the random intent token.
 */
export function planTakeOver(copy: CopyToJudge, object: KubernetesObject): PlannedTakeOver | undefined {
  const judged = judgeObject(copy, object);
  if (judged.result !== 'foreign') return undefined;
  const { task, work } = copy;
  const { uid = '' } = object.metadata;
  const { as } = judged;
  const oldValues = as === 'Owned' ? oldValuesOf(task.object, object, work) : undefined;
  const takenOver: TakenOver = {
    uid,
    as,
    revision: work.revision,
    ...(oldValues === undefined ? {} : { values: sha256Of(oldValues.values) }),
  };
  const { entry } = task;
  if (entry.intent !== undefined && entry.uid === undefined && isSame(entry.takenOver, takenOver)) return { entry };
  const foreign = entryForUnknownObject(entry);
  const announced = { ...foreign, intent: foreign.intent ?? randomUUID(), takenOver };
  return { entry: announced, ...(oldValues === undefined ? {} : { oldValues }) };
}

/**
 * Returns the stored old values of the object. Values from an earlier, failed attempt to take it over are ignored. Undefined if no values
 * are stored.
 */
export function storedValuesOf(takenOver: TakenOver, { oldValues }: Pick<RollbackTarget, 'oldValues'>): OldValues | undefined {
  return oldValues.find(({ uid, values }) => uid === takenOver.uid && sha256Of(values) === takenOver.values);
}

/** The facts on which `mustGiveBack` depends. `rollback` is undefined if the generation does not go back to an older revision. */
type RollbackFacts = Pick<CopyWork, 'rollback' | 'revision'> & { readonly spec: Pick<CopyWork['spec'], 'conflict'> };

/**
 * True for an object that was taken over after the target revision of a rollback. In that revision the object belonged to another owner. So
 * it is given back first, and then judged like any object of another owner.
 *
 * False without a rollback, and if the current generation would take the object over by force or share it anyway.
 */
export function mustGiveBack({ takenOver, uid }: InventoryEntry, { rollback, revision, spec }: RollbackFacts): boolean {
  if (rollback === undefined || takenOver === undefined || uid !== takenOver.uid) return false;
  if (takenOver.revision <= rollback.targetRevision || takenOver.revision >= revision) return false;
  return spec.conflict !== 'Overwrite' && !(spec.conflict === 'ServerSideApply' && takenOver.as === 'Shared');
}

function isSame(known: TakenOver | undefined, now: TakenOver): boolean {
  return known?.uid === now.uid && known.as === now.as && known.revision === now.revision && known.values === now.values;
}
