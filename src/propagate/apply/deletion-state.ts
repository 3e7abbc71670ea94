import type { Fault } from '../../core/faults.ts';
import type { ClusterShare, InventoryEntry } from '../model/inventory.ts';
import { recordFault } from '../plan/copies/copy-reason.ts';

/**
 * Returns the share with all entries pending deletion, for a cluster that is unreachable or not in the fleet. Each entry gets the fault.
 * The copies are deleted by their uids when the cluster answers again.
 */
export function withPendingDeletions(share: ClusterShare, fault: Fault, nowMs: number): ClusterShare {
  const now = new Date(nowMs).toISOString();
  return {
    ...share,
    entries: share.entries.map((entry) => ({ ...markPendingDeletion(entry), fault: recordFault(fault, entry.fault, now) })),
  };
}

/** Marks a copy for deletion as soon as its cluster answers. A shared object keeps its state, because it is released instead of deleted. */
export function markPendingDeletion(entry: InventoryEntry): InventoryEntry {
  return withDeletionState(entry, 'PendingDeletion');
}

/**
 * Marks a copy as `Deleting`: the server is deleting it, or its deletion waits for other copies. A shared object keeps its state, because
 * it is released instead of deleted.
 */
export function markDeleting(entry: InventoryEntry): InventoryEntry {
  return withDeletionState(entry, 'Deleting');
}

/** Undoes the deletion mark of a copy that is wanted again. */
export function clearDeletionMark(entry: InventoryEntry): InventoryEntry {
  if (entry.state !== 'PendingDeletion' && entry.state !== 'Deleting') return entry;
  return { ...entry, state: entry.uid === undefined ? 'Intended' : 'Owned' };
}

function withDeletionState(entry: InventoryEntry, state: 'PendingDeletion' | 'Deleting'): InventoryEntry {
  if (entry.state === 'Shared') return entry;
  if (entry.state !== 'Intended') return { ...entry, state };
  // An `Intended` entry has no uid, or the uid of an earlier object that was deleted. With such a uid and another state, the intent token
  // would no longer prove that the object is ours (`hasAnnouncedIntent`).
  const { uid: _uid, ...announced } = entry;
  return { ...announced, state };
}
