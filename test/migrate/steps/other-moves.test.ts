import { expect, test } from 'vitest';
import { numberAt } from '../../../src/core/json-at.ts';
import { clusterName } from '../../../src/core/names.ts';
import type { KubernetesObject } from '../../../src/core/objects.ts';
import { cutOff, type MigrationWorld, service, startMigrationWorld, workload } from './migration-world.ts';

const labels = { matchLabels: { app: 'web' } };
const undone = { 'muster.dev/undo': '2026-11-23T00:00:00Z' };

async function startWeb(): Promise<MigrationWorld> {
  const moving = await startMigrationWorld({ objects: [workload('web'), service('web')] });
  await moving.controller.world.until(() => availableIn(moving, 'south') === 2);
  return moving;
}

function availableIn({ live }: MigrationWorld, cluster: string): number | undefined {
  return numberAt(live(cluster, 'Deployment.apps', 'web') ?? {}, 'status', 'availableReplicas');
}

const placesOf = (moving: MigrationWorld) => ['north', 'south', 'east'].filter((cluster) => availableIn(moving, cluster) !== undefined);
const appOf = ({ mirrored }: MigrationWorld, name: string) => mirrored(name)?.status.apps?.[0];
const codesOf = ({ mirrored }: MigrationWorld, name: string) => mirrored(name)?.status.notes?.map(({ code }) => code);

test('refuses a second migration of an application that has not ended, from its source and from its target', async () => {
  await using moving = await startWeb();
  const { world } = moving.controller;
  moving.controller.startProcess();
  await moving.migrate('first', { labels, soak: '1m' });
  await world.until(() => appOf(moving, 'first')?.step === 'Soak');
  await moving.migrate('same', { labels, to: 'north' });
  await moving.migrate('onward', { labels, from: 'east', to: 'north' });
  for (const name of ['same', 'onward']) {
    await moving.ended(name, 'Failed', {});
    expect(codesOf(moving, name)).toEqual(['CONFLICT', 'NOTHING_FITS']);
    expect(moving.mirrored(name)?.status.notes?.[0]?.message).toContain('Migration default/first moves it');
  }
  await moving.ended('first', 'Settled', { web: 'Done' }, 180_000);
  await moving.annotate('onward', { 'muster.dev/resumed-at': '2026-11-23T00:00:01Z' });
  await moving.ended('onward', 'Settled', { web: 'Done' });
  expect(placesOf(moving)).toEqual(['north']);
});

test('begins one of two migrations of an application that were created at the same time', async () => {
  await using moving = await startWeb();
  await moving.migrate('first', { labels, soak: '1m' });
  await moving.migrate('second', { labels, to: 'north', soak: '1m' });
  moving.controller.startProcess();
  const phases = () => ['first', 'second'].map((name) => moving.mirrored(name)?.status.phase).toSorted();
  await moving.controller.world.until(() => phases().join() === 'Failed,Rolling');
  await moving.controller.world.until(() => phases().join() === 'Failed,Settled', 180_000);
  expect(placesOf(moving)).toHaveLength(1);
});

test('does not begin a migration while the mirror hides that a process before has begun another one', async () => {
  await using moving = await startMigrationWorld({ objects: [workload('web'), service('web')], others: { west: [] } });
  const { controller } = moving;
  const { world } = controller;
  // The Node of west joins late. Without it, the plan after the return could still see a cluster without room.
  await world.until(() => world.members.objects.all(clusterName('west'), { group: '', kind: 'Node' })?.length === 1);
  const west = cutOff(moving, 'west');
  await moving.migrate('second', { labels, to: 'west' });
  const before = controller.startProcess();
  await world.until(() => codesOf(moving, 'second')?.join() === 'UNREACHABLE', 120_000);
  before.kill();
  controller.freeLease();
  await moving.migrate('first', { labels, soak: '1h' });
  await world.until(() => moving.mirrored('first') !== undefined);
  const stalled = world.cluster('north').stall({ verb: 'watch' });
  const other = controller.startProcess();
  await world.until(() => availableIn(moving, 'east') === 2);
  other.kill();
  controller.freeLease();
  west[Symbol.dispose]();
  expect(appOf(moving, 'first')).toBeUndefined();
  controller.startProcess();
  await world.pass(20_000);
  expect(moving.live('west', 'Deployment.apps', 'web')).toBeUndefined();
  stalled[Symbol.dispose]();
  await moving.ended('second', 'Failed', {}, 300_000);
  expect(codesOf(moving, 'second')).toEqual(['CONFLICT', 'NOTHING_FITS']);
  expect(appOf(moving, 'first')?.step).toBe('Soak');
});

test('undoes a move only after a later move of the same application is undone', async () => {
  await using moving = await startWeb();
  moving.controller.startProcess();
  await moving.migrate('first', { labels });
  await moving.ended('first', 'Settled', { web: 'Done' });
  await moving.migrate('onward', { labels, from: 'east', to: 'north' });
  await moving.ended('onward', 'Settled', { web: 'Done' });
  await moving.annotate('first', undone);
  await moving.controller.world.until(() => appOf(moving, 'first')?.reason === 'Conflict');
  await moving.controller.world.pass(60_000);
  expect(appOf(moving, 'first')).toMatchObject({
    step: 'Done',
    message: 'Migration default/onward has moved it since: undo that one first',
  });
  expect(placesOf(moving)).toEqual(['north']);
  await moving.annotate('onward', undone);
  await moving.ended('onward', 'Settled', { web: 'Undone' });
  await moving.ended('first', 'Settled', { web: 'Undone' });
  expect(appOf(moving, 'first')?.reason).toBeUndefined();
  // The undo of the later move has created the Deployment in east again under another uid. The undo of the first one deletes it.
  expect(placesOf(moving)).toEqual(['south']);
  expect(moving.mirrored('first')?.status.notes).toEqual([]);
});

test('notes that an application may run elsewhere if its copy is gone when the undo of a finished move begins', async () => {
  await using moving = await startWeb();
  moving.controller.startProcess();
  await moving.migrate('first', { labels });
  await moving.ended('first', 'Settled', { web: 'Done' });
  await moving.migrate('onward', { labels, from: 'east', to: 'north' });
  await moving.ended('onward', 'Settled', { web: 'Done' });
  await moving.delete('onward');
  await moving.controller.world.until(() => moving.mirrored('onward') === undefined);
  await moving.annotate('first', undone);
  await moving.ended('first', 'Settled', { web: 'Undone' });
  expect(moving.mirrored('first')?.status.notes).toMatchObject([
    {
      code: 'NOT_RESTORED',
      message:
        'the copy of Deployment default/web was gone from east when the undo began: it may run in another cluster, in addition to south',
    },
  ]);
});

test('leaves a copy of which another client changed the uid after a later move, and notes it', async () => {
  await using moving = await startWeb();
  moving.controller.startProcess();
  await moving.migrate('first', { labels });
  await moving.ended('first', 'Settled', { web: 'Done' });
  const copy = moving.live('east', 'Deployment.apps', 'web') as KubernetesObject;
  await moving.migrate('onward', { labels, from: 'east', to: 'north' });
  await moving.ended('onward', 'Settled', { web: 'Done' });
  await moving.annotate('onward', undone);
  await moving.ended('onward', 'Settled', { web: 'Undone' });
  // Another client replaces the Deployment by one with the same annotations.
  const { uid: _uid, resourceVersion: _version, ...metadata } = copy.metadata;
  moving.controller.world.cluster('east').remove('Deployment.apps', 'web', 'default');
  moving.controller.world.cluster('east').put({ ...copy, metadata } as KubernetesObject);
  await moving.annotate('first', undone);
  await moving.ended('first', 'Settled', { web: 'Undone' });
  expect(placesOf(moving)).toEqual(['south', 'east']);
  expect(codesOf(moving, 'first')).toContain('NOT_RESTORED');
});

test('leaves a copy that a later migration found equal and uses', async () => {
  const config = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'shared', namespace: 'default' }, data: { mode: 'fast' } };
  const using = (name: string) => {
    const one = workload(name) as unknown as { spec: { template: { spec: { containers: object[] } } } };
    const { spec } = one;
    const containers = spec.template.spec.containers.map((each) => ({ ...each, envFrom: [{ configMapRef: { name: 'shared' } }] }));
    return { ...one, spec: { ...spec, template: { ...spec.template, spec: { containers } } } } as unknown as KubernetesObject;
  };
  await using moving = await startMigrationWorld({ objects: [config as KubernetesObject, using('web'), using('api')] });
  moving.controller.startProcess();
  await moving.controller.world.until(() => availableIn(moving, 'south') === 2);
  await moving.migrate('first', { labels });
  await moving.ended('first', 'Settled', { web: 'Done' });
  await moving.migrate('second', { labels: { matchLabels: { app: 'api' } } });
  await moving.ended('second', 'Settled', { api: 'Done' });
  await moving.annotate('first', undone);
  await moving.ended('first', 'Settled', { web: 'Undone' });
  expect(moving.live('east', 'ConfigMap', 'shared')).toMatchObject({ data: { mode: 'fast' } });
  expect(moving.mirrored('first')?.status.notes).toMatchObject([
    { code: 'NOT_RESTORED', message: 'ConfigMap default/shared stays in east: a later migration uses it' },
  ]);
});
