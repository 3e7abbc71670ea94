import type { MirroredObject } from '../../store/member-objects.ts';
import type { InventoryEntry } from '../inventory.ts';
import type { HoldReason, PlanAction } from '../plan.ts';
import { marks } from '../propagation.ts';
import type { ConflictMode, DeletionSpec } from '../spec.ts';

/** What one copy is to become is decided by. */
interface CopyFacts {
  readonly live: Exclude<MirroredObject, { readonly result: 'unread' }>;
  /** Of the inventory, if it has the object. */
  readonly entry: InventoryEntry | undefined;
  readonly conflict: ConflictMode;
  readonly isSuspended: boolean;
  /** The relation of the object to the source of the copy. Absent if it is another object. */
  readonly standsAs?: 'Source' | 'Circle' | undefined;
  /** True if what stands there is what was last sent, and that is what would be sent again. */
  readonly isSame: (entry: InventoryEntry) => boolean;
}

type CopyDecision =
  | { readonly action: Exclude<PlanAction, 'HOLD' | 'DELETE' | 'RELEASE'> }
  | { readonly action: 'HOLD'; readonly held: HoldReason };

/** What happens to an object that is wanted in a cluster (docs/internals/propagation.md 5.2). */
export function decideCopy({ live, entry, conflict, isSuspended, standsAs, isSame }: CopyFacts): CopyDecision {
  if (standsAs !== undefined) return { action: 'HOLD', held: standsAs };
  if (isSuspended) return { action: 'HOLD', held: 'Suspended' };
  if (live.result === 'absent') return { action: 'CREATE' };
  if (conflict === 'CreateOnly') return { action: 'HOLD', held: 'CreateOnly' };
  if (entry !== undefined && isOurs(live, entry)) return { action: isSame(entry) ? 'UNCHANGED' : 'UPDATE' };
  return conflict === 'Abort' ? { action: 'HOLD', held: 'Conflict' } : { action: 'ADOPT' };
}

/** Deletion, or letting go of what is shared or is to stay. */
export function decideRemoval(entry: InventoryEntry, { policy }: DeletionSpec): 'DELETE' | 'RELEASE' {
  // Until its first write is known to be done, what is to be shared is only announced.
  const isShared = entry.state === 'Shared' || entry.takenOver?.as === 'Shared';
  return policy === 'Orphan' || isShared ? 'RELEASE' : 'DELETE';
}

/**
 * The uid is the proof. Before it was saved, after a crash between two writes, the intent is: it was saved first, and no stranger's object carries it.
 */
function isOurs({ object }: Extract<MirroredObject, { readonly result: 'held' }>, { uid, intent }: InventoryEntry): boolean {
  if (uid !== undefined) return object.metadata.uid === uid;
  return intent !== undefined && object.metadata.annotations?.[marks.intent] === intent;
}
