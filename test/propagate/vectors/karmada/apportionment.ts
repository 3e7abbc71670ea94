import { compareText } from '../../../../src/core/text.ts';
import { hasOddHash, tieBreakOf } from '../../../../src/propagate/plan/exact/divide-as-karmada.ts';
import { assignSeats, fewestSeatsThenName, type SeatedParty, type TieBreak } from '../../../../src/propagate/plan/placing/apportion.ts';
import { sumBy } from '../../../../src/propagate/plan/placing/sum-by.ts';

/** Counts by name. */
type Counts = Readonly<Record<string, number>>;

const tieBreaks = {
  seatsThenNameAscending: fewestSeatsThenName,
  nameAscending: (a: SeatedParty, b: SeatedParty) => compareText(a.name, b.name),
  nameDescending: (a: SeatedParty, b: SeatedParty) => compareText(b.name, a.name),
} as const satisfies Readonly<Record<string, TieBreak>>;

/**
 * Distributes `newSeats` in addition to the initial seats, as Karmada's AllocateWebsterSeats does. Null if there is no party to give them
 * to.
 */
export function apportionSeats({
  newSeats,
  votes,
  initial,
  tieBreak = 'seatsThenNameAscending',
}: {
  readonly newSeats: number;
  readonly votes?: Counts | null;
  readonly initial?: Counts | null;
  readonly tieBreak?: keyof typeof tieBreaks;
}): { readonly seats: Counts | null } {
  const parties = partiesOf(votes ?? {}, initial ?? {});
  return { seats: parties.length === 0 ? null : countsOf(assignSeats(newSeats, parties, tieBreaks[tieBreak])) };
}

/**
 * Distributes `newReplicas` by weight, in addition to the initial replicas, as Karmada's Dispenser does. If all weights are 0, the initial
 * replicas stay.
 */
export function dispense({
  newReplicas,
  weights,
  initial,
  uid,
}: {
  readonly newReplicas: number;
  readonly weights?: Counts | null;
  readonly initial?: Counts | null;
  readonly uid?: string;
}): { readonly assignment: Counts; readonly tieBreak: 'nameAscending' | 'nameDescending' } {
  const begun = initial ?? {};
  const order = hasOddHash(uid ?? '') ? 'nameDescending' : 'nameAscending';
  const isDone = newReplicas === 0 && Object.keys(begun).length > 0;
  if (isDone || sumBy(Object.values(weights ?? {}), (weight) => weight) === 0) return { assignment: begun, tieBreak: order };
  const given = assignSeats(newReplicas, partiesOf(weights ?? {}, begun), tieBreakOf(uid ?? ''));
  return { assignment: countsOf(given), tieBreak: order };
}

function partiesOf(votes: Counts, initial: Counts): readonly SeatedParty[] {
  const names = new Set([...Object.keys(initial), ...Object.keys(votes)]);
  return [...names].map((name) => ({ name, weight: votes[name] ?? 0, cap: Number.POSITIVE_INFINITY, seats: initial[name] ?? 0 }));
}

function countsOf(parties: readonly SeatedParty[]): Counts {
  return Object.fromEntries(parties.map(({ name, seats }) => [name, seats]));
}
