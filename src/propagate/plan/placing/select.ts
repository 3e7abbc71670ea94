import { invariant } from '../../../core/errors.ts';
import { compareText } from '../../../core/text.ts';
import type { ChosenCluster, ClusterSelection, PlacementCandidate, RejectedCluster } from '../../model/placement.ts';
import type { Placement, ReplicasSpec, Spread } from '../../model/spec.ts';
import { type CandidateFilters, filterCandidate, type PlacementStage } from './filter-candidate.ts';
import { compareEligible, type SpreadResult } from './spread.ts';
import { chooseBySpread, type LocatedCluster, printSpread } from './take-spread.ts';

/** What is to be placed, and where it may go. */
export interface SelectionInput {
  readonly placement: Placement;
  /** No name twice. */
  readonly candidates: readonly PlacementCandidate[];
  /** Absent: it has no count, so there is room everywhere, and overflow means nothing. */
  readonly workload?: { readonly count: number; readonly mode: ReplicasSpec['mode']; readonly strategy: ReplicasSpec['strategy'] };
  /** The affinity group used last: those before it are not tried again. */
  readonly previousGroup?: string;
  /** Scheduled again on demand: from the first affinity group. */
  readonly fresh: boolean;
}

/**
 * Which clusters (docs/internals/propagation.md 3.2): filtered, by the first affinity group that works out, ordered, spread. If none works out the answer is that of
 * the first one tried. The order of the candidates makes no difference.
 *
 * What holds copies, and may or may not fit, as nobody knows where it runs, is kept. While there is such a one nobody new is taken to be spread over:
 * who would be too many could not be told.
 */
export function selectPlacement(input: SelectionInput): ClusterSelection {
  const grounds = stagesToTry(input);
  let first: ClusterSelection | undefined;
  for (const [index, ground] of grounds.entries()) {
    const selection = selectInStage(input, ground, grounds.slice(index + 1));
    if (selection.problem === undefined) return selection;
    first ??= selection;
  }
  invariant(first !== undefined, 'there is always a ground to try');
  return first;
}

function stagesToTry({ placement, previousGroup, fresh }: SelectionInput): readonly PlacementStage[] {
  const { affinityGroups } = placement;
  if (affinityGroups.length === 0) return [{ set: placement, overflow: [] }];
  const last = fresh ? -1 : affinityGroups.findIndex(({ name }) => name === previousGroup);
  return affinityGroups.slice(Math.max(0, last));
}

function selectInStage(input: SelectionInput, ground: PlacementStage, later: readonly PlacementStage[]): ClusterSelection {
  const { placement, workload } = input;
  const filters: CandidateFilters = { ...placement, stage: ground, laterStages: later, isWorkload: workload !== undefined };
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
  if (kept.length > 0) return selectWithKept({ passed, kept, rejected }, input, ground);
  const isOpen = rejected.some(({ reason }) => reason === 'SYNCING');
  const taken = chooseFrom(passed, input, isOpen ? '; of some it is not known yet where they run' : '');
  const problem = taken.result === 'refused' ? taken.problem : undefined;
  return {
    chosen: taken.result === 'chosen' ? taken.clusters.map((entry) => chosenOf(entry, ground)) : [],
    rejected: [...rejected, ...notChosen(passed, taken, placement.spread)].sort((a, b) => compareText(a.cluster, b.cluster)),
    ...(problem === undefined ? {} : { problem }),
    ...(problem !== undefined || ground.name === undefined ? {} : { group: ground.name }),
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
  ground: PlacementStage,
): ClusterSelection {
  const holding = new Set(candidates.filter(({ holds }) => holds).map(({ cluster }) => cluster.name));
  const isTaken = ({ cluster }: LocatedCluster) => placement.spread.length === 0 || holding.has(cluster.name);
  const detail = `not before it is known where ${kept.map(({ name }) => name).join(', ')} run`;
  const waiting = passed
    .filter((entry) => !isTaken(entry))
    .map(({ cluster }) => ({ cluster: cluster.name, reason: 'SYNCING', detail }) as const);
  const chosen = [
    ...passed.filter(isTaken).map((entry) => ({ entry, chosen: chosenOf(entry, ground) })),
    ...kept.map((entry) => ({ entry, chosen: { ...chosenOf(entry, ground), isKept: true } as const })),
  ];
  return {
    chosen: chosen.toSorted((a, b) => compareEligible(a.entry, b.entry)).map((one) => one.chosen),
    rejected: [...rejected, ...waiting].sort((a, b) => compareText(a.cluster, b.cluster)),
    ...(ground.name === undefined ? {} : { group: ground.name }),
    notes: [],
  };
}

function chooseFrom(
  passed: readonly LocatedCluster[],
  { placement, workload }: SelectionInput,
  besides: string,
): SpreadResult<LocatedCluster> {
  if (passed.length === 0) return { result: 'refused', reason: 'SPREAD', problem: `no cluster fits the placement${besides}` };
  const duplicated = workload?.mode !== 'Divided';
  return chooseBySpread(passed, { spread: normalizedSpread(placement.spread), replicas: workload?.count ?? 0, duplicated });
}

/** At least one cluster, and no more groups than clusters. */
function normalizedSpread(spread: readonly Spread[]): readonly Spread[] {
  const most = spread.find(({ by }) => by === 'cluster')?.max;
  return spread.map((entry) => {
    if (entry.by === 'cluster') return { ...entry, min: Math.max(1, entry.min) };
    return most === undefined ? entry : { ...entry, max: Math.min(most, entry.max ?? most) };
  });
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

/** Who passed and was not taken: for want of room, if it stood before the last one that was. */
function notChosen(
  passed: readonly LocatedCluster[],
  taken: SpreadResult<LocatedCluster>,
  spread: readonly Spread[],
): readonly RejectedCluster[] {
  if (taken.result === 'refused') {
    return passed.map(({ cluster }) => ({ cluster: cluster.name, reason: taken.reason, detail: taken.problem }));
  }
  const byCluster = spread.every(({ by }) => by === 'cluster');
  return passed
    .map((entry, index) => ({ entry, displaced: byCluster && index < taken.clusters.length }))
    .filter(({ entry }) => !taken.clusters.includes(entry))
    .map(({ entry: { cluster, available }, displaced }): RejectedCluster => {
      if (displaced) return { cluster: cluster.name, reason: 'CAPACITY', detail: `room for ${available}` };
      return { cluster: cluster.name, reason: 'SPREAD', detail: printSpread(spread) };
    });
}
