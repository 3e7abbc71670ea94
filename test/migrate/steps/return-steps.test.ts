import { expect, test } from 'vitest';
import { numberAt } from '../../../src/core/json-at.ts';
import type { KubernetesObject } from '../../../src/core/objects.ts';
import type { MigratedApp } from '../../../src/migrate/model/migration-status-definition.ts';
import { cutOff, type MigrationWorld, service, startMigrationWorld, workload } from './migration-world.ts';

const labels = { matchLabels: { app: 'web' } };
const undone = { 'muster.dev/undo': '2026-11-23T00:00:00Z' };

async function startWeb(objects: readonly KubernetesObject[] = [workload('web'), service('web')]): Promise<MigrationWorld> {
  const moving = await startMigrationWorld({ objects });
  moving.controller.startProcess();
  await moving.controller.world.until(() => availableIn(moving, 'south') === 2);
  return moving;
}

const availableIn = ({ live }: MigrationWorld, cluster: string) =>
  numberAt(live(cluster, 'Deployment.apps', 'web') ?? {}, 'status', 'availableReplicas') ?? 0;

function appOf({ mirrored }: MigrationWorld): MigratedApp | undefined {
  return mirrored('move')?.status.apps?.[0];
}

const stateOf = (moving: MigrationWorld) => [appOf(moving)?.step, appOf(moving)?.reason];

function scale({ live, controller: { world } }: MigrationWorld, cluster: string, replicas: number): void {
  const web = live(cluster, 'Deployment.apps', 'web') as (KubernetesObject & { readonly spec: object }) | undefined;
  if (web === undefined) throw new Error(`expected web in ${cluster}`);
  world.cluster(cluster).put({ ...web, spec: { ...web.spec, replicas } } as KubernetesObject);
}

async function reach(moving: MigrationWorld, step: string): Promise<void> {
  await moving.controller.world.until(() => appOf(moving)?.step === step, 180_000);
}

/** Fails the test if the copies in east are scaled or deleted while south has fewer than two healthy replicas. */
function watchCopies(moving: MigrationWorld): { readonly early: string[] } {
  const early: string[] = [];
  moving.controller.world.cluster('east').onWrite(({ result, kind, isDry }) => {
    if (result === 'deleted' && !isDry && availableIn(moving, 'south') < 2) early.push(kind);
    return undefined;
  });
  return { early };
}

test('M7: keeps the copies while the source is away, and deletes them once it is back and healthy', async () => {
  await using moving = await startWeb();
  const { world } = moving.controller;
  await moving.migrate('move', { labels, soak: '1h' });
  await reach(moving, 'Soak');
  const cut = cutOff(moving, 'south');
  await moving.annotate('move', undone);
  await world.until(() => appOf(moving)?.reason === 'Unreachable', 180_000);
  await world.pass(60_000);
  expect([stateOf(moving), availableIn(moving, 'east')]).toEqual([['Soak', 'Unreachable'], 2]);
  cut[Symbol.dispose]();
  await moving.ended('move', 'Settled', { web: 'Undone' }, 180_000);
  expect([availableIn(moving, 'south'), moving.live('east', 'Deployment.apps', 'web')]).toEqual([2, undefined]);
});

test.each([
  ['deleted', 'annotate'],
  ['scaled to 0', 'annotate'],
  ['deleted', 'delete'],
])('restores a workload that another client has %s before Drain, before it deletes the copies (%s)', async (how, request) => {
  await using moving = await startWeb();
  const { world } = moving.controller;
  await moving.migrate('move', { labels, soak: '1h' });
  await reach(moving, 'Soak');
  const { early } = watchCopies(moving);
  if (how === 'deleted') world.cluster('south').remove('Deployment.apps', 'web', 'default');
  else scale(moving, 'south', 0);
  await world.until(() => availableIn(moving, 'south') === 0);
  if (request === 'annotate') await moving.annotate('move', undone);
  else await moving.delete('move');
  await world.until(() => moving.live('east', 'Deployment.apps', 'web') === undefined, 60_000);
  expect([availableIn(moving, 'south'), early]).toEqual([2, []]);
});

test('waits as UNHEALTHY while the source cannot replace the copies', async () => {
  await using moving = await startWeb();
  const { world } = moving.controller;
  await moving.migrate('move', { labels, soak: '1h' });
  await reach(moving, 'Soak');
  scale(moving, 'south', 1);
  await world.until(() => availableIn(moving, 'south') === 1);
  await moving.annotate('move', undone);
  await world.until(() => appOf(moving)?.reason === 'Unhealthy', 60_000);
  await world.pass(60_000);
  expect(appOf(moving)).toMatchObject({
    step: 'Soak',
    message: 'east is needed until south is healthy: 1 of 2 replicas healthy, because its count in south is 1: scale it to 2',
  });
  expect(availableIn(moving, 'east')).toBe(2);
  scale(moving, 'south', 2);
  await moving.ended('move', 'Settled', { web: 'Undone' });
  expect(appOf(moving)?.reason).toBeUndefined();
});

test('restores a workload that was deleted after the traffic was back, before it deletes the copies', async () => {
  await using moving = await startWeb();
  const { world } = moving.controller;
  await moving.migrate('move', { labels, soak: '1h' });
  await reach(moving, 'Soak');
  const { early } = watchCopies(moving);
  const denied = world.cluster('east').forbid({ kind: 'Deployment', verbs: ['delete'] });
  await moving.annotate('move', undone);
  await world.until(() => appOf(moving)?.step === 'Health' && appOf(moving)?.reason === 'Denied', 60_000);
  world.cluster('south').remove('Deployment.apps', 'web', 'default');
  denied[Symbol.dispose]();
  await moving.ended('move', 'Settled', { web: 'Undone' }, 180_000);
  expect([availableIn(moving, 'south'), early]).toEqual([2, []]);
});

test('deletes copies that were never healthy although the source does not answer', async () => {
  await using moving = await startWeb();
  const { world } = moving.controller;
  world.cluster('east').onWrite(({ kind, result, isDry, object }) => {
    if (kind !== 'Deployment' || result !== 'created' || isDry) return undefined;
    const { spec } = object as unknown as { readonly spec: { readonly template: { readonly metadata: object } } };
    const metadata = { ...spec.template.metadata, annotations: { 'sim/outcome': 'no-image' } };
    world.cluster('east').put({ ...object, spec: { ...spec, template: { ...spec.template, metadata } } } as unknown as KubernetesObject);
    return undefined;
  });
  await moving.migrate('move', { labels });
  await reach(moving, 'Health');
  using _cut = cutOff(moving, 'south');
  await moving.annotate('move', undone);
  await moving.ended('move', 'Settled', { web: 'Undone' }, 180_000);
  expect(moving.live('east', 'Deployment.apps', 'web')).toBeUndefined();
});

test('restores autoscalers only after the traffic is back, because they scale an idle workload down', async () => {
  const scaleTargetRef = { apiVersion: 'apps/v1', kind: 'Deployment', name: 'web' };
  const autoscaler = {
    ...{ apiVersion: 'autoscaling/v2', kind: 'HorizontalPodAutoscaler', metadata: { name: 'web', namespace: 'default' } },
    spec: { scaleTargetRef, minReplicas: 1, maxReplicas: 4 },
  } as KubernetesObject;
  await using moving = await startWeb([workload('web'), service('web'), autoscaler]);
  const { world } = moving.controller;
  await moving.migrate('move', { labels });
  await moving.ended('move', 'Settled', { web: 'Done' });
  const scaled: unknown[] = [];
  world.cluster('south').onWrite(({ kind, result, isDry }) => {
    if (kind !== 'HorizontalPodAutoscaler' || result !== 'created' || isDry) return undefined;
    scaled.push(appOf(moving)?.step);
    scale(moving, 'south', 1);
    return undefined;
  });
  await moving.annotate('move', undone);
  await moving.ended('move', 'Settled', { web: 'Undone' });
  expect(scaled).toEqual(['Health']);
  expect(moving.live('south', 'HorizontalPodAutoscaler.autoscaling', 'web')).toMatchObject({ spec: { minReplicas: 1 } });
});

test('returns from Drain only to as many healthy replicas as the target has, whatever the count in the source is', async () => {
  await using moving = await startWeb();
  const { world } = moving.controller;
  await moving.migrate('move', { labels });
  await moving.ended('move', 'Settled', { web: 'Done' });
  let isFirst = true;
  world.cluster('south').onWrite(({ kind, result, isDry }) => {
    if (kind === 'Deployment' && result === 'created' && !isDry && isFirst) {
      isFirst = false;
      scale(moving, 'south', 1);
    }
    return undefined;
  });
  await moving.annotate('move', undone);
  await world.until(() => appOf(moving)?.reason === 'Unhealthy' && availableIn(moving, 'south') === 1, 60_000);
  await world.pass(30_000);
  expect([stateOf(moving), availableIn(moving, 'east')]).toEqual([['Done', 'Unhealthy'], 2]);
  scale(moving, 'east', 1);
  await moving.ended('move', 'Settled', { web: 'Undone' });
});
