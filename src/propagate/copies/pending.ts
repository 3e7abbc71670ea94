import type { Fault } from '../../core/faults.ts';
import type { ClusterShare } from '../inventory.ts';
import { recordFault } from './copy-reason.ts';

/** The share of a cluster whose copies are to go and that cannot be reached, or is no member: to be deleted by their uid when it is back. */
export function pendingShare(share: ClusterShare, fault: Fault, nowMs: number): ClusterShare {
  const now = new Date(nowMs).toISOString();
  const entries = share.entries.map((entry) => ({
    ...entry,
    state: 'PendingDeletion' as const,
    fault: recordFault(fault, entry.fault, now),
  }));
  return { ...share, entries };
}
