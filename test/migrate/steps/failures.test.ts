import { expect, test } from 'vitest';
import type { JsonObject } from '../../../src/core/json.ts';
import type { KubernetesObject } from '../../../src/core/objects.ts';
import { shownMigrationPhase } from '../../../src/migrate/api/migration-view.ts';
import type { MigratedApp, MigrationStatus } from '../../../src/migrate/model/migration-status-definition.ts';
import { startHookServer } from '../../support/migrate/hook-server.ts';
import { cutOff, type MigrationWorld, type MigrationWorldOptions, service, startMigrationWorld, workload } from './migration-world.ts';

const labels = { matchExpressions: [{ key: 'app', operator: 'In', values: ['bad', 'good'] }] };
const resumed = (at: string) => ({ 'muster.dev/resumed-at': `2026-11-23T00:00:0${at}Z` });
const undone = { 'muster.dev/undo': '2026-11-23T00:00:00Z' };

/** Returns a Deployment whose Pods never start, or start again. */
function withOutcome(object: KubernetesObject, outcome: 'no-image' | undefined): KubernetesObject {
  const { spec } = object as unknown as { readonly spec: { readonly template: { readonly metadata: JsonObject } & JsonObject } };
  const annotations = outcome === undefined ? {} : { 'sim/outcome': outcome };
  return {
    ...object,
    spec: { ...spec, template: { ...spec.template, metadata: { ...spec.template.metadata, annotations } } },
  } as KubernetesObject;
}

function setOutcome({ controller: { world }, live }: MigrationWorld, name: string, outcome: 'no-image' | undefined): void {
  const object = live('east', 'Deployment.apps', name);
  if (object === undefined) throw new Error(`expected ${name} in east`);
  world.cluster('east').put(withOutcome(object, outcome));
}

/** Two applications, of which `bad` never becomes healthy in the target. */
async function startWithBad(more: Partial<MigrationWorldOptions> = {}): Promise<MigrationWorld> {
  const moving = await startMigrationWorld({ objects: ['bad', 'good'].flatMap((name) => [workload(name), service(name)]), ...more });
  moving.controller.world.cluster('east').onWrite(({ kind, name, result, isDry }) => {
    if (kind === 'Deployment' && name === 'bad' && result === 'created' && !isDry) setOutcome(moving, 'bad', 'no-image');
    return undefined;
  });
  moving.controller.startProcess();
  await moving.controller.world.until(() => ['bad', 'good'].every((name) => availableIn(moving, 'south', name) === 2));
  return moving;
}

async function startOne(hook?: MigrationWorldOptions['hook']): Promise<MigrationWorld> {
  const moving = await startMigrationWorld({ objects: [workload('good'), service('good')], ...(hook === undefined ? {} : { hook }) });
  moving.controller.startProcess();
  await moving.controller.world.until(() => availableIn(moving, 'south', 'good') === 2);
  return moving;
}

function availableIn({ live }: MigrationWorld, cluster: string, name: string): number | undefined {
  const { status } = (live(cluster, 'Deployment.apps', name) ?? {}) as { readonly status?: { readonly availableReplicas?: number } };
  return status?.availableReplicas;
}

const existsIn = ({ live }: MigrationWorld, cluster: string, name: string) =>
  ['Deployment.apps', 'Service'].map((kind) => live(cluster, kind, name) !== undefined);

function appOf({ mirrored }: MigrationWorld, index = 0): MigratedApp | undefined {
  return mirrored('move')?.status.apps?.[index];
}

const codesOf = ({ mirrored }: MigrationWorld) => mirrored('move')?.status.notes?.map(({ code }) => code);

test('undoes an application that fails with onFailure Rollback, and moves the others', async () => {
  await using moving = await startWithBad();
  await moving.migrate('move', { labels, deadline: '20s', maxConcurrency: 1, onFailure: 'Rollback' });
  const { status } = await moving.ended('move', 'Failed', { bad: 'Undone', good: 'Done' });
  expect(status.apps?.map(({ reason }) => reason)).toEqual(['TimedOut', undefined]);
  expect([existsIn(moving, 'south', 'bad'), existsIn(moving, 'east', 'bad')]).toEqual([
    [true, true],
    [false, false],
  ]);
  expect([existsIn(moving, 'south', 'good'), existsIn(moving, 'east', 'good')]).toEqual([
    [false, false],
    [true, true],
  ]);
});

test('leaves an application that fails where it is with onFailure Continue, and moves the others', async () => {
  await using moving = await startWithBad();
  await moving.migrate('move', { labels, deadline: '20s', maxConcurrency: 1, onFailure: 'Continue' });
  await moving.ended('move', 'Degraded', { bad: 'Health', good: 'Done' });
  expect(appOf(moving)).toMatchObject({ reason: 'TimedOut', message: expect.stringContaining('not healthy within 20 s') });
  expect([existsIn(moving, 'south', 'bad'), existsIn(moving, 'east', 'bad')]).toEqual([
    [true, true],
    [true, false],
  ]);
  await moving.annotate('move', undone);
  await moving.ended('move', 'Settled', { bad: 'Undone', good: 'Undone' });
  expect([existsIn(moving, 'south', 'bad'), existsIn(moving, 'south', 'good')]).toEqual([
    [true, true],
    [true, true],
  ]);
});

test('moves an application that has failed with onFailure Continue, once its cause is mended and a user resumes it', async () => {
  await using moving = await startWithBad();
  await moving.migrate('move', { labels, deadline: '20s', onFailure: 'Continue' });
  await moving.ended('move', 'Degraded', { bad: 'Health', good: 'Done' });
  setOutcome(moving, 'bad', undefined);
  await moving.annotate('move', { 'muster.dev/resumed-at': '2026-11-23T00:00:00Z' });
  await moving.ended('move', 'Settled', { bad: 'Done', good: 'Done' });
});

test('pauses when an application is unhealthy at the end of the soak, and continues on request', async () => {
  await using moving = await startOne();
  const { world } = moving.controller;
  await moving.migrate('move', { labels, deadline: '30s', soak: '20s' });
  await world.until(() => appOf(moving)?.step === 'Soak');
  setOutcome(moving, 'good', 'no-image');
  await moving.ended('move', 'Paused', { good: 'Soak' }, 120_000);
  expect(appOf(moving)?.reason).toBe('TimedOut');
  expect(existsIn(moving, 'south', 'good')).toEqual([true, true]);
  setOutcome(moving, 'good', undefined);
  await world.pass(30_000);
  expect(moving.mirrored('move')?.status.phase).toBe('Paused');
  await moving.annotate('move', resumed('1'));
  await moving.ended('move', 'Settled', { good: 'Done' });
});

test('continues by itself when an application is healthy again before the deadline of the soak', async () => {
  await using moving = await startOne();
  const { world } = moving.controller;
  await moving.migrate('move', { labels, deadline: '2m', soak: '20s' });
  await world.until(() => appOf(moving)?.step === 'Soak');
  setOutcome(moving, 'good', 'no-image');
  await world.until(() => appOf(moving)?.deadlineSince !== undefined);
  await world.pass(30_000);
  expect([appOf(moving)?.step, appOf(moving)?.reason]).toEqual(['Soak', 'Unhealthy']);
  setOutcome(moving, 'good', undefined);
  await moving.ended('move', 'Settled', { good: 'Done' });
});

test('undoes unfinished applications before a deleted Migration is gone, and leaves finished ones', async () => {
  await using moving = await startWithBad();
  const { world } = moving.controller;
  await moving.migrate('move', { labels, deadline: '20s', onFailure: 'Continue' });
  await moving.ended('move', 'Degraded', { bad: 'Health', good: 'Done' });
  const found = moving.mirrored('move');
  expect(found?.metadata.finalizers).toContain('muster.dev/migration');
  await moving.delete('move');
  await world.until(() => moving.mirrored('move') === undefined);
  expect([existsIn(moving, 'south', 'bad'), existsIn(moving, 'east', 'bad')]).toEqual([
    [true, true],
    [false, false],
  ]);
  expect([existsIn(moving, 'south', 'good'), existsIn(moving, 'east', 'good')]).toEqual([
    [false, false],
    [true, true],
  ]);
});

test('says why a deleted Migration waits for a cluster, and is gone without its finalizer', async () => {
  await using moving = await startOne();
  const { world } = moving.controller;
  await moving.migrate('move', { labels, soak: '1h' });
  await world.until(() => appOf(moving)?.step === 'Soak');
  using cut = cutOff(moving, 'east');
  await moving.delete('move');
  // Before the undo is requested, Soak may wait for the same cluster.
  await world.until(() => appOf(moving)?.undo?.isRequested === true && appOf(moving)?.reason === 'Unreachable', 60_000);
  expect(moving.mirrored('move')?.status.phase).toBe('RollingBack');
  const left = moving.live('north', 'Migration.muster.dev', 'move') as KubernetesObject;
  const { finalizers: _finalizers, ...metadata } = left.metadata;
  world.cluster('north').put({ ...left, metadata });
  await world.until(() => moving.mirrored('move') === undefined);
  cut[Symbol.dispose]();
  await world.pass(60_000);
  expect([existsIn(moving, 'south', 'good'), existsIn(moving, 'east', 'good')]).toEqual([
    [true, true],
    [true, true],
  ]);
});

test('only notes that a hook did not accept the end of a move', async () => {
  await using server = await startHookServer(({ operation }) => (operation === 'Finish' ? 500 : 200));
  await using moving = await startOne(server.hook);
  await moving.migrate('move', { labels, traffic: 'upstreams' });
  await moving.ended('move', 'Settled', { good: 'Done' }, 180_000);
  expect(codesOf(moving)).toEqual(['HOOK_FAILED']);
  expect(appOf(moving)?.calls.map(({ operation, state }) => [operation, state])).toEqual([
    ['Shift', 'Done'],
    ['Finish', 'Failed'],
  ]);
  const ids = new Set(server.calls.filter(({ operation }) => operation === 'Finish').map(({ id }) => id));
  expect([ids.size, server.operations('good').length]).toEqual([1, expect.any(Number)]);
  expect(server.operations('good').length).toBeGreaterThan(4);
});

test('calls the hook only with an id that the hub has, and Finish once the hub has no object of the source', async () => {
  const known: string[] = [];
  await using server = await startHookServer(({ id, operation }) => {
    const { status } = moving.live('north', 'Migration.muster.dev', 'move') as unknown as { readonly status: MigrationStatus };
    const [app] = status.apps ?? [];
    known.push(`${operation} ${app?.calls.some((call) => call.id === id)} ${app?.source?.length ?? 0}`);
    return 200;
  });
  await using moving = await startOne(server.hook);
  await moving.migrate('move', { labels, traffic: 'upstreams' });
  await moving.ended('move', 'Settled', { good: 'Done' });
  await moving.annotate('move', undone);
  await moving.ended('move', 'Settled', { good: 'Undone' });
  expect(known).toEqual(['Shift true 2', 'Finish true 0', 'Undo true 2']);
});

test('pauses at the deadline of a hook that does not answer, and repeats the same call when it continues', async () => {
  let isSilent = true;
  await using server = await startHookServer(() => (isSilent ? undefined : 200));
  await using moving = await startOne(server.hook);
  await moving.migrate('move', { labels, traffic: 'upstreams', deadline: '20s' });
  await moving.ended('move', 'Paused', { good: 'Traffic' }, 120_000);
  expect(appOf(moving)).toMatchObject({ reason: 'TimedOut', message: expect.stringContaining('did not answer within 5 s') });
  expect(existsIn(moving, 'south', 'good')).toEqual([true, true]);
  isSilent = false;
  await moving.annotate('move', resumed('1'));
  await moving.ended('move', 'Settled', { good: 'Done' });
  expect(new Set(server.calls.filter(({ operation }) => operation === 'Shift').map(({ id }) => id)).size).toBe(1);
});

test('pauses an undo whose hook refuses it, and continues on request', async () => {
  let isRefused = true;
  await using server = await startHookServer(({ operation }) => (operation === 'Undo' && isRefused ? 403 : 200));
  await using moving = await startOne(server.hook);
  await moving.migrate('move', { labels, traffic: 'upstreams' });
  await moving.ended('move', 'Settled', { good: 'Done' });
  await moving.annotate('move', undone);
  await moving.ended('move', 'Paused', { good: 'Soak' });
  expect(appOf(moving)).toMatchObject({ reason: 'HookFailed', message: expect.stringContaining('403') });
  expect([availableIn(moving, 'south', 'good'), availableIn(moving, 'east', 'good')]).toEqual([2, 2]);
  isRefused = false;
  await moving.annotate('move', resumed('1'));
  await moving.ended('move', 'Settled', { good: 'Undone' });
  expect(existsIn(moving, 'east', 'good')).toEqual([false, false]);
  expect(new Set(server.calls.filter(({ operation }) => operation === 'Undo').map(({ id }) => id)).size).toBe(1);
});

test('acts at once on an undo that is requested during a long soak', async () => {
  await using moving = await startOne();
  await moving.migrate('move', { labels, soak: '2h' });
  await moving.controller.world.until(() => appOf(moving)?.step === 'Soak');
  await moving.controller.world.pass(5_000);
  await moving.annotate('move', undone);
  await moving.ended('move', 'Settled', { good: 'Undone' });
  expect([existsIn(moving, 'south', 'good'), existsIn(moving, 'east', 'good')]).toEqual([
    [true, true],
    [false, false],
  ]);
});

test.each([
  { onFailure: 'Pause', phase: 'Paused', step: 'Remove' },
  { onFailure: 'Rollback', phase: 'Failed', step: 'Undone' },
])('an application whose deletion in the source is denied is at $step with onFailure $onFailure', async ({ onFailure, phase, step }) => {
  await using moving = await startOne();
  const { world } = moving.controller;
  await moving.migrate('move', { labels, onFailure, soak: '10s' });
  await world.until(() => appOf(moving)?.step === 'Soak');
  const forbidden = world.cluster('south').forbid({ kind: 'Deployment', verbs: ['delete'] });
  await moving.ended('move', phase, { good: step }, 120_000);
  expect(appOf(moving)).toMatchObject({ reason: 'Denied', message: expect.stringContaining('south') });
  expect(moving.live('south', 'Deployment.apps', 'good')).toMatchObject({ spec: { replicas: onFailure === 'Pause' ? 0 : 2 } });
  forbidden[Symbol.dispose]();
  if (onFailure === 'Rollback') {
    expect([existsIn(moving, 'south', 'good'), existsIn(moving, 'east', 'good')]).toEqual([
      [true, true],
      [false, false],
    ]);
    return;
  }
  await moving.annotate('move', resumed('1'));
  await moving.ended('move', 'Settled', { good: 'Done' });
  expect(existsIn(moving, 'south', 'good')).toEqual([false, false]);
});

test('takes an application back whose target becomes unhealthy in Soak with onFailure Rollback', async () => {
  await using server = await startHookServer();
  await using moving = await startOne(server.hook);
  const old = moving.live('south', 'Deployment.apps', 'good')?.metadata.uid;
  await moving.migrate('move', { labels, traffic: 'upstreams', deadline: '20s', soak: '1h', onFailure: 'Rollback' });
  await moving.controller.world.until(() => appOf(moving)?.step === 'Soak');
  setOutcome(moving, 'good', 'no-image');
  await moving.ended('move', 'Failed', { good: 'Undone' }, 120_000);
  expect([appOf(moving)?.reason, server.operations('good')]).toEqual(['TimedOut', ['Shift', 'Undo']]);
  expect(moving.live('south', 'Deployment.apps', 'good')?.metadata.uid).toBe(old);
  expect(existsIn(moving, 'east', 'good')).toEqual([false, false]);
});

test('an undo of a refused Migration has nothing to undo', async () => {
  await using moving = await startOne();
  await moving.migrate('move', { labels, traffic: 'upstreams' }, { 'muster.dev/plan-digest': 'a'.repeat(64) });
  await moving.controller.world.until(() => moving.mirrored('move')?.status.phase === 'Held');
  await moving.annotate('move', undone);
  await moving.controller.world.until(() => moving.mirrored('move')?.status.undoSince !== undefined);
  const migration = moving.mirrored('move');
  expect([codesOf(moving), migration === undefined ? undefined : shownMigrationPhase(migration)]).toEqual([['PLAN_STALE'], 'Held']);
  expect(existsIn(moving, 'east', 'good')).toEqual([false, false]);
});

test('fails with what was expected if the spec names a file that the config does not allow, and plans again after a new request', async () => {
  await using moving = await startOne();
  const backup = { file: '/etc/passwd' };
  await moving.migrate('move', { labels: { matchLabels: { app: 'good' } }, source: 'Velero', backup });
  const { status } = await moving.ended('move', 'Failed', {});
  const note = {
    severity: 'ERROR',
    code: 'INVALID',
    message: 'backup.file: expected a path below a folder in `backups.folders` of the config file',
  };
  expect(status.notes).toEqual([note]);
  await moving.annotate('move', resumed('1'));
  await moving.controller.world.until(() => moving.mirrored('move')?.status.resumedAt === '2026-11-23T00:00:01Z');
  expect(moving.mirrored('move')?.status).toMatchObject({ phase: 'Failed', notes: [note] });
});
