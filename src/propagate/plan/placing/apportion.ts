import { compareText } from '../../../core/text.ts';
import { sumBy } from './sum-of.ts';

/** One that seats are given to. */
export interface Party {
  readonly name: string;
  /** ≥ 0. Without weight it gets its `min` and no more. */
  readonly weight: number;
  /** Seats it gets before anybody gets more, at most `cap`; whole, ≥ 0. Absent: 0. */
  readonly min?: number;
  /** Most seats. Whole, ≥ 0, or Infinity. Absent: no bound. */
  readonly cap?: number;
}

/** A party while seats are given. */
export interface SeatedParty {
  readonly name: string;
  readonly weight: number;
  readonly cap: number;
  readonly seats: number;
}

/** Which of two parties with an equal claim comes first: below zero, the first. A total order. */
export type TieBreak = (a: SeatedParty, b: SeatedParty) => number;

/** The one with fewer seats, then by name in order of code units. */
export const fewestSeatsThenName: TieBreak = (a, b) => a.seats - b.seats || compareText(a.name, b.name);

/** Seats by name, and how many nobody may take. */
export interface Apportionment {
  readonly seats: ReadonlyMap<string, number>;
  readonly unplaced: number;
}

/**
 * Gives `seats` to the parties by Webster's method (Sainte-Laguë) within their bounds.
 *
 * First the minimums, by weight, the heaviest first, then by name: if seats are short the heavy ones get theirs. Then seat by seat to the largest
 * weight / (2 seats + 1), in IEEE doubles. The sum of all is `seats` without `unplaced`. Without bounds, one seat more takes none away.
 * Names are unique; the order of parties makes no difference. Costs about parties × log(seats), whatever the number of seats.
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
 * Gives that many more seats, one by one, each to the party below its cap with the largest weight / (2 seats + 1). Where all are full it gives fewer.
 * Parties without weight take part: they tie among each other, and come after all others.
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
 * The state that seat by seat is reached on the way, as far as it can be told without taking each step: counts come from users, and may be billions.
 * For any bound, the seats with a claim above it are given before all others; so the lowest bound with no more of them than `more` is sought by
 * bisection, and all of those are given at once. What is left is the ties at that bound.
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
  // It ends at neighbouring doubles: after about 60 halvings, and log2(more) before them.
  for (let middle = (low + high) / 2; low < middle && middle < high; middle = (low + high) / 2) {
    if (sumOfSeats(taken(middle)) - begun <= more) high = middle;
    else low = middle;
  }
  return taken(high);
}

/** How many seats the party has once it has taken all those with a claim above the bound, but for more than `most` of them. */
function seatsAbove({ weight, seats, cap }: SeatedParty, bound: number, most: number): number {
  let low = seats;
  let high = Math.min(cap, seats + most);
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
