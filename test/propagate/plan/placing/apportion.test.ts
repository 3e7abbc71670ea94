import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  type Apportionment,
  apportion,
  fewestSeatsThenName,
  type Party,
  type TieBreak,
} from '../../../../src/propagate/plan/placing/apportion.ts';

describe('seats', () => {
  test.each<[number, Record<string, number>, Record<string, number>]>([
    [1, { a: 2, b: 1 }, { a: 1, b: 0 }],
    [2, { a: 2, b: 1 }, { a: 1, b: 1 }],
    [3, { a: 2, b: 1 }, { a: 2, b: 1 }],
    [6, { a: 100_000, b: 80_000, c: 30_000, d: 20_000 }, { a: 2, b: 2, c: 1, d: 1 }],
    [5, { a: 1, b: 1 }, { a: 3, b: 2 }],
    [4, { b: 1, a: 1, c: 1 }, { a: 2, b: 1, c: 1 }],
    [3, { a: 0, b: 2 }, { a: 0, b: 3 }],
    [0, { a: 1, b: 2 }, { a: 0, b: 0 }],
  ])('%i by the weights %j: %j', (seats, weights, expected) => {
    const { seats: given, unplaced } = apportion(seats, partiesOf(weights));
    expect(Object.fromEntries(given)).toEqual(expected);
    expect(unplaced).toBe(0);
  });

  test('are not assigned to parties of weight 0', () => {
    expect(apportion(3, partiesOf({ a: 0, b: 0 }))).toEqual({
      seats: new Map([
        ['a', 0],
        ['b', 0],
      ]),
      unplaced: 3,
    });
    expect(apportion(3, [])).toEqual({ seats: new Map(), unplaced: 3 });
  });

  test('go to the minimums of the largest weights first if there are too few', () => {
    const parties = [party('a', 1, 2), party('b', 3, 2), party('c', 3, 2)];
    expect(seatsOf(apportion(5, parties))).toEqual({ a: 1, b: 2, c: 2 });
    expect(seatsOf(apportion(3, parties))).toEqual({ a: 0, b: 2, c: 1 });
    expect(seatsOf(apportion(6, parties))).toEqual({ a: 2, b: 2, c: 2 });
  });

  test('a party of weight 0 gets its minimum, and a cap limits the minimum', () => {
    expect(seatsOf(apportion(9, [party('a', 0, 2), party('b', 1, 5, 3)]))).toEqual({ a: 2, b: 3 });
    expect(apportion(9, [party('a', 0, 2), party('b', 1, 5, 3)]).unplaced).toBe(4);
  });

  test('go to the other parties if one is full', () => {
    expect(seatsOf(apportion(10, [party('a', 9, 0, 3), party('b', 1, 0, 20)]))).toEqual({ a: 3, b: 7 });
  });

  test('are assigned at once, even billions', () => {
    const count = 2_147_483_647;
    const given = apportion(count, [party('a', 3), party('b', 2), party('c', 1, 0, 1_000), party('d', 1e-9)]);
    expect([...given.seats.values()].reduce((sum, seats) => sum + seats, 0)).toBe(count);
    expect(given.seats.get('c')).toBe(1_000);
    expect(given.seats.get('a')).toBe(Math.round(((count - 1_000) * 3) / 5));
    expect(apportion(count, [party('a', 3, 0, 7), party('b', 2, 1, 8)])).toEqual({
      seats: new Map([
        ['a', 7],
        ['b', 8],
      ]),
      unplaced: count - 15,
    });
  });

  test('of a large fleet are assigned fast', () => {
    const parties = Array.from({ length: 500 }, (_, index) => party(`c${index}`, 1 + (index % 7), index % 3, 10_000 + index));
    const given = apportion(1_000_000, parties);
    expect(given.unplaced).toBe(0);
    expect(given).toEqual(apportion(1_000_000, parties.toReversed()));
  });
});

describe('for random parties, apportioning', () => {
  const weight = fc.oneof(fc.integer({ min: 0, max: 4 }), fc.integer({ min: 0, max: 1_000 }), fc.double({ min: 0, max: 50, noNaN: true }));
  const bound = fc.option(fc.integer({ min: 0, max: 30 }), { nil: undefined });
  const parties = fc
    .array(fc.record({ weight, min: fc.integer({ min: 0, max: 4 }), cap: bound }), { maxLength: 8 })
    .map((list) =>
      list.map(
        ({ weight: votes, min, cap }, index): Party => ({ name: `c${index}`, weight: votes, min, ...(cap === undefined ? {} : { cap }) }),
      ),
    );
  const seats = fc.integer({ min: 0, max: 120 });
  const backwards: TieBreak = (a, b) => a.seats - b.seats || (a.name < b.name ? 1 : -1);
  const tieBreak = fc.constantFrom(fewestSeatsThenName, backwards);

  test('gives the same result as assigning one seat at a time', () => {
    fc.assert(
      fc.property(seats, parties, tieBreak, (count, list, ties) => {
        expect(sorted(apportion(count, list, ties))).toEqual(sorted(naive(count, list, ties)));
      }),
      { numRuns: 500 },
    );
  });

  test('respects the bounds and loses no seat', () => {
    fc.assert(
      fc.property(seats, parties, (count, list) => {
        const given = apportion(count, list);
        const sum = [...given.seats.values()].reduce((total, each) => total + each, 0);
        expect(sum + given.unplaced).toBe(count);
        for (const { name, cap = Number.POSITIVE_INFINITY } of list) expect(given.seats.get(name)).toBeLessThanOrEqual(cap);
        if (given.unplaced > 0) return;
        const least = list.reduce((total, { min = 0, cap = Number.POSITIVE_INFINITY }) => total + Math.min(min, cap), 0);
        if (count < least) return;
        for (const { name, min = 0, cap = Number.POSITIVE_INFINITY } of list)
          expect(given.seats.get(name)).toBeGreaterThanOrEqual(Math.min(min, cap));
      }),
    );
  });

  test('takes no seat away from a party if there is one more seat', () => {
    fc.assert(
      fc.property(seats, parties, (count, list) => {
        const [before, after] = [apportion(count, list), apportion(count + 1, list)];
        for (const { name } of list) expect(after.seats.get(name)).toBeGreaterThanOrEqual(before.seats.get(name) ?? 0);
        expect(after.unplaced).toBeGreaterThanOrEqual(before.unplaced);
      }),
    );
  });

  test('does not depend on the order of the parties', () => {
    fc.assert(
      fc.property(
        seats,
        parties.chain((list) => fc.tuple(fc.constant(list), fc.shuffledSubarray(list, { minLength: list.length }))),
        (count, [list, other]) => {
          expect(sorted(apportion(count, other))).toEqual(sorted(apportion(count, list)));
        },
      ),
    );
  });
});

function partiesOf(weights: Readonly<Record<string, number>>): readonly Party[] {
  return Object.entries(weights).map(([name, weight]) => ({ name, weight }));
}

function party(name: string, weight: number, min = 0, cap = Number.POSITIVE_INFINITY): Party {
  return { name, weight, min, cap };
}

function seatsOf({ seats }: Apportionment): Record<string, number> {
  return Object.fromEntries(seats);
}

function sorted({ seats, unplaced }: Apportionment): unknown {
  return { seats: [...seats].sort(), unplaced };
}

/** The naive model: first the minimums, then one seat at a time. */
function naive(count: number, parties: readonly Party[], ties: TieBreak): Apportionment {
  const order = [...parties].sort((a, b) => b.weight - a.weight || (a.name < b.name ? -1 : 1));
  const current = order.map(({ name, weight, cap = Number.POSITIVE_INFINITY }) => ({ name, weight, cap, seats: 0 }));
  let rest = count;
  for (const [index, entry] of current.entries()) {
    for (let min = order[index]?.min ?? 0; min > 0 && rest > 0 && entry.seats < entry.cap; min -= 1, rest -= 1) entry.seats += 1;
  }
  for (; rest > 0; rest -= 1) {
    const open = current.filter(({ seats, cap, weight }) => seats < cap && weight > 0);
    const [next] = open.sort((a, b) => b.weight / (2 * b.seats + 1) - a.weight / (2 * a.seats + 1) || ties(a, b));
    if (next === undefined) break;
    next.seats += 1;
  }
  return { seats: new Map(current.map(({ name, seats }) => [name, seats])), unplaced: rest };
}
