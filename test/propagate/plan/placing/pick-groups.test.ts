import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type GroupLimits, pickGroups, type WeightedGroup } from '../../../../src/propagate/plan/placing/pick-groups.ts';

const infinity = Number.POSITIVE_INFINITY;

describe('groups are chosen', () => {
  test.each<[string, readonly WeightedGroup[], GroupLimits, readonly string[] | undefined]>([
    ['none if there are too few', [group('a', 1, 80)], { min: 2, max: 3, clusters: 1 }, undefined],
    ['none if they have too few clusters', [group('a', 1, 80), group('b', 2, 10)], { min: 1, max: 2, clusters: 4 }, undefined],
    ['none if a maximum forbids it', [group('a', 1, 80), group('b', 2, 10)], { min: 1, max: 1, clusters: 3 }, undefined],
    ['none at all if none are asked for', [group('a', 1, 80)], { min: 0, max: 3, clusters: 0 }, []],
    ['the heaviest one', [group('a', 2, 80), group('b', 2, 90)], { min: 1, max: 1, clusters: 2 }, ['b']],
    ['the one with clusters enough', [group('a', 2, 80), group('b', 3, 10)], { min: 1, max: 1, clusters: 3 }, ['b']],
    ['more of them if one has too few', [group('a', 2, 80), group('b', 3, 10)], { min: 1, max: 2, clusters: 4 }, ['a', 'b']],
    [
      'of equal weight those with most clusters',
      [group('a', 1, 5), group('b', 2, 5), group('c', 3, 5)],
      { min: 2, max: 2, clusters: 2 },
      ['b', 'c'],
    ],
    ['of equals by name', [group('c', 1, 5), group('b', 1, 5), group('a', 1, 5)], { min: 2, max: 2, clusters: 2 }, ['a', 'b']],
    [
      'a part of the best, if it does alone',
      [group('a', 1, 9), group('b', 4, 8), group('c', 2, 1)],
      { min: 1, max: 3, clusters: 5 },
      ['a', 'b'],
    ],
  ])('%s', (_, groups, limits, expected) => {
    expect(pickGroups(groups, limits)?.map(({ name }) => name)).toEqual(expected);
  });

  test('fast, even with very many possible sets', () => {
    const groups = Array.from({ length: 400 }, (_, index) => group(`g${index}`, 1 + (index % 2), 1_000 + ((index * 7919) % 97)));
    expect(pickGroups(groups, { min: 12, max: 12, clusters: 18 })).toHaveLength(12);
    expect(
      pickGroups(groups, { min: 12, max: infinity, clusters: 300 })?.reduce((sum, { value }) => sum + value, 0),
    ).toBeGreaterThanOrEqual(300);
    expect(pickGroups(groups, { min: 12, max: infinity, clusters: 700 })).toBeUndefined();
  }, 10_000);

  test('with the same result as a search through all sets', () => {
    const groups = fc
      .array(fc.record({ value: fc.integer({ min: 1, max: 4 }), weight: fc.integer({ min: 0, max: 3 }) }), { maxLength: 9 })
      .map((list) => list.map(({ value, weight }, index) => group(`g${index}`, value, weight)));
    const limits = fc
      .record({
        min: fc.integer({ min: 0, max: 5 }),
        more: fc.oneof(fc.integer({ min: 0, max: 4 }), fc.constant(infinity)),
        clusters: fc.integer({ min: 0, max: 14 }),
      })
      .map(({ min, more, clusters }) => ({ min, max: min + more, clusters }));
    fc.assert(
      fc.property(groups, limits, (list, within) => {
        expect(pickGroups(list, within)?.map(({ name }) => name)).toEqual(naive(list, within)?.map(({ name }) => name));
      }),
      { numRuns: 2_000 },
    );
  });

  test('independently of their order', () => {
    const groups = [group('a', 2, 3), group('b', 2, 3), group('c', 1, 3), group('d', 3, 1)];
    const limits = { min: 1, max: 3, clusters: 4 };
    expect(pickGroups(groups.toReversed(), limits)).toEqual(pickGroups(groups, limits));
  });
});

function group(name: string, value: number, weight: number): WeightedGroup {
  return { name, value, weight };
}

/** The naive model of docs/internals/propagation.md 3.2: a depth-first search of all paths. */
function naive(groups: readonly WeightedGroup[], { min, max, clusters }: GroupLimits): readonly WeightedGroup[] | undefined {
  const ordered = [...groups].sort((a, b) => a.value - b.value || b.weight - a.weight || (a.name < b.name ? -1 : 1));
  const paths: (readonly WeightedGroup[])[] = [];
  const visit = (path: readonly WeightedGroup[], from: number): void => {
    if (sum(path, 'value') >= clusters && path.length >= min && path.length <= max) {
      paths.push(heaviestFirst(path));
      return;
    }
    if (path.length >= max) return;
    for (const [index, next] of ordered.entries()) if (index >= from) visit([...path, next], index + 1);
  };
  visit([], 0);
  // Sorting is stable, so the first of several equal paths stays first.
  const ranked = paths.sort((a, b) => sum(b, 'weight') - sum(a, 'weight') || sum(b, 'value') - sum(a, 'value'));
  return ranked.reduce<readonly WeightedGroup[] | undefined>((best, path) => {
    if (best === undefined) return path;
    return path.length < best.length && path.every(({ name }, index) => best[index]?.name === name) ? path : best;
  }, undefined);
}

function heaviestFirst(path: readonly WeightedGroup[]): readonly WeightedGroup[] {
  return [...path].sort((a, b) => b.weight - a.weight || (a.name < b.name ? -1 : 1));
}

function sum(path: readonly WeightedGroup[], key: 'value' | 'weight'): number {
  return path.reduce((total, entry) => total + entry[key], 0);
}
