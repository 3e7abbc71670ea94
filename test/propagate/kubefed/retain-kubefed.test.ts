import { expect, test } from 'vitest';
import type { JsonObject } from '../../../src/core/json.ts';
import { retainKubeFed } from '../../../src/propagate/kubefed/retain-kubefed.ts';

test.each<[string, string, JsonObject, JsonObject, string]>([
  ['an address that is no text', 'Service', { spec: { clusterIP: -1 } }, {}, 'spec.clusterIP'],
  ['addresses that are no texts', 'Service', { spec: { clusterIPs: [1] } }, {}, 'spec.clusterIPs'],
  ['ports that are no list', 'Service', { spec: { ports: 'x' } }, {}, 'spec.ports'],
  ['secrets that are no list', 'ServiceAccount', { secrets: {} }, {}, 'secrets'],
  ['a count that is no integer', 'Deployment', { spec: { replicas: '3' } }, { spec: { retainReplicas: true } }, 'spec.replicas'],
  ['a flag that is no boolean', 'Deployment', {}, { spec: { retainReplicas: 'yes' } }, 'spec.retainReplicas'],
])('fails for %s', (_, kind, observed, federated, path) => {
  expect(retainKubeFed({ kind, desired: {}, observed, federated })).toMatchObject({ result: 'failed', path });
});

test('removes finalizers and annotations that the existing object does not have', () => {
  const desired = { metadata: { name: 'a', annotations: { ours: 'x' }, finalizers: ['f'] } };
  const retained = retainKubeFed({ kind: 'ConfigMap', desired, observed: { metadata: { name: 'a' } }, federated: {} });
  expect(retained).toEqual({ result: 'retained', object: { metadata: { name: 'a' } } });
});

test.each<[string, string, JsonObject, JsonObject]>([
  ['existing secrets if the desired object has some', 'ServiceAccount', { secrets: [{ name: 'a' }] }, { secrets: {} }],
  ['desired ports if the existing object has none', 'Service', { spec: { ports: 'x' } }, { spec: {} }],
])('does not read %s', (_, kind, desired, observed) => {
  expect(retainKubeFed({ kind, desired, observed, federated: {} })).toEqual({ result: 'retained', object: desired });
});
