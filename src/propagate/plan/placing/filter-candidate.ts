import type { MemberCluster } from '../../../changes/members.ts';
import type { PlacementCandidate, RejectionReason } from '../../model/placement.ts';
import type { AffinityGroup, ClusterSet, Placement } from '../../model/spec.ts';
import { spreadGroupOf } from './choose-by-spread.ts';
import { dependsOnUnknown, matchesSet, mismatchOf } from './cluster-set.ts';
import { printTaint, untoleratedTaint } from './tolerations.ts';

/**
 * One step of the search for clusters: the set of the placement itself, or one affinity group. Later stages are tried if this one fails.
 */
export interface PlacementStage {
  /** The name of the affinity group. Default: the set of the placement itself. */
  readonly name?: string;
  readonly set: ClusterSet;
  /** Further sets for replicas that have no room in `set`. Used for workloads only. */
  readonly overflow: AffinityGroup['overflow'];
}

/** The conditions that a candidate must meet. */
export interface CandidateFilters extends Pick<Placement, 'tolerations' | 'spread'> {
  readonly stage: PlacementStage;
  /** The stages that are tried after this one. */
  readonly laterStages: readonly PlacementStage[];
  /** True if the template has a replica count. */
  readonly isWorkload: boolean;
}

/** The result of the filters for one cluster. */
type FilterResult =
  /** The cluster meets all conditions. */
  | { readonly result: 'passed'; readonly tier: number }
  /** The cluster stays chosen, because it has copies and its location is unknown. The location decides whether the cluster matches. */
  | { readonly result: 'kept' }
  | { readonly result: 'refused'; readonly reason: RejectionReason; readonly detail: string };

/**
 * Applies the filters to a candidate (docs/internals/propagation.md 3.2). Returns its tier, or the reason of the first filter that excludes
 * it, with the deciding value.
 *
 * A cluster with copies is never excluded because of taints, missing kinds or an unknown location. A cluster that this generation has
 * chosen already is not excluded because of taints. A cluster with copies is `kept` if unknown location fields decide. A cluster without
 * copies is refused with `SYNCING` while these fields may become known.
 *
 * Fields that cannot become known count as absent. Even then, a cluster with copies is `kept` instead of excluded.
 */
export function filterCandidate(candidate: PlacementCandidate, filters: CandidateFilters): FilterResult {
  const found = filterByKnown(candidate, filters);
  const { cluster, holds } = candidate;
  if (cluster.unknownLocation === undefined || !isUndecided(found, cluster, filters)) return found;
  const { mayBecomeKnown, message } = cluster.unknownLocation;
  if (holds) return found.result === 'passed' && !mayBecomeKnown ? found : { result: 'kept' };
  return mayBecomeKnown ? refused('SYNCING', message) : found;
}

/** Applies the filters, with unknown location fields as absent. */
function filterByKnown(candidate: PlacementCandidate, filters: CandidateFilters): FilterResult {
  const { cluster, leaving, missingKinds, holds, isDecided = false } = candidate;
  if (leaving) return refused('DELETING', cluster.name);
  if (!holds && missingKinds.length > 0) return refused('API_MISSING', missingKinds.join(', '));
  const taint = holds || isDecided ? undefined : untoleratedTaint(cluster.taints, filters.tolerations);
  if (taint !== undefined) return refused('TAINT', printTaint(taint));
  const tier = tierOf(cluster, filters.stage, filters.isWorkload);
  if (tier === undefined) return refusedByStage(cluster, filters);
  const missing = filters.spread.find((spread) => spreadGroupOf(cluster, spread) === undefined);
  return missing === undefined ? { result: 'passed', tier } : refused('TOPOLOGY', missing.label ?? missing.by);
}

/** True if the result could differ once the unknown location fields of the cluster are known. */
function isUndecided(found: FilterResult, cluster: MemberCluster, { stage, isWorkload, spread }: CandidateFilters): boolean {
  if (found.result === 'refused' && (found.reason === 'DELETING' || found.reason === 'API_MISSING' || found.reason === 'TAINT'))
    return false;
  const sets = [stage.set, ...(isWorkload ? stage.overflow.map((entry) => entry.set) : [])];
  const first = sets.find((set) => dependsOnUnknown(set, cluster) || matchesSet(set, cluster));
  if (first === undefined) return false;
  return (
    dependsOnUnknown(first, cluster) || spread.some(({ by }) => cluster.unknownLocation?.fields.some((field) => field === by) === true)
  );
}

/** Returns the tier of a cluster: 0 for the set of the stage, k for the k-th overflow set (workloads only). Undefined if no set matches. */
export function tierOf(cluster: MemberCluster, { set, overflow }: PlacementStage, isWorkload: boolean): number | undefined {
  if (matchesSet(set, cluster)) return 0;
  const found = isWorkload ? overflow.findIndex((entry) => matchesSet(entry.set, cluster)) : -1;
  return found < 0 ? undefined : found + 1;
}

function refusedByStage(cluster: MemberCluster, { stage, laterStages }: CandidateFilters): FilterResult {
  const next = laterStages.find(({ set }) => matchesSet(set, cluster));
  if (next?.name !== undefined) return refused('LATER_GROUP', next.name);
  const { reason, detail } = mismatchOf(stage.set, cluster) ?? { reason: 'NOT_NAMED', detail: cluster.name };
  return refused(reason, detail);
}

function refused(reason: RejectionReason, detail: string): FilterResult {
  return { result: 'refused', reason, detail };
}
