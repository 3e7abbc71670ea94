import { expect, test } from 'vitest';
import { callOfRequest, kindFinder } from '../../src/traces/upstream-call.ts';
import { loadBaseline } from '../support/kubernetes-objects.ts';

test.each([
  ['GET', '/api/v1/namespaces/shop/pods/web', 'get', 'pods'],
  ['GET', '/api/v1/namespaces/shop/pods/web/log', 'get', 'pods'],
  ['GET', '/api/v1/pods', 'list', 'pods'],
  ['GET', '/api/v1/namespaces', 'list', 'namespaces'],
  ['GET', '/api/v1/namespaces/shop', 'get', 'namespaces'],
  ['DELETE', '/api/v1/namespaces/shop', 'delete', 'namespaces'],
  ['DELETE', '/api/v1/namespaces/shop/pods', 'deletecollection', 'pods'],
  ['PUT', '/api/v1/nodes/n1/status', 'update', 'nodes'],
  ['GET', '/version', 'get', ''],
] as const)('%s %s is the verb %s', (method, path, verb, plural) => {
  expect(callOfRequest({ method, path: path.slice(1).split('/') })).toEqual({ verb, group: '', plural });
});

test('the group of a resource comes before its version', () => {
  const path = ['apis', 'apps', 'v1', 'namespaces', 'shop', 'deployments', 'web'];
  expect(callOfRequest({ method: 'PATCH', path })).toEqual({ verb: 'patch', group: 'apps', plural: 'deployments' });
});

test('a kind is found by its group and plural', () => {
  const model = loadBaseline();
  const kindOf = kindFinder(() => model);
  expect([kindOf('apps', 'deployments'), kindOf('', 'pods'), kindOf('apps', 'pods')]).toEqual(['Deployment.apps', 'Pod', undefined]);
  expect(kindFinder(() => undefined)('', 'pods')).toBeUndefined();
});
