import type { Members } from '../../../changes/members.ts';
import { withPendingDeletions } from '../../apply/pending.ts';
import { isAbandoned } from '../../hub/abandoned.ts';
import { hubFault } from '../../hub/hub.ts';
import type { ClusterShare, InventoryEntry } from '../../model/inventory.ts';
import type { Propagation } from '../../model/propagation.ts';
import { type ClusterTask, removeShare, saveEntries } from './cluster-task.ts';

/** What stands in a cluster that may be lost. */
export interface LostCluster {
  readonly share: ClusterShare;
  readonly propagation: Propagation;
  readonly members: Members;
  /** Milliseconds of the epoch. */
  readonly nowMs: number;
  /** That it is to go is to be confirmed first. Absent: it may go. */
  readonly isHeld?: boolean;
}

/**
 * What there is to do, on the hub alone, about copies that are to go where nobody answers: they are put down as pending, to be deleted by their uid when
 * the cluster is back; or given up, if somebody said so. Undefined: nothing. A cluster that answers is never given up.
 */
export function taskForLostCluster({ share, propagation, members, nowMs, isHeld = false }: LostCluster): ClusterTask | undefined {
  const member = members.get(share.cluster);
  if (member !== undefined && member.phase !== 'UNREACHABLE') return undefined;
  if (isAbandoned(propagation, share)) return async (work, signal) => [await removeShare(work, signal)];
  if (member !== undefined || isHeld || share.entries.every(isRecorded)) return undefined;
  const fault = hubFault({ cluster: share.cluster }, 'GONE', 'the cluster is not a member of the fleet');
  return async (work, signal) => [await saveEntries({ ...work, share: withPendingDeletions(share, fault, nowMs) }, share, signal)];
}

/** What is shared is never deleted, and so never pending: of it the fault alone is kept. */
function isRecorded({ state, fault }: InventoryEntry): boolean {
  return state === 'PendingDeletion' || (state === 'Shared' && fault?.code === 'GONE');
}
