import { expect, test } from 'vitest';
import { type MigrationWorld, service, startMigrationWorld, workload } from './migration-world.ts';

const labels = { matchLabels: { app: 'web' } };
const config = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'web', namespace: 'default' }, data: { mode: 'fast' } };

/** A Deployment that needs a ConfigMap. */
function webWithConfig() {
  const web = workload('web');
  const { spec } = web as unknown as { spec: { template: { spec: { containers: Record<string, unknown>[] } } } };
  const containers = spec.template.spec.containers.map((one) => ({ ...one, envFrom: [{ configMapRef: { name: 'web' } }] }));
  return { ...web, spec: { ...spec, template: { ...spec.template, spec: { containers } } } };
}

/** Every object of the application, and whether it exists in south and in east. */
function places({ live }: MigrationWorld): Readonly<Record<string, readonly [boolean, boolean]>> {
  const kinds = ['ConfigMap', 'Deployment.apps', 'Service'];
  return Object.fromEntries(
    kinds.map((kind) => [kind, [live('south', kind, 'web') !== undefined, live('east', kind, 'web') !== undefined] as const]),
  );
}

const moved = { ConfigMap: [false, true], 'Deployment.apps': [false, true], Service: [false, true] };
const back = { ConfigMap: [true, false], 'Deployment.apps': [true, false], Service: [true, false] };

/** The fewest available replicas over both clusters, from now on. */
function watchReplicas({ live, controller }: MigrationWorld) {
  let least = Number.POSITIVE_INFINITY;
  const availableIn = (cluster: string) => {
    const { status } = (live(cluster, 'Deployment.apps', 'web') ?? {}) as { status?: { availableReplicas?: number } };
    return status?.availableReplicas ?? 0;
  };
  const look = () => {
    least = Math.min(least, availableIn('south') + availableIn('east'));
  };
  const end = new AbortController();
  controller.world.members.objects.onChange(look, end.signal);
  return { least: () => least, end: () => end.abort() };
}

async function startWeb() {
  const moving = await startMigrationWorld({ objects: [config, webWithConfig(), service('web')] });
  const { world } = moving.controller;
  await world.until(() => {
    const { status } = (moving.live('south', 'Deployment.apps', 'web') ?? {}) as { status?: { availableReplicas?: number } };
    return status?.availableReplicas === 2;
  });
  return moving;
}

function isEnded({ mirrored }: MigrationWorld, step: string): boolean {
  return mirrored('move')?.status.apps?.every((app) => app.step === step) === true;
}

const deaths = [1, 4, 7, 10, 13, 16, 19];

test.each(deaths)('M1: continues after a kill at write %i, and is undone after a second kill', async (life) => {
  await using moving = await startWeb();
  const replicas = watchReplicas(moving);
  const first = moving.controller.startProcess({ life });
  await moving.migrate('move', { labels });
  await moving.controller.world.until(() => first.writes >= life || isEnded(moving, 'Done'));
  first.kill();
  moving.controller.freeLease();
  const second = moving.controller.startProcess();
  await moving.ended('move', 'Settled', { web: 'Done' });
  expect(places(moving)).toEqual(moved);
  second.kill();
  moving.controller.freeLease();

  await moving.annotate('move', { 'muster.dev/undo': '2026-11-23T00:00:00Z' });
  const third = moving.controller.startProcess({ life });
  await moving.controller.world.until(() => third.writes >= life || isEnded(moving, 'Undone'));
  third.kill();
  moving.controller.freeLease();
  moving.controller.startProcess();
  await moving.ended('move', 'Settled', { web: 'Undone' });
  expect(places(moving)).toEqual(back);
  expect(replicas.least()).toBeGreaterThanOrEqual(2);
  replicas.end();
});

test.each(deaths)('M1: comes back from any step: undone after write %i', async (life) => {
  await using moving = await startWeb();
  const replicas = watchReplicas(moving);
  const first = moving.controller.startProcess({ life });
  await moving.migrate('move', { labels });
  await moving.controller.world.until(() => first.writes >= life || isEnded(moving, 'Done'));
  first.kill();
  moving.controller.freeLease();
  await moving.annotate('move', { 'muster.dev/undo': '2026-11-23T00:00:00Z' });
  moving.controller.startProcess();
  await moving.ended('move', 'Settled', { web: 'Undone' });
  expect(places(moving)).toEqual(back);
  expect(replicas.least()).toBeGreaterThanOrEqual(2);
  replicas.end();
});
