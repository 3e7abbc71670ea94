import { expect, test } from 'vitest';
import type { JsonObject } from '../../../src/core/json.ts';
import { workloadReplicasOf } from '../../../src/propagate/controller/decide-rollout.ts';
import type { CopyFacts } from '../../../src/propagate/status/facts.ts';

/** A copy as its mirror holds it: items of lists have no kind. */
function copy(apiVersion: string, kind: string, rest: JsonObject | 'absent'): CopyFacts {
  const key = { apiVersion, kind, namespace: 'default', name: kind };
  const entry = { key, state: 'Owned', uid: 'u1', health: 'Healthy' } as const;
  if (rest === 'absent') return { entry, mirrored: { result: 'absent', asOfMs: 0 } };
  const object = { metadata: { name: kind, namespace: 'default', uid: 'u1', generation: 1 }, ...rest };
  return { entry, mirrored: { result: 'held', object, asOfMs: 0 } };
}

const web = copy('apps/v1', 'Deployment', { spec: { replicas: 4 }, status: { observedGeneration: 1, readyReplicas: 3 } });
const data = copy('apps/v1', 'StatefulSet', { spec: { replicas: 2 }, status: { observedGeneration: 1, readyReplicas: 2 } });
const settings = copy('v1', 'ConfigMap', { data: { a: '1' } });

test.each<[string, readonly CopyFacts[], ReturnType<typeof workloadReplicasOf>]>([
  ['all workloads of a cluster together', [settings, web, data], { wanted: 6, ready: 5 }],
  ['one workload', [web], { wanted: 4, ready: 3 }],
  ['a workload that is not there counts nothing', [web, copy('apps/v1', 'ReplicaSet', 'absent')], { wanted: 4, ready: 3 }],
  ['nothing where there is none', [settings], undefined],
])('%s', (_name, copies, replicas) => {
  expect(workloadReplicasOf(copies)).toEqual(replicas);
});
