import fc from 'fast-check';
import { expect, test } from 'vitest';
import { parseLabelSelector } from '../../../src/core/selectors.ts';
import { compileWhere } from '../../../src/store/filter/where.ts';
import { parseOrderPosition, printOrderPosition } from '../../../src/store/query/cursor.ts';
import type { QuerySpec } from '../../../src/store/query/query.ts';
import { sample, smallModel, sourceOf } from '../../support/store/query-sources.ts';
import { runQuery } from '../../support/store/store-at-once.ts';
import { neverAsked, objectOf, versionOf } from '../../support/store/store-objects.ts';

// Makes each store large enough for an index. A few more objects come and go.
const others = Array.from({ length: 70 }, (_, index) => sketchOf({ namespace: 'z', name: `other-${index}`, family: 'other' }));

interface Sketch {
  readonly namespace: string;
  readonly name: string;
  readonly family: string;
  readonly revision?: number;
}

function sketchOf({ namespace, name, family, revision = 0 }: Sketch) {
  const owner = { apiVersion: 'v1', kind: 'Owner', name: 'o', uid: family };
  return objectOf({
    namespace,
    name,
    version: revision,
    labels: { app: family },
    metadata: { ownerReferences: [owner] },
    spec: { nodeName: family, count: revision },
  });
}

const questions: readonly ((family: string) => Partial<QuerySpec>)[] = [
  (family) => ({ selector: parseLabelSelector(`app=${family}`) }),
  (family) => ({ where: compileWhere(smallModel, [sample], { path: 'metadata.labels.app', eq: family }) }),
  (family) => ({ where: compileWhere(smallModel, [sample], { path: 'metadata.ownerReferences.uid', eq: family }) }),
  (family) => ({ where: compileWhere(smallModel, [sample], { path: 'spec.nodeName', eq: family }) }),
];

const step = fc.record({
  store: fc.nat(1),
  put: fc.boolean(),
  place: fc.record({ namespace: fc.constantFrom('a', 'b', 'c'), name: fc.constantFrom('web', 'api', 'db', 'web-1') }),
  family: fc.constantFrom('x', 'y'),
  asked: fc.record({
    question: fc.constantFrom(...questions),
    family: fc.constantFrom('x', 'y', 'none'),
    first: fc.integer({ min: 1, max: 5 }),
  }),
});

test('pages from an index follow every change, over several clusters', () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 30 }), (steps) => {
      const sources = ['c0', 'c1'].map((cluster) => sourceOf({ cluster, objects: others }));
      const held = new Map<string, string>();
      let revision = 1;
      for (const { store, put, place, family, asked } of steps) {
        revision += 1;
        const key = [place.namespace, place.name, `c${store}`].join('\0');
        const object = sketchOf({ ...place, family, revision });
        if (put) sources[store]?.store.applied(object, versionOf(revision), neverAsked);
        else sources[store]?.store.deleted(object, versionOf(revision), neverAsked);
        if (put) held.set(key, `${family} ${revision}`);
        else held.delete(key);
        const expected = [...held].filter(([, value]) => value.startsWith(`${asked.family} `)).sort(([a], [b]) => (a < b ? -1 : 1));

        const seen: string[] = [];
        for (let after: ReturnType<typeof parseOrderPosition>; ; ) {
          const page = runQuery(sources, { ...asked.question(asked.family), first: asked.first, after, keepMatches: true });
          expect(page.totalCount).toBe(expected.length);
          expect(page.matches.flatMap(({ objects }) => objects)).toHaveLength(expected.length);
          expect(page.hasPreviousPage).toBe(seen.length > 0);
          seen.push(
            ...page.hits.map(({ source, object: { metadata, spec } }) =>
              [metadata.namespace, metadata.name, source.cluster.name, (spec as { readonly count: number }).count].join('\0'),
            ),
          );
          const last = page.hits.at(-1);
          if (!page.hasNextPage || last === undefined) break;
          after = parseOrderPosition(printOrderPosition(page.positionOf(last)));
        }
        expect(seen).toEqual(expected.map(([place, value]) => `${place}\0${value.split(' ')[1]}`));
      }
    }),
    { numRuns: 200 },
  );
});

test('scans the objects if there are too many of them to sort', () => {
  const objects = Array.from({ length: 2_001 }, (_, index) =>
    sketchOf({ namespace: 'a', name: `n${String(index).padStart(4, '0')}`, family: 'x' }),
  );
  const source = sourceOf({ objects: objects.toReversed() });
  expect(source.store.indexedInOrder({ by: 'label', key: 'app', values: ['x'] })).toBeUndefined();
  expect(source.store.indexedInOrder({ by: 'label', key: 'app', values: ['x', 'y'] })).toBeUndefined();
  expect(source.store.indexedInOrder({ by: 'label', key: 'app', values: ['y'] })).toEqual([]);
  const { hits, totalCount } = runQuery([source], { selector: parseLabelSelector('app=x'), first: 2 });
  expect([totalCount, ...hits.map(({ object }) => object.metadata.name)]).toEqual([2_001, 'n0000', 'n0001']);
});

test('reads each object if a filter has conditions that no index knows', () => {
  const source = sourceOf({
    objects: [...others, ...[1, 2].map((revision) => sketchOf({ namespace: 'a', name: `n${revision}`, family: 'x', revision }))],
  });
  const selector = parseLabelSelector('app=x');
  const where = compileWhere(smallModel, [sample], { path: 'spec.count', eq: 2 });
  const both = compileWhere(smallModel, [sample], { path: 'spec.nodeName', eq: 'x', not: { path: 'spec.count', eq: 2 } });
  const countOf = (spec: Partial<QuerySpec>) => runQuery([source], { first: 1, ...spec }).totalCount;
  expect(countOf({ selector })).toBe(2);
  expect(countOf({ selector, where })).toBe(1);
  expect(countOf({ selector, search: 'n2' })).toBe(1);
  expect(countOf({ selector, namespaces: ['b'] })).toBe(0);
  expect(countOf({ where: both })).toBe(1);
  expect(countOf({ selector: parseLabelSelector('app=x,app!=x') })).toBe(0);
  expect(runQuery([{ ...source, visibility: { type: 'namespaces', namespaces: new Set(['b']) } }], { first: 1, selector }).totalCount).toBe(
    0,
  );
});
