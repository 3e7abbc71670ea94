import fc from 'fast-check';
import { expect, test } from 'vitest';
import { parseLabelSelector } from '../../../src/core/selectors.ts';
import { compileWhere } from '../../../src/store/filter/where.ts';
import type { WhereInput } from '../../../src/store/filter/where-input.ts';
import { parseOrderPosition, printOrderPosition } from '../../../src/store/query/cursor.ts';
import { compileOrder, type OrderByInput } from '../../../src/store/query/order.ts';
import type { QueryHit } from '../../../src/store/query/query.ts';
import type { QuerySource } from '../../../src/store/query-source.ts';
import { other, sample, smallModel, sourceOf } from '../../support/store/query-sources.ts';
import { runQuery } from '../../support/store/store-at-once.ts';
import { objectOf } from '../../support/store/store-objects.ts';

/** An object of the naive model, with only the fields that its queries need. */
interface Plain {
  readonly cluster: string;
  readonly kind: string;
  readonly namespace: string;
  readonly name: string;
  readonly app: string | undefined;
  readonly count: number | undefined;
  readonly names: readonly string[];
}

interface Question {
  readonly namespaces: readonly string[] | undefined;
  readonly selector: { readonly text: string; readonly holds: (plain: Plain) => boolean };
  readonly where: { readonly input: WhereInput | undefined; readonly holds: (plain: Plain) => boolean };
  readonly search: string;
  readonly order: readonly { readonly input: OrderByInput; readonly key: (plain: Plain) => string | number | undefined }[];
  readonly first: number;
}

const plainObject = fc.record({
  namespace: fc.constantFrom('a', 'b', 'c'),
  name: fc.constantFrom('web', 'api', 'db', 'web-1'),
  app: fc.option(fc.constantFrom('web', 'api'), { nil: undefined }),
  count: fc.option(fc.constantFrom(1, 2, 10), { nil: undefined }),
  names: fc.array(fc.constantFrom('p', 'q', 'r'), { maxLength: 3 }),
});

const sourceSketch = fc.record({
  objects: fc.uniqueArray(plainObject, { maxLength: 10, selector: ({ namespace, name }) => `${namespace}/${name}` }),
  visibility: fc.option(fc.subarray(['a', 'b', 'c']), { nil: undefined }),
});

const selector = fc.constantFrom<Question['selector']>(
  { text: '', holds: () => true },
  { text: 'app=web', holds: ({ app }) => app === 'web' },
  { text: 'app!=web', holds: ({ app }) => app !== 'web' },
  { text: '!app', holds: ({ app }) => app === undefined },
  { text: 'app in (web,api)', holds: ({ app }) => app !== undefined },
);

const leaf = fc.constantFrom<{ readonly input: WhereInput; readonly holds: (plain: Plain) => boolean }>(
  { input: { path: 'metadata.name', eq: 'web' }, holds: ({ name }) => name === 'web' },
  { input: { path: 'metadata.name', in: ['db', 'api'] }, holds: ({ name }) => name === 'db' || name === 'api' },
  { input: { path: 'metadata.name', startsWith: 'web' }, holds: ({ name }) => name.startsWith('web') },
  { input: { path: 'metadata.namespace', eq: 'b' }, holds: ({ namespace }) => namespace === 'b' },
  { input: { path: 'metadata.labels.app', eq: 'api' }, holds: ({ app }) => app === 'api' },
  { input: { path: 'cluster.name', ne: 'c1' }, holds: ({ cluster }) => cluster !== 'c1' },
  { input: { path: 'kind', eq: 'Sample' }, holds: ({ kind }) => kind === 'Sample' },
  { input: { path: 'spec.count', gt: 1 }, holds: ({ kind, count }) => kind === 'Sample' && (count ?? 0) > 1 },
  { input: { path: 'spec.count', exists: false }, holds: ({ kind, count }) => kind !== 'Sample' || count === undefined },
  { input: { path: 'spec.names', eq: 'q' }, holds: ({ kind, names }) => kind === 'Sample' && names.includes('q') },
  { input: { path: 'spec.names', ne: 'q' }, holds: ({ kind, names }) => kind !== 'Sample' || !names.includes('q') },
);

const where: fc.Arbitrary<Question['where']> = fc.letrec<{ tree: Question['where'] & { readonly input: WhereInput } }>((tie) => ({
  tree: fc.oneof(
    { maxDepth: 3 },
    leaf,
    tie('tree').map(({ input, holds }) => ({ input: { not: input }, holds: (plain: Plain) => !holds(plain) })),
    fc.array(tie('tree'), { maxLength: 3 }).map((inner) => ({
      input: { and: inner.map(({ input }) => input) },
      holds: (plain: Plain) => inner.every(({ holds }) => holds(plain)),
    })),
    fc.array(tie('tree'), { maxLength: 3 }).map((inner) => ({
      input: { or: inner.map(({ input }) => input) },
      holds: (plain: Plain) => inner.some(({ holds }) => holds(plain)),
    })),
  ),
})).tree;

const orderTerm = fc
  .tuple(
    fc.constantFrom<readonly [string, (plain: Plain, direction: string) => string | number | undefined]>(
      ['metadata.name', ({ name }) => name],
      ['cluster.name', ({ cluster }) => cluster],
      ['metadata.labels.app', ({ app }) => app],
      ['spec.count', ({ kind, count }) => (kind === 'Sample' ? count : undefined)],
      ['spec.names', ({ kind, names }, direction) => (kind === 'Sample' ? names.toSorted().at(direction === 'ASC' ? 0 : -1) : undefined)],
    ),
    fc.constantFrom('ASC' as const, 'DESC' as const),
  )
  .map(([[path, key], direction]) => ({ input: { path, direction }, key: (plain: Plain) => key(plain, direction) }));

const question: fc.Arbitrary<Question> = fc.record({
  namespaces: fc.option(fc.subarray(['a', 'b', 'c', 'absent']), { nil: undefined }),
  selector,
  where: fc.oneof(fc.constant({ input: undefined, holds: () => true }), where),
  search: fc.constantFrom('', '', 'we', 'API', '-1', 'app=w'),
  order: fc.oneof(fc.constant([]), fc.array(orderTerm, { maxLength: 3 })),
  first: fc.integer({ min: 1, max: 6 }),
});

test('the pages of any query equal the naive filter, sorted and cut', () => {
  fc.assert(
    fc.property(fc.tuple(sourceSketch, sourceSketch, sourceSketch, sourceSketch), question, (sketches, asked) => {
      const made = sketches.map(({ objects, visibility }, index) =>
        make(objects, { cluster: `c${index % 3}`, kind: index < 2 ? sample : other, visibility }),
      );
      const sources = made.map(({ source }) => source);
      const expected = made
        .flatMap(({ plains, visibility }) => plains.filter(({ namespace }) => visibility === undefined || visibility.includes(namespace)))
        .filter((plain) => holds(asked, plain))
        .sort((a, b) => compare(asked, a, b))
        .map(placeOf);

      const order = compileOrder(
        smallModel,
        [sample, other],
        asked.order.map(({ input }) => input),
      );
      const filter = asked.where.input === undefined ? undefined : compileWhere(smallModel, [sample, other], asked.where.input);
      const seen: string[] = [];
      for (let after: ReturnType<typeof parseOrderPosition>; ; ) {
        const page = runQuery(sources, {
          namespaces: asked.namespaces,
          selector: parseLabelSelector(asked.selector.text),
          where: filter,
          search: asked.search,
          order,
          first: asked.first,
          after,
        });
        expect(page.totalCount).toBe(expected.length);
        expect(page.hasPreviousPage).toBe(seen.length > 0);
        expect(page.hits.length).toBe(Math.min(asked.first, expected.length - seen.length));
        seen.push(...page.hits.map(placeOfHit));
        // Otherwise a cursor that does not move would page forever.
        expect(seen.length).toBeLessThanOrEqual(expected.length);
        expect(page.hasNextPage).toBe(seen.length < expected.length);
        const last = page.hits.at(-1);
        if (last === undefined || !page.hasNextPage) break;
        after = parseOrderPosition(printOrderPosition(page.positionOf(last)));
      }
      expect(seen).toEqual(expected);
    }),
    { numRuns: 1_000 },
  );
});

interface Making {
  readonly cluster: string;
  readonly kind: typeof sample;
  readonly visibility: readonly string[] | undefined;
}

function make(
  objects: readonly Omit<Plain, 'cluster' | 'kind'>[],
  { cluster, kind, visibility }: Making,
): { source: QuerySource; plains: readonly Plain[]; visibility: readonly string[] | undefined } {
  const source = sourceOf({
    cluster,
    kind,
    ...(visibility === undefined ? {} : { visibility }),
    objects: objects.map(({ namespace, name, app, count, names }) =>
      objectOf({
        namespace,
        name,
        ...(app === undefined ? {} : { labels: { app } }),
        spec: { names: [...names], ...(count === undefined ? {} : { count }) },
      }),
    ),
  });
  return { source, plains: objects.map((plain) => ({ ...plain, cluster, kind: kind.kind })), visibility };
}

function holds({ namespaces, selector: labels, where: filter, search }: Question, plain: Plain): boolean {
  const texts = [plain.name, ...(plain.app === undefined ? [] : ['app', plain.app, `app=${plain.app}`])];
  return (
    (namespaces === undefined || namespaces.includes(plain.namespace)) &&
    labels.holds(plain) &&
    filter.holds(plain) &&
    texts.some((text) => text.toLowerCase().includes(search.toLowerCase()))
  );
}

function compare({ order }: Question, a: Plain, b: Plain): number {
  for (const { input, key } of order) {
    const [x, y] = [key(a), key(b)];
    if (x === y) continue;
    if (x === undefined) return 1;
    if (y === undefined) return -1;
    return (x < y ? -1 : 1) * (input.direction === 'DESC' ? -1 : 1);
  }
  const [p, q] = [placeOf(a), placeOf(b)];
  return p < q ? -1 : p > q ? 1 : 0;
}

/** Joins the parts by a character that sorts before all others, so that they compare one after the other. */
function placeOf({ namespace, name, cluster, kind }: Plain): string {
  return [namespace, name, cluster, kind].join('\0');
}

function placeOfHit({ source, object: { metadata } }: QueryHit): string {
  return [metadata.namespace, metadata.name, source.cluster.name, source.kind.kind].join('\0');
}
