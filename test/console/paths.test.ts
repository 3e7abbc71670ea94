import { expect, test } from 'vitest';
import { addressOf, kindPath, objectPath, propagationPath } from '../../src/console/browser/paths.ts';

test.each([
  ['/', { page: 'fleet' }],
  ['/objects', { page: 'objects' }],
  ['/objects/deployments.apps', { page: 'kind', kind: 'deployments.apps' }],
  ['/object/north/nodes/-/n1', { page: 'object', cluster: 'north', kind: 'nodes', namespace: undefined, name: 'n1' }],
  ['/jobs', { page: 'jobs' }],
  ['/propagations/new', { page: 'new-propagation' }],
  ['/propagations/shop/new', { page: 'propagation', namespace: 'shop', name: 'new' }],
  ['/propagations/shop', { page: 'unknown' }],
  ['/objects/%', { page: 'unknown' }],
  ['/nope', { page: 'unknown' }],
])('%s is %o', (path, expected) => {
  expect(addressOf(path)).toEqual(expected);
});

test('names with slashes, spaces and percent signs come back from their path', () => {
  const names = { cluster: 'arn:aws:eks/one', kind: 'roles.rbac.authorization.k8s.io', namespace: 'a b', name: 'system:100%/ü' };
  expect(addressOf(objectPath(names))).toEqual({ page: 'object', ...names });
  expect(addressOf(propagationPath({ namespace: 'shop', name: 'a/b' }))).toEqual({ page: 'propagation', namespace: 'shop', name: 'a/b' });
  expect(kindPath('pods', { clusters: 'a/b', labels: 'app=web' })).toBe('/objects/pods?clusters=a%2Fb&labels=app%3Dweb');
});
