import type { MemberCluster } from '../../../changes/members.ts';
import type { PlacementCandidate, RejectionReason } from '../../model/placement.ts';
import type { AffinityGroup, ClusterSet, Placement } from '../../model/spec.ts';
import { dependsOnUnknown, matchesSet, mismatchOf } from './cluster-set.ts';
import { spreadGroupOf } from './take-spread.ts';
import { printTaint, untoleratedTaint } from './tolerations.ts';

/** Where clusters are looked for: the placement's own set, or an affinity group. */
export interface PlacementStage {
  /** Of the affinity group. */
  readonly name?: string;
  readonly set: ClusterSet;
  /** Where to go on when there is no room: looked at for workloads only. */
  readonly overflow: AffinityGroup['overflow'];
}

/** What a candidate must pass. */
export interface CandidateFilters extends Pick<Placement, 'tolerations' | 'spread'> {
  readonly stage: PlacementStage;
  /** Grounds that are tried after this one. */
  readonly laterStages: readonly PlacementStage[];
  /** What is placed has a count. */
  readonly isWorkload: boolean;
}

/** In which tier a cluster is in, or why it is not. */
type FilterResult =
  | { readonly result: 'passed'; readonly tier: number }
  /** It holds copies, and what nobody knows of where it runs decides. */
  | { readonly result: 'kept' }
  | { readonly result: 'refused'; readonly reason: RejectionReason; readonly detail: string };

/**
 * The first filter that keeps the candidate out (docs/internals/propagation.md 3.2), with the deciding value; or the tier it is in. Taints and missing kinds never push
 * out what holds copies, nor does what nobody knows of where it runs; another cluster is not taken before that is known.
 */
export function filterCandidate(candidate: PlacementCandidate, filters: CandidateFilters): FilterResult {
  const found = filterByKnown(candidate, filters);
  const { cluster, holds } = candidate;
  if (cluster.unknownLocation === undefined || !isUndecided(found, cluster, filters)) return found;
  const { mayBecomeKnown, message } = cluster.unknownLocation;
  if (holds) return found.result === 'passed' && !mayBecomeKnown ? found : { result: 'kept' };
  return mayBecomeKnown ? refused('SYNCING', message) : found;
}

/** What is not known counts as absent. */
function filterByKnown({ cluster, leaving, missingKinds, holds }: PlacementCandidate, filters: CandidateFilters): FilterResult {
  if (leaving) return refused('DELETING', cluster.name);
  if (!holds && missingKinds.length > 0) return refused('API_MISSING', missingKinds.join(', '));
  const taint = holds ? undefined : untoleratedTaint(cluster.taints, filters.tolerations);
  if (taint !== undefined) return refused('TAINT', printTaint(taint));
  const tier = tierOf(cluster, filters.stage, filters.isWorkload);
  if (tier === undefined) return refusedByStage(cluster, filters);
  const missing = filters.spread.find((spread) => spreadGroupOf(cluster, spread) === undefined);
  return missing === undefined ? { result: 'passed', tier } : refused('TOPOLOGY', missing.label ?? missing.by);
}

/** What is not known of the cluster might make it another answer. */
function isUndecided(found: FilterResult, cluster: MemberCluster, { stage: ground, isWorkload, spread }: CandidateFilters): boolean {
  if (found.result === 'refused' && (found.reason === 'DELETING' || found.reason === 'API_MISSING' || found.reason === 'TAINT'))
    return false;
  const sets = [ground.set, ...(isWorkload ? ground.overflow.map((entry) => entry.set) : [])];
  const first = sets.find((set) => dependsOnUnknown(set, cluster) || matchesSet(set, cluster));
  if (first === undefined) return false;
  return (
    dependsOnUnknown(first, cluster) || spread.some(({ by }) => cluster.unknownLocation?.fields.some((field) => field === by) === true)
  );
}

/** 0 for the ground's own set; k for the k-th overflow, the first that matches, of workloads. Undefined: it is in none. */
export function tierOf(cluster: MemberCluster, { set, overflow }: PlacementStage, isWorkload: boolean): number | undefined {
  if (matchesSet(set, cluster)) return 0;
  const found = isWorkload ? overflow.findIndex((entry) => matchesSet(entry.set, cluster)) : -1;
  return found < 0 ? undefined : found + 1;
}

function refusedByStage(cluster: MemberCluster, { stage: ground, laterStages: later }: CandidateFilters): FilterResult {
  const next = later.find(({ set }) => matchesSet(set, cluster));
  if (next?.name !== undefined) return refused('LATER_GROUP', next.name);
  const { reason, detail } = mismatchOf(ground.set, cluster) ?? { reason: 'NOT_NAMED', detail: cluster.name };
  return refused(reason, detail);
}

function refused(reason: RejectionReason, detail: string): FilterResult {
  return { result: 'refused', reason, detail };
}
