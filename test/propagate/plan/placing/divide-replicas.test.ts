import { describe, expect, test } from 'vitest';
import type { ReplicaDivision } from '../../../../src/propagate/model/placement.ts';
import { divideCompletions, divideReplicas } from '../../../../src/propagate/plan/placing/divide-replicas.ts';
import { division, rule, target } from './placing-fixtures.ts';

describe('not divided', () => {
  test.each(['Duplicated', 'External'] as const)('%s gives each cluster all replicas', (mode) => {
    const divided = divideReplicas(division(3, [target('b', { previous: 5 }), target('a')], { replicas: { mode } }));
    expect(divided).toEqual({
      shares: [
        { cluster: 'b', from: 5, to: 3, kept: 3 },
        { cluster: 'a', from: 0, to: 3, kept: 0 },
      ],
      unplaced: 0,
      notes: [],
    });
  });

  test('bounds have no effect and give a warning; weights alone give none', () => {
    const bounded = divideReplicas(division(3, [target('a')], { replicas: { mode: 'Duplicated', rules: [rule(['a'], { max: 1 })] } }));
    expect(countsOf(bounded)).toEqual({ a: 3 });
    expect(codesOf(bounded)).toEqual(['BOUNDS_IGNORED']);
    expect(
      codesOf(divideReplicas(division(3, [target('a')], { replicas: { mode: 'Duplicated', rules: [rule(['a'], { weight: 7 })] } }))),
    ).toEqual([]);
  });
});

describe('by weight', () => {
  test('all clusters have equal weights without rules', () => {
    const divided = divideReplicas(division(7, [target('a'), target('b'), target('c')]));
    expect(countsOf(divided)).toEqual({ a: 3, b: 2, c: 2 });
    expect(divided.shares[0]).toEqual({ cluster: 'a', from: 0, to: 3, kept: 0, strategy: 'Weighted', weight: 1 });
    expect(divided.notes).toEqual([]);
  });

  test('several matching rules combine: largest weight and minimum, smallest maximum', () => {
    const rules = [
      rule(undefined, { weight: 1, min: 1, max: 9 }),
      rule(['a'], { weight: 4, max: 5 }),
      rule(['a', 'b'], { weight: 2, min: 2 }),
    ];
    const divided = divideReplicas(division(20, [target('a'), target('b'), target('c')], { replicas: { rules } }));
    expect(divided.shares.map(({ cluster, to, weight, min, max }) => ({ cluster, to, weight, min, max }))).toEqual([
      { cluster: 'a', to: 5, weight: 4, min: 2, max: 5 },
      { cluster: 'b', to: 9, weight: 2, min: 2, max: 9 },
      { cluster: 'c', to: 6, weight: 1, min: 1, max: 9 },
    ]);
  });

  test('clusters without a matching rule get nothing if another cluster has one', () => {
    const divided = divideReplicas(division(4, [target('a'), target('b')], { replicas: { rules: [rule(['b', 'x'], { weight: 3 })] } }));
    expect(countsOf(divided)).toEqual({ a: 0, b: 4 });
    expect(divided.notes).toEqual([]);
  });

  test('all have equal weights if no rule matches a cluster, with a warning', () => {
    const divided = divideReplicas(division(4, [target('a'), target('b')], { replicas: { rules: [rule(['x'], { weight: 3, max: 1 })] } }));
    expect(countsOf(divided)).toEqual({ a: 2, b: 2 });
    expect(codesOf(divided)).toEqual(['NO_RULE_MATCHED']);
  });

  test('replicas beyond all maximums are unplaced, with a warning', () => {
    const divided = divideReplicas(division(9, [target('a'), target('b')], { replicas: { rules: [rule(undefined, { max: 3 })] } }));
    expect(countsOf(divided)).toEqual({ a: 3, b: 3 });
    expect(divided.unplaced).toBe(3);
    expect(divided.notes).toEqual([
      { severity: 'WARNING', code: 'UNPLACED', message: 'the chosen clusters have no room for 3 of 9 replicas', path: 'replicas' },
    ]);
  });

  test('unmet minimums give a warning that names each cluster', () => {
    const rules = [rule(['a'], { weight: 2, min: 3 }), rule(['b'], { min: 2 })];
    const divided = divideReplicas(division(4, [target('a'), target('b')], { replicas: { rules } }));
    expect(countsOf(divided)).toEqual({ a: 3, b: 1 });
    expect(divided.notes.map(({ code, message }) => [code, message])).toEqual([
      ['MIN_NOT_MET', 'fewer replicas than the minimum of the rules: b 1 of 2'],
    ]);
  });

  test('room is no limit by weight, but too little room gives a warning', () => {
    const divided = divideReplicas(
      division(6, [target('a', { capacity: 1, previous: 1 }), target('b', { capacity: 3 }), target('c')], { fresh: true }),
    );
    expect(countsOf(divided)).toEqual({ a: 2, b: 2, c: 2 });
    expect(divided.notes).toEqual([]);
    const over = divideReplicas(
      division(9, [target('a', { capacity: 1, previous: 1 }), target('b', { capacity: 3 }), target('c')], { fresh: true }),
    );
    expect(over.notes.map(({ code, message }) => [code, message])).toEqual([
      ['OVER_CAPACITY', 'some clusters get more replicas by weight than are estimated to fit: a 3 where 2 fit'],
    ]);
  });

  test.each<[string, number, readonly number[], readonly number[]]>([
    ['keeps all while the sum is the same', 6, [5, 1, 0], [5, 1, 0]],
    ['adds where some is missing, by how much', 9, [4, 1, 0], [4, 3, 2]],
    ['adds to what would have more from zero', 12, [6, 0, 0], [6, 3, 3]],
    ['takes where there is most too many', 3, [6, 1, 0], [2, 1, 0]],
    ['takes from nobody who has his part', 6, [6, 2, 1], [3, 2, 1]],
    ['begins as from zero', 5, [0, 0, 0], [2, 2, 1]],
  ])('steadily: %s (%i over %j)', (_, count, previous, expected) => {
    const [a = 0, b = 0, c = 0] = previous;
    const divided = divideReplicas(
      division(count, [target('a', { previous: a }), target('b', { previous: b }), target('c', { previous: c })]),
    );
    expect(divided.shares.map(({ to }) => to)).toEqual(expected);
    expect(divided.shares.map(({ kept }) => kept)).toEqual(expected.map((to, index) => Math.min(to, previous[index] ?? 0)));
  });

  test.each(['fresh', 'rulesChanged', 'rebalance'] as const)('all replicas are divided anew with %s', (reason) => {
    const chosen = [target('a', { previous: 6 }), target('b'), target('c')];
    const given = reason === 'rebalance' ? { replicas: { rebalance: true } } : { [reason]: true };
    expect(countsOf(divideReplicas(division(6, chosen, given)))).toEqual({ a: 2, b: 2, c: 2 });
    expect(countsOf(divideReplicas(division(6, chosen)))).toEqual({ a: 6, b: 0, c: 0 });
  });
});

describe('by capacity', () => {
  const available = { replicas: { strategy: 'Available' } } as const;

  test.each<[string, number, readonly (readonly [number, number])[], readonly number[]]>([
    [
      'the first time by room',
      12,
      [
        [18, 0],
        [12, 0],
        [6, 0],
      ],
      [6, 4, 2],
    ],
    [
      'scales up over the room that is left',
      24,
      [
        [10, 2],
        [10, 4],
        [10, 6],
      ],
      [6, 8, 10],
    ],
    [
      'scales down by size',
      6,
      [
        [1, 2],
        [1, 4],
        [1, 6],
      ],
      [1, 2, 3],
    ],
    [
      'keeps what is right',
      12,
      [
        [99, 2],
        [0, 4],
        [5, 6],
      ],
      [2, 4, 6],
    ],
    [
      'places what fits',
      24,
      [
        [1, 2],
        [1, 4],
        [1, 6],
      ],
      [3, 5, 7],
    ],
  ])('%s (%i over %j)', (_, count, rooms, expected) => {
    const chosen = rooms.map(([capacity, previous], index) => target(`c${index}`, { capacity, previous }));
    const divided = divideReplicas(division(count, chosen, available));
    expect(divided.shares.map(({ to }) => to)).toEqual(expected);
    expect(divided.unplaced).toBe(count - expected.reduce((sum, to) => sum + to, 0));
  });

  test('shows the capacity that was used', () => {
    const { shares } = divideReplicas(division(3, [target('a', { capacity: 9, previous: 1 })], available));
    expect(shares).toEqual([{ cluster: 'a', from: 1, to: 3, kept: 1, strategy: 'Available', capacity: 9 }]);
  });

  test('a new division counts existing replicas as room', () => {
    const chosen = [target('a', { capacity: 0, previous: 6 }), target('b', { capacity: 6 })];
    expect(countsOf(divideReplicas(division(6, chosen, available)))).toEqual({ a: 6, b: 0 });
    expect(countsOf(divideReplicas(division(6, chosen, { ...available, fresh: true })))).toEqual({ a: 3, b: 3 });
  });

  test('unknown room counts as the largest known room, or as all replicas', () => {
    expect(countsOf(divideReplicas(division(6, [target('a', { capacity: 20 }), target('b')], available)))).toEqual({ a: 3, b: 3 });
    expect(countsOf(divideReplicas(division(6, [target('a', { capacity: 3 }), target('b')], available)))).toEqual({ a: 2, b: 4 });
  });

  test('unlimited room counts as unknown', () => {
    const { shares } = divideReplicas(
      division(6, [target('a', { capacity: 20 }), target('b', { capacity: Number.POSITIVE_INFINITY })], available),
    );
    expect(shares.map(({ to, capacity }) => [to, capacity])).toEqual([
      [3, 20],
      [3, undefined],
    ]);
  });

  test('respects the bounds of the rules, also for existing replicas', () => {
    const rules = [rule(['a'], { max: 3 }), rule(['c'], { min: 2 })];
    const chosen = (previous: number) => [
      target('a', { capacity: 50, previous }),
      target('b', { capacity: 10 }),
      target('c', { capacity: 2 }),
    ];
    expect(countsOf(divideReplicas(division(8, chosen(0), { replicas: { strategy: 'Available', rules } })))).toEqual({ a: 3, b: 3, c: 2 });
    expect(countsOf(divideReplicas(division(8, chosen(2), { replicas: { strategy: 'Available', rules } })))).toEqual({ a: 3, b: 3, c: 2 });
    expect(countsOf(divideReplicas(division(2, chosen(5), { replicas: { strategy: 'Available', rules } })))).toEqual({ a: 2, b: 0, c: 0 });
  });
});

describe('aggregated', () => {
  const aggregated = { replicas: { strategy: 'Aggregated' } } as const;

  test.each<[string, number, readonly (readonly [number, number])[], readonly number[]]>([
    [
      'as few clusters as have room',
      12,
      [
        [6, 0],
        [8, 0],
        [10, 0],
      ],
      [0, 5, 7],
    ],
    [
      'one, if it has room for all',
      12,
      [
        [6, 0],
        [12, 0],
        [6, 0],
      ],
      [0, 12, 0],
    ],
    [
      'the first of equal rooms',
      6,
      [
        [6, 0],
        [6, 0],
      ],
      [6, 0],
    ],
    [
      'clusters in use first, on scaling up',
      24,
      [
        [6, 4],
        [6, 8],
        [20, 0],
      ],
      [10, 14, 0],
    ],
    [
      'others when those in use are full',
      30,
      [
        [1, 4],
        [6, 8],
        [20, 0],
      ],
      [5, 12, 13],
    ],
    [
      'the largest stay, on scaling down',
      6,
      [
        [1, 4],
        [1, 8],
        [1, 0],
      ],
      [0, 6, 0],
    ],
    [
      'what fits, if there is too little',
      20,
      [
        [3, 4],
        [2, 0],
      ],
      [7, 2],
    ],
  ])('takes %s (%i over %j)', (_, count, rooms, expected) => {
    const chosen = rooms.map(([capacity, previous], index) => target(`c${index}`, { capacity, previous }));
    const divided = divideReplicas(division(count, chosen, aggregated));
    expect(divided.shares.map(({ to }) => to)).toEqual(expected);
  });

  test('a new division does not prefer clusters in use', () => {
    const chosen = [target('a', { capacity: 1, previous: 4 }), target('b', { capacity: 9 })];
    expect(countsOf(divideReplicas(division(5, chosen, aggregated)))).toEqual({ a: 5, b: 0 });
    expect(countsOf(divideReplicas(division(5, chosen, { ...aggregated, fresh: true })))).toEqual({ a: 0, b: 5 });
  });

  test('counts only the room that the rules allow', () => {
    const rules = [rule(['a'], { max: 2 })];
    const divided = divideReplicas(
      division(5, [target('a', { capacity: 50 }), target('b', { capacity: 6 })], { replicas: { strategy: 'Aggregated', rules } }),
    );
    expect(countsOf(divided)).toEqual({ a: 0, b: 5 });
  });
});

describe('overflow', () => {
  const tiers = [target('a', { capacity: 2, previous: 1 }), target('b', { capacity: 4, tier: 1 }), target('c', { capacity: 50, tier: 2 })];
  const available = { replicas: { strategy: 'Available' } } as const;

  test.each<[number, Record<string, number>, number]>([
    [2, { a: 2, b: 0, c: 0 }, 0],
    [3, { a: 3, b: 0, c: 0 }, 0],
    [5, { a: 3, b: 2, c: 0 }, 0],
    [20, { a: 3, b: 4, c: 13 }, 0],
    [60, { a: 3, b: 4, c: 50 }, 3],
  ])('%i replicas fill tier after tier: %j', (count, expected, unplaced) => {
    const divided = divideReplicas(division(count, tiers, available));
    expect(countsOf(divided)).toEqual(expected);
    expect(divided.unplaced).toBe(unplaced);
  });

  test('returns to lower tiers when they have room', () => {
    const divided = divideReplicas(
      division(2, [target('a', { capacity: 5 }), target('b', { capacity: 0, previous: 2, tier: 1 })], available),
    );
    expect(countsOf(divided)).toEqual({ a: 2, b: 0 });
  });
});

describe('a divided Job', () => {
  test('has its completions divided in proportion to its counts', () => {
    const chosen = [target('a'), target('b'), target('c')];
    const rules = [rule(['a'], { weight: 3 }), rule(['b'])];
    const { shares } = divideReplicas(division(4, chosen, { completions: 9, replicas: { rules } }));
    expect(shares.map(({ to, completions }) => [to, completions])).toEqual([
      [3, 7],
      [1, 2],
      [0, 0],
    ]);
  });

  test.each([
    { count: 0, replicas: {} },
    { count: 4, replicas: { mode: 'Duplicated' } as const },
  ])('keeps them whole where nothing is divided: %j', ({ count, replicas }) => {
    const { shares } = divideReplicas(division(count, [target('a')], { completions: 9, replicas }));
    expect(shares[0]).not.toHaveProperty('completions');
  });

  test('has no completions in clusters without replicas', () => {
    expect(
      divideCompletions(
        5,
        new Map([
          ['a', 0],
          ['b', 2],
          ['c', 2],
        ]),
      ),
    ).toEqual(
      new Map([
        ['a', 0],
        ['b', 3],
        ['c', 2],
      ]),
    );
  });
});

function countsOf({ shares }: ReplicaDivision): Record<string, number> {
  return Object.fromEntries(shares.map(({ cluster, to }) => [cluster, to]));
}

function codesOf({ notes }: ReplicaDivision): readonly string[] {
  return notes.map(({ code }) => code);
}
