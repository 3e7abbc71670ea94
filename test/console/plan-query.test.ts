import { expect, test } from 'vitest';
import { changedClusters, type ShownPlan, silentInPlan } from '../../src/console/propagation/plan-query.ts';

const objectPlan = (action: string) => ({
  key: { apiVersion: 'v1', kind: 'ConfigMap', namespace: 'shop', name: 'settings' },
  action,
  diff: null,
  predicted: false,
  conflicts: [],
  fault: null,
});
const clusterPlan = (name: string, ...actions: readonly string[]) => ({
  cluster: { name },
  chosen: true,
  reason: null,
  detail: null,
  wave: 0,
  share: null,
  overrides: [],
  unmatched: [],
  objects: actions.map(objectPlan),
  fault: null,
});
const plan: ShownPlan = {
  digest: '',
  ok: true,
  desired: null,
  placed: null,
  unplaced: 0,
  waves: [],
  clusters: [clusterPlan('east', 'UNCHANGED', 'DELETE'), clusterPlan('north', 'UNCHANGED'), clusterPlan('south', 'HOLD')],
  notes: [],
  faults: [],
  sync: [
    { cluster: { name: 'east' }, phase: 'SYNCED', ageSeconds: 1, fault: null },
    { cluster: { name: 'south' }, phase: 'STALE', ageSeconds: 12, fault: { code: 'UNREACHABLE', message: 'no route' } },
    { cluster: { name: 'south' }, phase: 'STALE', ageSeconds: 12, fault: { code: 'UNREACHABLE', message: 'no route' } },
  ],
};

test('a cluster counts as changed only if an object in it is written or deleted', () => {
  expect(changedClusters(plan)).toEqual(['east']);
});

test('a cluster that does not answer is named once', () => {
  expect(silentInPlan(plan)).toEqual([
    'south does not answer (UNREACHABLE, last seen 12s ago). Its part of the plan is from its last known state.',
  ]);
});
