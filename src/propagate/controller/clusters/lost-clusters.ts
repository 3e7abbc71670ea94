import type { Members } from '../../../changes/members.ts';
import { textOfKey } from '../../../manifests/object-key.ts';
import { markPendingDeletion, withPendingDeletions } from '../../apply/deletion-state.ts';
import { isAbandoned } from '../../hub/abandoned.ts';
import { hubFault } from '../../hub/hub.ts';
import type { ClusterShare, InventoryEntry } from '../../model/inventory.ts';
import type { RenderedObject } from '../../model/plan.ts';
import type { Propagation } from '../../model/propagation.ts';
import { isRemoval } from '../../plan/held-prune.ts';
import { type ClusterTask, removeShare, saveEntries } from './cluster-task.ts';

/** A cluster with unwanted copies, which may be unreachable. */
export interface LostCluster {
  readonly share: ClusterShare;
  readonly propagation: Propagation;
  readonly members: Members;
  /** Unix milliseconds. */
  readonly nowMs: number;
  /** True if the deletion of the copies must be confirmed first. Default: false. */
  readonly isHeld?: boolean;
  /** The objects to remove, if their copies run in other clusters by now. Absent if the copies do not move. */
  readonly moved?: readonly RenderedObject[] | undefined;
}

/**
 * Returns the work for unwanted copies in a cluster that cannot be reached. It writes only to the hub.
 *
 * - If a user abandoned the cluster, its share is deleted.
 * - If the cluster has left the fleet, its copies become pending: they are deleted by their uid when the cluster is back. This waits while
 *   a user must confirm the deletion (`isHeld`), and is left out if the inventory records it already.
 * - If the cluster does not answer, and its copies have moved (`moved`), the copies to delete or to release become pending too.
 *
 * Undefined if none of these applies, or if the cluster answers.
 */
export function taskForLostCluster({ share, propagation, members, nowMs, isHeld = false, moved }: LostCluster): ClusterTask | undefined {
  const member = members.get(share.cluster);
  if (member !== undefined && member.phase !== 'UNREACHABLE') return undefined;
  if (isAbandoned(propagation, share)) return async (work, signal) => [await removeShare(work, signal)];
  if (member !== undefined && moved !== undefined) return taskForMoved(share, moved);
  if (member !== undefined || isHeld || share.entries.every(isRecorded)) return undefined;
  const fault = hubFault({ cluster: share.cluster }, 'GONE', 'the cluster is not a member of the fleet');
  return async (work, signal) => [await saveEntries({ ...work, share: withPendingDeletions(share, fault, nowMs) }, share, signal)];
}

function taskForMoved(share: ClusterShare, moved: readonly RenderedObject[]): ClusterTask | undefined {
  const leaving = new Set(moved.filter(isRemoval).map(({ key }) => textOfKey(key)));
  const isOpen = (entry: InventoryEntry) =>
    leaving.has(textOfKey(entry.key)) && entry.state !== 'PendingDeletion' && entry.state !== 'Shared';
  if (!share.entries.some(isOpen)) return undefined;
  const entries = share.entries.map((entry) => (isOpen(entry) ? markPendingDeletion(entry) : entry));
  return async (work, signal) => [await saveEntries({ ...work, share: { ...share, entries } }, share, signal)];
}

/** True if the entry already records the loss. Shared objects are never deleted and so never pending: their entry only gets the fault. */
function isRecorded({ state, fault }: InventoryEntry): boolean {
  return state === 'PendingDeletion' || (state === 'Shared' && fault?.code === 'GONE');
}
