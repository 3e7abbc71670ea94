import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { ReplicaDivision } from '../../../../src/propagate/model/placement.ts';
import type { ReplicaRule } from '../../../../src/propagate/model/spec.ts';
import { type DivisionInput, type DivisionTarget, divideReplicas } from '../../../../src/propagate/plan/placing/divide-replicas.ts';
import { division, rule, target } from './placing-fixtures.ts';

const names = ['a', 'b', 'c', 'd', 'e', 'f'];
const count = fc.integer({ min: 0, max: 60 });
const strategy = fc.constantFrom('Weighted' as const, 'Available' as const, 'Aggregated' as const);

const rules = fc.array(
  fc
    .record({
      clusters: fc.option(fc.subarray(names), { nil: undefined }),
      weight: fc.integer({ min: 0, max: 5 }),
      min: fc.integer({ min: 0, max: 3 }),
      above: fc.option(fc.integer({ min: 0, max: 20 }), { nil: undefined }),
    })
    .map(
      ({ clusters, weight, min, above }): ReplicaRule =>
        rule(clusters, { weight, min, ...(above === undefined ? {} : { max: min + above }) }),
    ),
  { maxLength: 3 },
);

const chosen = fc.subarray(names, { minLength: 1 }).chain((picked) =>
  fc.tuple(
    ...picked.map((name) =>
      fc
        .record({
          previous: fc.integer({ min: 0, max: 12 }),
          capacity: fc.option(fc.integer({ min: 0, max: 25 }), { nil: undefined }),
        })
        .map(({ previous, capacity }): DivisionTarget => target(name, { previous, ...(capacity === undefined ? {} : { capacity }) })),
    ),
  ),
);

const inputs = fc
  .record({ count, chosen, rules, strategy, fresh: fc.boolean() })
  .map(({ count: total, chosen: targets, rules: list, strategy: how, fresh }) =>
    division(total, targets, { fresh, replicas: { rules: list, strategy: how } }),
  );
const steadyInputs = inputs.map((input): DivisionInput => ({ ...input, fresh: false }));
const freshInputs = inputs.map((input): DivisionInput => ({ ...input, fresh: true }));

describe('for random divisions', () => {
  test('no replica is lost, and no count is negative', () => {
    fc.assert(
      fc.property(inputs, (input) => {
        const { shares, unplaced } = divideReplicas(input);
        expect(sumOf(shares) + unplaced).toBe(input.count);
        expect(shares.every(({ to, kept, from }) => to >= 0 && kept === Math.min(from, to))).toBe(true);
        expect(shares.map(({ cluster }) => cluster)).toEqual(input.chosen.map(({ cluster }) => cluster.name));
      }),
    );
  });

  test('with kept replicas, all counts change in one direction', () => {
    fc.assert(
      fc.property(steadyInputs, (input) => {
        const { shares } = divideReplicas(input);
        const moved = shares.reduce((sum, { from, to }) => sum + Math.abs(to - from), 0);
        const held = shares.reduce((sum, { from }) => sum + from, 0);
        expect(moved).toBe(Math.abs(sumOf(shares) - held));
      }),
      { numRuns: 500 },
    );
  });

  test('a second division with kept replicas changes nothing', () => {
    fc.assert(
      fc.property(steadyInputs, (input) => {
        const first = divideReplicas(input);
        fc.pre(first.unplaced === 0);
        expect(
          countsOf(divideReplicas({ ...input, chosen: input.chosen.map((entry, index) => placed(entry, first.shares[index]?.to ?? 0)) })),
        ).toEqual(countsOf(first));
      }),
    );
  });

  test('a new division respects the rules, and by capacity also the room', () => {
    fc.assert(
      fc.property(freshInputs, (input) => {
        for (const { to, from, max = Number.POSITIVE_INFINITY, capacity = Number.POSITIVE_INFINITY, weight } of divideReplicas(input)
          .shares) {
          const byWeight = input.replicas.strategy === 'Weighted';
          if (!byWeight || weight !== undefined) expect(to).toBeLessThanOrEqual(max);
          if (!byWeight) expect(to).toBeLessThanOrEqual(capacity + from);
        }
      }),
    );
  });

  test('one more replica takes none from a cluster, by weight and by room', () => {
    fc.assert(
      fc.property(freshInputs, (input) => {
        fc.pre(input.replicas.strategy !== 'Aggregated' && input.chosen.every(({ capacity }) => capacity !== undefined));
        const [before, after] = [divideReplicas(input), divideReplicas({ ...input, count: input.count + 1 })];
        for (const [index, { to }] of before.shares.entries()) expect(after.shares[index]?.to).toBeGreaterThanOrEqual(to);
      }),
    );
  });

  test('the order of clusters makes no difference, except for equal rooms with Aggregated', () => {
    fc.assert(
      fc.property(inputs, (input) => {
        fc.pre(input.replicas.strategy !== 'Aggregated');
        expect(countsOf(divideReplicas({ ...input, chosen: input.chosen.toReversed() }))).toEqual(countsOf(divideReplicas(input)));
      }),
    );
  });

  test('Aggregated uses no unnecessary cluster', () => {
    fc.assert(
      fc.property(freshInputs, (given) => {
        const input = { ...given, replicas: { ...given.replicas, strategy: 'Aggregated' as const, rules: [] } };
        fc.pre(input.chosen.every(({ capacity }) => capacity !== undefined));
        const { shares, unplaced } = divideReplicas(input);
        fc.pre(unplaced === 0);
        const used = shares.filter(({ to }) => to > 0).map(({ from, capacity = 0 }) => from + capacity);
        expect(used.reduce((sum, room) => sum + room, 0) - Math.min(...used)).toBeLessThan(Math.max(1, input.count));
      }),
    );
  });
});

function placed(entry: DivisionTarget, previous: number): DivisionTarget {
  const { capacity } = entry;
  return { ...entry, previous, ...(capacity === undefined ? {} : { capacity: Math.max(0, capacity + entry.previous - previous) }) };
}

function sumOf(shares: ReplicaDivision['shares']): number {
  return shares.reduce((sum, { to }) => sum + to, 0);
}

function countsOf({ shares }: ReplicaDivision): Record<string, number> {
  return Object.fromEntries(shares.map(({ cluster, to }) => [cluster, to]));
}
