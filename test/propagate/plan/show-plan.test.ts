import { expect, test } from 'vitest';
import { clusterName } from '../../../src/core/names.ts';
import { createSensitiveKinds } from '../../../src/core/sensitive-kinds.ts';
import type { Manifest } from '../../../src/manifests/manifest.ts';
import type { DryRun } from '../../../src/propagate/plan/dry-run.ts';
import { renderPlan } from '../../../src/propagate/plan/render-plan.ts';
import { showPlan } from '../../../src/propagate/plan/show-plan.ts';
import { comparisonRules, configMap, entry, existingObject, type SnapshotFacts, shareOf, snapshotOf } from './snapshots.ts';

const a = clusterName('a');

function show(facts: SnapshotFacts, answers: Readonly<Record<string, DryRun>> = {}) {
  const snapshot = snapshotOf(facts);
  const rendered = renderPlan(snapshot, comparisonRules);
  const said = new Map([['a', new Map(Object.entries(answers))]]);
  return showPlan(
    { snapshot, rendered, answers: said, notes: rendered.notes },
    { sensitiveKinds: createSensitiveKinds(['Config.example.com']) },
  );
}

const objectsIn = (plan: ReturnType<typeof show>, cluster: string) => plan.clusters.find((one) => one.cluster === cluster)?.objects ?? [];

test('shows every cluster once by name, chosen, rejected or left, with its removals', () => {
  const old = entry(configMap('old'), { uid: 'u' });
  const plan = show({
    spec: { placement: { exclude: ['b', '0'] } },
    clusters: { c: {}, b: { entries: [old] }, a: { entries: [old] } },
    sharesOutsideFleet: [shareOf('0', [old]), shareOf('1', [old])],
  });

  expect(
    plan.clusters.map(({ cluster, rendered, reason, fault, objects }) => [
      cluster,
      rendered !== undefined,
      reason,
      fault?.code,
      objects.map(({ action }) => action),
    ]),
  ).toEqual([
    ['0', false, undefined, 'GONE', ['DELETE']],
    ['1', false, undefined, 'GONE', []],
    ['a', true, undefined, undefined, ['CREATE', 'DELETE']],
    ['b', false, 'EXCLUDED', undefined, ['DELETE']],
    ['c', true, undefined, undefined, ['CREATE']],
  ]);
  expect(plan.faults.map(({ code }) => code)).toEqual(['GONE', 'GONE']);
});

test('shows no removal in a plan with an error, even if no cluster is chosen', () => {
  const old = entry(configMap('old'), { uid: 'u' });
  const plan = show({
    spec: { placement: { exclude: ['a', 'b'] } },
    clusters: { a: { entries: [old] }, b: {} },
    sharesOutsideFleet: [shareOf('0', [old])],
  });
  expect([plan.ok, plan.notes.map(({ code }) => code)]).toEqual([false, expect.arrayContaining(['NOTHING_CHOSEN'])]);
  expect(plan.clusters.flatMap(({ objects }) => objects)).toEqual([]);
});

test('shows removals that need a confirmation as held', () => {
  const owned = Array.from({ length: 5 }, (_, index) => entry(configMap(`m${index}`), { uid: `u${index}` }));
  const plan = show({ clusters: { a: { entries: owned } } });

  expect(objectsIn(plan, 'a').map(({ action }) => action)).toEqual(['CREATE', ...Array(5).fill('HOLD')]);
  expect([plan.ok, plan.notes.map(({ code }) => code)]).toEqual([true, ['PRUNE_HELD']]);
});

test('shows neither values of sensitive kinds nor their sources', () => {
  const manifest: Manifest = {
    apiVersion: 'example.com/v1',
    kind: 'Config',
    metadata: { name: 'keys', namespace: 'default' },
    spec: { password: 'hunter2', user: 'x' },
  };
  const after = { ...existingObject(manifest, 'u'), spec: { password: 'hunter2', user: 'x' } };
  const plan = show(
    { template: [manifest], clusters: { a: {} } },
    { 'example.com/Config/default/keys': { result: 'accepted', object: after, conflicts: [] } },
  );
  const [object] = objectsIn(plan, 'a');

  expect(object?.manifest).toEqual({ apiVersion: 'example.com/v1', kind: 'Config', metadata: { name: 'keys', namespace: 'default' } });
  expect(object?.diff).toMatch(/password: .*changed/);
  expect(JSON.stringify(plan.clusters.map(({ objects }) => objects))).not.toContain('hunter2');
});

test.each<{ readonly answer: DryRun; readonly code: string | undefined; readonly ofCluster: boolean }>([
  {
    answer: { result: 'failed', fault: { code: 'TIMED_OUT', cluster: a, message: 'no answer within 10 s', retry: 'LATER' } },
    code: 'TIMED_OUT',
    ofCluster: true,
  },
  {
    answer: { result: 'failed', fault: { code: 'UNREACHABLE', cluster: a, message: 'refused', retry: 'LATER' } },
    code: 'UNREACHABLE',
    ofCluster: true,
  },
  {
    answer: { result: 'failed', fault: { code: 'INVALID', cluster: a, message: 'no', retry: 'NEVER' } },
    code: 'INVALID',
    ofCluster: false,
  },
  { answer: { result: 'stale', live: { result: 'absent', asOfMs: 1 } }, code: 'CONFLICT', ofCluster: false },
  { answer: { result: 'unserved' }, code: 'NOT_SERVED', ofCluster: false },
  { answer: { result: 'accepted', object: existingObject(configMap('settings'), 'u'), conflicts: [] }, code: undefined, ofCluster: false },
])('shows $code as a fault of the cluster: $ofCluster', ({ answer, code, ofCluster }) => {
  const plan = show({ clusters: { a: {} } }, { '/ConfigMap/default/settings': answer });

  expect(objectsIn(plan, 'a')[0]?.fault?.code).toBe(code);
  expect(plan.clusters[0]?.fault?.code).toBe(ofCluster ? code : undefined);
  expect(plan.faults).toHaveLength(ofCluster ? 1 : 0);
});
