import { expect, test } from 'vitest';
import type { JsonObject } from '../../../../src/core/json.ts';
import { clusterName } from '../../../../src/core/names.ts';
import type { KubernetesObject } from '../../../../src/core/objects.ts';
import { keyOfManifest, textOfKey } from '../../../../src/manifests/object-key.ts';
import type { RunningReplicas } from '../../../../src/propagate/model/placement.ts';
import { runningReplicasIn } from '../../../../src/propagate/plan/snapshot/running-replicas.ts';
import { createManualClock } from '../../../support/manual-clock.ts';
import { deployment, existingObject } from '../snapshots.ts';

const clock = createManualClock();
const at = (secondsAgo: number) => new Date(clock.now() - secondsAgo * 1_000).toISOString();
const manifest = deployment('web', 4);
const north = clusterName('north');

function pod(name: string, status: JsonObject, labels: Readonly<Record<string, string>> = { app: 'web' }): KubernetesObject {
  return { apiVersion: 'v1', kind: 'Pod', metadata: { name, namespace: 'default', labels }, status };
}

const ready = { phase: 'Running', conditions: [{ type: 'Ready', status: 'True' }] };
const restarting = { phase: 'Running', conditions: [{ type: 'Ready', status: 'False' }] };
const waiting = (seconds: number) => ({
  phase: 'Pending',
  conditions: [{ type: 'PodScheduled', status: 'False', reason: 'Unschedulable', lastTransitionTime: at(seconds) }],
});

function runningOf(
  readyReplicas: number | undefined,
  pods: readonly KubernetesObject[] | undefined,
  mayListPods = (_namespace: string | undefined) => true,
): RunningReplicas | undefined {
  const status = readyReplicas === undefined ? {} : { readyReplicas };
  const live = new Map([
    [textOfKey(keyOfManifest(manifest)), { result: 'held', object: { ...existingObject(manifest, 'u'), status }, asOfMs: 0 } as const],
  ]);
  const members = { objects: { all: () => pods } };
  return runningReplicasIn({ members: members as never, clock }, north, { manifests: [manifest], live, mayListPods }).get(0);
}

test.each<[what: string, readyReplicas: number | undefined, pods: readonly KubernetesObject[] | undefined, expected: RunningReplicas]>([
  ['are its ready replicas if all are ready', 4, [pod('a', waiting(90))], { current: 4 }],
  ['are Pods that run and have a Ready condition of any status', 1, [pod('a', ready), pod('b', restarting)], { current: 2 }],
  [
    'leave no room for Pods that wait for more than 60 s',
    1,
    [pod('a', ready), pod('b', waiting(61)), pod('c', waiting(59))],
    { current: 1, capacity: 3 },
  ],
  ['are not Pods of other workloads', undefined, [pod('a', ready, { app: 'other' })], { current: 0 }],
  ['are its ready replicas while the Pods are unread', 3, undefined, { current: 3 }],
])('the running replicas of a workload %s', (_what, readyReplicas, pods, expected) => {
  expect(runningOf(readyReplicas, pods)).toEqual(expected);
});

test('the Pods of a namespace are not counted for a requester who may not list them there', () => {
  const pods = [pod('a', ready), pod('b', ready)];
  expect(runningOf(1, pods, (namespace) => namespace !== 'default')).toEqual({ current: 1 });
  expect(runningOf(1, pods, (namespace) => namespace === 'default')).toEqual({ current: 2 });
});

test('a workload that does not exist, and a Job, have no running replicas', () => {
  const job = { apiVersion: 'batch/v1', kind: 'Job', metadata: { name: 'pi', namespace: 'default' } };
  const live = new Map([
    [textOfKey(keyOfManifest(manifest)), { result: 'absent', asOfMs: 0 } as const],
    [textOfKey(keyOfManifest(job)), { result: 'held', object: existingObject(job, 'u'), asOfMs: 0 } as const],
  ]);
  const members = { objects: { all: () => [] } };
  expect(
    runningReplicasIn({ members: members as never, clock }, north, { manifests: [manifest, job], live, mayListPods: () => true }).size,
  ).toBe(0);
});
