import { expect, test } from 'vitest';
import type { JsonObject } from '../../../src/core/json.ts';
import { healthOf } from '../../../src/propagate/status/health.ts';

const kinds = {
  Deployment: 'apps',
  StatefulSet: 'apps',
  ReplicaSet: 'apps',
  DaemonSet: 'apps',
  Job: 'batch',
  CronJob: 'batch',
  Service: '',
  Ingress: 'networking.k8s.io',
  Pod: '',
  PersistentVolume: '',
  PersistentVolumeClaim: '',
  PodDisruptionBudget: 'policy',
  Widget: 'example.com',
} as const;

const at = (generation: number, observedGeneration: number, spec: JsonObject, status: JsonObject): JsonObject => ({
  metadata: { generation },
  spec,
  status: { observedGeneration, ...status },
});
const condition = (type: string, status: string) => ({ status: { conditions: [{ type, status }] } });

test.each<[keyof typeof kinds, string, JsonObject, 'Healthy' | 'Unhealthy']>([
  ['Deployment', 'as asked', at(1, 1, { replicas: 2 }, { updatedReplicas: 2, availableReplicas: 2 }), 'Healthy'],
  ['Deployment', 'not observed', at(2, 1, { replicas: 2 }, { updatedReplicas: 2, availableReplicas: 2 }), 'Unhealthy'],
  ['Deployment', 'not all updated', at(1, 1, { replicas: 2 }, { updatedReplicas: 1, availableReplicas: 2 }), 'Unhealthy'],
  ['Deployment', 'not all available', at(1, 1, { replicas: 2 }, { updatedReplicas: 2, availableReplicas: 1 }), 'Unhealthy'],
  ['Deployment', 'with none', at(1, 1, { replicas: 0 }, {}), 'Healthy'],
  ['StatefulSet', 'not all updated', at(1, 1, { replicas: 2 }, { updatedReplicas: 1, availableReplicas: 2 }), 'Unhealthy'],
  [
    'StatefulSet',
    'on deletion',
    at(1, 1, { replicas: 2, updateStrategy: { type: 'OnDelete' } }, { updatedReplicas: 0, availableReplicas: 2 }),
    'Healthy',
  ],
  [
    'StatefulSet',
    'on deletion, one down',
    at(1, 1, { replicas: 2, updateStrategy: { type: 'OnDelete' } }, { updatedReplicas: 0, availableReplicas: 1 }),
    'Unhealthy',
  ],
  ['ReplicaSet', 'too few', at(1, 1, { replicas: 2 }, { availableReplicas: 1 }), 'Unhealthy'],
  ['ReplicaSet', 'enough', at(1, 1, { replicas: 2 }, { availableReplicas: 2 }), 'Healthy'],
  ['DaemonSet', 'one not updated', at(1, 1, {}, { desiredNumberScheduled: 2, updatedNumberScheduled: 1, numberAvailable: 2 }), 'Unhealthy'],
  [
    'DaemonSet',
    'on deletion',
    at(1, 1, { updateStrategy: { type: 'OnDelete' } }, { desiredNumberScheduled: 2, updatedNumberScheduled: 1, numberAvailable: 2 }),
    'Healthy',
  ],
  ['Job', 'running', {}, 'Healthy'],
  ['Job', 'failed', condition('Failed', 'True'), 'Unhealthy'],
  ['Job', 'trying again', { status: { active: 1, failed: 1 } }, 'Unhealthy'],
  ['Job', 'complete at the second try', { status: { failed: 1, ...condition('Complete', 'True').status } }, 'Healthy'],
  ['CronJob', 'any', {}, 'Healthy'],
  ['Service', 'inside', { spec: { type: 'ClusterIP' } }, 'Healthy'],
  ['Service', 'without a point', { spec: { type: 'LoadBalancer' } }, 'Unhealthy'],
  ['Service', 'by name', { spec: { type: 'LoadBalancer' }, status: { loadBalancer: { ingress: [{ hostname: 'a' }] } } }, 'Healthy'],
  ['Ingress', 'an empty point', { status: { loadBalancer: { ingress: [{ hostname: '', ip: '' }] } } }, 'Unhealthy'],
  ['Pod', 'succeeded', { status: { phase: 'Succeeded' } }, 'Healthy'],
  ['Pod', 'ready but pending', { status: { phase: 'Pending', ...condition('Ready', 'True').status } }, 'Unhealthy'],
  ['PersistentVolume', 'released', { status: { phase: 'Released' } }, 'Healthy'],
  ['PersistentVolume', 'failed', { status: { phase: 'Failed' } }, 'Unhealthy'],
  ['PersistentVolumeClaim', 'lost', { status: { phase: 'Lost' } }, 'Unhealthy'],
  ['PodDisruptionBudget', 'kept', { status: { currentHealthy: 2, desiredHealthy: 2 } }, 'Healthy'],
  ['Widget', 'without conditions', {}, 'Healthy'],
  ['Widget', 'ready', condition('Ready', 'True'), 'Healthy'],
  ['Widget', 'not ready', condition('Ready', 'Unknown'), 'Unhealthy'],
  ['Widget', 'available alone', condition('Available', 'False'), 'Unhealthy'],
  [
    'Widget',
    'ready and not available',
    {
      status: {
        conditions: [
          { type: 'Available', status: 'False' },
          { type: 'Ready', status: 'True' },
        ],
      },
    },
    'Healthy',
  ],
  ['Widget', 'with a broken status', { status: 'broken' }, 'Healthy'],
])('a %s, %s', (kind, _, object, health) => {
  expect(healthOf({ group: kinds[kind], kind }, object)).toBe(health);
});
