import { type Apportionment, apportion, type Party } from './apportion.ts';
import type { Claimant, Manner } from './claimant.ts';
import { withoutRules } from './rules.ts';
import { sumOf } from './sum-of.ts';

/**
 * `count` replicas by the weights and bounds of the rules. A cluster that no rule matches gets none, unless no rule matches any: then all weigh the
 * same.
 *
 * Steady: the sum is the same as from zero, but only what the sum grows or shrinks by moves, towards what it would be from zero.
 */
export function divideByWeight(count: number, claimants: readonly Claimant[], { steady, tieBreak }: Manner): Apportionment {
  const wanted = apportion(count, partiesOf(claimants), tieBreak);
  if (!steady) return wanted;
  const growth = count - wanted.unplaced - sumOf(claimants, ({ previous }) => previous);
  const ahead = growth > 0 ? 1 : -1;
  const gaps = claimants.map((claimant) => gapOf(claimant, wanted, ahead));
  const moved = apportion(Math.abs(growth), gaps, tieBreak);
  const seats = claimants.map(({ name, previous }) => [name, previous + ahead * (moved.seats.get(name) ?? 0)] as const);
  return { seats: new Map(seats), unplaced: wanted.unplaced };
}

function partiesOf(claimants: readonly Claimant[]): readonly Party[] {
  const ruled = claimants.filter(({ bounds }) => bounds !== undefined);
  const parties = ruled.length === 0 ? claimants : ruled;
  return parties.map(({ name, bounds: { weight, min, max } = withoutRules }) => ({ name, weight, min, cap: max }));
}

/** How far the cluster is below (`ahead` 1) or above (−1) what it would have from zero: so much may move, and so much it weighs. */
function gapOf({ name, previous }: Claimant, wanted: Apportionment, ahead: 1 | -1): Party {
  const gap = Math.max(0, ahead * ((wanted.seats.get(name) ?? 0) - previous));
  return { name, weight: gap, cap: gap };
}
