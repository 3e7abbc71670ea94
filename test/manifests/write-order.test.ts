import fc from 'fast-check';
import { expect, test } from 'vitest';
import { groupOfApiVersion } from '../../src/core/kinds.ts';
import { groupKindOfKey, keyOfManifest, namespacedNameOf, textOfKey } from '../../src/manifests/object-key.ts';
import { inWriteOrder } from '../../src/manifests/write-order.ts';

const inOrder = [
  ['v1', 'Namespace'],
  ['apiextensions.k8s.io/v1', 'CustomResourceDefinition'],
  ['v1', 'ServiceAccount'],
  ['rbac.authorization.k8s.io/v1', 'ClusterRoleBinding'],
  ['v1', 'ConfigMap'],
  ['v1', 'Secret'],
  ['v1', 'PersistentVolumeClaim'],
  ['v1', 'Service'],
  ['apps/v1', 'Deployment'],
  ['batch/v1', 'Job'],
  ['autoscaling/v2', 'HorizontalPodAutoscaler'],
  ['policy/v1', 'PodDisruptionBudget'],
  ['networking.k8s.io/v1', 'Ingress'],
  ['example.com/v1', 'Deployment'],
].map(([apiVersion = '', kind = '']) => ({ key: { apiVersion, kind, name: 'x' } }));

test('writes dependencies first, in any order of the template', () => {
  const places = new Map(inOrder.map((object, index) => [object, index]));
  fc.assert(
    fc.property(fc.shuffledSubarray(inOrder), (objects) => {
      const ranks = inWriteOrder(objects).map((object) => places.get(object) ?? -1);
      // Objects of one rank keep the order of the template.
      const sameRank: readonly (readonly [number, number])[] = [
        [2, 3],
        [4, 5],
        [8, 9],
        [10, 11],
      ];
      const unordered = ranks.filter((rank, index) => index > 0 && rank < (ranks[index - 1] ?? -1));
      for (const rank of unordered) expect(sameRank.some(([first]) => first === rank)).toBe(true);
    }),
  );
  expect(inWriteOrder(inOrder.toReversed()).map(({ key }) => key.kind)[0]).toBe('Namespace');
});

test('keeps the order of the template within one rank', () => {
  const maps = ['c', 'a', 'b'].map((name) => ({ key: { apiVersion: 'v1', kind: 'ConfigMap', name } }));
  expect(inWriteOrder(maps)).toEqual(maps);
});

test('gives one key text for all versions of a group, and different ones for different objects', () => {
  const key = { apiVersion: 'apps/v1', kind: 'Deployment', namespace: 'a', name: 'web' };
  const others = [
    { ...key, apiVersion: 'v1' },
    { ...key, kind: 'DaemonSet' },
    { ...key, namespace: 'b' },
    { ...key, name: 'x' },
  ];
  expect(textOfKey({ ...key, apiVersion: 'apps/v1beta1' })).toBe(textOfKey(key));
  expect(new Set([key, ...others].map(textOfKey)).size).toBe(5);
});

test('derives kind and mirror key from a key, and the key from a manifest', () => {
  const manifest = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'shop', labels: { a: 'b' } } };
  const key = keyOfManifest(manifest);
  expect(key).toEqual({ apiVersion: 'v1', kind: 'Namespace', name: 'shop' });
  expect([groupKindOfKey(key), namespacedNameOf(key), groupOfApiVersion('apps/v1')]).toEqual([
    { group: '', kind: 'Namespace' },
    { namespace: '', name: 'shop' },
    'apps',
  ]);
});
