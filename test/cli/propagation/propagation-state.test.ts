import { describe, expect, test } from 'vitest';
import { endVerdict, obstacleLines, reasonText, type ShownPropagation } from '../../../src/cli/propagation/propagation-state.ts';
import { progressText, propagationSummary } from '../../../src/core/columns/propagation-texts.ts';
import { copyLine, propagationState } from '../../support/cli/propagation-states.ts';

test.each([
  ['SETTLED', 'good'],
  ['SUSPENDED', 'good'],
  ['PAUSED', 'bad'],
  ['HELD', 'bad'],
  ['FAILED', 'bad'],
  ['DEGRADED', 'bad'],
  ['PLANNING', 'open'],
  ['ROLLING', 'open'],
  ['ROLLING_BACK', 'open'],
  ['DELETING', 'open'],
  ['OF_A_LATER_GATEWAY', 'open'],
])('the phase %s is %s', (phase, end) => {
  expect(endVerdict({ phase })).toBe(end);
});

describe('the summary', () => {
  test.each<readonly [string, Partial<ShownPropagation>, string]>([
    ['all done', {}, 'Settled, 2 of 2 clusters done, 4 of 4 replicas ready'],
    [
      'on its way',
      { phase: 'ROLLING', ready: 1, progress: { wave: 1, waves: 3, clusters: 5, done: 2, failed: 1 } },
      'Rolling, wave 2 of 3, 2 of 5 clusters done, 1 failed, 1 of 4 replicas ready',
    ],
    ['one cluster', { progress: { wave: 0, waves: 1, clusters: 1, done: 0, failed: 0 }, desired: null }, 'Settled, 0 of 1 cluster done'],
    [
      'past its last wave',
      { desired: null, progress: { wave: 2, waves: 2, clusters: 2, done: 1, failed: 1 } },
      'Settled, wave 2 of 2, 1 of 2 clusters done, 1 failed',
    ],
    ['too little room', { unplaced: 3, ready: null }, 'Settled, 2 of 2 clusters done, 0 of 4 replicas ready, 3 unplaced'],
    [
      'before a plan',
      { phase: 'ROLLING_BACK', desired: null, progress: { wave: 0, waves: 0, clusters: 0, done: 0, failed: 0 } },
      'RollingBack',
    ],
  ])('%s', (_, parts, expected) => {
    expect(propagationSummary(propagationState(parts))).toBe(expected);
    expect(expected.endsWith(progressText(propagationState(parts)))).toBe(true);
  });
});

const fault = { code: 'FORBIDDEN', message: 'may not', cluster: { name: 'north' } };

test.each([
  ['nothing', {}, ''],
  ['a reason', { reason: 'WAVE' }, 'WAVE'],
  ['a message', { message: 'Deployment web: 0 of 1' }, 'Deployment web: 0 of 1'],
  ['a reason, with what it means', { reason: 'DENIED', message: 'may not' }, 'DENIED: may not'],
  ['a fault that says no more', { reason: 'DENIED', message: 'may not', fault }, 'DENIED: may not'],
  ['a fault that says more', { reason: 'CONFLICT', fault }, 'CONFLICT; FORBIDDEN may not'],
  ['a fault alone', { fault }, 'FORBIDDEN may not'],
])('the reason: %s', (_, parts, expected) => {
  expect(reasonText(copyLine('north', parts))).toBe(expected);
});

describe('the obstacles', () => {
  const condition = (type: string, status: string, reason = 'R', message = 'm') => ({ type, status, reason, message });

  test('come from conditions and notes', () => {
    const state = propagationState({
      phase: 'DEGRADED',
      conditions: [
        condition('Healthy', 'False', 'Unhealthy', 'north'),
        condition('Applied', 'True'),
        condition('Applied', 'False', 'Applying', 'north'),
        condition('Fresh', 'Unknown', 'Unknown', ''),
        condition('Complete', 'False'),
      ],
      notes: [
        { severity: 'ERROR', code: 'INVALID', path: 'overrides[0]', message: 'no' },
        { severity: 'WARNING', code: 'UNPLACED', path: null, message: 'yes' },
      ],
    });
    expect(obstacleLines(state)).toEqual(['Healthy: Unhealthy north', 'INVALID overrides[0]: no']);
  });

  test('of a pause contain the command to continue', () => {
    expect(obstacleLines(propagationState({ phase: 'PAUSED' }))).toEqual(['continue with: muster rollout resume web -n shop']);
    expect(
      obstacleLines(propagationState({ phase: 'PAUSED', conditions: [condition('Progressing', 'False', 'Breach', '1 failed')] })),
    ).toEqual([
      'Progressing: Breach 1 failed',
      'continue with: muster rollout resume web -n shop; or roll back with: muster rollout rollback web -n shop',
    ]);
  });

  test('of held deletions contain the command to confirm them, and no others do', () => {
    const held = (reason: string) =>
      obstacleLines(propagationState({ phase: 'HELD', conditions: [condition('Planned', 'False', reason, '5 of 6 objects')] }));
    expect(held('PruneHeld')).toEqual([
      'Planned: PruneHeld 5 of 6 objects',
      'confirm the deletions with: muster rollout resume web -n shop --confirm-prune',
    ]);
    expect(held('PlanStale')).toEqual(['Planned: PlanStale 5 of 6 objects']);
  });
});
