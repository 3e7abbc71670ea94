import { expect, test } from 'vitest';
import type { Access, Visibility } from '../../../src/access/access.ts';
import { createLocalAccess } from '../../../src/access/local-access.ts';
import { clusterName } from '../../../src/core/names.ts';
import { compareVisibility, watchScopeOf } from '../../../src/streams/views/watch-scope.ts';
import { loadBaseline } from '../../support/kubernetes-objects.ts';
import { createRestrictingAccess } from '../../support/restricting-access.ts';

const pod = loadBaseline().kinds.get('Pod');
const kinds = pod === undefined ? [] : [pod];
const clusters = ['north', 'south'].map(clusterName);
const { signal } = new AbortController();
const all: Visibility = { type: 'all' };
const none: Visibility = {
  type: 'none',
  fault: { code: 'FORBIDDEN', cluster: clusterName('north'), message: 'not for you', retry: 'NEVER' },
};
const some = (...namespaces: readonly string[]): Visibility => ({ type: 'namespaces', namespaces: new Set(namespaces) });

const rows: readonly (readonly [Visibility | undefined, Visibility | undefined, string])[] = [
  [all, all, 'same'],
  [some('a'), some('a'), 'same'],
  [none, none, 'same'],
  [undefined, undefined, 'same'],
  [undefined, none, 'same'],
  [none, some('a'), 'more'],
  [undefined, all, 'more'],
  [some('a'), some('a', 'b'), 'more'],
  [some('a'), all, 'more'],
  [all, some('a'), 'less'],
  [all, none, 'less'],
  [all, undefined, 'less'],
  [some('a', 'b'), some('a'), 'less'],
  [some('a'), some('b', 'c'), 'less'],
  [some('a'), none, 'less'],
];

test.each(rows)('a right that was %o and is %o is %s', (before, now, became) => {
  expect(compareVisibility(before, now)).toBe(became);
});

test('is the same for all callers that may see everything, and does not change with the fleet', async () => {
  const access = createLocalAccess();
  const one = await watchScopeOf(access, { caller: { key: 'one' }, clusters, kinds, hidden: false }, signal);
  const other = watchScopeOf(access, { caller: { key: 'other' }, clusters: clusters.slice(0, 1), kinds, hidden: false }, signal);
  expect(other).not.toBeInstanceOf(Promise);
  expect((await other).digest).toBe(one.digest);
  expect(pod && one.visibilityOf(clusterName('yet to come'), pod)).toEqual(all);
});

test('is equal only for callers with equal rights', async () => {
  const access = createRestrictingAccess({
    ann: { north: 'all', south: ['shop'] },
    bob: { north: 'all', south: ['shop'] },
    cid: { north: 'all', south: ['shop', 'bank'] },
    dan: { north: 'all' },
    eve: {},
  });
  const digest = async (key: string) => {
    const seen = clusters.filter((cluster) => access.maySeeCluster({ key }, cluster));
    const scope = await watchScopeOf(access, { caller: { key }, clusters: seen, kinds, hidden: seen.length < 2 }, signal);
    return [scope.digest, scope.isEmpty] as const;
  };
  const [ann, bob, cid, dan, eve] = await Promise.all(['ann', 'bob', 'cid', 'dan', 'eve'].map(digest));
  expect(ann).toEqual(bob);
  expect(new Set([ann, cid, dan, eve].map((one) => one?.[0])).size).toBe(4);
  expect([ann, cid, dan, eve].map((one) => one?.[1])).toEqual([false, false, false, true]);
});

test('has the objects that the caller may both list and watch', async () => {
  const access: Access = {
    ...createLocalAccess(),
    visibilityOf: ({ cluster, verb }) =>
      cluster === 'north' ? (verb === 'list' ? some('a', 'b') : some('b', 'c')) : verb === 'list' ? all : none,
  };
  const scope = await watchScopeOf(access, { caller: { key: 'me' }, clusters, kinds, hidden: false }, signal);
  expect(pod && clusters.map((cluster) => scope.visibilityOf(cluster, pod))).toEqual([some('b'), none]);
  expect(scope.isEmpty).toBe(false);
});
