import { isSpreadIgnored, type KarmadaPlacement, type SpreadConstraint } from '../../../../src/propagate/karmada/karmada-placement.ts';
import { isDuplicated, type ReplicaScheduling } from '../../../../src/propagate/karmada/replica-scheduling.ts';
import type { Spread } from '../../../../src/propagate/model/spec.ts';
import { chooseAsKarmada, karmadaRange, requiredAsKarmada } from '../../../../src/propagate/plan/exact/choose-as-karmada.ts';
import { type LocatedCluster, spreadGroupsOf } from '../../../../src/propagate/plan/placing/choose-by-spread.ts';
import { chooseFromGroups, compareEligible, type SpreadResult } from '../../../../src/propagate/plan/placing/choose-clusters.ts';
import { tierOf } from '../../../../src/propagate/plan/placing/filter-candidate.ts';
import { groupScore } from '../../../../src/propagate/plan/placing/group-score.ts';
import { pickGroups } from '../../../../src/propagate/plan/placing/pick-groups.ts';
import { type KarmadaCluster, memberClusterOf } from './karmada-cluster.ts';
import { affinitySetsOf, spreadOf } from './karmada-placement.ts';

/** Karmada's ClusterDetailInfo: a cluster that passed the filters. */
interface DetailedCluster extends KarmadaCluster {
  readonly name: string;
  readonly score?: number;
  readonly availableReplicas?: number;
  readonly overflowOrder?: number;
}

interface Selecting {
  readonly clusters: readonly DetailedCluster[];
  readonly placement?: KarmadaPlacement;
  readonly replicas?: number;
}

/** The selected clusters in order, or an error if none could be selected. */
type Selected = { readonly clusters: readonly string[] } | { readonly error: true; readonly errorText: string };

/**
 * Selects the best groups of clusters, `minGroups` to `maxGroups` of them, with at least `targetClusters` clusters together. Returns their
 * names. Null if no group is selected.
 */
export function selectGroups({
  groups,
  minGroups = 0,
  maxGroups = 0,
  targetClusters = 0,
}: {
  readonly groups: readonly { readonly name: string; readonly value: number; readonly weight: number }[];
  readonly minGroups?: number;
  readonly maxGroups?: number;
  readonly targetClusters?: number;
}): { readonly groups: readonly string[] | null } {
  const picked = pickGroups(groups, { min: minGroups, max: maxGroups, clusters: targetClusters }) ?? [];
  return { groups: picked.length === 0 ? null : picked.map(({ name }) => name) };
}

/** Selects clusters of the best regions, by the scores in `regions`. */
export function selectByRegion({
  regions,
  spreadConstraints,
}: {
  readonly regions: Readonly<Record<string, { readonly score?: number; readonly clusters: readonly DetailedCluster[] }>>;
  readonly spreadConstraints?: readonly SpreadConstraint[];
}): Selected {
  const groups = Object.entries(regions).map(([name, { score = 0, clusters }]) => ({ name, score, clusters: clusters.map(locatedOf) }));
  const spread = spreadOf(spreadConstraints);
  return namesOf(chooseFromGroups(groups, { group: karmadaRange(spread, 'region'), cluster: karmadaRange(spread, 'cluster') }));
}

/** Selects clusters by the spread constraints, as Karmada's SelectBestClusters does. `clusters` must be sorted. */
export function selectBest({ clusters, placement = {}, replicas = 0 }: Selecting): Selected {
  return namesOf(takeBest(clusters.map(locatedOf), placement, replicas));
}

/** Karmada's GroupClustersWithScore: returns the order of the clusters and the number of groups for each field. */
export function groupClusters({ clusters, placement = {} }: Selecting): {
  readonly order: readonly string[];
  readonly providers: number;
  readonly regions: number;
  readonly zones: number;
} {
  const located = clusters.map(locatedOf);
  const requested = spreadOf(isTopologyIgnored(placement) ? [] : placement.spreadConstraints);
  const count = (by: Spread['by'], values: readonly (string | undefined)[]): number =>
    requested.some((spread) => spread.by === by) ? new Set(values.filter((value) => (value ?? '') !== '')).size : 0;
  return {
    order: sorted(located).map(({ name }) => name),
    providers: count(
      'provider',
      located.map(({ cluster }) => cluster.provider),
    ),
    regions: count(
      'region',
      located.map(({ cluster }) => cluster.region),
    ),
    zones: count(
      'zone',
      located.flatMap(({ cluster }) => cluster.zones),
    ),
  };
}

interface Scoring {
  readonly replicas?: number;
  readonly replicaScheduling?: ReplicaScheduling | null;
  readonly spreadConstraints?: readonly SpreadConstraint[];
  readonly minGroups?: number;
}

/** Returns the score of one group of clusters. The clusters must be sorted. */
export function scoreOfGroup({ clusters, ...scoring }: Scoring & { readonly clusters: readonly DetailedCluster[] }): {
  readonly score: number;
} {
  const { replicas = 0, replicaScheduling, spreadConstraints, minGroups = 0 } = scoring;
  const minClusters = karmadaRange(spreadOf(spreadConstraints), 'cluster').min;
  const demand = { replicas, duplicated: isDuplicated(replicaScheduling), minGroups, minClusters };
  return { score: groupScore(clusters.map(locatedOf), demand) };
}

/** Compares the scores of two groups: true if the first one is at least as high. */
export function compareGroupScore({
  group1,
  group2,
  ...scoring
}: Scoring & {
  readonly group1: readonly DetailedCluster[];
  readonly group2: readonly DetailedCluster[];
}): { readonly group1ScoreAtLeastGroup2: boolean } {
  const [first, second] = [group1, group2].map((clusters) => scoreOfGroup({ ...scoring, clusters }).score);
  return { group1ScoreAtLeastGroup2: (first ?? 0) >= (second ?? 0) };
}

/** Returns the order of clusters. Available replicas count only if `thenByAvailableReplicasDescending` is true. */
export function sortClusters({
  clusters,
  thenByAvailableReplicasDescending = false,
}: {
  readonly clusters: readonly DetailedCluster[];
  readonly thenByAvailableReplicasDescending?: boolean;
}): { readonly order: readonly string[] } {
  const located = clusters.map(locatedOf).map((entry) => (thenByAvailableReplicasDescending ? entry : { ...entry, available: 0 }));
  return { order: sorted(located).map(({ name }) => name) };
}

/**
 * Sorts the clusters and selects among them, as Karmada's SelectClusters does for a resource without replicas. Every cluster has room for
 * such a resource.
 */
export function selectClusters({
  clusters,
  placement = {},
  observedAffinityName = '',
}: Selecting & { readonly observedAffinityName?: string }): { readonly clusterSet: readonly string[] } | Selected {
  const ground = affinitySetsOf(placement, observedAffinityName);
  const located = clusters.map((cluster) => {
    const entry = locatedOf(cluster);
    return { ...entry, tier: tierOf(entry.cluster, ground, true) ?? afterAll, available: Number.POSITIVE_INFINITY };
  });
  const selected = namesOf(takeBest(sorted(located), placement, 0));
  return 'clusters' in selected ? { clusterSet: selected.clusters } : selected;
}

/** Returns the order of the clusters, the regions with their scores, and the selection. */
export function selectSpread({ clusters, placement = {}, replicas = 0 }: Selecting): {
  readonly sorted: readonly string[];
  readonly regions: Readonly<Record<string, { readonly score: number; readonly clusters: readonly string[] }>>;
  readonly selected?: readonly string[];
  readonly error?: true;
  readonly errorText?: string;
} {
  const located = sorted(clusters.map(locatedOf));
  const selected = namesOf(takeBest(located, placement, replicas));
  return {
    sorted: located.map(({ name }) => name),
    regions: regionsOf(located, placement, replicas),
    ...('clusters' in selected ? { selected: selected.clusters } : selected),
  };
}

/** The tier of a cluster that is in no set. */
const afterAll = 1000;

function locatedOf(cluster: DetailedCluster): LocatedCluster {
  const { name, score = 0, availableReplicas = 0, overflowOrder = 0 } = cluster;
  return { name, cluster: memberClusterOf(cluster), tier: overflowOrder, score, available: availableReplicas };
}

function sorted(clusters: readonly LocatedCluster[]): readonly LocatedCluster[] {
  return [...clusters].sort(compareEligible);
}

/** Selects clusters by the spread constraints. Without constraints, or if Karmada ignores them, selects all clusters. */
function takeBest(ordered: readonly LocatedCluster[], placement: KarmadaPlacement, replicas: number): SpreadResult<LocatedCluster> {
  if (isSpreadIgnored(placement)) return { result: 'chosen', clusters: ordered };
  const spread = spreadOf(placement.spreadConstraints);
  return chooseAsKarmada(ordered, { spread, replicas, duplicated: isDuplicated(placement.replicaScheduling) });
}

function regionsOf(
  located: readonly LocatedCluster[],
  placement: KarmadaPlacement,
  replicas: number,
): ReturnType<typeof selectSpread>['regions'] {
  const constraints = spreadOf(placement.spreadConstraints);
  if (isTopologyIgnored(placement) || !constraints.some(({ by }) => by === 'region')) return {};
  const [minGroups, minClusters] = [karmadaRange(constraints, 'region').min, karmadaRange(constraints, 'cluster').min];
  const demand = { replicas, duplicated: isDuplicated(placement.replicaScheduling), minGroups, minClusters };
  const groups = spreadGroupsOf(located, { by: 'region', min: 0 });
  return Object.fromEntries(
    groups.map(({ name, clusters }) => [name, { score: groupScore(clusters, demand), clusters: clusters.map((entry) => entry.name) }]),
  );
}

function isTopologyIgnored(placement: KarmadaPlacement): boolean {
  const constraints = requiredAsKarmada(spreadOf(placement.spreadConstraints));
  return constraints.every(({ by }) => by === 'cluster') || isSpreadIgnored(placement);
}

function namesOf(taken: SpreadResult<LocatedCluster>): Selected {
  return taken.result === 'chosen' ? { clusters: taken.clusters.map(({ name }) => name) } : { error: true, errorText: taken.problem };
}
