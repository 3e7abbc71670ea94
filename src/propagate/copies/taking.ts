import { randomUUID } from 'node:crypto';
import { sha256Of } from '../../core/json/canonical-json.ts';
import type { KubernetesObject } from '../../core/objects.ts';
import type { InventoryEntry, TakenOver } from '../inventory.ts';
import type { CopyWork, GoingBack, OldValues } from './copies.ts';
import type { CopyAtHand } from './copy-to-write.ts';
import { judgeObject, strangersEntry } from './judge-object.ts';
import { oldValuesOf } from './observed.ts';

/** What is known, and kept, of a stranger's object before the first write to it. */
export interface Taking {
  /** Says whose it was. The very entry that there was if that says all of it already. */
  readonly entry: InventoryEntry;
  /** To be kept before the entry is saved, and the entry before the object is written. Absent: nothing is to be kept, or it is kept already. */
  readonly old?: OldValues;
}

/** Undefined for an object that is ours, or that is not to be taken over. Pure but for the token. */
export function takingOf(copy: CopyAtHand, object: KubernetesObject): Taking | undefined {
  const judged = judgeObject(copy, object);
  if (judged.result !== 'theirs') return undefined;
  const { task, work } = copy;
  const { uid = '' } = object.metadata;
  const { as } = judged;
  const old = as === 'Owned' ? oldValuesOf(task.object, object, work) : undefined;
  const takenOver: TakenOver = { uid, as, revision: work.revision, ...(old === undefined ? {} : { values: sha256Of(old.values) }) };
  const { entry } = task;
  if (entry.intent !== undefined && entry.uid === undefined && isSame(entry.takenOver, takenOver)) return { entry };
  const stranger = strangersEntry(entry);
  const announced = { ...stranger, intent: stranger.intent ?? randomUUID(), takenOver };
  return { entry: announced, ...(old === undefined ? {} : { old }) };
}

/** What was kept of the object when it was taken over for good, not at an earlier try. */
export function keptOf(takenOver: TakenOver, { old }: Pick<GoingBack, 'old'>): OldValues | undefined {
  return old.find(({ uid, values }) => uid === takenOver.uid && sha256Of(values) === takenOver.values);
}

/** What a generation that goes back is judged by. */
type ReturnFacts = Pick<CopyWork, 'goingBack' | 'revision'> & { readonly spec: Pick<CopyWork['spec'], 'conflict'> };

/**
 * True for what was taken over since the revision that is gone back to, which did not have it: it is given back, and is then a stranger's for this revision
 * as it was for that one. Not where this one would take it by force, or share it, all the same.
 */
export function isToReturn({ takenOver, uid }: InventoryEntry, { goingBack, revision, spec }: ReturnFacts): boolean {
  if (goingBack === undefined || takenOver === undefined || uid !== takenOver.uid) return false;
  if (takenOver.revision <= goingBack.to || takenOver.revision >= revision) return false;
  return spec.conflict !== 'Overwrite' && !(spec.conflict === 'ServerSideApply' && takenOver.as === 'Shared');
}

function isSame(known: TakenOver | undefined, now: TakenOver): boolean {
  return known?.uid === now.uid && known.as === now.as && known.revision === now.revision && known.values === now.values;
}
