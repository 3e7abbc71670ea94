import { expect, test } from 'vitest';
import type { KubernetesObject } from '../../../src/core/objects.ts';
import { type MigrationWorld, service, startMigrationWorld, workload } from './migration-world.ts';

const undone = { 'muster.dev/undo': '2026-11-23T00:00:00Z' };
const labels = { matchExpressions: [{ key: 'app', operator: 'In', values: ['api', 'web'] }] };
const config = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'common', namespace: 'default' }, data: { a: '1' } };
const metadata = { name: 'all', namespace: 'default' };
const common = { ...service('all'), metadata, spec: { selector: { part: 'shop' }, ports: [{ port: 80 }] } } as KubernetesObject;

/** A Deployment that needs the ConfigMap `common`, and whose Pods the Service `all` selects. */
function withCommon(name: string): KubernetesObject {
  const made = workload(name);
  const { spec } = made as unknown as {
    spec: { template: { metadata: { labels: object }; spec: { containers: Record<string, unknown>[] } } };
  };
  const containers = spec.template.spec.containers.map((one) => ({ ...one, envFrom: [{ configMapRef: { name: 'common' } }] }));
  const template = { metadata: { labels: { ...spec.template.metadata.labels, part: 'shop' } }, spec: { containers } };
  return { ...made, spec: { ...spec, template } } as KubernetesObject;
}

async function startShop(): Promise<MigrationWorld> {
  const moving = await startMigrationWorld({ objects: [config, common, withCommon('api'), withCommon('web')] });
  await moving.controller.world.until(() => ['api', 'web'].every((name) => availableIn(moving, 'south', name) === 2));
  return moving;
}

function availableIn({ live }: MigrationWorld, cluster: string, name: string): number | undefined {
  const { status } = (live(cluster, 'Deployment.apps', name) ?? {}) as { readonly status?: { readonly availableReplicas?: number } };
  return status?.availableReplicas;
}

/** Whether the shared ConfigMap and the shared Service exist. */
const sharedIn = ({ live }: MigrationWorld, cluster: string) => [
  live(cluster, 'ConfigMap', 'common') !== undefined,
  live(cluster, 'Service', 'all') !== undefined,
];

test.each([undefined, 1])('moves objects that two applications share, and takes them back: maxConcurrency %s', async (maxConcurrency) => {
  await using moving = await startShop();
  moving.controller.startProcess();
  await moving.migrate('move', { labels, ...(maxConcurrency === undefined ? {} : { maxConcurrency }) });
  await moving.ended('move', 'Settled', { api: 'Done', web: 'Done' });
  expect([sharedIn(moving, 'south'), sharedIn(moving, 'east')]).toEqual([
    [false, false],
    [true, true],
  ]);
  await moving.annotate('move', undone);
  await moving.ended('move', 'Settled', { api: 'Undone', web: 'Undone' });
  expect([sharedIn(moving, 'south'), sharedIn(moving, 'east')]).toEqual([
    [true, true],
    [false, false],
  ]);
  expect(['api', 'web'].map((name) => availableIn(moving, 'south', name))).toEqual([2, 2]);
});

test('keeps shared objects in both clusters while one application has moved and the other has not', async () => {
  await using moving = await startShop();
  moving.controller.world.cluster('east').onWrite(({ kind, name, result, object, isDry }) => {
    if (kind !== 'Deployment' || name !== 'web' || result !== 'created' || isDry) return undefined;
    const { spec } = object as unknown as { readonly spec: { readonly template: { readonly metadata: object } } };
    const broken = { ...spec.template, metadata: { ...spec.template.metadata, annotations: { 'sim/outcome': 'no-image' } } };
    moving.controller.world.cluster('east').put({ ...object, spec: { ...spec, template: broken } } as KubernetesObject);
    return undefined;
  });
  moving.controller.startProcess();
  await moving.migrate('move', { labels, deadline: '20s', onFailure: 'Rollback' });
  await moving.ended('move', 'Failed', { api: 'Done', web: 'Undone' }, 120_000);
  expect([sharedIn(moving, 'south'), sharedIn(moving, 'east')]).toEqual([
    [true, true],
    [true, true],
  ]);
  expect([availableIn(moving, 'south', 'web'), availableIn(moving, 'east', 'api')]).toEqual([2, 2]);
  await moving.annotate('move', undone);
  await moving.ended('move', 'Settled', { api: 'Undone', web: 'Undone' });
  expect([sharedIn(moving, 'south'), sharedIn(moving, 'east')]).toEqual([
    [true, true],
    [false, false],
  ]);
});

test.each([3, 5, 7, 9, 11, 14, 17, 20, 23])(
  'leaves no shared object behind after a kill at write %i of the move and of its undo',
  async (life) => {
    await using moving = await startShop();
    const first = moving.controller.startProcess({ life });
    await moving.migrate('move', { labels });
    await moving.controller.world.until(() => first.writes >= life);
    first.kill();
    moving.controller.freeLease();
    const second = moving.controller.startProcess();
    await moving.ended('move', 'Settled', { api: 'Done', web: 'Done' });
    expect([sharedIn(moving, 'south'), sharedIn(moving, 'east')]).toEqual([
      [false, false],
      [true, true],
    ]);
    second.kill();
    moving.controller.freeLease();
    await moving.annotate('move', undone);
    const third = moving.controller.startProcess({ life });
    await moving.controller.world.until(() => third.writes >= life);
    third.kill();
    moving.controller.freeLease();
    moving.controller.startProcess();
    await moving.ended('move', 'Settled', { api: 'Undone', web: 'Undone' });
    expect([sharedIn(moving, 'south'), sharedIn(moving, 'east')]).toEqual([
      [true, true],
      [false, false],
    ]);
  },
);

test('stops before the first copy if an object that the plan found in the target is gone', async () => {
  await using moving = await startMigrationWorld({ objects: [config, withCommon('web')], others: { east: [config] } });
  const { world } = moving.controller;
  await world.until(() => availableIn(moving, 'south', 'web') === 2);
  world.cluster('north').onWrite(({ kind }) => {
    if (kind === 'ControllerRevision') world.cluster('east').remove('ConfigMap', 'common', 'default');
    return undefined;
  });
  moving.controller.startProcess();
  await moving.migrate('move', { labels });
  const { status } = await moving.ended('move', 'Paused', { web: 'Surge' });
  expect(status.apps?.[0]).toMatchObject({
    reason: 'Conflict',
    message: expect.stringContaining('ConfigMap default/common was deleted in east after the plan'),
  });
  expect(moving.live('east', 'Deployment.apps', 'web')).toBeUndefined();
  world.cluster('east').put(config);
  await moving.annotate('move', { 'muster.dev/resumed-at': '2026-11-23T00:00:01Z' });
  await moving.ended('move', 'Settled', { web: 'Done' });
});
