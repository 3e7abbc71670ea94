import { expect, test } from 'vitest';
import { numberAt } from '../../../src/core/json-at.ts';
import type { KubernetesObject } from '../../../src/core/objects.ts';
import type { MigratedApp } from '../../../src/migrate/model/migration-status-definition.ts';
import { deployment, intent } from '../../propagate/controller/controller-world.ts';
import { cutOff, type MigrationWorld, service, startMigrationWorld, workload } from './migration-world.ts';

const labels = { matchLabels: { app: 'web' } };

async function startWeb(objects: readonly KubernetesObject[] = [workload('web'), service('web')]): Promise<MigrationWorld> {
  const moving = await startMigrationWorld({ objects });
  moving.controller.startProcess();
  await moving.controller.world.until(() => availableIn(moving, 'south') === 2);
  return moving;
}

const availableIn = ({ live }: MigrationWorld, cluster: string) =>
  numberAt(live(cluster, 'Deployment.apps', 'web') ?? {}, 'status', 'availableReplicas');

const replicasIn = ({ live }: MigrationWorld, cluster: string) =>
  numberAt(live(cluster, 'Deployment.apps', 'web') ?? {}, 'spec', 'replicas');

function appOf({ mirrored }: MigrationWorld): MigratedApp | undefined {
  return mirrored('move')?.status.apps?.[0];
}

function scale({ live, controller: { world } }: MigrationWorld, cluster: string, replicas: number): void {
  const web = live(cluster, 'Deployment.apps', 'web') as (KubernetesObject & { readonly spec: object }) | undefined;
  if (web === undefined) throw new Error(`expected web in ${cluster}`);
  world.cluster(cluster).put({ ...web, spec: { ...web.spec, replicas } } as KubernetesObject);
}

async function reach(moving: MigrationWorld, step: string): Promise<void> {
  await moving.controller.world.until(() => appOf(moving)?.step === step, 180_000);
}

test.each([
  ['with a Service', [service('web')]],
  ['without a Service', []],
])('does not touch a source %s that comes back while the workload in the target is gone', async (_with, services) => {
  await using moving = await startWeb([workload('web'), ...services]);
  const { world } = moving.controller;
  const old = moving.live('south', 'Deployment.apps', 'web')?.metadata.uid;
  await moving.migrate('move', { labels, soak: '1m' });
  await reach(moving, 'Soak');
  const cut = cutOff(moving, 'south');
  await world.until(() => appOf(moving)?.reason === 'Unreachable', 180_000);
  expect(appOf(moving)?.step).toBe('Drain');
  world.cluster('east').remove('Deployment.apps', 'web', 'default');
  cut[Symbol.dispose]();
  await world.until(() => appOf(moving)?.reason === 'Unhealthy', 180_000);
  await world.pass(60_000);
  expect(appOf(moving)).toMatchObject({ step: 'Drain', reason: 'Unhealthy', message: 'it does not exist in east' });
  expect([moving.live('south', 'Deployment.apps', 'web')?.metadata.uid, replicasIn(moving, 'south')]).toEqual([old, 2]);
  expect(moving.live('south', 'Service', 'web') !== undefined).toBe(services.length > 0);
  await moving.annotate('move', { 'muster.dev/undo': '2026-11-23T00:00:00Z' });
  await moving.ended('move', 'Settled', { web: 'Undone' });
  expect(moving.live('south', 'Deployment.apps', 'web')?.metadata.uid).toBe(old);
});

test.each([0, 1])('keeps the source while the target was scaled to %i of 2 replicas in Soak', async (replicas) => {
  await using moving = await startWeb();
  const { world } = moving.controller;
  await moving.migrate('move', { labels, soak: '20s' });
  await reach(moving, 'Soak');
  scale(moving, 'east', replicas);
  await world.until(() => (availableIn(moving, 'east') ?? 0) === replicas);
  await world.pass(60_000);
  expect(appOf(moving)).toMatchObject({ step: 'Soak', reason: 'Unhealthy', message: `${replicas} of 2 replicas healthy` });
  expect([replicasIn(moving, 'south'), moving.live('south', 'Service', 'web') === undefined]).toEqual([2, false]);
  scale(moving, 'east', 2);
  await moving.ended('move', 'Settled', { web: 'Done' });
});

test('keeps the source while another Deployment has the name of the copy', async () => {
  await using moving = await startWeb();
  const { world } = moving.controller;
  await moving.migrate('move', { labels, soak: '20s' });
  await reach(moving, 'Soak');
  world.cluster('east').remove('Deployment.apps', 'web', 'default');
  world.cluster('east').put(workload('web'));
  await world.until(() => availableIn(moving, 'east') === 2);
  await world.pass(60_000);
  expect(appOf(moving)).toMatchObject({ step: 'Soak', reason: 'Unhealthy', message: 'it does not exist in east' });
  expect([replicasIn(moving, 'south'), moving.live('south', 'Service', 'web') === undefined]).toEqual([2, false]);
});

test('accepts fewer replicas in the target if the source has no more of them', async () => {
  await using moving = await startWeb();
  await moving.migrate('move', { labels, soak: '20s' });
  await reach(moving, 'Soak');
  scale(moving, 'east', 1);
  scale(moving, 'south', 1);
  await moving.ended('move', 'Settled', { web: 'Done' });
});

test('does not delete the rest of the source while the workload in the target is unhealthy', async () => {
  await using moving = await startWeb();
  const { world } = moving.controller;
  world.cluster('south').onWrite(({ kind, name, result, isDry }) => {
    if (kind === 'Deployment' && name === 'web' && result === 'changed' && !isDry && appOf(moving)?.step === 'Drain')
      scale(moving, 'east', 0);
    return undefined;
  });
  await moving.migrate('move', { labels });
  await world.until(() => appOf(moving)?.reason === 'Unhealthy', 60_000);
  await world.pass(30_000);
  expect(moving.live('south', 'Deployment.apps', 'web')).toBeDefined();
  scale(moving, 'east', 2);
  await moving.ended('move', 'Settled', { web: 'Done' });
});

test('keeps the copies of a propagated application whose target is not healthy when its source comes back', async () => {
  await using moving = await startMigrationWorld({ objects: [] });
  const { world } = moving.controller;
  const web = deployment('web', 2);
  const template = { ...web, metadata: { ...(web.metadata as object), labels: { app: 'web' } } };
  await moving.controller.propagate(intent('web', [template], { placement: { clusters: ['south'] } }));
  moving.controller.startProcess();
  await moving.controller.phase('web', 'Settled');
  await moving.migrate('move', { labels, soak: '1m' });
  await reach(moving, 'Soak');
  const cut = cutOff(moving, 'south');
  await world.until(() => appOf(moving)?.reason === 'Unreachable', 180_000);
  const copy = moving.live('east', 'Deployment.apps', 'web') as KubernetesObject & { readonly spec: { readonly template: object } };
  const failing = { ...copy.spec.template, metadata: { labels: { app: 'web' }, annotations: { 'sim/outcome': 'no-image' } } };
  world.cluster('east').put({ ...copy, spec: { ...copy.spec, template: failing } } as KubernetesObject);
  cut[Symbol.dispose]();
  await world.until(() => appOf(moving)?.reason === 'Unhealthy', 180_000);
  await world.pass(60_000);
  expect([appOf(moving)?.step, availableIn(moving, 'south')]).toEqual(['Drain', 2]);
});

test('keeps a source that was edited after the plan, until the edit is reverted', async () => {
  await using moving = await startWeb();
  const { world } = moving.controller;
  await moving.migrate('move', { labels, soak: '20s' });
  await reach(moving, 'Soak');
  const web = moving.live('south', 'Deployment.apps', 'web') as KubernetesObject & { readonly spec: object };
  world.cluster('south').put({ ...web, spec: { ...web.spec, minReadySeconds: 1 } } as KubernetesObject);
  await moving.ended('move', 'Paused', { web: 'Drain' }, 120_000);
  expect(appOf(moving)).toMatchObject({ reason: 'Conflict', message: expect.stringContaining('spec.minReadySeconds') });
  expect([replicasIn(moving, 'south'), moving.live('south', 'Service', 'web') === undefined]).toEqual([2, false]);
  const edited = moving.live('south', 'Deployment.apps', 'web') as KubernetesObject;
  world.cluster('south').put({ ...edited, spec: web.spec } as unknown as KubernetesObject);
  await moving.annotate('move', { 'muster.dev/resumed-at': '2026-11-23T00:00:01Z' });
  await moving.ended('move', 'Settled', { web: 'Done' });
});

test('does not drain more replicas than the target has healthy ones, if the source has grown since the plan', async () => {
  await using moving = await startWeb();
  await moving.migrate('move', { labels, soak: '20s' });
  await reach(moving, 'Soak');
  scale(moving, 'south', 4);
  await moving.controller.world.until(() => appOf(moving)?.reason === 'Unhealthy', 60_000);
  expect(appOf(moving)?.message).toContain('2 of 4 replicas healthy, because it has 4 replicas in south since the plan');
  expect([replicasIn(moving, 'south'), replicasIn(moving, 'east')]).toEqual([4, 2]);
  scale(moving, 'east', 4);
  await moving.ended('move', 'Settled', { web: 'Done' });
});

test('names the finalizers that keep an object of the source', async () => {
  const held = service('web');
  await using moving = await startWeb([workload('web'), { ...held, metadata: { ...held.metadata, finalizers: ['example.com/hold'] } }]);
  const { world } = moving.controller;
  await moving.migrate('move', { labels });
  const message = 'waits until Service default/web is deleted in south, which its finalizers prevent: example.com/hold';
  await world.until(() => appOf(moving)?.message === message, 60_000);
  expect([appOf(moving)?.step, appOf(moving)?.reason, moving.mirrored('move')?.status.phase]).toEqual(['Drain', undefined, 'Rolling']);
  world.cluster('south').remove('Service', 'web', 'default');
  await moving.ended('move', 'Settled', { web: 'Done' });
  expect(appOf(moving)?.message).toBeUndefined();
});
