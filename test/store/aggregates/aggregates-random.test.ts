import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Json } from '../../../src/core/json.ts';
import { numberOfQuantity, parseQuantity, printQuantity } from '../../../src/core/quantities.ts';
import { parseLabelSelector } from '../../../src/core/selectors.ts';
import { type GroupedObjects, inOneGroup } from '../../../src/store/aggregates/grouped-objects.ts';
import type { GroupOrder } from '../../../src/store/aggregates/groups.ts';
import { other, sample, smallModel, sourceOf } from '../../support/store/query-sources.ts';
import { compileExtremes, compileGroups, compileSums, runQuery } from '../../support/store/store-at-once.ts';
import { objectOf } from '../../support/store/store-objects.ts';

const asked = { model: smallModel, kinds: [sample, other] };

/** An object of the naive model. Quantities are multiples of 0.1, so sums of doubles are exact enough to be distinguished. */
interface Plain {
  readonly namespace: string;
  readonly name: string;
  readonly count: number | undefined;
  readonly names: readonly string[];
  readonly amounts: readonly number[];
}

const plainObject: fc.Arbitrary<Plain> = fc.record({
  namespace: fc.constantFrom('a', 'b', 'c'),
  name: fc.constantFrom('web', 'api', 'db', 'web-1'),
  count: fc.option(fc.constantFrom(1, 2, 10), { nil: undefined }),
  names: fc.array(fc.constantFrom('p', 'q', 'r'), { maxLength: 3 }),
  amounts: fc.array(fc.constantFrom(100, 250, 1000), { maxLength: 3 }),
});

const sourceSketch = fc.record({
  objects: fc.uniqueArray(plainObject, { maxLength: 10, selector: ({ namespace, name }) => `${namespace}/${name}` }),
  visibility: fc.option(fc.subarray(['a', 'b', 'c']), { nil: undefined }),
});

/** By path: all values of an object, as they are served. */
const valuesOf: Readonly<Record<string, (plain: Plain & { readonly cluster: string }) => readonly Json[]>> = {
  'cluster.name': ({ cluster }) => [cluster],
  'metadata.namespace': ({ namespace }) => [namespace],
  'spec.count': ({ count }) => (count === undefined ? [] : [count]),
  'spec.names': ({ names }) => names,
  'spec.parts.amount': ({ amounts }) => amounts.map((amount) => `${amount}m`),
};
const paths = Object.keys(valuesOf);

const question = fc.record({
  by: fc.array(fc.constantFrom(...paths), { minLength: 1, maxLength: 3 }),
  order: fc.constantFrom<GroupOrder>('COUNT_DESC', 'KEY_ASC'),
  first: fc.integer({ min: 1, max: 8 }),
  filter: fc.constantFrom<{ readonly labels: string; readonly passes: (plain: Plain) => boolean }>(
    { labels: '', passes: () => true },
    { labels: 'name=web', passes: ({ name }) => name === 'web' },
  ),
  page: fc.integer({ min: 1, max: 3 }),
});

test('groups, sums and extremes are those of all matching visible objects, not only of the page', () => {
  fc.assert(
    fc.property(fc.tuple(sourceSketch, sourceSketch, sourceSketch), question, (sketches, { by, order, first, filter, page }) => {
      const sources = sketches.map(({ objects, visibility }, index) =>
        sourceOf({ cluster: `c${index}`, objects: objects.map(make), ...(visibility === undefined ? {} : { visibility }) }),
      );
      const plains = sketches.flatMap(({ objects, visibility }, index) =>
        objects
          .filter((plain) => (visibility?.includes(plain.namespace) ?? true) && filter.passes(plain))
          .map((plain) => ({ ...plain, cluster: `c${index}` })),
      );
      const { matches, totalCount } = runQuery(sources, { first: page, selector: parseLabelSelector(filter.labels), keepMatches: true });

      expect(totalCount).toBe(plains.length);
      const { groups, members } = compileGroups(asked, { by, order, first })(matches);
      const aggregates = aggregatesOf(members);
      expect(groups.map(({ keys, count }, group) => [keys, count, ...(aggregates[group] ?? [])])).toEqual(
        naiveGroups(plains, by)
          .toSorted((a, b) => (order === 'COUNT_DESC' ? b.plains.length - a.plains.length : 0) || compareKeys(a.keys, b.keys))
          .slice(0, first)
          .map((group) => [group.keys, group.plains.length, ...naiveAggregates(group.plains)]),
      );
      expect(aggregatesOf(inOneGroup(matches))).toEqual([naiveAggregates(plains)]);
    }),
    { numRuns: 300 },
  );
});

function make({ namespace, name, count, names, amounts }: Plain) {
  const spec = { names: [...names], parts: amounts.map((amount) => ({ amount: `${amount}m` })), ...(count === undefined ? {} : { count }) };
  return objectOf({ namespace, name, labels: { name }, spec });
}

/** Returns the sums and extremes of each group. */
function aggregatesOf(grouped: GroupedObjects): readonly (readonly unknown[])[] {
  const sums = ['spec.count', 'spec.parts.amount'].map((path) =>
    compileSums(asked, path)(grouped).map((sum) => sum && [printQuantity(sum), numberOfQuantity(sum)]),
  );
  const extremes = paths.flatMap((path) => [compileExtremes(asked, path, 'min')(grouped), compileExtremes(asked, path, 'max')(grouped)]);
  return Array.from({ length: grouped.size }, (_, group) => [...sums, ...extremes].map((ofGroups) => ofGroups[group]));
}

type Placed = Plain & { readonly cluster: string };

function naiveAggregates(plains: readonly Placed[]): readonly unknown[] {
  const counts = plains.flatMap(({ count }) => count ?? []);
  const count = counts.reduce((sum, one) => sum + one, 0);
  const amounts = plains.flatMap((plain) => plain.amounts);
  const amount = amounts.reduce((sum, one) => sum + one, 0);
  const extremes = paths.flatMap((path) => {
    const values = plains.flatMap((plain) => valuesOf[path]?.(plain) ?? []).toSorted(compareValues);
    return [values.at(0), values.at(-1)];
  });
  const text = amount % 1000 === 0 ? printDecimal(amount / 1000) : `${amount}m`;
  return [counts.length === 0 ? undefined : [String(count), count], amounts.length === 0 ? undefined : [text, amount / 1000], ...extremes];
}

const printDecimal = (whole: number): string => (whole !== 0 && whole % 1000 === 0 ? `${whole / 1000}k` : String(whole));

function naiveGroups(plains: readonly Placed[], by: readonly string[]) {
  const groups = new Map<string, { readonly keys: readonly Json[]; readonly plains: Placed[] }>();
  for (const plain of plains) {
    const combinations = by.reduce<readonly (readonly Json[])[]>(
      (before, path) => {
        const values = [...new Set(valuesOf[path]?.(plain))];
        return before.flatMap((keys) => (values.length === 0 ? [null] : values).map((value) => [...keys, value]));
      },
      [[]],
    );
    for (const keys of combinations) {
      const text = JSON.stringify(keys);
      const group = groups.get(text) ?? { keys, plains: [] };
      group.plains.push(plain);
      groups.set(text, group);
    }
  }
  return [...groups.values()];
}

function compareKeys(a: readonly Json[], b: readonly Json[]): number {
  for (const [index, key] of a.entries()) {
    const order = compareValues(key, b[index] ?? null);
    if (order !== 0) return order;
  }
  return 0;
}

function compareValues(a: Json, b: Json): number {
  if (a === null || b === null) return Number(a === null) - Number(b === null);
  const [x, y] = [a, b].map((value) => (typeof value === 'string' && parseQuantity(value) ? Number.parseInt(value, 10) : value));
  return x === y || x === undefined || y === undefined || x === null || y === null ? 0 : x < y ? -1 : 1;
}
