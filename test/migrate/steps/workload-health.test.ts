import { expect, test } from 'vitest';
import type { JsonObject } from '../../../src/core/json.ts';
import { workloadHealthOf } from '../../../src/migrate/steps/workload-health.ts';

const argo = { group: 'argoproj.io', kind: 'Rollout' };
const custom = { group: 'example.com', kind: 'Machine' };
const healthy = { observedGeneration: '3', phase: 'Healthy', availableReplicas: 2 };
const condition = (type: string, status: string) => ({ conditions: [{ type, status }] });

interface Row {
  readonly name: string;
  readonly status: JsonObject;
  readonly spec?: JsonObject;
  readonly health: 'done' | 'progressing' | 'failed';
  readonly message: string;
}

test.each<Row>([
  { name: 'that its controller calls Healthy', status: healthy, health: 'done', message: '2 replicas available' },
  { name: 'without a status', status: {}, health: 'progressing', message: 'generation 3 is not observed yet' },
  {
    name: 'of another generation',
    status: { ...healthy, observedGeneration: '2' },
    health: 'progressing',
    message: 'generation 3 is not observed yet',
  },
  {
    name: 'that has too few replicas',
    status: { ...healthy, availableReplicas: 1 },
    health: 'progressing',
    message: '1 of 2 replicas available',
  },
  {
    name: 'that is paused',
    status: { ...healthy, phase: 'Paused' },
    health: 'progressing',
    message: 'its controller calls it Paused',
  },
  {
    name: 'that is degraded',
    status: { ...healthy, phase: 'Degraded' },
    health: 'failed',
    message: 'its controller calls it Degraded',
  },
  {
    name: 'that was degraded before the generation',
    status: { ...healthy, phase: 'Degraded', observedGeneration: '2' },
    health: 'progressing',
    message: 'generation 3 is not observed yet',
  },
  { name: 'of one replica by default', spec: {}, status: { ...healthy, availableReplicas: 1 }, health: 'done', message: '1 replicas' },
])('a Rollout of Argo $name is $health', ({ spec = { replicas: 2 }, status, health, message }) => {
  const found = workloadHealthOf(argo, { metadata: { generation: 3 }, spec, status });
  expect(found).toEqual({ phase: health, message: expect.stringContaining(message) });
});

test.each<Row>([
  { name: 'with all replicas', status: { observedGeneration: 3, readyReplicas: 2 }, health: 'done', message: '2 replicas ready' },
  { name: 'without an observed generation', status: { replicas: 2 }, health: 'done', message: '2 replicas ready' },
  {
    name: 'of an older generation',
    status: { observedGeneration: 2, readyReplicas: 2 },
    health: 'progressing',
    message: 'generation 3 is not observed yet',
  },
  { name: 'with too few replicas', status: { readyReplicas: 1 }, health: 'progressing', message: '1 of 2 replicas ready' },
  {
    name: 'whose available replicas are fewer than its ready ones',
    status: { availableReplicas: 1, readyReplicas: 2 },
    health: 'progressing',
    message: '1 of 2 replicas ready',
  },
  { name: 'without counters', status: {}, health: 'progressing', message: '0 of 2 replicas ready' },
  ...['Ready', 'Available', 'Healthy'].map(
    (type): Row => ({
      name: `with a false condition ${type}`,
      status: { readyReplicas: 2, ...condition(type, 'False') },
      health: 'progressing',
      message: `its condition ${type} is False`,
    }),
  ),
  { name: 'with another false condition', status: { readyReplicas: 2, ...condition('Stalled', 'False') }, health: 'done', message: '2' },
  { name: 'with an unknown condition', status: { readyReplicas: 2, ...condition('Ready', 'Unknown') }, health: 'done', message: '2' },
])('a custom workload $name is $health', ({ status, health, message }) => {
  const found = workloadHealthOf(custom, { metadata: { generation: 3 }, spec: { replicas: 2 }, status });
  expect(found).toEqual({ phase: health, message: expect.stringContaining(message) });
});

test('a Deployment fails when its progress deadline is exceeded', () => {
  const status = { observedGeneration: 1, conditions: [{ type: 'Progressing', status: 'False', reason: 'ProgressDeadlineExceeded' }] };
  const found = workloadHealthOf({ group: 'apps', kind: 'Deployment' }, { metadata: { generation: 1 }, spec: { replicas: 2 }, status });
  expect(found.phase).toBe('failed');
});

test('a custom workload needs the replicas at the path of its scale subresource', () => {
  const machine = { metadata: { generation: 1 }, spec: { size: 4 }, status: { replicas: 1 } };
  expect(workloadHealthOf(custom, machine, { countPath: ['spec', 'size'] })).toEqual({
    phase: 'progressing',
    message: '1 of 4 replicas ready',
  });
});

test.each(['Deployment', 'ReplicaSet'])('a %s with fewer replicas in its spec than are needed is not healthy', (kind) => {
  const status = { observedGeneration: 1, replicas: 1, updatedReplicas: 1, readyReplicas: 1, availableReplicas: 1 };
  const object = { metadata: { generation: 1 }, spec: { replicas: 1 }, status };
  expect(workloadHealthOf({ group: 'apps', kind }, object, { atLeast: 2 })).toEqual({
    phase: 'progressing',
    message: '1 of 2 replicas healthy',
  });
  expect(workloadHealthOf({ group: 'apps', kind }, object, { atLeast: 1 }).phase).toBe('done');
});

test('a ReplicaSet whose Pods are not available is not healthy', () => {
  const object = { metadata: { generation: 1 }, spec: { replicas: 2 }, status: { observedGeneration: 1, replicas: 2 } };
  expect(workloadHealthOf({ group: 'apps', kind: 'ReplicaSet' }, object).phase).toBe('progressing');
});
