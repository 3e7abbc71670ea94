import { describe, expect, test } from 'vitest';
import { MusterError } from '../../../src/core/errors.ts';
import { parseLabelSelector } from '../../../src/core/selectors.ts';
import { compileWhere } from '../../../src/store/filter/where.ts';
import type { WhereInput } from '../../../src/store/filter/where-input.ts';
import type { StoreReader } from '../../../src/store/mirror-store.ts';
import { compileOrder } from '../../../src/store/query/order.ts';
import type { QuerySpec } from '../../../src/store/query/query.ts';
import type { QuerySource } from '../../../src/store/query-source.ts';
import { other, sample, smallModel, sourceOf } from '../../support/store/query-sources.ts';
import { runQuery } from '../../support/store/store-at-once.ts';
import { neverAsked, objectOf, versionOf } from '../../support/store/store-objects.ts';

const places = (sources: readonly QuerySource[], spec: Partial<QuerySpec>): readonly string[] =>
  runQuery(sources, { first: 100, ...spec }).hits.map(
    ({ source, object: { metadata } }) => `${metadata.namespace ?? ''}/${metadata.name}@${source.cluster.name}`,
  );

const filter = (where: WhereInput) => compileWhere(smallModel, [sample, other], where);
const object = (place: string, labels: Record<string, string> = {}) => {
  const [namespace = '', name = ''] = place.split('/');
  return objectOf({ namespace, name, labels });
};

const north = sourceOf({
  cluster: 'north',
  objects: [object('a/web', { app: 'web' }), object('b/web', { app: 'Web-Shop' }), object('b/api', { app: 'api', team: 'core' })],
});
const south = sourceOf({ cluster: 'south', objects: [object('a/web', { app: 'web' }), object('c/db')] });
const both = [south, north];

describe('one order over all clusters', () => {
  test('P11: is namespace, name, cluster; equal names in two clusters are two objects', () => {
    expect(places(both, {})).toEqual(['a/web@north', 'a/web@south', 'b/api@north', 'b/web@north', 'c/db@south']);
    expect(places(both, { where: filter({}) })).toEqual(places(both, {}));
  });

  test('ends with the kind', () => {
    const others = sourceOf({ cluster: 'north', kind: other, objects: [object('a/web')] });
    const kinds = (spec: Partial<QuerySpec>) =>
      runQuery([north, others, south], { first: 3, ...spec }).hits.map(({ source }) => `${source.kind.kind}@${source.cluster.name}`);
    expect(kinds({})).toEqual(['Other@north', 'Sample@north', 'Sample@south']);
    expect(kinds({ where: filter({}) })).toEqual(kinds({}));
  });

  test('puts cluster-scoped objects first, because they have no namespace', () => {
    const nodes = sourceOf({ cluster: 'north', kind: other, objects: [objectOf({ name: 'zzz', namespace: '' })] });
    expect(places([...both, nodes], { first: 1 })).toEqual(['/zzz@north']);
    expect(places([nodes], { namespaces: ['a'] })).toEqual([]);
  });
});

describe('conditions', () => {
  test.each<[string, Partial<QuerySpec>, readonly string[]]>([
    ['namespaces', { namespaces: ['b', 'c', 'b', 'absent'] }, ['b/api@north', 'b/web@north', 'c/db@south']],
    ['no namespaces', { namespaces: [] }, []],
    ['labels', { selector: parseLabelSelector('app=web') }, ['a/web@north', 'a/web@south']],
    ['labels that are absent', { selector: parseLabelSelector('!app') }, ['c/db@south']],
    ['an empty selector', { selector: parseLabelSelector(''), first: 1 }, ['a/web@north']],
    ['labels in namespaces', { selector: parseLabelSelector('app in (web,api)'), namespaces: ['b'] }, ['b/api@north']],
    ['a filter', { where: filter({ path: 'cluster.name', eq: 'south' }) }, ['a/web@south', 'c/db@south']],
    [
      'a filter by name',
      { where: filter({ path: 'metadata.name', in: ['web', 'db', 'web'] }) },
      ['a/web@north', 'a/web@south', 'b/web@north', 'c/db@south'],
    ],
    ['a filter by namespace', { where: filter({ path: 'metadata.namespace', eq: 'b' }) }, ['b/api@north', 'b/web@north']],
    [
      'a filter by two namespaces',
      {
        where: filter({
          and: [
            { path: 'metadata.namespace', eq: 'b' },
            { path: 'metadata.namespace', eq: 'a' },
          ],
        }),
      },
      [],
    ],
    [
      'a filter by name, namespace and label',
      {
        where: filter({
          path: 'metadata.name',
          eq: 'web',
          and: [
            { path: 'metadata.namespace', in: ['b', 'z'] },
            { path: 'metadata.labels.app', eq: 'Web-Shop' },
          ],
        }),
      },
      ['b/web@north'],
    ],
    ['a part of a name', { search: 'PI' }, ['b/api@north']],
    ['a part of a label value, whatever the case', { search: 'SHOP' }, ['b/web@north']],
    ['a part of a label key', { search: 'tea' }, ['b/api@north']],
    ['a label as a pair', { search: 'app=w' }, ['a/web@north', 'a/web@south', 'b/web@north']],
    ['signs as they are', { search: 'w.b' }, []],
    ['no text', { search: '', namespaces: ['c'] }, ['c/db@south']],
    [
      'all at once',
      { search: 'web', selector: parseLabelSelector('app'), namespaces: ['a', 'b'], where: filter({ path: 'cluster.name', ne: 'south' }) },
      ['a/web@north', 'b/web@north'],
    ],
  ])('%s', (_, spec, expected) => {
    expect(places(both, spec)).toEqual(expected);
  });

  test('are not met by inherited names of labels', () => {
    const hostile = sourceOf({ objects: [objectOf({ name: 'x', metadata: { labels: null } }), objectOf({ name: 'y' })] });
    expect(places([hostile], { search: 'constructor' })).toEqual([]);
    expect(places([hostile], { selector: parseLabelSelector('!constructor') })).toHaveLength(2);
    expect(places([hostile], { where: filter({ path: 'metadata.labels.constructor', exists: true }) })).toEqual([]);
  });

  test('give the same result with an index as without', () => {
    const many = sourceOf({
      objects: Array.from({ length: 500 }, (_, index) =>
        objectOf({
          name: `p${index}`,
          namespace: `n${index % 7}`,
          labels: { app: `a${index % 50}`, tier: `t${index % 3}` },
          spec: { nodeName: `node-${index % 10}` },
        }),
      ),
    });
    const blind: QuerySource = { ...many, store: withoutIndexes(many.store) };
    for (const spec of [
      { selector: parseLabelSelector('app=a1') },
      { selector: parseLabelSelector('app in (a1,a2),tier=t1') },
      { selector: parseLabelSelector('tier=t1'), namespaces: ['n1', 'n2'] },
      { where: filter({ path: 'metadata.labels.app', in: ['a3', 'a3', 'none'] }) },
      { where: filter({ path: 'spec.nodeName', eq: 'node-3' }), namespaces: ['n3'] },
    ]) {
      const found = places([many], spec);
      expect(found.length).toBeGreaterThan(2);
      expect(found).toEqual(places([blind], spec));
    }
  });
});

describe('visibility', () => {
  const narrow = { ...north, visibility: { type: 'namespaces', namespaces: new Set(['a', 'c']) } } as const;

  test.each<Partial<QuerySpec>>([
    {},
    { where: filter({}) },
    { search: 'web' },
    { where: filter({ path: 'metadata.name', eq: 'web' }) },
    { order: compileOrder(smallModel, [sample], [{ path: 'metadata.uid' }]) },
  ])('hides the other namespaces from rows, counts and pages: %j', (spec) => {
    const result = runQuery([narrow], { first: 1, ...spec });
    expect(result.hits.map(({ object: { metadata } }) => metadata.namespace)).toEqual(['a']);
    expect([result.totalCount, result.hasNextPage, result.hasPreviousPage]).toEqual([1, false, false]);
    const [hit] = result.hits;
    const after = hit === undefined ? undefined : result.positionOf(hit);
    expect(runQuery([narrow], { first: 1, ...spec, after })).toMatchObject({
      hits: [],
      totalCount: 1,
      hasNextPage: false,
      hasPreviousPage: true,
    });
  });

  test('is intersected with the requested namespaces', () => {
    expect(places([narrow], { namespaces: ['a', 'b'] })).toEqual(['a/web@north']);
    expect(places([narrow], { namespaces: ['b'] })).toEqual([]);
    expect(places([narrow], { where: filter({ path: 'metadata.namespace', eq: 'b' }) })).toEqual([]);
  });
});

describe('pages', () => {
  const names = Array.from({ length: 25 }, (_, index) => `p${String(index).padStart(2, '0')}`);

  test.each<[string, Partial<QuerySpec>]>([
    ['everything', {}],
    ['what a filter leaves', { where: filter({ path: 'metadata.name', startsWith: 'p' }) }],
    ['another order', { order: compileOrder(smallModel, [sample], [{ path: 'metadata.name', direction: 'DESC' }]) }],
  ])('of %s lose and repeat nothing while objects come and go', (_, spec) => {
    const source = sourceOf({ objects: names.map((name) => objectOf({ name })) });
    const seen: string[] = [];
    let after: QuerySpec['after'];
    let version = 100;
    for (let page = 0; page < 100; page += 1) {
      const result = runQuery([source], { first: 4, after, ...spec });
      seen.push(...result.hits.map(({ object: { metadata } }) => metadata.name));
      expect(result.hasPreviousPage).toBe(page > 0);
      const last = result.hits.at(-1);
      if (last === undefined || !result.hasNextPage) break;
      after = result.positionOf(last);
      // The object of the cursor is deleted, and objects are added on both sides of it.
      version += 1;
      source.store.deleted(objectOf({ name: last.object.metadata.name, version }), versionOf(version), neverAsked);
      for (const name of [`p00-${page}`, `p24-${page}`]) source.store.applied(objectOf({ name, version }), versionOf(version), neverAsked);
    }
    expect(new Set(seen).size).toBe(seen.length);
    expect(names.filter((name) => !seen.includes(name))).toEqual([]);
  });

  test('count all matching objects, not only those of the page', () => {
    const source = sourceOf({ objects: names.map((name) => objectOf({ name })) });
    for (const spec of [{}, { search: 'p' }]) {
      const first = runQuery([source], { first: 10, ...spec });
      const [hit] = first.hits;
      expect([first.totalCount, first.hasNextPage, first.hasPreviousPage]).toEqual([25, true, false]);
      const rest = runQuery([source], { first: 100, ...spec, after: hit && first.positionOf(hit) });
      expect([rest.totalCount, rest.hits.length, rest.hasNextPage, rest.hasPreviousPage]).toEqual([25, 24, false, true]);
      const exact = runQuery([source], { first: 25, ...spec });
      expect([exact.hits.length, exact.hasNextPage]).toEqual([25, false]);
    }
  });

  test('beyond the end, or before the first object, say so', () => {
    const source = sourceOf({ objects: [objectOf({ name: 'm', namespace: 'm' })] });
    const at = (namespace: string, name: string) => ({ keys: [], namespace, name, cluster: 'north', kind: 'Sample.example.com' });
    for (const spec of [{}, { search: 'm' }]) {
      const told = (after: QuerySpec['after']) => {
        const { hits, hasNextPage, hasPreviousPage } = runQuery([source], { first: 1, ...spec, after });
        return [hits.length, hasNextPage, hasPreviousPage];
      };
      expect(told(at('z', ''))).toEqual([0, false, true]);
      expect(told(at('a', 'z'))).toEqual([1, false, false]);
      expect(told(at('m', 'l'))).toEqual([1, false, false]);
      expect(told(at('m', 'm'))).toEqual([0, false, true]);
      expect(told({ ...at('m', 'm'), cluster: 'a' })).toEqual([1, false, false]);
      expect(told({ ...at('m', 'm'), kind: 'A' })).toEqual([1, false, false]);
    }
  });

  test('refuse a cursor of another order', () => {
    const order = compileOrder(smallModel, [sample], [{ path: 'spec.text' }]);
    const after = { keys: [], namespace: 'a', name: 'a', cluster: 'north', kind: 'Sample.example.com' };
    expect(() => runQuery(both, { first: 1, order, after })).toThrow(MusterError);
  });

  test('without a filter read only the namespaces that they reach', () => {
    const source = sourceOf({ objects: ['a', 'b', 'c'].flatMap((namespace) => names.map((name) => objectOf({ name, namespace }))) });
    const looked: string[] = [];
    const store: StoreReader = {
      ...withoutIndexes(source.store),
      inNamespace: (namespace) => {
        looked.push(namespace);
        return source.store.inNamespace(namespace);
      },
      lists: () => {
        throw new Error('all objects were asked for');
      },
    };
    const result = runQuery([{ ...source, store }], { first: 30 });
    expect([result.totalCount, result.hits.length]).toEqual([75, 30]);
    expect(looked).toEqual(['a', 'b']);
  });
});

function withoutIndexes(store: StoreReader): StoreReader {
  return {
    size: store.size,
    revision: store.revision,
    bytes: store.bytes,
    version: store.version,
    epoch: store.epoch,
    get: store.get,
    objects: store.objects,
    namespaces: store.namespaces,
    inNamespace: store.inNamespace,
    lists: store.lists,
    freeze: store.freeze,
    countIn: store.countIn,
    indexed: () => undefined,
    countIndexed: () => undefined,
    indexedInOrder: () => undefined,
    follow: store.follow,
    followChanges: store.followChanges,
    changesSince: store.changesSince,
  };
}
