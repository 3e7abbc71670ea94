import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import type { JsonObject } from '../../../src/core/json.ts';
import { rolloutOf } from '../../../src/propagate/rollout/rolled-out.ts';
import { healthOf } from '../../../src/propagate/status/health.ts';

/** What `kubectl rollout status --watch=false` (1.36.3) said of objects of a real API server whose statuses were written by hand. */
interface Told {
  readonly kind: string;
  readonly says: 'waiting' | 'done' | 'failed' | 'refused';
  readonly object: JsonObject;
}

const told: readonly Told[] = JSON.parse(readFileSync(new URL('./kubectl-rollouts.json', import.meta.url), 'utf8'));
const deployment = { group: 'apps', kind: 'Deployment' };
const job = { group: 'batch', kind: 'Job' };

describe('what kubectl rollout status says', () => {
  const phases = { waiting: 'progressing', done: 'done', failed: 'failed', refused: 'done' } as const;

  test.each(told.map((one, index) => [`${index} ${one.kind} ${one.says}`, one] as const))('%s', (_, { kind, says, object }) => {
    expect(rolloutOf({ group: 'apps', kind }, object).phase).toBe(phases[says]);
  });

  test('each of its verdicts is among them', () => {
    expect(new Set(told.map(({ says }) => says))).toEqual(new Set(['waiting', 'done', 'failed', 'refused']));
    expect(new Set(told.map(({ kind }) => kind))).toEqual(new Set(['Deployment', 'StatefulSet', 'DaemonSet']));
  });
});

describe('the figures that decide', () => {
  const sized = (spec: JsonObject, status: JsonObject) => ({
    metadata: { generation: 2 },
    spec,
    status: { observedGeneration: 2, ...status },
  });
  const apps = (kind: string) => ({ group: 'apps', kind });

  test.each([
    ['Deployment', sized({ replicas: 3 }, { observedGeneration: 1 }), 'generation 2 is not observed yet: its controller is at 1'],
    ['Deployment', sized({ replicas: 3 }, { updatedReplicas: 1 }), '1 of 3 replicas updated'],
    ['Deployment', sized({ replicas: 1 }, { replicas: 2, updatedReplicas: 1, availableReplicas: 1 }), '1 old replica has yet to go'],
    ['Deployment', sized({ replicas: 1 }, { replicas: 3, updatedReplicas: 1 }), '2 old replicas have yet to go'],
    ['Deployment', sized({ replicas: 2 }, { replicas: 2, updatedReplicas: 2, availableReplicas: 1 }), '1 of 2 updated replicas available'],
    ['StatefulSet', sized({ replicas: 2 }, { readyReplicas: 1 }), '1 of 2 replicas ready'],
    [
      'StatefulSet',
      sized({ replicas: 3, updateStrategy: { rollingUpdate: { partition: 1 } } }, { readyReplicas: 3, updatedReplicas: 1 }),
      '1 of 2 replicas from ordinal 1 updated',
    ],
    [
      'StatefulSet',
      sized({ replicas: 3, updateStrategy: { rollingUpdate: { partition: 0 } } }, { readyReplicas: 3, updatedReplicas: 3 }),
      'rolled out: 3 replicas updated',
    ],
    [
      'StatefulSet',
      sized({ replicas: 1 }, { readyReplicas: 1, updatedReplicas: 0, currentRevision: 'a', updateRevision: 'b' }),
      '0 replicas updated to revision b',
    ],
    ['DaemonSet', sized({}, { desiredNumberScheduled: 3, updatedNumberScheduled: 2 }), '2 of 3 pods updated'],
    ['DaemonSet', sized({}, { desiredNumberScheduled: 3, updatedNumberScheduled: 3, numberAvailable: 1 }), '1 of 3 updated pods available'],
  ])('%s: %o', (kind, object, message) => {
    expect(rolloutOf(apps(kind), object).message).toBe(message);
  });
});

test('with OnDelete nothing is waited for but that all pods are there', () => {
  const set = (readyReplicas: number) => ({
    metadata: { generation: 1 },
    spec: { replicas: 2, updateStrategy: { type: 'OnDelete' } },
    status: { observedGeneration: 1, readyReplicas, currentRevision: 'a', updateRevision: 'b' },
  });
  expect(rolloutOf({ group: 'apps', kind: 'StatefulSet' }, set(1)).phase).toBe('progressing');
  expect(rolloutOf({ group: 'apps', kind: 'StatefulSet' }, set(2)).phase).toBe('done');
});

test('health is no gate: with the old pod still available a Deployment is healthy, and not rolled out', () => {
  const object = {
    metadata: { generation: 2 },
    spec: { replicas: 1 },
    status: { observedGeneration: 2, replicas: 2, updatedReplicas: 1, availableReplicas: 1 },
  };
  expect([healthOf(deployment, object), rolloutOf(deployment, object).phase]).toEqual(['Healthy', 'progressing']);
});

test.each([
  ['nothing yet', {}, 'progressing', '0 active, 0 succeeded'],
  ['running', { active: 1 }, 'progressing', '1 active, 0 succeeded'],
  ['suspended', { conditions: [{ type: 'Suspended', status: 'True' }] }, 'progressing', 'suspended'],
  ['failing', { conditions: [{ type: 'FailureTarget', status: 'True' }] }, 'progressing', '0 active, 0 succeeded'],
  [
    'failed',
    { conditions: [{ type: 'Failed', status: 'True', reason: 'BackoffLimitExceeded' }] },
    'failed',
    'failed: BackoffLimitExceeded',
  ],
  ['not failed', { conditions: [{ type: 'Failed', status: 'False' }] }, 'progressing', '0 active, 0 succeeded'],
  ['complete', { succeeded: 3, conditions: [{ type: 'Complete', status: 'True' }] }, 'done', 'complete: 3 succeeded'],
])('a Job that is %s', (_, status, phase, message) => {
  expect(rolloutOf(job, { status })).toEqual({ phase, message });
});

test.each([
  [{ group: '', kind: 'ConfigMap' }, { data: {} }, 'done'],
  [{ group: '', kind: 'PersistentVolumeClaim' }, { status: { phase: 'Pending' } }, 'progressing'],
  [{ group: 'example.com', kind: 'Widget' }, { status: { conditions: [{ type: 'Ready', status: 'False' }] } }, 'progressing'],
  [{ group: 'example.com', kind: 'Widget' }, { status: { conditions: [{ type: 'Ready', status: 'True' }] } }, 'done'],
  // Not ours to know: another group's Deployment goes by its conditions.
  [{ group: 'example.com', kind: 'Deployment' }, { metadata: { generation: 9 } }, 'done'],
])('%o is gated by its health', (kind, object, phase) => {
  expect(rolloutOf(kind, object).phase).toBe(phase);
});
