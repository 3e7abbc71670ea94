import type { MemberCluster } from '../../../changes/members.ts';
import type { ChosenCluster, ReplicaDivision, ReplicaShare } from '../../model/placement.ts';
import type { ReplicaRule, ReplicasSpec } from '../../model/spec.ts';
import { type Apportionment, apportion, fewestSeatsThenName, type Party, type TieBreak } from './apportion.ts';
import { divideByCapacity } from './divide-by-capacity.ts';
import { divisionNotes } from './division-notes.ts';
import { boundsOf, type DivisionOptions, defaultBounds, type ReplicaCandidate } from './rules.ts';
import { sumBy } from './sum-of.ts';

/** A chosen cluster with what its count depends on. */
export interface DivisionTarget {
  readonly chosen: ChosenCluster;
  readonly cluster: MemberCluster;
  /** Replicas placed there before; 0 for none. */
  readonly previous: number;
  /** Replicas that more would fit. Absent, or Infinity: unlimited or unknown. */
  readonly capacity?: number;
  /** What the rules say of it cannot be told: it has what it had. */
  readonly isUndecided?: true;
}

/** What is to be divided. */
export interface DivisionInput {
  /** Replicas: `replicas.total`, else the template's. Whole, ≥ 0. */
  readonly count: number;
  /** Of a Job that has them. */
  readonly completions?: number;
  readonly replicas: Pick<ReplicasSpec, 'mode' | 'strategy' | 'rules' | 'rebalance'>;
  /** In the order of `ClusterSelection`. */
  readonly chosen: readonly DivisionTarget[];
  /** Scheduled again on demand: from zero. */
  readonly fresh: boolean;
  /** The rules are not those of the last time: from zero. */
  readonly rulesChanged: boolean;
  /** Who comes first of two with an equal claim. Absent: who has fewer, then by name. */
  readonly tieBreak?: TieBreak;
}

/**
 * How many replicas each chosen cluster gets (docs/internals/propagation.md 3.4).
 *
 * Duplicated and External: `count` each (External's is never sent). Divided: by weight, by capacity, or in as few clusters as possible; steadily,
 * unless it is fresh, rebalanced, or the rules changed. Clusters of an overflow tier get what those of the tiers below have no room for.
 * What fits nowhere is `unplaced`, never an error. The order of `chosen` decides nothing but where Aggregated finds equal rooms.
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
  return { seats: new Map(entries.map(({ candidate: claimant }) => [claimant.name, count])), unplaced: 0 };
}

/** Tier by tier: each gets what is left, but no more than it has room for while there is a tier after it. */
function divideTiers(input: DivisionInput, entries: readonly DivisionEntry[]): Apportionment {
  const tiers = [...Map.groupBy(entries, ({ target }) => target.chosen.tier)].sort(([a], [b]) => a - b);
  const seats = new Map<string, number>();
  let rest = input.count;
  for (const [index, [, tier]] of tiers.entries()) {
    const last = index === tiers.length - 1;
    const most = last
      ? rest
      : Math.min(
          rest,
          sumBy(tier, ({ target }) => target.chosen.available ?? Number.POSITIVE_INFINITY),
        );
    const given = divideTier(
      input,
      most,
      tier.map(({ candidate: claimant }) => claimant),
    );
    for (const [name, count] of given.seats) seats.set(name, count);
    rest -= most - given.unplaced;
  }
  return { seats, unplaced: rest };
}

function divideTier(
  { replicas, fresh, rulesChanged, tieBreak = fewestSeatsThenName }: DivisionInput,
  count: number,
  tier: readonly ReplicaCandidate[],
): Apportionment {
  const { strategy } = replicas;
  const steady = !fresh && !rulesChanged && !replicas.rebalance;
  switch (strategy) {
    case 'Weighted':
      return divideByWeight(count, tier, { keepsPrevious: steady, tieBreak });
    case 'Available':
    case 'Aggregated':
      return divideByCapacity(count, tier, { strategy, keepsPrevious: steady, tieBreak });
    default:
      return strategy satisfies never;
  }
}

/** Of a divided Job: its completions, apportioned by the counts. Empty without. */
function completionsOf({ completions, count, replicas }: DivisionInput, seats: ReadonlyMap<string, number>): ReadonlyMap<string, number> {
  if (completions === undefined || count === 0 || replicas.mode !== 'Divided') return new Map();
  return divideCompletions(completions, seats);
}

/** So many completions by the counts of the clusters; who has no replicas completes nothing. */
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
  { target, candidate: claimant }: DivisionEntry,
  { to, completions }: ReplicaCounts,
): ReplicaShare {
  const { cluster, previous, capacity } = target;
  const kept = { cluster: cluster.name, from: previous, to, kept: Math.min(previous, to) };
  if (mode !== 'Divided') return kept;
  const { bounds = rules.length === 0 ? defaultBounds : undefined } = claimant;
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
 * `count` replicas by the weights and bounds of the rules. A cluster that no rule matches gets none, unless no rule matches any: then all weigh the
 * same.
 *
 * Steady: the sum is the same as from zero, but only what the sum grows or shrinks by moves, towards what it would be from zero.
 */
function divideByWeight(
  count: number,
  claimants: readonly ReplicaCandidate[],
  { keepsPrevious: steady, tieBreak }: DivisionOptions,
): Apportionment {
  const wanted = apportion(count, partiesOf(claimants), tieBreak);
  if (!steady) return wanted;
  const growth = count - wanted.unplaced - sumBy(claimants, ({ previous }) => previous);
  const ahead = growth > 0 ? 1 : -1;
  const gaps = claimants.map((claimant) => gapOf(claimant, wanted, ahead));
  const moved = apportion(Math.abs(growth), gaps, tieBreak);
  const seats = claimants.map(({ name, previous }) => [name, previous + ahead * (moved.seats.get(name) ?? 0)] as const);
  return { seats: new Map(seats), unplaced: wanted.unplaced };
}

function partiesOf(claimants: readonly ReplicaCandidate[]): readonly Party[] {
  const ruled = claimants.filter(({ bounds }) => bounds !== undefined);
  const parties = ruled.length === 0 ? claimants : ruled;
  return parties.map(({ name, bounds: { weight, min, max } = defaultBounds }) => ({ name, weight, min, cap: max }));
}

/** How far the cluster is below (`ahead` 1) or above (−1) what it would have from zero: so much may move, and so much it weighs. */
function gapOf({ name, previous }: ReplicaCandidate, wanted: Apportionment, ahead: 1 | -1): Party {
  const gap = Math.max(0, ahead * ((wanted.seats.get(name) ?? 0) - previous));
  return { name, weight: gap, cap: gap };
}
