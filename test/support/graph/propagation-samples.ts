import { clusterName } from '../../../src/core/names.ts';
import type { GraphContext } from '../../../src/graph/context/context.ts';
import type { PropagationPlan } from '../../../src/propagate/model/plan.ts';
import type { Propagation, PropagationRevision } from '../../../src/propagate/model/propagation.ts';
import type { Propagations, PropagationView } from '../../../src/propagate/model/propagations.ts';
import { parseSpec } from '../../../src/propagate/model/spec.ts';
import { noWrites } from './no-writes.ts';

const at = '2026-01-01T00:00:00.000Z';
const key = { apiVersion: 'apps/v1', kind: 'Deployment', namespace: 'shop', name: 'web' };
const manifest = { apiVersion: 'apps/v1', kind: 'Deployment', metadata: { name: 'web', namespace: 'shop' }, spec: { replicas: 2 } };
const document = { template: [{ json: manifest }], placement: {}, completion: { mode: 'Count', count: 2 } };

/** Makes a Propagation with a value in every field. */
function samplePropagation(more: Partial<Propagation['status']> = {}): Propagation {
  const spec = parseSpec({ ...document, requester: { user: 'alice', at } });
  if ('problems' in spec) throw new Error(JSON.stringify(spec.problems));
  return {
    metadata: {
      namespace: 'shop',
      name: 'web',
      uid: 'u-1',
      version: '42' as Propagation['metadata']['version'],
      generation: 3,
      labels: { team: 'a' },
      annotations: {},
      finalizers: [],
      owners: [],
    },
    document,
    spec,
    status: {
      observedGeneration: 3,
      revision: 2,
      digest: 'sha256:abc',
      scheduledAt: at,
      affinityGroup: 'first',
      phase: 'Rolling',
      paused: true,
      progress: { wave: 1, waves: 2, clusters: 3, done: 1, failed: 1, since: at, nextCheckAt: at },
      desired: 6,
      placed: 5,
      unplaced: 1,
      ready: 4,
      unknown: ['south'],
      clusters: [
        {
          ...{ cluster: 'north', phase: 'RollingBack', reason: 'ForeignFinalizer', message: 'm', wave: 1, replicas: 2, ready: 1 },
          ...{ health: 'Unhealthy', since: at, asOf: at, fault: { code: 'CONFLICT', message: 'c', since: at } },
        },
        { cluster: 'gone', phase: 'Unknown', health: 'Unknown', since: at },
      ],
      conditions: [
        { type: 'Applied', status: 'False', reason: 'Applying', message: 'north', lastTransitionTime: at, observedGeneration: 3 },
      ],
      aggregate: [
        {
          ...{ key, status: { readyReplicas: 4 }, observed: true, health: 'Healthy' },
          conditions: [{ cluster: 'north', condition: { type: 'Available', status: 'True' } }],
        },
      ],
      completion: { mode: 'Count', needed: 2, complete: 1, failed: 1, done: false },
      notes: [{ severity: 'WARNING', code: 'UNPLACED', message: 'one', path: 'replicas' }],
      ...more,
    },
  };
}

export function sampleView(more: Partial<Propagation['status']> = {}): PropagationView {
  const propagation = samplePropagation(more);
  return {
    propagation,
    phase: propagation.status.phase ?? 'Planning',
    isPaused: propagation.status.paused ?? false,
    objects: [
      {
        cluster: 'north',
        entries: [
          {
            ...{ key, state: 'PendingDeletion', uid: 'c-1', intent: 'hidden', action: 'Configured', health: 'Healthy' },
            fault: { code: 'FORBIDDEN', message: 'f', since: at },
          },
        ],
      },
    ],
    faults: [{ code: 'UNREACHABLE', cluster: clusterName('south'), message: 'u', retry: 'LATER' }],
  };
}

/** Makes a plan with a value in every field. It has chosen `north` and not `south`. */
export function samplePlan(): PropagationPlan {
  const cluster = clusterName('north');
  const south = clusterName('south');
  const share = {
    cluster,
    from: 1,
    to: 2,
    kept: 1,
    strategy: 'Weighted',
    weight: 1.5,
    min: 1,
    max: 4,
    capacity: 9,
    completions: 3,
  } as const;
  return {
    digest: 'sha256:def',
    ok: false,
    asOfMs: Date.parse(at),
    desired: 6,
    placed: 5,
    unplaced: 1,
    waves: ['canary', 'rest'],
    clusters: [
      {
        cluster,
        rendered: {
          chosen: { cluster, group: 'first', tier: 1, score: 100, available: 10 },
          ...{ wave: 1, share, overrides: ['canary'], unmatched: ['overrides[1]'], objects: [] },
        },
        objects: [
          {
            ...{
              key,
              action: 'UPDATE',
              manifest,
              diff: '-a\n+b',
              predicted: true,
              conflicts: [{ manager: 'argo', path: '.spec.replicas' }],
            },
            fault: { code: 'INVALID', cluster, message: 'i', retry: 'NEVER' },
          },
        ],
      },
      {
        cluster: south,
        reason: 'TAINT',
        detail: 'dedicated',
        objects: [],
        fault: { code: 'TIMED_OUT', cluster: south, message: 't', retry: 'LATER' },
      },
    ],
    notes: [{ severity: 'ERROR', code: 'UNPLACED', message: 'one', path: 'replicas' }],
    faults: [{ code: 'TIMED_OUT', cluster: south, message: 't', retry: 'LATER' }],
  };
}

export const sampleRevision: PropagationRevision = {
  ...{ revision: 2, createdAt: at, requester: 'alice', digest: 'sha256:abc', document },
  isRolledBack: false,
};

/** Makes Propagations with scripted calls. Every other call throws. */
export function scriptedPropagations(script: Partial<Propagations>): Pick<GraphContext, 'propagations'> {
  return {
    propagations: new Proxy(noWrites.propagations, {
      get: (target, name, self) => Reflect.get(script, name) ?? Reflect.get(target, name, self),
    }),
  };
}
