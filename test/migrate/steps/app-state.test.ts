import { describe, expect, test } from 'vitest';
import { isHalted } from '../../../src/migrate/model/migrated-app.ts';
import type { HookCall, MigratedApp, MigrationStatus } from '../../../src/migrate/model/migration-status-definition.ts';
import { atStep, runnableApps, summarized } from '../../../src/migrate/steps/app-state.ts';

const at = '2026-11-23T00:00:00Z';
const room = { pods: 2, cpu: '0', memory: '0' };
const key = (name: string) => ({ apiVersion: 'apps/v1', kind: 'Deployment', namespace: 'shop', name });

type More = Partial<MigratedApp>;

function app(step: MigratedApp['step'], more: More = {}): MigratedApp {
  return { ...{ key: key('a'), step, since: at, from: 2, to: 2, needs: room, free: room, source: [], target: [], calls: [] }, ...more };
}

const failed: More = { reason: 'TimedOut' };
const away: More = { reason: 'Unreachable', source: [{ key: key('a'), state: 'PendingDeletion', uid: 'u', health: 'Unknown' }] };
const requested: More = { undo: { isRequested: true } };
const begun: More = { ...requested, deadlineSince: at };
const ofOne: More = { propagation: { namespace: 'shop', name: 'p', uid: 'p' } };
const call = (operation: HookCall['operation'], state: HookCall['state']): HookCall => ({ operation, state, id: 'i', since: at });
const refused: More = { ...begun, calls: [call('Shift', 'Done'), call('Undo', 'Failed')] };

const statusOf = (apps: readonly MigratedApp[], more: Partial<MigrationStatus> = {}): MigrationStatus => ({
  plannedAt: at,
  apps: apps.map((one, index) => ({ ...one, key: key(`app-${index}`) })),
  ...more,
});

describe('the applications that may run', () => {
  test.each([
    { name: 'are all without a limit', apps: [app('Preflight'), app('Surge'), app('Health')], limit: undefined, run: [1, 2, 0] },
    { name: 'are as many as the limit', apps: [app('Preflight'), app('Preflight'), app('Preflight')], limit: 2, run: [0, 1] },
    { name: 'go on before others begin', apps: [app('Preflight'), app('Soak')], limit: 1, run: [1] },
    { name: 'are not those that have ended', apps: [app('Done'), app('Skipped'), app('Undone'), app('Preflight')], limit: 1, run: [3] },
    { name: 'are not those that have failed', apps: [app('Health', failed), app('Preflight')], limit: 1, run: [1] },
    { name: 'are also those whose source is away, without a slot', apps: [app('Drain', away), app('Preflight')], limit: 1, run: [0, 1] },
    {
      name: 'that wait for their target keep their slot',
      apps: [app('Health', { reason: 'Unreachable' }), app('Preflight')],
      limit: 1,
      run: [0],
    },
    { name: 'go back in reverse order', apps: [app('Done', requested), app('Done', requested)], limit: 1, run: [1] },
    { name: 'go back one after the other', apps: [app('Done', requested), app('Soak', begun)], limit: 1, run: [1] },
    { name: 'go back before others begin', apps: [app('Preflight'), app('Health', requested)], limit: 1, run: [1] },
    { name: 'that are back leave their slot', apps: [app('Done', requested), app('Undone', requested)], limit: 1, run: [0] },
    {
      name: 'of one Propagation take one slot',
      apps: [app('Soak', ofOne), app('Preflight'), app('Preflight', ofOne)],
      limit: 1,
      run: [0, 2],
    },
  ])('$name', ({ apps, limit, run }) => {
    const maxConcurrency = limit === undefined ? {} : { maxConcurrency: limit };
    expect(runnableApps(statusOf(apps), { onFailure: 'Continue', ...maxConcurrency })).toEqual(run);
  });

  test('are only those that have begun while a failure pauses the migration', () => {
    const apps = [app('Health', failed), app('Preflight'), app('Soak'), app('Drain', away)];
    expect(runnableApps(statusOf(apps), { onFailure: 'Pause' })).toEqual([2, 3]);
  });
});

describe('the phase of a Migration', () => {
  test.each([
    { name: 'that has begun', apps: [app('Preflight'), app('Done')], phase: 'Rolling' },
    { name: 'that is done', apps: [app('Done'), app('Done')], phase: 'Settled' },
    { name: 'with a skipped application', apps: [app('Done'), app('Skipped')], phase: 'Degraded' },
    { name: 'whose source is away', apps: [app('Drain', away), app('Done')], phase: 'Degraded' },
    { name: 'with a failure', apps: [app('Health', failed), app('Health')], phase: 'Paused' },
    { name: 'that goes on after a failure', apps: [app('Health', failed), app('Health')], onFailure: 'Continue', phase: 'Rolling' },
    { name: 'that ended after a failure', apps: [app('Health', failed), app('Done')], onFailure: 'Continue', phase: 'Degraded' },
    {
      name: 'that waits for a failed application of a Propagation',
      apps: [app('Health', { ...failed, ...ofOne }), app('Soak', { reason: 'SurgeHeld', ...ofOne })],
      onFailure: 'Continue',
      phase: 'Degraded',
    },
    { name: 'that undoes a failure', apps: [app('Health', begun), app('Done')], onFailure: 'Rollback', phase: 'RollingBack' },
    {
      name: 'that has undone a failure',
      apps: [app('Undone', { ...begun, ...failed }), app('Done')],
      onFailure: 'Rollback',
      phase: 'Failed',
    },
    { name: 'that is undone', apps: [app('Undone', begun), app('Soak', begun)], undoSince: at, phase: 'RollingBack' },
    { name: 'that was undone', apps: [app('Undone', begun), app('Skipped')], undoSince: at, phase: 'Settled' },
    { name: 'whose hook refuses the undo', apps: [app('Soak', refused)], undoSince: at, onFailure: 'Continue', phase: 'Paused' },
  ] as const)('$name is $phase', ({ apps, phase, ...more }) => {
    const { onFailure = 'Pause', undoSince } = { onFailure: undefined, undoSince: undefined, ...more };
    const status = statusOf(apps, undoSince === undefined ? {} : { undoSince });
    expect(summarized(status, { onFailure, from: 'south' }).phase).toBe(phase);
  });

  test('stays as it is without a plan', () => {
    expect(summarized({ phase: 'Failed' }, { onFailure: 'Pause', from: 'south' })).toEqual({ phase: 'Failed' });
  });
});

test('notes name the applications that may run twice, and those whose end the hook did not accept', () => {
  const known = { severity: 'WARNING', code: 'VOLUME_DATA', message: 'its data do not move' };
  const old = { severity: 'WARNING', code: 'POSSIBLY_DOUBLED', message: 'of before' };
  const many = Array.from({ length: 12 }, () => app('Drain', away));
  const status = statusOf([...many, app('Done', { calls: [call('Finish', 'Failed')] })], { notes: [known, old] });
  const notes = summarized(status, { onFailure: 'Pause', from: 'south', traffic: 'upstreams' }).notes ?? [];
  expect(notes.map(({ code }) => code)).toEqual(['VOLUME_DATA', 'POSSIBLY_DOUBLED', 'HOOK_FAILED']);
  expect(notes[1]?.message).toMatch(/in south too, .*: shop\/app-0, .*shop\/app-9 and 2 more$/);
  expect(notes[2]?.message).toContain('the hook upstreams did not accept that the move has finished: shop/app-12');
});

test.each([
  { name: 'that timed out', one: app('Health', failed), halted: true },
  { name: 'whose source is away', one: app('Drain', away), halted: false },
  { name: 'that waits for another one', one: app('Soak', { reason: 'SurgeHeld' }), halted: false },
  { name: 'that was skipped', one: app('Skipped', { reason: 'Capacity' }), halted: false },
  { name: 'that is undone after a failure', one: app('Health', { ...begun, ...failed }), halted: false },
  { name: 'whose hook refuses the undo', one: app('Soak', refused), halted: true },
])('an application $name waits for a person: $halted', ({ one, halted }) => {
  expect(isHalted(one)).toBe(halted);
});

test('the next step has no fault, reason and deadline of the step before, except on the way back', () => {
  const given: More = { ...failed, message: 'late', deadlineSince: at, fault: { code: 'UNREACHABLE', message: 'away', since: at } };
  expect(atStep(app('Health', given), 'Traffic', at)).toEqual(app('Traffic'));
  const { fault: _fault, ...kept } = given;
  const cause = { undo: { isRequested: true, reason: 'TimedOut', message: 'late' } } as const;
  const waiting = { ...given, ...cause, reason: 'Denied', message: 'no right' } as const;
  expect(atStep(app('Soak', waiting), 'Health', at)).toEqual(app('Health', { ...kept, ...cause, since: at }));
});
