import { describe, expect, test } from 'vitest';
import type { JsonObject } from '../../../../src/core/json.ts';
import { areReplicasChanged, isRescheduleRequested, rescheduleDueMs } from '../../../../src/propagate/plan/placing/reschedule.ts';
import { type WorkloadCount, withWorkloadCount, workloadCountOf } from '../../../../src/propagate/plan/placing/workload-count.ts';

describe('the count of a workload', () => {
  test.each<[string, JsonObject, WorkloadCount | undefined]>([
    ['its replicas', workload('apps/v1', 'Deployment', { replicas: 3 }), { count: 3 }],
    ['none', workload('apps/v1', 'StatefulSet', { replicas: 0 }), { count: 0 }],
    ['one, if nothing is said', workload('apps/v1', 'ReplicaSet', {}), { count: 1 }],
    ['one, if nonsense is said', workload('v1', 'ReplicationController', { replicas: 'many' }), { count: 1 }],
    ['of a Job what may run at once', workload('batch/v1', 'Job', { parallelism: 4 }), { count: 4 }],
    ['of a Job no more than is to succeed', workload('batch/v1', 'Job', { parallelism: 4, completions: 3 }), { count: 3, completions: 3 }],
    ['of a Job one after the other', workload('batch/v1', 'Job', { completions: 3 }), { count: 1, completions: 3 }],
    ['of a Job that says nothing', workload('batch/v1', 'Job', {}), { count: 1 }],
    ['of a suspended Job', workload('batch/v1', 'Job', { parallelism: 0, completions: 3 }), { count: 0, completions: 3 }],
    ['of a Pod', workload('v1', 'Pod', {}), { count: 1 }],
    ['of a DaemonSet nothing', workload('apps/v1', 'DaemonSet', {}), undefined],
    ['of a ConfigMap nothing', { apiVersion: 'v1', kind: 'ConfigMap' }, undefined],
    ['of another Deployment nothing', workload('example.dev/v1', 'Deployment', { replicas: 3 }), undefined],
    ['of what is no kind at all', { apiVersion: 'v1', kind: 'constructor' }, undefined],
  ])('%s', (_, manifest, count) => {
    expect(workloadCountOf(manifest)).toEqual(count);
  });

  test('of a custom kind is at the path of its scale subresource', () => {
    const own = workload('example.dev/v1', 'Farm', { size: { workers: 4 } });
    const path = ['spec', 'size', 'workers'];
    expect(workloadCountOf(own, path)).toEqual({ count: 4 });
    expect(withWorkloadCount(own, { count: 7 }, path)).toEqual(workload('example.dev/v1', 'Farm', { size: { workers: 7 } }));
  });

  test('is written to its field, and nothing else changes', () => {
    const deployment = Object.freeze(workload('apps/v1', 'Deployment', Object.freeze({ replicas: 3, paused: true })));
    expect(withWorkloadCount(deployment, { count: 5 })).toEqual(workload('apps/v1', 'Deployment', { replicas: 5, paused: true }));
    expect(withWorkloadCount({ apiVersion: 'apps/v1', kind: 'Deployment' }, { count: 5 })).toEqual(
      workload('apps/v1', 'Deployment', { replicas: 5 }),
    );
    expect(deployment).toEqual(workload('apps/v1', 'Deployment', { replicas: 3, paused: true }));
  });

  test('of a Job is written with its completions', () => {
    const job = workload('batch/v1', 'Job', { parallelism: 4, completions: 8 });
    expect(withWorkloadCount(job, { count: 1, completions: 2 })).toEqual(workload('batch/v1', 'Job', { parallelism: 1, completions: 2 }));
    expect(withWorkloadCount(job, { count: 1 })).toEqual(workload('batch/v1', 'Job', { parallelism: 1, completions: 8 }));
    expect(withWorkloadCount(workload('apps/v1', 'Deployment', {}), { count: 1, completions: 2 })).toEqual(
      workload('apps/v1', 'Deployment', { replicas: 1 }),
    );
  });

  test('is not written to an object that has none', () => {
    const pod = workload('v1', 'Pod', {});
    expect(withWorkloadCount(pod, { count: 5 })).toBe(pod);
  });
});

describe('replicas are planned again', () => {
  test.each<[string | undefined, string | undefined, boolean]>([
    ['2026-01-01T00:00:01Z', '2026-01-01T00:00:00Z', true],
    ['2026-01-01T00:00:00Z', '2026-01-01T00:00:00Z', false],
    ['2026-01-01T00:00:00.000000002Z', '2026-01-01T00:00:00.000000001Z', true],
    ['2026-01-01T01:00:00+01:00', '2026-01-01T00:00:00Z', false],
    ['2025-12-31T00:00:00Z', '2026-01-01T00:00:00Z', false],
    [undefined, '2026-01-01T00:00:00Z', false],
    ['2026-01-01T00:00:00Z', undefined, false],
    ['tomorrow', '2026-01-01T00:00:00Z', false],
  ])('asked for %s, decided %s: %s', (rescheduleAt, scheduledAt, expected) => {
    expect(isRescheduleRequested({ rescheduleAt, scheduledAt })).toBe(expected);
    expect(rescheduleDueMs({ rescheduleAt, scheduledAt })).toBe(expected ? Math.floor(Date.parse(rescheduleAt ?? '')) : undefined);
  });

  test.each([
    ['Duplicated', 5, [5, 5], false],
    ['Duplicated', 5, [5, 4], true],
    ['Duplicated', 5, [], false],
    ['Divided', 5, [3, 2], false],
    ['Divided', 5, [3, 3], true],
    ['Divided', 5, [], true],
    ['External', 5, [1], false],
  ] as const)('%s %i, placed %j: %s', (mode, count, placed, expected) => {
    const counts: readonly number[] = placed;
    expect(
      areReplicasChanged(
        count,
        counts.map((replicas) => ({ replicas })),
        mode,
      ),
    ).toBe(expected);
  });
});

function workload(apiVersion: string, kind: string, spec: JsonObject): JsonObject {
  return { apiVersion, kind, spec };
}
