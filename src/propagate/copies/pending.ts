import type { Fault } from '../../core/faults.ts';
import type { ClusterShare, InventoryEntry } from '../inventory.ts';
import { recordFault } from './copy-reason.ts';

/** The share of a cluster whose copies are to go and that cannot be reached, or is no member: to be taken back by their proof when it is there again. */
export function pendingShare(share: ClusterShare, fault: Fault, nowMs: number): ClusterShare {
  const now = new Date(nowMs).toISOString();
  return { ...share, entries: share.entries.map((entry) => ({ ...asPending(entry), fault: recordFault(fault, entry.fault, now) })) };
}

/** The entry of a copy that is to go as soon as its cluster answers. What is shared stays so: it is let go of then, and never deleted. */
export function asPending(entry: InventoryEntry): InventoryEntry {
  return asLeaving(entry, 'PendingDeletion');
}

/** The same of one that waits, or that the server is deleting. */
export function asDeleting(entry: InventoryEntry): InventoryEntry {
  return asLeaving(entry, 'Deleting');
}

/** The entry of a copy that was to go and is wanted again. */
export function asWanted(entry: InventoryEntry): InventoryEntry {
  if (entry.state !== 'PendingDeletion' && entry.state !== 'Deleting') return entry;
  return { ...entry, state: entry.uid === undefined ? 'Intended' : 'Owned' };
}

function asLeaving(entry: InventoryEntry, state: 'PendingDeletion' | 'Deleting'): InventoryEntry {
  if (entry.state === 'Shared') return entry;
  if (entry.state !== 'Intended') return { ...entry, state };
  // The uid of one that is gone, and announced anew, would stand before the intent.
  const { uid: _uid, ...announced } = entry;
  return { ...announced, state };
}
