import type { CopyWork } from '../copies/copies.ts';
import { pendingShare } from '../copies/pending.ts';
import { abandonedOf } from '../hub/abandoned.ts';
import { hubFault } from '../hub/hub.ts';
import type { ClusterShare } from '../inventory.ts';
import type { Members } from '../members.ts';
import type { Propagation } from '../propagation.ts';
import { type Act, saveEntries } from './cluster-work.ts';

/** What stands in a cluster that may be lost. */
export interface LostFacts {
  readonly share: ClusterShare;
  readonly propagation: Propagation;
  readonly members: Members;
  /** Milliseconds of the epoch. */
  readonly nowMs: number;
}

/** True if nobody can be asked about what is there. */
export function isLost({ share, members }: Pick<LostFacts, 'share' | 'members'>): boolean {
  return members.get(share.cluster) === undefined;
}

/**
 * What there is to do, on the hub alone, about copies that are to go where nobody answers: they are put down as pending, to be deleted by their uid when
 * the cluster is back; or given up, if somebody said so. Undefined: nothing. A cluster that answers is never given up.
 */
export function actOnLost({ share, propagation, members, nowMs }: LostFacts): Act | undefined {
  const member = members.get(share.cluster);
  if (member !== undefined && member.phase !== 'UNREACHABLE') return undefined;
  if (abandonedOf(propagation).includes(share.cluster)) return async (work, signal) => [await giveUp(work, signal)];
  if (member !== undefined || share.entries.every(({ state }) => state === 'PendingDeletion')) return undefined;
  const fault = hubFault({ cluster: share.cluster }, 'GONE', 'the cluster is not a member of the fleet');
  return async (work, signal) => [await saveEntries({ ...work, share: pendingShare(share, fault, nowMs) }, share, signal)];
}

async function giveUp({ share, shares, mayWrite }: CopyWork, signal: AbortSignal): ReturnType<typeof saveEntries> {
  if (!mayWrite()) return { result: 'stopped', share, copies: [] };
  const removed = await shares.remove(share, signal);
  if (removed.result === 'failed') return { result: 'failed', fault: removed.fault, share, copies: [] };
  if (removed.result === 'conflict') return { result: 'stopped', share, copies: [] };
  const { version: _version, uid: _uid, ...rest } = share;
  return { result: 'done', share: { ...rest, entries: [] }, copies: [] };
}
