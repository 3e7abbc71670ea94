import type { MemberCluster } from '../../../changes/members.ts';
import type { ChosenCluster, ReplicaDivision, ReplicaShare, RunningReplicas } from '../../model/placement.ts';
import type { ReplicaRule, ReplicasSpec } from '../../model/spec.ts';
import { type Apportionment, apportion, fewestSeatsThenName, type Party, type TieBreak } from './apportion.ts';
import { divideByCapacity } from './divide-by-capacity.ts';
import { divisionNotes } from './division-notes.ts';
import { boundsOf, type DivisionOptions, defaultBounds, type ReplicaCandidate } from './replica-bounds.ts';
import { sumBy } from './sum-by.ts';

/** A chosen cluster, with the facts on which its number of replicas depends. */
export interface DivisionTarget {
  readonly chosen: ChosenCluster;
  readonly cluster: MemberCluster;
  /** The number of replicas that the previous decision gave the cluster. 0 if it was not chosen. */
  readonly previous: number;
  /** The number of additional replicas that fit. Absent or Infinity: unlimited or unknown. */
  readonly capacity?: number;
  /** The replicas that run in the cluster. Used by the rules of KubeFed only. Absent if the workload does not exist there. */
  readonly running?: RunningReplicas;
  /** True if it is unknown which rules match the cluster, because its location is unknown. Then it keeps its previous number. */
  readonly isUndecided?: true;
}

/** The input of `divideReplicas`. */
export interface DivisionInput {
  /** The number of replicas: `replicas.total`, else the number in the template. Whole, ≥ 0. */
  readonly count: number;
  /** The completions of a Job. Absent for other workloads, and for Jobs without completions. */
  readonly completions?: number;
  readonly replicas: Pick<ReplicasSpec, 'mode' | 'strategy' | 'rules' | 'rebalance'>;
  /** The chosen clusters, in the order of `ClusterSelection`. */
  readonly chosen: readonly DivisionTarget[];
  /** True if a reschedule was requested. Then all replicas are divided anew. */
  readonly fresh: boolean;
  /** True if the rules changed since the last plan. Then all replicas are divided anew. */
  readonly rulesChanged: boolean;
  /**
   * Decides which cluster gets the next replica if the claims of two are equal (see `apportion`). Default: the cluster with fewer replicas,
   * then the first by name.
   */
  readonly tieBreak?: TieBreak;
}

/**
 * Computes the number of replicas of each chosen cluster (docs/internals/propagation.md 3.4).
 *
 * - Duplicated and External: every cluster gets `count`. With External, the number is never sent.
 * - Divided: `count` is divided by weight, by capacity, or into as few clusters as possible. Previous replicas stay, unless `fresh`,
 *   `rulesChanged` or `rebalance` is set. Clusters of an overflow tier get the replicas that have no room in lower tiers.
 *
 * Replicas that fit nowhere are counted in `unplaced`; they are not an error. The order of `chosen` makes no difference, except with
 * strategy Aggregated between clusters of equal room.
 */
export function divideReplicas(input: DivisionInput): ReplicaDivision {
  const { replicas, count } = input;
  const entries = input.chosen.map((target): DivisionEntry => ({ target, candidate: candidateOf(target, replicas.rules) }));
  const { seats, unplaced } = replicas.mode === 'Divided' ? divideTiers(input, entries) : eachTheSame(count, entries);
  const completions = completionsOf(input, seats);
  const shares = entries.map((entry) => shareOf(replicas, entry, { to: seats.get(entry.candidate.name) ?? 0, completions }));
  return { shares, unplaced, notes: divisionNotes({ replicas, shares, unplaced, count }) };
}

interface DivisionEntry {
  readonly target: DivisionTarget;
  readonly candidate: ReplicaCandidate;
}

function candidateOf(
  { cluster, previous, isUndecided: isOpen, capacity = Number.POSITIVE_INFINITY }: DivisionTarget,
  rules: readonly ReplicaRule[],
): ReplicaCandidate {
  const bounds = isOpen === true ? { weight: defaultBounds.weight, min: previous, max: previous } : boundsOf(rules, cluster);
  return { name: cluster.name, previous, capacity, ...(bounds === undefined ? {} : { bounds }) };
}

function eachTheSame(count: number, entries: readonly DivisionEntry[]): Apportionment {
  return { seats: new Map(entries.map(({ candidate }) => [candidate.name, count])), unplaced: 0 };
}

/** Divides the replicas tier by tier. A tier gets at most the replicas that it has room for. The last tier is offered all that are left. */
function divideTiers(input: DivisionInput, entries: readonly DivisionEntry[]): Apportionment {
  const tiers = [...Map.groupBy(entries, ({ target }) => target.chosen.tier)].sort(([a], [b]) => a - b);
  const seats = new Map<string, number>();
  let rest = input.count;
  for (const [index, [, tier]] of tiers.entries()) {
    const last = index === tiers.length - 1;
    const offered = last
      ? rest
      : Math.min(
          rest,
          sumBy(tier, ({ target }) => target.chosen.available ?? Number.POSITIVE_INFINITY),
        );
    const given = divideTier(
      input,
      offered,
      tier.map(({ candidate }) => candidate),
    );
    for (const [name, count] of given.seats) seats.set(name, count);
    rest -= offered - given.unplaced;
  }
  return { seats, unplaced: rest };
}

function divideTier(
  { replicas, fresh, rulesChanged, tieBreak = fewestSeatsThenName }: DivisionInput,
  count: number,
  tier: readonly ReplicaCandidate[],
): Apportionment {
  const { strategy } = replicas;
  const keepsPrevious = !fresh && !rulesChanged && !replicas.rebalance;
  switch (strategy) {
    case 'Weighted':
      return divideByWeight(count, tier, { keepsPrevious, tieBreak });
    case 'Available':
    case 'Aggregated':
      return divideByCapacity(count, tier, { strategy, keepsPrevious, tieBreak });
    default:
      return strategy satisfies never;
  }
}

/** Divides the completions of a Job in proportion to the replica counts. Empty for other workloads and modes. */
function completionsOf(
  { completions, count, replicas, tieBreak }: DivisionInput,
  seats: ReadonlyMap<string, number>,
): ReadonlyMap<string, number> {
  if (completions === undefined || count === 0 || replicas.mode !== 'Divided') return new Map();
  return divideCompletions(completions, seats, tieBreak);
}

/** Divides completions in proportion to the replica counts. A cluster without replicas gets none. */
export function divideCompletions(
  completions: number,
  counts: ReadonlyMap<string, number>,
  tieBreak: TieBreak = fewestSeatsThenName,
): ReadonlyMap<string, number> {
  const parties = [...counts].map(([name, weight]) => ({ name, weight }));
  return apportion(completions, parties, tieBreak).seats;
}

interface ReplicaCounts {
  readonly to: number;
  readonly completions: ReadonlyMap<string, number>;
}

function shareOf(
  { mode, strategy, rules }: DivisionInput['replicas'],
  { target, candidate }: DivisionEntry,
  { to, completions }: ReplicaCounts,
): ReplicaShare {
  const { cluster, previous, capacity } = target;
  const kept = { cluster: cluster.name, from: previous, to, kept: Math.min(previous, to) };
  if (mode !== 'Divided') return kept;
  const { bounds = rules.length === 0 ? defaultBounds : undefined } = candidate;
  const completed = completions.get(cluster.name);
  return {
    ...kept,
    strategy,
    ...(strategy === 'Weighted' && bounds !== undefined ? { weight: bounds.weight } : {}),
    ...(bounds !== undefined && bounds.min > 0 ? { min: bounds.min } : {}),
    ...(bounds !== undefined && Number.isFinite(bounds.max) ? { max: bounds.max } : {}),
    ...(capacity === undefined || !Number.isFinite(capacity) ? {} : { capacity }),
    ...(completed === undefined ? {} : { completions: completed }),
  };
}

/**
 * Divides `count` replicas by the weights and bounds of the rules. A cluster without a matching rule gets none. If no cluster has a
 * matching rule, all have equal weights.
 *
 * With `keepsPrevious`, the existing counts change only by the difference between their sum and `count`. The difference goes to the
 * clusters in proportion to their distance from a new division.
 */
function divideByWeight(
  count: number,
  candidates: readonly ReplicaCandidate[],
  { keepsPrevious, tieBreak }: DivisionOptions,
): Apportionment {
  const wanted = apportion(count, partiesOf(candidates), tieBreak);
  if (!keepsPrevious) return wanted;
  const growth = count - wanted.unplaced - sumBy(candidates, ({ previous }) => previous);
  const direction = growth > 0 ? 1 : -1;
  const gaps = candidates.map((candidate) => gapOf(candidate, wanted, direction));
  const moved = apportion(Math.abs(growth), gaps, tieBreak);
  const seats = candidates.map(({ name, previous }) => [name, previous + direction * (moved.seats.get(name) ?? 0)] as const);
  return { seats: new Map(seats), unplaced: wanted.unplaced };
}

function partiesOf(candidates: readonly ReplicaCandidate[]): readonly Party[] {
  const ruled = candidates.filter(({ bounds }) => bounds !== undefined);
  const parties = ruled.length === 0 ? candidates : ruled;
  return parties.map(({ name, bounds: { weight, min, max } = defaultBounds }) => ({ name, weight, min, cap: max }));
}

/**
 * Returns the distance of a cluster to its count in a new division: below it (`direction` 1) or above it (−1). The distance is both the
 * weight and the cap of the change.
 */
function gapOf({ name, previous }: ReplicaCandidate, wanted: Apportionment, direction: 1 | -1): Party {
  const gap = Math.max(0, direction * ((wanted.seats.get(name) ?? 0) - previous));
  return { name, weight: gap, cap: gap };
}
