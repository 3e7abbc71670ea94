import { expect, test } from 'vitest';
import { clusterName } from '../../../src/core/names.ts';
import { runAtOnce, type Steps } from '../../../src/core/scheduling/operation-scheduler.ts';
import { inOneGroup } from '../../../src/store/aggregates/grouped-objects.ts';
import { compileSum } from '../../../src/store/aggregates/sums.ts';
import { compileWhere } from '../../../src/store/filter/where.ts';
import { compileOrder } from '../../../src/store/query/order.ts';
import { queryInSteps } from '../../../src/store/query/query.ts';
import { sample, smallModel, sourceOf } from '../../support/store/query-sources.ts';
import { runQuery } from '../../support/store/store-at-once.ts';
import { exactly, neverAsked, objectOf, versionOf } from '../../support/store/store-objects.ts';

const kinds = [sample];
const where = compileWhere(smallModel, kinds, { path: 'spec.text', contains: 'a' });
const order = compileOrder(smallModel, kinds, [{ path: 'spec.names', direction: 'DESC' }]);
const objects = Array.from({ length: 2_000 }, (_, index) =>
  objectOf({ name: `n${index}`, namespace: `ns${index % 7}`, spec: { text: 'abc', names: [`${index}`, 'x'], amount: '1m' } }),
);
const newcomer = objectOf({ name: 'newcomer', spec: { text: 'a', amount: '100' } });

test('a scan finds the objects of its first step, whatever changes between two steps', () => {
  const source = sourceOf({ objects });
  const spec = { where, order, first: 500, keepMatches: true };
  const before = runQuery([source], spec);
  const steps = queryInSteps([source], spec);
  expect(steps.next().done).toBe(false);
  const [first, second, ...others] = objects;
  if (first === undefined || second === undefined) throw new Error('no objects');
  for (const gone of others) source.store.deleted(gone, versionOf(2), neverAsked);
  source.store.applied(newcomer, versionOf(3), exactly(JSON.stringify(newcomer)));
  const { hits, totalCount, matches } = runAtOnce(steps);
  expect(totalCount).toBe(2_000);
  expect(hits.map(({ object }) => object)).toEqual(before.hits.map(({ object }) => object));
  expect(new Set(matches[0]?.objects)).toEqual(new Set(before.matches[0]?.objects));
  expect(runQuery([source], spec).totalCount).toBe(3);
});

test.each<[string, () => Steps<unknown>]>([
  ['a scan', () => queryInSteps([sourceOf({ objects })], { where, order, first: 1 })],
  [
    'a sum',
    () =>
      compileSum(
        { model: smallModel, kinds },
        'spec.amount',
      )(inOneGroup(runQuery([sourceOf({ objects })], { first: 1, keepMatches: true }).matches)),
  ],
])('%s can be interrupted after some hundred objects', (_, begin) => {
  let steps = 0;
  for (const work = begin(); work.next().done !== true; steps += 1);
  expect(steps).toBeGreaterThanOrEqual(9);
});

// A hundred conditions on a text of 900 kB take more than 100 ms.
const longObjects = ['ab', 'ba', 'abc'].map((text, index) =>
  objectOf({ name: `n${index}`, spec: { text: text.repeat(900_000 / text.length) } }),
);
const longTexts = compileWhere(smallModel, kinds, {
  or: Array.from({ length: 100 }, (_, index) => ({ path: 'spec.text', contains: index === 99 ? 'bca' : `ab${index}` })),
});

test('a scan can be interrupted between two conditions on a long text, and counts each once', () => {
  let looks = 0;
  const look = (more: number) => {
    looks += more;
  };
  const work = queryInSteps([sourceOf({ objects: longObjects })], { where: longTexts, first: 5, countReads: look });
  let steps = 0;
  let step = work.next();
  for (; step.done !== true; step = work.next()) steps += 1;
  expect(step.value.hits.map(({ object }) => object.metadata.name)).toEqual(['n2']);
  expect(steps).toBeGreaterThanOrEqual(297);
  // 300 texts of 900,000 characters: 512 characters count as a value, and 8 values as a read.
  expect(looks).toBeGreaterThan(65_000);
  expect(looks).toBeLessThan(67_000);
});

test('a frozen store stays as it was through changes, lists and the loss of all objects', () => {
  const { store } = sourceOf({ objects: objects.slice(0, 3) });
  using moment = store.freeze();
  const seen = () => ['n0', 'n1', 'n2', 'newcomer'].map((name, index) => moment.get(index === 3 ? 'default' : `ns${index}`, name)?.spec);
  const before = seen();
  store.applied(objectOf({ name: 'n0', namespace: 'ns0', spec: { text: 'other' } }), versionOf(2), neverAsked);
  store.deleted(objectOf({ name: 'n1', namespace: 'ns1' }), versionOf(3), neverAsked);
  store.applied(newcomer, versionOf(4), neverAsked);
  expect(seen()).toEqual(before);
  store.replace().commit(versionOf(5));
  expect(seen()).toEqual(before);
  store.applied(newcomer, versionOf(6), neverAsked);
  store.gone({ code: 'GONE', cluster: clusterName('north'), message: 'left', retry: 'NEVER' });
  expect(seen()).toEqual(before);
  expect(store.get('ns0', 'n0')).toBeUndefined();
});

test('compared values are counted as reads, long texts more than once', () => {
  const source = sourceOf({
    objects: [
      objectOf({ name: 'many', spec: { names: Array.from({ length: 800 }, (_, index) => `n${index}`) } }),
      objectOf({ name: 'long', spec: { names: ['x'.repeat(800 * 512)] } }),
      objectOf({ name: 'small', spec: { names: ['y'] } }),
    ],
  });
  const looksOf = (count: number) => {
    const condition = { path: 'spec.names', contains: '-' };
    let looks = 0;
    const filter = compileWhere(smallModel, kinds, { or: Array.from({ length: count }, () => condition) });
    const look = (some: number) => {
      looks += some;
    };
    runQuery([source], { where: filter, first: 1, countReads: look });
    return looks;
  };
  expect(looksOf(1)).toBeGreaterThan(200);
  expect(looksOf(100)).toBeGreaterThan(20_000);
});
