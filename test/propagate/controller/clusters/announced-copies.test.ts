import { expect, test } from 'vitest';
import { clusterName } from '../../../../src/core/names.ts';
import { announce, sharesOf, withoutSaved } from '../../../../src/propagate/controller/clusters/announced-copies.ts';
import { noNeeds } from '../../../../src/propagate/controller/clusters/cluster-needs.ts';
import { newShare } from '../../../../src/propagate/hub/share-document.ts';

const owner = { namespace: 'default', name: 'shop', uid: 'uid-1' };
const keyOf = (name: string) => ({ apiVersion: 'v1', kind: 'ConfigMap', namespace: 'default', name });
const object = (name: string, more: object = {}) => ({ key: keyOf(name), action: 'CREATE', ...more });

/** The clusters that are about to start, with the objects to write in each of them. */
function starting(objects: Readonly<Record<string, readonly object[]>>) {
  return Object.entries(objects).map(([name, apply]) => ({ cluster: clusterName(name), needs: { ...noNeeds, apply } })) as never;
}

test('puts clusters with the same new copies together, and announces no object that exists or is held', () => {
  const announced = announce(
    starting({
      north: [object('a'), object('b')],
      south: [object('a'), object('b'), object('there', { live: {} }), object('held', { held: 'Conflict' })],
      west: [object('a')],
      east: [object('there', { live: {} })],
    }),
  );
  expect(announced?.copies).toEqual([
    { clusters: ['north', 'south'], objects: [keyOf('a'), keyOf('b')] },
    { clusters: ['west'], objects: [keyOf('a')] },
  ]);
  expect(announce(starting({ east: [object('there', { live: {} })] }))).toBeUndefined();
});

test('announces nothing if the announcement would be larger than 64 KiB', () => {
  const clusters = (count: number) =>
    starting(Object.fromEntries(Array.from({ length: count }, (_, n) => [`${n}-`.padEnd(200, 'x'), [object('a')]])));
  expect(announce(clusters(300))?.copies[0]?.clusters).toHaveLength(300);
  expect(announce(clusters(400))).toBeUndefined();
});

test('gives each copy in each cluster a token of its own, and another one for another announcement', () => {
  const tokens = [1, 2].flatMap(() => {
    const shares = sharesOf(owner, announce(starting({ north: [object('a'), object('b')], south: [object('a'), object('b')] })));
    return shares.flatMap(({ entries }) => entries.map(({ intent }) => intent));
  });
  expect(new Set(tokens).size).toBe(8);
});

test('leaves out the clusters whose share is saved', () => {
  const announced = announce(starting({ north: [object('a')], south: [object('a')] }));
  const [north, south] = [newShare(owner, clusterName('north')), newShare(owner, clusterName('south'))];
  const shares = new Map([
    [north.cluster, { ...north, version: '7' as never }],
    [south.cluster, south],
  ]);
  expect(withoutSaved(announced, { shares })?.copies).toMatchObject([{ clusters: ['south'] }]);
  expect(withoutSaved(announced, { shares: undefined })).toEqual(announced);
  expect(
    withoutSaved(announced, { shares: new Map([...shares].map(([name]) => [name, { ...north, version: '8' as never }])) }),
  ).toBeUndefined();
});
