import { expect, test } from 'vitest';
import type { JsonObject } from '../../../src/core/json.ts';
import { collectStatus } from '../../../src/propagate/status/collect.ts';

const collect = (group: string, kind: string, object: JsonObject) => collectStatus({ group, kind }, object, () => 7);
const asked = () => {
  throw new Error('nobody needs to know');
};

test('a workload reports the template generation of its figures', () => {
  const status = { replicas: 0, readyReplicas: 1, collisionCount: 3, observedGeneration: 2 };
  expect(collect('apps', 'ReplicaSet', { metadata: { generation: 2 }, status })).toEqual({
    result: 'collected',
    status: { replicas: 0, readyReplicas: 1, observedGeneration: 2, generation: 2, resourceTemplateGeneration: 7 },
  });
});

test('the template generation is read only for kinds that report it', () => {
  const autoscaler = { status: { currentReplicas: 1, desiredReplicas: 2, conditions: [] } };
  expect(collectStatus({ group: 'autoscaling', kind: 'HorizontalPodAutoscaler' }, autoscaler, asked)).toEqual({
    result: 'collected',
    status: { currentReplicas: 1, desiredReplicas: 2 },
  });
  expect(collectStatus({ group: 'apps', kind: 'Deployment' }, { status: { replicas: 0 } }, asked)).toEqual({
    result: 'collected',
    status: undefined,
  });
});

test.each([
  ['apps', 'Deployment', { status: [] }],
  ['apps', 'Deployment', { status: { replicas: '1' } }],
  ['apps', 'DaemonSet', { status: { numberReady: {} } }],
  ['batch', 'Job', { status: { conditions: {} } }],
  ['', 'Service', { spec: { type: 'LoadBalancer' }, status: 3 }],
  ['example.com', 'Widget', { status: true }],
])('%s %s %o cannot be read', (group, kind, object) => {
  expect(collect(group, kind, object)).toMatchObject({ result: 'unreadable', message: expect.stringMatching(/^expected status/) });
});

test.each([
  ['', 'Service', { spec: { type: 'ClusterIP' }, status: 'x' }],
  ['', 'ConfigMap', { data: {} }],
  ['', 'ConfigMap', { status: null }],
])('%s %s %o says nothing', (group, kind, object) => {
  expect(collect(group, kind, object)).toEqual({ result: 'collected', status: undefined });
});

test('a kind of another group has other rules, also with the name of an object member', () => {
  for (const kind of ['Deployment', 'constructor', '__proto__']) {
    expect(collect('example.com', kind, { status: { replicas: 'many' } })).toEqual({ result: 'collected', status: { replicas: 'many' } });
  }
  expect(collect('', 'toString', { status: { a: 1 } })).toEqual({ result: 'collected', status: { a: 1 } });
});
