import { expect, test } from 'vitest';
import type { KubernetesObject } from '../../../src/core/objects.ts';
import { portableOf } from '../../../src/manifests/portable-object.ts';
import { type MigrationWorld, service, startMigrationWorld, workload } from './migration-world.ts';

const undone = { 'muster.dev/undo': '2026-11-23T00:00:00Z' };
const labels = { matchLabels: { app: 'web' } };
const kinds = ['ConfigMap', 'Secret', 'Deployment.apps', 'Service'];

const config = (data: Readonly<Record<string, string>>): KubernetesObject =>
  ({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'web', namespace: 'default' }, data }) as KubernetesObject;
const secret = (token: string): KubernetesObject =>
  ({
    apiVersion: 'v1',
    kind: 'Secret',
    type: 'Opaque',
    metadata: { name: 'web', namespace: 'default', annotations: { team: 'a' } },
    data: { token: Buffer.from(token).toString('base64') },
  }) as KubernetesObject;

/** A Deployment that needs a ConfigMap and a Secret. */
function webWithParts(): KubernetesObject {
  const web = workload('web');
  const { spec } = web as unknown as { spec: { template: { spec: { containers: Record<string, unknown>[] } } } };
  const envFrom = [{ configMapRef: { name: 'web' } }, { secretRef: { name: 'web' } }];
  const containers = spec.template.spec.containers.map((one) => ({ ...one, envFrom }));
  return { ...web, spec: { ...spec, template: { ...spec.template, spec: { containers } } } } as KubernetesObject;
}

async function startWeb(): Promise<MigrationWorld> {
  const moving = await startMigrationWorld({ objects: [config({ mode: 'fast' }), secret('one'), webWithParts(), service('web')] });
  const { world } = moving.controller;
  await world.until(() => {
    const { status } = (moving.live('south', 'Deployment.apps', 'web') ?? {}) as { status?: { availableReplicas?: number } };
    return status?.availableReplicas === 2;
  });
  return moving;
}

/** The manifests of the application in south, without the fields that a server fills in. */
function manifestsIn({ live }: MigrationWorld): readonly unknown[] {
  return kinds.map((kind) => {
    const object = live('south', kind, 'web');
    return object === undefined ? undefined : portableOf(object as KubernetesObject & { readonly kind: string });
  });
}

/** Changes the data of the ConfigMap in a cluster, or its annotation `note`. */
function editConfig(moving: MigrationWorld, cluster: string, data?: Readonly<Record<string, string>>, note?: string): void {
  const now = moving.live(cluster, 'ConfigMap', 'web') as KubernetesObject;
  const noted = note === undefined ? {} : { annotations: { ...now.metadata.annotations, note } };
  const edited = { ...now, metadata: { ...now.metadata, ...noted }, ...(data === undefined ? {} : { data }) };
  moving.controller.world.cluster(cluster).put(edited as KubernetesObject);
}

async function reach({ controller: { world }, mirrored }: MigrationWorld, step: string): Promise<void> {
  await world.until(() => mirrored('move')?.status.apps?.[0]?.step === step);
}

test('restores the same manifests, without marks of the migration', async () => {
  await using moving = await startWeb();
  moving.controller.startProcess();
  const before = manifestsIn(moving);
  await moving.migrate('move', { labels });
  await moving.ended('move', 'Settled', { web: 'Done' });
  expect(manifestsIn(moving)).toEqual([undefined, undefined, undefined, undefined]);
  await moving.annotate('move', undone);
  const { status } = await moving.ended('move', 'Settled', { web: 'Undone' });
  expect(manifestsIn(moving)).toEqual(before);
  expect(status.apps?.[0]?.source.map(({ state, intent }) => [state, intent])).toEqual(kinds.map(() => ['Owned', undefined]));
  const managers = kinds.flatMap((kind) => moving.live('south', kind, 'web')?.metadata.managedFields ?? []).map(({ manager }) => manager);
  expect(managers).not.toContain('muster');
});

test.each([1, 3, 5, 7, 9])('restores an object that was edited after the plan, after a crash at write %i', async (life) => {
  await using moving = await startWeb();
  const { world } = moving.controller;
  const first = moving.controller.startProcess();
  await moving.migrate('move', { labels, soak: '20s' });
  await reach(moving, 'Soak');
  const revision = moving.mirrored('move')?.status.apps?.[0]?.undo?.revision;
  for (const cluster of ['south', 'east']) editConfig(moving, cluster, { mode: 'slow', more: 'yes' });
  const web = moving.live('south', 'Deployment.apps', 'web') as KubernetesObject & { readonly spec: object };
  const annotations = { ...web.metadata.annotations, note: 'edited' };
  world
    .cluster('south')
    .put({ ...web, metadata: { ...web.metadata, annotations }, spec: { ...web.spec, replicas: 1 } } as KubernetesObject);
  await world.until(
    () => (moving.live('south', 'Deployment.apps', 'web') as { status?: { availableReplicas?: number } }).status?.availableReplicas === 1,
  );
  const before = manifestsIn(moving);
  first.kill();
  moving.controller.freeLease();
  const second = moving.controller.startProcess({ life });
  await world.until(() => second.writes >= life || moving.mirrored('move')?.status.phase === 'Settled');
  second.kill();
  moving.controller.freeLease();
  moving.controller.startProcess();
  await moving.ended('move', 'Settled', { web: 'Done' });
  expect(moving.mirrored('move')?.status.apps?.[0]?.undo).toMatchObject({
    replicas: 1,
    revision: expect.not.stringContaining(revision ?? ''),
  });
  await moving.annotate('move', undone);
  await moving.ended('move', 'Settled', { web: 'Undone' });
  expect(manifestsIn(moving)).toEqual(before);
});

test('leaves a Secret whose copy was changed in the target, with a note', async () => {
  await using moving = await startWeb();
  const { world } = moving.controller;
  moving.controller.startProcess();
  await moving.migrate('move', { labels, soak: '20s' });
  await reach(moving, 'Soak');
  const copy = moving.live('east', 'Secret', 'web') as KubernetesObject;
  world.cluster('east').put({ ...copy, data: { token: Buffer.from('two').toString('base64') } } as KubernetesObject);
  const { status } = await moving.ended('move', 'Settled', { web: 'Done' });
  expect(moving.live('south', 'Secret', 'web')).toMatchObject(secret('one'));
  expect(status.apps?.[0]?.source).toMatchObject([{ key: { kind: 'Secret' }, state: 'Shared' }]);
  expect(status.notes).toMatchObject([
    { severity: 'WARNING', code: 'COPY_DIFFERS', message: expect.stringContaining('Secret default/web stays in south') },
  ]);
  expect(JSON.stringify(world.cluster('north').objects('ControllerRevision.apps'))).not.toContain(Buffer.from('two').toString('base64'));
  await moving.annotate('move', undone);
  await moving.ended('move', 'Settled', { web: 'Undone' });
  expect(moving.live('south', 'Secret', 'web')).toMatchObject(secret('one'));
});

test('restores an object that was edited once more after its edit was recorded', async () => {
  await using moving = await startWeb();
  const { world } = moving.controller;
  moving.controller.startProcess();
  await moving.migrate('move', { labels, soak: '20s' });
  await reach(moving, 'Soak');
  let edits = 0;
  world.cluster('north').onWrite(({ kind, result }) => {
    if (kind === 'ControllerRevision' && result === 'created' && edits < 4) edits += 1;
    else return undefined;
    editConfig(moving, 'south', undefined, `edit ${edits}`);
    return undefined;
  });
  editConfig(moving, 'south', undefined, 'first edit');
  await moving.ended('move', 'Settled', { web: 'Done' });
  expect([edits, moving.live('south', 'ConfigMap', 'web')]).toEqual([4, undefined]);
  await moving.annotate('move', undone);
  await moving.ended('move', 'Settled', { web: 'Undone' });
  expect(moving.live('south', 'ConfigMap', 'web')).toMatchObject({ metadata: { annotations: { note: 'edit 4' } } });
});

test('deletes an object whose manifest the hub does not return as it was given', async () => {
  await using moving = await startWeb();
  const { world } = moving.controller;
  const north = world.cluster('north');
  let revisions = 0;
  north.onWrite(({ kind, result, object }) => {
    if (kind !== 'ControllerRevision' || result !== 'created') return undefined;
    revisions += 1;
    north.put(JSON.parse(JSON.stringify(object).replaceAll('"binaryData":{}', '"immutable":null')));
    return undefined;
  });
  world.cluster('south').put({ ...config({ mode: 'fast' }), binaryData: {} } as KubernetesObject);
  moving.controller.startProcess();
  await moving.migrate('move', { labels });
  await moving.ended('move', 'Settled', { web: 'Done' });
  expect([moving.live('south', 'ConfigMap', 'web'), revisions]).toEqual([undefined, 2]);
});
