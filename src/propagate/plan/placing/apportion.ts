import { compareText } from '../../../core/text.ts';
import { sumBy } from './sum-by.ts';

/** A participant of an apportionment, such as a cluster. Its seats are, for example, replicas. */
export interface Party {
  readonly name: string;
  /** ≥ 0. A party with weight 0 gets its `min` and no more. */
  readonly weight: number;
  /** The minimum number of seats. The minimums of all parties are assigned first. Whole, ≥ 0, limited by `cap`. Default: 0. */
  readonly min?: number;
  /** The maximum number of seats. Whole and ≥ 0, or Infinity. Default: no limit. */
  readonly cap?: number;
}

/** A party with its number of seats so far. */
export interface SeatedParty {
  readonly name: string;
  readonly weight: number;
  readonly cap: number;
  readonly seats: number;
}

/**
 * Decides which of two parties gets the next seat if their claims (see `apportion`) are equal. Negative: the first party gets it. Positive:
 * the second. Must be a total order.
 */
export type TieBreak = (a: SeatedParty, b: SeatedParty) => number;

/** Prefers the party with fewer seats, then the name that is first in order of code units. */
export const fewestSeatsThenName: TieBreak = (a, b) => a.seats - b.seats || compareText(a.name, b.name);

/** The number of seats of each party by name, and the number of seats that no party can take. */
export interface Apportionment {
  readonly seats: ReadonlyMap<string, number>;
  readonly unplaced: number;
}

/**
 * Divides `seats` between the parties by Webster's method (Sainte-Laguë), within their bounds.
 *
 * First assigns the minimums, by weight (largest first), then by name. So if there are too few seats, parties with large weights get their
 * minimum. Then assigns one seat after the other to the party with the largest claim: weight / (2 × its seats + 1), in IEEE doubles.
 *
 * The sum of the result is `seats` minus `unplaced`. Without bounds, an additional seat never takes a seat away from a party. Names must be
 * unique. The order of parties makes no difference. Takes time in proportion to parties × log(seats).
 */
export function apportion(seats: number, parties: readonly Party[], tieBreak: TieBreak = fewestSeatsThenName): Apportionment {
  let rest = seats;
  const heaviestFirst = [...parties].sort((a, b) => b.weight - a.weight || compareText(a.name, b.name));
  const begun = heaviestFirst.map(({ name, weight, min = 0, cap = Number.POSITIVE_INFINITY }): SeatedParty => {
    const first = Math.min(min, cap, rest);
    rest -= first;
    return { name, weight, cap, seats: first };
  });
  const weighty = begun.filter(({ weight }) => weight > 0);
  const given = assignSeats(rest, weighty, tieBreak);
  const all = [...begun.filter(({ weight }) => weight <= 0), ...given];
  return { seats: new Map(all.map((party) => [party.name, party.seats])), unplaced: seats - sumOfSeats(all) };
}

/**
 * Assigns `more` additional seats, one by one, each to the party below its cap with the largest claim. Assigns fewer if all parties are
 * full. Parties with weight 0 come after all others and tie with each other.
 */
export function assignSeats(more: number, parties: readonly SeatedParty[], tieBreak: TieBreak): readonly SeatedParty[] {
  let current = skipAhead(more, parties);
  let rest = more - (sumOfSeats(current) - sumOfSeats(parties));
  for (; rest > 0; rest -= 1) {
    const next = current.filter(({ seats, cap }) => seats < cap).reduce(largerClaim(tieBreak), undefined);
    if (next === undefined) break;
    current = current.map((party) => (party === next ? { ...party, seats: party.seats + 1 } : party));
  }
  return current;
}

function largerClaim(tieBreak: TieBreak): (best: SeatedParty | undefined, party: SeatedParty) => SeatedParty {
  return (best, party) => {
    if (best === undefined) return party;
    const ahead = claimOf(party.weight, party.seats) - claimOf(best.weight, best.seats);
    return ahead > 0 || (ahead === 0 && tieBreak(party, best) < 0) ? party : best;
  };
}

/**
 * Assigns most of the seats at once, with the same result as one by one. Counts come from users and may be billions.
 *
 * Seats with a claim above some bound are assigned before all others. Bisection finds the lowest bound with at most `more` such seats, and
 * all of them are assigned. Only ties at that bound are left.
 */
function skipAhead(more: number, parties: readonly SeatedParty[]): readonly SeatedParty[] {
  if (more <= parties.length) return parties;
  if (parties.every(({ weight }) => weight > 0) && sumBy(parties, ({ cap, seats }) => cap - seats) <= more) {
    return parties.map((party) => ({ ...party, seats: party.cap }));
  }
  const taken = (bound: number): readonly SeatedParty[] => parties.map((party) => ({ ...party, seats: seatsAbove(party, bound, more) }));
  const begun = sumOfSeats(parties);
  let low = 0;
  let high = Math.max(...parties.map(({ weight }) => weight));
  // Ends when `low` and `high` are neighbouring doubles: after log2(more) halvings and about 60 further ones.
  for (let middle = (low + high) / 2; low < middle && middle < high; middle = (low + high) / 2) {
    if (sumOfSeats(taken(middle)) - begun <= more) high = middle;
    else low = middle;
  }
  return taken(high);
}

/**
 * Returns how many seats a party has after it takes every seat with a claim above `bound`. It takes at most `max` more seats, up to its
 * cap. Bisection finds the number, because the claim falls with each seat.
 */
function seatsAbove({ weight, seats, cap }: SeatedParty, bound: number, max: number): number {
  let low = seats;
  let high = Math.min(cap, seats + max);
  while (low < high) {
    const middle = Math.floor((low + high) / 2);
    if (claimOf(weight, middle) > bound) low = middle + 1;
    else high = middle;
  }
  return Math.max(low, seats);
}

function claimOf(weight: number, seats: number): number {
  return weight / (2 * seats + 1);
}

function sumOfSeats(parties: readonly SeatedParty[]): number {
  return sumBy(parties, ({ seats }) => seats);
}
