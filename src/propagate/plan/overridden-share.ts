import type { ReplicaShare } from '../model/placement.ts';
import type { PlacedCluster, PlacementResult } from './place-replicas.ts';
import type { ClusterCopies } from './render-copies.ts';
import type { PreviousDecision } from './snapshot/snapshot.ts';

/**
 * Returns the share with the counts that the copies really get, if an override replaces the count of a workload. `divided` then has the
 * count of the division. Returns the share itself if no override does.
 */
export function overriddenShare(
  { share }: Pick<PlacedCluster, 'share'>,
  copies: ClusterCopies,
  previous: PreviousDecision | undefined,
): ReplicaShare | undefined {
  if (share === undefined || copies.result === 'failed') return share;
  const before = previous?.overridden?.get(share.cluster);
  const change = copies.copies.reduce((sum, { countChange = 0 }) => sum + countChange, 0);
  if (before === undefined && change === 0) return share;
  const from = before ?? share.from;
  const to = share.to + change;
  return { ...share, from, to, kept: Math.min(from, to), ...(change === 0 ? {} : { divided: share.to }) };
}

/** Returns the placement with the sums of these shares: the requested and the placed replicas include what overrides add or take away. */
export function withOverriddenSums<T extends Pick<PlacementResult, 'desired' | 'placed'>>(
  placing: T,
  shares: readonly (ReplicaShare | undefined)[],
): T {
  const change = shares.reduce((sum, share) => sum + (share?.divided === undefined ? 0 : share.to - share.divided), 0);
  const { desired, placed } = placing;
  if (change === 0 || desired === undefined || placed === undefined) return placing;
  return { ...placing, desired: desired + change, placed: placed + change };
}
