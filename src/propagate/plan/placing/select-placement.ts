import { invariant } from '../../../core/errors.ts';
import { compareText } from '../../../core/text.ts';
import type { ChosenCluster, ClusterSelection, PlacementCandidate, RejectedCluster } from '../../model/placement.ts';
import type { Placement, ReplicasSpec, Spread } from '../../model/spec.ts';
import { type LocatedCluster, musterSpreadRules, printSpread, type SpreadRules } from './choose-by-spread.ts';
import { compareEligible, type SpreadResult } from './choose-clusters.ts';
import { type CandidateFilters, filterCandidate, type PlacementStage } from './filter-candidate.ts';

/** The input of `selectionsOf`: the placement, the clusters and the workload. */
export interface SelectionInput {
  readonly placement: Placement;
  /** The clusters to select from. Their names are unique. */
  readonly candidates: readonly PlacementCandidate[];
  /** The workload of the template. Absent if the template has no replica count. Then every cluster has room, and overflow is ignored. */
  readonly workload?: { readonly count: number; readonly mode: ReplicasSpec['mode']; readonly strategy: ReplicasSpec['strategy'] };
  /** The affinity group that was used last. The groups before it are not tried again. Absent if none was used. */
  readonly previousGroup?: string;
  /** True if a reschedule was requested. Then the search starts with the first affinity group. */
  readonly fresh: boolean;
  /** Default: the rules of Muster. */
  readonly spreadRules?: SpreadRules;
}

/**
 * Selects the clusters of a placement (docs/internals/propagation.md 3.2). Yields one selection for each affinity group, in the order in
 * which they are tried. Without affinity groups, yields one selection. Each is computed when it is requested.
 *
 * Filters the candidates, sorts them and applies the spread. The order of the candidates makes no difference.
 *
 * A cluster with copies is kept if its location is unknown and decides whether the cluster matches. As long as a cluster is kept for this
 * reason, a placement with a spread chooses no new cluster: the number of clusters that it still needs is unknown.
 */
export function* selectionsOf(input: SelectionInput): Generator<ClusterSelection, void> {
  const stages = stagesToTry(input);
  for (const [index, stage] of stages.entries()) yield selectInStage(input, stage, stages.slice(index + 1));
}

/** Returns the first result without a problem. If every result has a problem, returns the first one. Expects at least one result. */
export function firstWithoutProblem<T extends { readonly problem?: string }>(results: Iterable<T>): T {
  let first: T | undefined;
  for (const result of results) {
    if (result.problem === undefined) return result;
    first ??= result;
  }
  invariant(first !== undefined, 'there is always an affinity group or the placement itself to try');
  return first;
}

function stagesToTry({ placement, previousGroup, fresh }: SelectionInput): readonly PlacementStage[] {
  const { affinityGroups } = placement;
  if (affinityGroups.length === 0) return [{ set: placement, overflow: [] }];
  const previousIndex = fresh ? -1 : affinityGroups.findIndex(({ name }) => name === previousGroup);
  return affinityGroups.slice(Math.max(0, previousIndex));
}

function selectInStage(input: SelectionInput, stage: PlacementStage, laterStages: readonly PlacementStage[]): ClusterSelection {
  const { placement, workload } = input;
  const { spread, tolerations } = placement;
  const spreadRules = input.spreadRules ?? musterSpreadRules(spread);
  const filters: CandidateFilters = { tolerations, spread: spreadRules.required, stage, laterStages, isWorkload: workload !== undefined };
  const passed: LocatedCluster[] = [];
  const kept: LocatedCluster[] = [];
  const rejected: RejectedCluster[] = [];
  for (const candidate of input.candidates) {
    const filtered = filterCandidate(candidate, filters);
    const { name } = candidate.cluster;
    if (filtered.result === 'passed') passed.push(locatedOf(candidate, filtered.tier));
    else if (filtered.result === 'kept') kept.push(locatedOf(candidate, 0));
    else rejected.push({ cluster: name, reason: filtered.reason, detail: filtered.detail });
  }
  passed.sort(compareEligible);
  if (kept.length > 0) return selectWithKept({ passed, kept, rejected }, input, stage);
  const demand = { replicas: workload?.count ?? 0, duplicated: workload?.mode !== 'Divided' };
  const spreadResult = passed.length === 0 ? nothingFits(rejected) : spreadRules.choose(passed, demand);
  const problem = spreadResult.result === 'refused' ? spreadResult.problem : undefined;
  return {
    chosen: spreadResult.result === 'chosen' ? spreadResult.clusters.map((entry) => chosenOf(entry, stage)) : [],
    rejected: [...rejected, ...notChosen(passed, spreadResult, spread)].sort((a, b) => compareText(a.cluster, b.cluster)),
    ...(problem === undefined ? {} : { problem }),
    ...(problem !== undefined || stage.name === undefined ? {} : { group: stage.name }),
    notes: [],
  };
}

interface FilteredClusters {
  readonly passed: readonly LocatedCluster[];
  readonly kept: readonly LocatedCluster[];
  readonly rejected: readonly RejectedCluster[];
}

function selectWithKept(
  { passed, kept, rejected }: FilteredClusters,
  { placement, candidates }: SelectionInput,
  stage: PlacementStage,
): ClusterSelection {
  const holding = new Set(candidates.filter(({ holds }) => holds).map(({ cluster }) => cluster.name));
  const isChosen = ({ cluster }: LocatedCluster) => placement.spread.length === 0 || holding.has(cluster.name);
  const detail = `waits until the location of ${kept.map(({ name }) => name).join(', ')} is known`;
  const waiting = passed
    .filter((entry) => !isChosen(entry))
    .map(({ cluster }) => ({ cluster: cluster.name, reason: 'SYNCING', detail }) as const);
  const chosen = [
    ...passed.filter(isChosen).map((entry) => ({ entry, chosen: chosenOf(entry, stage) })),
    ...kept.map((entry) => ({ entry, chosen: { ...chosenOf(entry, stage), isLocationUnknown: true } as const })),
  ];
  return {
    chosen: chosen.toSorted((a, b) => compareEligible(a.entry, b.entry)).map((one) => one.chosen),
    rejected: [...rejected, ...waiting].sort((a, b) => compareText(a.cluster, b.cluster)),
    ...(stage.name === undefined ? {} : { group: stage.name }),
    notes: [],
  };
}

/** Maximum number of different lists of missing kinds in the message of a refused placement. */
const maxNamedKinds = 3;

function nothingFits(rejected: readonly RejectedCluster[]): Extract<SpreadResult<LocatedCluster>, { readonly result: 'refused' }> {
  const isUnknown = rejected.some(({ reason }) => reason === 'SYNCING');
  const unknown = isUnknown ? '; the location of some clusters is not known yet' : '';
  const lacking = rejected.filter(({ reason }) => reason === 'API_MISSING');
  const kinds = [...new Set(lacking.map(({ detail }) => detail))].slice(0, maxNamedKinds).join(', ');
  const missing = lacking.length === 0 ? '' : `; ${lacking.length} of ${rejected.length} clusters do not serve ${kinds} (API_MISSING)`;
  return { result: 'refused', reason: 'SPREAD', problem: `no cluster fits the placement${unknown}${missing}` };
}

function locatedOf({ cluster, holds, previous, capacity }: PlacementCandidate, tier: number): LocatedCluster {
  const available = capacity === undefined ? Number.POSITIVE_INFINITY : capacity + previous;
  return { cluster, name: cluster.name, tier, score: holds ? 100 : 0, available };
}

function chosenOf({ cluster, tier, score, available }: LocatedCluster, { name }: PlacementStage): ChosenCluster {
  return {
    cluster: cluster.name,
    ...(name === undefined ? {} : { group: name }),
    tier,
    score,
    ...(Number.isFinite(available) ? { available } : {}),
  };
}

/**
 * Returns the clusters that passed the filters and were not chosen. `passed` is sorted, best first. The reason is `CAPACITY` if a cluster that
 * comes later was chosen instead, because it has more room. Otherwise the reason is `SPREAD`, or that of a refused result.
 */
function notChosen(
  passed: readonly LocatedCluster[],
  result: SpreadResult<LocatedCluster>,
  spread: readonly Spread[],
): readonly RejectedCluster[] {
  if (result.result === 'refused') {
    return passed.map(({ cluster }) => ({ cluster: cluster.name, reason: result.reason, detail: result.problem }));
  }
  const byCluster = spread.every(({ by }) => by === 'cluster');
  return passed
    .map((entry, index) => ({ entry, displaced: byCluster && index < result.clusters.length }))
    .filter(({ entry }) => !result.clusters.includes(entry))
    .map(({ entry: { cluster, available }, displaced }): RejectedCluster => {
      if (displaced) return { cluster: cluster.name, reason: 'CAPACITY', detail: `room for ${available}` };
      return { cluster: cluster.name, reason: 'SPREAD', detail: printSpread(spread) };
    });
}
