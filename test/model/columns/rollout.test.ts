import { describe, expect, test } from 'vitest';
import type { JsonObject } from '../../../src/core/json.ts';
import { workloadRolloutOf } from '../../../src/model/columns/rollout.ts';
import { kubectlRollouts } from './kubectl-rollouts.ts';

const apps = (kind: string) => ({ group: 'apps', kind });

describe('the verdict of kubectl rollout status', () => {
  const phases = { waiting: 'progressing', done: 'done', failed: 'failed', refused: 'done' } as const;

  test.each(kubectlRollouts.map((one, index) => [`${index} ${one.kind} ${one.says}`, one] as const))('%s', (_, { kind, says, object }) => {
    expect(workloadRolloutOf(apps(kind), object)?.phase).toBe(phases[says]);
  });

  test('each of its verdicts is among them', () => {
    expect(new Set(kubectlRollouts.map(({ says }) => says))).toEqual(new Set(['waiting', 'done', 'failed', 'refused']));
    expect(new Set(kubectlRollouts.map(({ kind }) => kind))).toEqual(new Set(['Deployment', 'StatefulSet', 'DaemonSet']));
  });
});

describe('the figures that decide', () => {
  const sized = (spec: JsonObject, status: JsonObject) => ({
    metadata: { generation: 2 },
    spec,
    status: { observedGeneration: 2, ...status },
  });

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
    expect(workloadRolloutOf(apps(kind), object)?.message).toBe(message);
  });
});

test('with OnDelete nothing is waited for but that all pods are there', () => {
  const set = (readyReplicas: number) => ({
    metadata: { generation: 1 },
    spec: { replicas: 2, updateStrategy: { type: 'OnDelete' } },
    status: { observedGeneration: 1, readyReplicas, currentRevision: 'a', updateRevision: 'b' },
  });
  expect(workloadRolloutOf(apps('StatefulSet'), set(1))?.phase).toBe('progressing');
  expect(workloadRolloutOf(apps('StatefulSet'), set(2))?.phase).toBe('done');
});

test("of other kinds there is none, nor of another group's Deployment", () => {
  const kinds = ['ReplicaSet', 'ControllerRevision'].map(apps);
  for (const kind of [...kinds, { group: 'batch', kind: 'Job' }, { group: 'extensions', kind: 'Deployment' }]) {
    expect(workloadRolloutOf(kind, {})).toBeUndefined();
  }
});

test.each(['Deployment', 'StatefulSet', 'DaemonSet'])('a %s without anything in it is not observed', (kind) => {
  for (const strange of [
    {},
    { metadata: null, status: null },
    { metadata: { generation: '3' }, spec: [], status: { observedGeneration: {} } },
  ]) {
    expect(workloadRolloutOf(apps(kind), strange as unknown as JsonObject)?.phase).toBe('progressing');
  }
});
