import { describe, expect, test } from 'vitest';
import { diffLines } from '../../../src/cli/output/diff-lines.ts';
import { paintFor } from '../../../src/cli/output/table.ts';
import type { ClusterPlan, ObjectPlan } from '../../../src/cli/propagation/plan.ts';
import { isShownWithCluster, noteLine, planLines, refusalLines } from '../../../src/cli/propagation/plan-lines.ts';
import { planOf } from '../../support/cli/propagation-states.ts';

const plain = paintFor({ hasColor: false });
const colored = paintFor({ hasColor: true });

const key = { apiVersion: 'apps/v1', kind: 'Deployment', namespace: 'shop', name: 'web' };

function object(parts: Partial<ObjectPlan> = {}): ObjectPlan {
  return { key, action: 'UNCHANGED', diff: null, predicted: false, conflicts: [], fault: null, ...parts };
}

function chosen(cluster: string, parts: Partial<ClusterPlan> = {}): ClusterPlan {
  const nothing = { reason: null, detail: null, share: null, overrides: [], unmatched: [], objects: [], fault: null };
  return { cluster: { name: cluster }, chosen: true, wave: 0, ...nothing, ...parts };
}

const rejected = (cluster: string, reason: string, detail: string | null = null) =>
  chosen(cluster, { chosen: false, wave: null, reason, detail });

const fault = { code: 'UNREACHABLE', message: 'the connection was refused', cluster: { name: 'east' } };

test('a plan has a table of clusters, their changes, its notes and its digest', () => {
  const plan = planOf({
    desired: 5,
    placed: 4,
    unplaced: 1,
    waves: ['first', 'rest'],
    clusters: [
      chosen('east', { wave: 1, fault }),
      chosen('north', {
        share: { from: 2, to: 4 },
        overrides: ['tag', 'env'],
        unmatched: ['labels'],
        objects: [object({ action: 'UPDATE', diff: '--- live\n+++ planned\n@@ -1 +1 @@\n-a: 1\n+a: 2\n' }), object()],
      }),
      chosen('south', { wave: 1, share: { from: 0, to: 0 }, objects: [object()] }),
      rejected('west', 'TAINT', 'dedicated=gpu'),
      { ...rejected('old', 'NOT_NAMED'), objects: [object({ action: 'DELETE' })] },
    ],
    notes: [
      { severity: 'WARNING', code: 'UNPLACED', message: '1 replica has no place', path: 'replicas' },
      { severity: 'INFO', code: 'SOMETHING', message: 'is so', path: null },
    ],
  });
  expect(planLines(plan, plain)).toEqual([
    'CLUSTER   CHOSEN                    REPLICAS   WAVE    ACTIONS                 OVERRIDES',
    'east      yes                                  rest    UNREACHABLE',
    'north     yes                       2→4        first   UPDATE 1, UNCHANGED 1   tag,env',
    'south     yes                       0          rest    UNCHANGED',
    'west      no: TAINT dedicated=gpu',
    'old       no: NOT_NAMED                                DELETE',
    '',
    'east: UNREACHABLE the connection was refused',
    '',
    'north/shop/deployment.apps/web UPDATE',
    '--- live',
    '+++ planned',
    '@@ -1 +1 @@',
    '-a: 1',
    '+a: 2',
    '',
    'old/shop/deployment.apps/web DELETE',
    '',
    'north: override labels changes nothing',
    'warning: UNPLACED replicas: 1 replica has no place',
    'note: SOMETHING: is so',
    'replicas: 4 placed of 5, 1 unplaced',
    '',
    'digest: d1',
  ]);
});

test.each<readonly [string, Partial<ClusterPlan>, string]>([
  ['one is to be made', { objects: [object({ action: 'CREATE' })] }, 'CREATE'],
  ['the one is refused', { objects: [object({ action: 'CREATE', fault: { ...fault, code: 'INVALID' } })] }, 'INVALID'],
  [
    'one of several is refused',
    { objects: [object({ action: 'CREATE' }), object({ action: 'CREATE', fault: { ...fault, code: 'FORBIDDEN' } }), object()] },
    'CREATE 1, FORBIDDEN 1, UNCHANGED 1',
  ],
  ['nobody answers', { objects: [object({ action: 'CREATE' })], fault }, 'UNREACHABLE'],
])('the row of a cluster shows its actions, and what it refuses: %s', (_, parts, expected) => {
  expect(
    planLines(planOf({ clusters: [chosen('north', parts)] }), plain)[1]
      ?.split(/ {2,}/)
      .slice(3),
  ).toEqual([expected]);
});

test('an empty plan still has a digest', () => {
  expect(planLines(planOf(), plain)).toEqual(['digest: d1']);
  expect(planLines({ ...planOf(), ok: false, digest: '' }, plain)).toEqual([]);
});

describe('an object', () => {
  const linesOf = (parts: Partial<ObjectPlan>) =>
    planLines(planOf({ clusters: [chosen('north', { objects: [object(parts)] })] }), plain).slice(3, -2);

  test.each<readonly [string, Partial<ObjectPlan>, readonly string[]]>([
    ['that stays as it is is not told', {}, []],
    ['that is taken is told, though nothing changes', { action: 'ADOPT' }, ['north/shop/deployment.apps/web ADOPT']],
    [
      'nobody could be asked about says why',
      { action: 'CREATE', predicted: true },
      ['north/shop/deployment.apps/web CREATE (not checked: the plan creates its namespace or its kind)'],
    ],
    [
      'that others manage tells who, and what',
      { action: 'HOLD', conflicts: [{ manager: 'kubectl', path: '.spec.replicas' }] },
      ['north/shop/deployment.apps/web HOLD', 'CONFLICT .spec.replicas is managed by kubectl'],
    ],
    [
      'that is refused tells what the API server said',
      { fault: { code: 'INVALID', message: 'it is refused', cluster: { name: 'north' }, status: { message: 'spec.zzz: unknown' } } },
      ['north/shop/deployment.apps/web UNCHANGED', 'INVALID it is refused: spec.zzz: unknown'],
    ],
    ['of no namespace says none', { action: 'CREATE', key: { ...key, namespace: null } }, ['north//deployment.apps/web CREATE']],
  ])('%s', (_, parts, expected) => {
    expect(linesOf(parts)).toEqual(expected);
  });
});

test('terminal control characters are not printed', () => {
  const plan = planOf({
    clusters: [rejected('no\x1b[31mrth', 'LABELS', 'a\nb')],
    notes: [{ severity: 'ERROR', code: 'X', message: '\x07', path: 'a\nb' }],
  });
  expect(planLines(plan, plain).slice(1, 4)).toEqual(['no^[[31mrth   no: LABELS a b', '', 'error: X a b: ^G']);
});

test('colors mark additions, deletions, faults and clusters left out', () => {
  const plan = planOf({
    clusters: [
      chosen('north', { objects: [object({ conflicts: [{ manager: 'm', path: 'p' }] })] }),
      rejected('west', 'LABELS'),
      chosen('south'),
    ],
  });
  const lines = planLines(plan, colored);
  expect(lines.slice(0, 4).map((line) => /(?!\s)\p{Cc}\[(\d+)m/u.exec(line)?.[1])).toEqual(['1', '31', '2', undefined]);
  expect(diffLines('--- live\n+++ planned\n@@ -1 +1 @@\n-a\n+b\n c\n', colored)).toEqual([
    '\x1b[1m--- live\x1b[0m',
    '\x1b[1m+++ planned\x1b[0m',
    '\x1b[36m@@ -1 +1 @@\x1b[0m',
    '\x1b[31m-a\x1b[0m',
    '\x1b[32m+b\x1b[0m',
    ' c',
  ]);
});

test.each<readonly [string, string, string | null, string]>([
  ['ERROR', 'INVALID', 'overrides[0]', 'error: INVALID overrides[0]: m'],
  ['WARNING', 'UNPLACED', null, 'warning: UNPLACED: m'],
  ['INFO', 'X', null, 'note: X: m'],
])('a note of severity %s is a line', (severity, code, path, line) => {
  expect(noteLine({ severity, code, path, message: 'm' })).toBe(line);
});

test('problems of a plan are listed object by object', () => {
  const plan = planOf({
    clusters: [
      chosen('east', { fault }),
      chosen('north', {
        objects: [
          object(),
          object({ conflicts: [{ manager: 'helm', path: '.data' }], fault: { ...fault, code: 'CONFLICT', message: 'no' } }),
        ],
      }),
    ],
  });
  expect(refusalLines(plan)).toEqual([
    'east: UNREACHABLE the connection was refused',
    'north/shop/deployment.apps/web: CONFLICT .data is managed by helm',
    'north/shop/deployment.apps/web: CONFLICT no',
  ]);
});

test('a fault of a cluster in the plan is shown with that cluster', () => {
  const plan = planOf({ clusters: [chosen('east', { fault }), chosen('north')], faults: [fault] });
  expect(isShownWithCluster(plan, fault)).toBe(true);
  expect(isShownWithCluster(plan, { ...fault, cluster: { name: 'north' } })).toBe(false);
  expect(isShownWithCluster(plan, { ...fault, message: 'other' })).toBe(false);
});
