import { expect, test } from 'vitest';
import type { KubernetesObject } from '../../../src/core/objects.ts';
import { type MigrationWorld, startMigrationWorld, workload } from './migration-world.ts';

const undone = { 'muster.dev/undo': '2026-11-23T00:00:00Z' };
const deletePolicy = { whenDeleted: 'Delete', whenScaled: 'Delete' };

/** A StatefulSet with one replica whose claims are deleted when it is scaled down, and when it is deleted. */
function database(): KubernetesObject {
  const { spec, ...rest } = workload('db', 1) as KubernetesObject & { readonly spec: object };
  return { ...rest, kind: 'StatefulSet', spec: { ...spec, persistentVolumeClaimRetentionPolicy: deletePolicy } } as KubernetesObject;
}

const specOf = (object: KubernetesObject | undefined) =>
  (object as { readonly spec?: { readonly replicas: number; readonly persistentVolumeClaimRetentionPolicy?: typeof deletePolicy } })?.spec;

/** Adds an object that another one owns, as its controller or a user does. */
function putOwned(
  { controller: { world }, live }: MigrationWorld,
  cluster: string,
  owned: KubernetesObject,
  owner: [string, string],
): void {
  const [kind, name] = owner;
  const uid = live(cluster, kind, name)?.metadata.uid ?? '';
  const ownerReferences = [{ apiVersion: 'apps/v1', kind: kind.split('.')[0] ?? '', name, uid }];
  world.cluster(cluster).put({ ...owned, metadata: { ...owned.metadata, namespace: 'default', ownerReferences } });
}

const claim = (name: string): KubernetesObject =>
  ({ apiVersion: 'v1', kind: 'PersistentVolumeClaim', metadata: { name }, spec: { accessModes: ['ReadWriteOnce'] } }) as KubernetesObject;
const config = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'depcm' }, data: { a: '1' } } as KubernetesObject;

/** Deletes the claims of a StatefulSet that is scaled down, as its controller does with `whenScaled: Delete`. */
function deleteScaledClaims(moving: MigrationWorld, cluster: string): void {
  const sim = moving.controller.world.cluster(cluster);
  sim.onWrite(({ kind, object, isDry }) => {
    const spec = specOf(object);
    const isScaledDown = kind === 'StatefulSet' && spec?.replicas === 0 && !isDry;
    if (isScaledDown && spec.persistentVolumeClaimRetentionPolicy?.whenScaled === 'Delete')
      sim.remove('PersistentVolumeClaim', 'data-db-0', 'default');
    return undefined;
  });
}

async function startDatabase(): Promise<MigrationWorld> {
  const moving = await startMigrationWorld({ objects: [database()] });
  moving.controller.startProcess();
  await moving.controller.world.until(() => readyIn(moving, 'south', 'StatefulSet.apps', 'db') === 1);
  putOwned(moving, 'south', claim('data-db-0'), ['StatefulSet.apps', 'db']);
  deleteScaledClaims(moving, 'south');
  return moving;
}

function readyIn({ live }: MigrationWorld, cluster: string, kind: string, name: string): number | undefined {
  return (live(cluster, kind, name) as { readonly status?: { readonly readyReplicas?: number } } | undefined)?.status?.readyReplicas;
}

const apps = (kind: string, name: string) => [{ apiVersion: 'apps/v1', kind, name }];

test('keeps the claims of a StatefulSet that deletes them, in the source and after an undo', async () => {
  await using moving = await startDatabase();
  await moving.migrate('move', { apps: apps('StatefulSet', 'db') });
  await moving.ended('move', 'Settled', { db: 'Done' });
  expect([moving.live('south', 'StatefulSet.apps', 'db'), moving.live('south', 'PersistentVolumeClaim', 'data-db-0')]).toEqual([
    undefined,
    expect.objectContaining({ kind: 'PersistentVolumeClaim' }),
  ]);
  await moving.annotate('move', undone);
  await moving.ended('move', 'Settled', { db: 'Undone' });
  expect(specOf(moving.live('south', 'StatefulSet.apps', 'db'))).toMatchObject({
    replicas: 1,
    persistentVolumeClaimRetentionPolicy: deletePolicy,
  });
});

test('gives a StatefulSet that was scaled down its retention policy again', async () => {
  await using moving = await startDatabase();
  const { world } = moving.controller;
  const { uid } = moving.live('south', 'StatefulSet.apps', 'db')?.metadata ?? {};
  await moving.migrate('move', { apps: apps('StatefulSet', 'db'), soak: '10s' });
  await world.until(() => moving.mirrored('move')?.status.apps?.[0]?.step === 'Soak');
  const denied = world.cluster('south').forbid({ kind: 'StatefulSet', verbs: ['delete'] });
  await moving.ended('move', 'Paused', { db: 'Remove' });
  expect(specOf(moving.live('south', 'StatefulSet.apps', 'db'))).toMatchObject({
    replicas: 0,
    persistentVolumeClaimRetentionPolicy: { whenDeleted: 'Retain', whenScaled: 'Retain' },
  });
  denied[Symbol.dispose]();
  await moving.annotate('move', undone);
  await moving.ended('move', 'Settled', { db: 'Undone' });
  const set = moving.live('south', 'StatefulSet.apps', 'db');
  expect([set?.metadata.uid, specOf(set)]).toMatchObject([uid, { replicas: 1, persistentVolumeClaimRetentionPolicy: deletePolicy }]);
  expect(moving.live('south', 'PersistentVolumeClaim', 'data-db-0')).toBeDefined();
});

test('keeps the claims in the target when the move of its StatefulSet is undone', async () => {
  await using moving = await startDatabase();
  await moving.migrate('move', { apps: apps('StatefulSet', 'db'), soak: '1h' });
  await moving.controller.world.until(() => moving.mirrored('move')?.status.apps?.[0]?.step === 'Soak');
  putOwned(moving, 'east', claim('data-db-0'), ['StatefulSet.apps', 'db']);
  await moving.annotate('move', undone);
  await moving.ended('move', 'Settled', { db: 'Undone' });
  expect([moving.live('east', 'StatefulSet.apps', 'db'), moving.live('east', 'PersistentVolumeClaim', 'data-db-0')]).toEqual([
    undefined,
    expect.objectContaining({ kind: 'PersistentVolumeClaim' }),
  ]);
});

test('names objects that the application owns, and keeps them', async () => {
  await using moving = await startMigrationWorld({ objects: [workload('web')] });
  moving.controller.startProcess();
  await moving.controller.world.until(() => readyIn(moving, 'south', 'Deployment.apps', 'web') === 2);
  putOwned(moving, 'south', config, ['Deployment.apps', 'web']);
  await moving.migrate('move', { apps: apps('Deployment', 'web') });
  const { status } = await moving.ended('move', 'Settled', { web: 'Done' });
  expect(status.notes).toMatchObject([{ code: 'OWNED_OBJECTS', message: expect.stringContaining('ConfigMap default/depcm') }]);
  expect(moving.live('south', 'ConfigMap', 'depcm')).toMatchObject({ data: { a: '1' } });
  expect(moving.live('south', 'ConfigMap', 'depcm')?.metadata.ownerReferences).toBeUndefined();
  expect(moving.controller.world.cluster('south').objects('ReplicaSet.apps')).toEqual([]);
});

/** Defines the kind Database, which can be scaled. Its controller makes a StatefulSet. */
const definition = {
  ...{ apiVersion: 'apiextensions.k8s.io/v1', kind: 'CustomResourceDefinition', metadata: { name: 'databases.example.com' } },
  spec: {
    ...{ group: 'example.com', scope: 'Namespaced', names: { kind: 'Database', plural: 'databases', singular: 'database' } },
    versions: [
      {
        ...{ name: 'v1', served: true, storage: true },
        schema: { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } },
        subresources: { scale: { specReplicasPath: '.spec.replicas', statusReplicasPath: '.status.replicas' } },
      },
    ],
  },
} as unknown as KubernetesObject;
const ready = { replicas: 1 };
const custom = {
  ...{ apiVersion: 'example.com/v1', kind: 'Database', metadata: { name: 'db', namespace: 'default' } },
  ...{ spec: { replicas: 1 }, status: ready },
} as unknown as KubernetesObject;

/** A StatefulSet of the Database, with a retention policy of its claims. */
function ownSet(moving: MigrationWorld, policy: typeof deletePolicy): KubernetesObject {
  const { uid = '' } = moving.live('south', 'Database.example.com', 'db')?.metadata ?? {};
  const { spec, metadata, ...rest } = database() as KubernetesObject & { readonly spec: object };
  const ownerReferences = [{ apiVersion: 'example.com/v1', kind: 'Database', name: 'db', uid, controller: true }];
  return {
    ...rest,
    metadata: { ...metadata, ownerReferences },
    spec: { ...spec, persistentVolumeClaimRetentionPolicy: policy },
  } as KubernetesObject;
}

test('does not scale a custom workload down if its StatefulSet would delete claims since the plan', async () => {
  await using moving = await startMigrationWorld({ objects: [definition, custom], others: { east: [definition] } });
  const { world } = moving.controller;
  const [south, east] = [world.cluster('south'), world.cluster('east')];
  const replicas = () => specOf(moving.live('south', 'Database.example.com', 'db'))?.replicas;
  const counts: unknown[] = [];
  south.onWrite(({ kind, isDry }) => {
    if (kind === 'Database' && !isDry) counts.push(replicas());
    return undefined;
  });
  east.onWrite(({ kind, result, isDry, object }) => {
    if (kind === 'Database' && result === 'created' && !isDry) east.put({ ...object, status: ready } as KubernetesObject);
    return undefined;
  });
  moving.controller.startProcess();
  await moving.migrate('move', { apps: [{ apiVersion: 'example.com/v1', kind: 'Database', name: 'db' }], soak: '20s' });
  await world.until(() => moving.mirrored('move')?.status.apps?.[0]?.step === 'Soak', 120_000);
  south.put(ownSet(moving, deletePolicy));
  await moving.ended('move', 'Paused', { db: 'Drain' }, 120_000);
  expect(moving.mirrored('move')?.status.apps).toMatchObject([
    { reason: 'Conflict', message: expect.stringContaining('its StatefulSet db would delete claims') },
  ]);
  expect([replicas(), counts]).toEqual([1, []]);
  south.put(ownSet(moving, { whenDeleted: 'Retain', whenScaled: 'Retain' }));
  await moving.annotate('move', { 'muster.dev/resumed-at': '2026-11-23T00:00:01Z' });
  await world.until(() => counts.length > 0, 120_000);
  expect(counts[0]).toBe(0);
});
