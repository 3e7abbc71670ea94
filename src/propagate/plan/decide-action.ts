import type { MirroredObject } from '../../store/member-objects.ts';
import type { InventoryEntry } from '../model/inventory.ts';
import type { HoldReason, PlanAction } from '../model/plan.ts';
import { marks } from '../model/propagation.ts';
import type { ConflictMode, DeletionSpec } from '../model/spec.ts';

/** The facts that decide the action for one copy. */
interface CopyFacts {
  readonly live: Exclude<MirroredObject, { readonly result: 'unread' }>;
  /** The inventory entry of the object. Undefined: the inventory does not have it. */
  readonly entry: InventoryEntry | undefined;
  readonly conflict: ConflictMode;
  readonly isSuspended: boolean;
  /**
   * The relation of the existing object to the source of the copy. `Source`: the object is the source. `Circle`: other Propagations make
   * the source from this object. Absent if neither holds.
   */
  readonly relationToSource?: 'Source' | 'Circle' | undefined;
  /** Returns true if the wanted manifest equals the last written one, and the existing object has not drifted since. */
  readonly isUnchanged: (entry: InventoryEntry) => boolean;
}

type CopyDecision =
  | { readonly action: Exclude<PlanAction, 'HOLD' | 'DELETE' | 'RELEASE'> }
  | { readonly action: 'HOLD'; readonly held: HoldReason };

/** Decides the action for a wanted object in one cluster (docs/internals/propagation.md 5.2). */
export function decideCopy({ live, entry, conflict, isSuspended, relationToSource, isUnchanged }: CopyFacts): CopyDecision {
  if (relationToSource !== undefined) return { action: 'HOLD', held: relationToSource };
  if (isSuspended) return { action: 'HOLD', held: 'Suspended' };
  if (live.result === 'absent') return { action: 'CREATE' };
  if (conflict === 'CreateOnly') return { action: 'HOLD', held: 'CreateOnly' };
  if (entry !== undefined && isOurs(live, entry)) return { action: isUnchanged(entry) ? 'UNCHANGED' : 'UPDATE' };
  return conflict === 'Abort' ? { action: 'HOLD', held: 'Conflict' } : { action: 'ADOPT' };
}

/** Decides whether a copy is deleted or released. Shared objects, and all objects with policy Orphan, are released. */
export function decideRemoval(entry: InventoryEntry, { policy }: DeletionSpec): 'DELETE' | 'RELEASE' {
  // The inventory records in `takenOver` that the object is shared, before the first write to it. `state` records it only after that write.
  const isShared = entry.state === 'Shared' || entry.takenOver?.as === 'Shared';
  return policy === 'Orphan' || isShared ? 'RELEASE' : 'DELETE';
}

/**
 * True if the object is our copy. The proof is the uid. If a crash came before the uid was saved, the proof is the intent token: the
 * inventory saved it before the first write, so no foreign object has it.
 */
function isOurs({ object }: Extract<MirroredObject, { readonly result: 'held' }>, { uid, intent }: InventoryEntry): boolean {
  if (uid !== undefined) return object.metadata.uid === uid;
  return intent !== undefined && object.metadata.annotations?.[marks.intent] === intent;
}
