import { expect, test } from 'vitest';
import type { KubernetesObject } from '../../../src/core/objects.ts';
import { type MigrationWorld, startMigrationWorld, workload } from './migration-world.ts';

const undone = { 'muster.dev/undo': '2026-11-23T00:00:00Z' };
const labels = { matchLabels: { app: 'web' } };
const hidden = Buffer.from('hidden').toString('base64');

const secret = (data: string): KubernetesObject =>
  ({
    apiVersion: 'v1',
    kind: 'Secret',
    type: 'Opaque',
    metadata: { name: 'web', namespace: 'default', annotations: { 'kapp.k14s.io/original': `{"data":{"token":"${data}"}}` } },
    data: { token: data },
  }) as KubernetesObject;

/** A Deployment that needs the Secret. */
function webWithSecret(): KubernetesObject {
  const web = workload('web') as KubernetesObject & { spec: { template: { spec: { containers: Record<string, unknown>[] } } } };
  const containers = web.spec.template.spec.containers.map((one) => ({ ...one, envFrom: [{ secretRef: { name: 'web' } }] }));
  return { ...web, spec: { ...web.spec, template: { ...web.spec.template, spec: { containers } } } } as KubernetesObject;
}

async function startWeb(others: Readonly<Record<string, readonly KubernetesObject[]>> = {}): Promise<MigrationWorld> {
  const moving = await startMigrationWorld({ objects: [secret(hidden), webWithSecret()], others });
  moving.controller.startProcess();
  await moving.controller.world.until(
    () => (moving.live('south', 'Deployment.apps', 'web') as { status?: { availableReplicas?: number } })?.status?.availableReplicas === 2,
  );
  return moving;
}

const appOf = ({ mirrored }: MigrationWorld) => mirrored('move')?.status.apps?.[0];

test('keeps no annotation value of a Secret on the hub, and restores it from the copy', async () => {
  await using moving = await startWeb();
  await moving.migrate('move', { labels });
  await moving.ended('move', 'Settled', { web: 'Done' });
  expect(moving.live('east', 'Secret', 'web')).toMatchObject({ metadata: { annotations: secret(hidden).metadata.annotations ?? {} } });
  const kept = JSON.stringify(moving.controller.world.cluster('north').objects('ControllerRevision.apps'));
  expect([kept.includes(hidden), kept.includes('kapp.k14s.io/original')]).toEqual([false, true]);
  await moving.annotate('move', undone);
  const { status } = await moving.ended('move', 'Settled', { web: 'Undone' });
  expect([moving.live('south', 'Secret', 'web'), status.notes]).toMatchObject([secret(hidden), []]);
});

test('restores the other objects when the copy of a Secret is gone, and notes the loss', async () => {
  await using moving = await startWeb();
  await moving.migrate('move', { labels });
  await moving.ended('move', 'Settled', { web: 'Done' });
  moving.controller.world.cluster('east').remove('Secret', 'web', 'default');
  await moving.annotate('move', undone);
  const { status } = await moving.ended('move', 'Settled', { web: 'Undone' });
  expect(status.notes).toMatchObject([
    { severity: 'WARNING', code: 'NOT_RESTORED', message: expect.stringContaining('Secret default/web') },
  ]);
  expect(moving.live('south', 'Deployment.apps', 'web')).toBeDefined();
});

test('leaves a Secret in the source if the target had an equal one of its own', async () => {
  await using moving = await startWeb({ east: [secret(hidden)] });
  await moving.migrate('move', { labels });
  await moving.ended('move', 'Settled', { web: 'Done' });
  expect(moving.live('south', 'Secret', 'web')).toMatchObject(secret(hidden));
});

test('says why an undo waits, and only as long as it does', async () => {
  await using moving = await startWeb();
  const { world } = moving.controller;
  await moving.migrate('move', { labels });
  await moving.ended('move', 'Settled', { web: 'Done' });
  const denied = world.cluster('south').forbid({ kind: 'Deployment', verbs: ['create', 'patch'] });
  await moving.annotate('move', undone);
  await world.until(() => appOf(moving)?.reason === 'Denied');
  expect(appOf(moving)?.message).toContain('south');
  expect(moving.live('south', 'Secret', 'web')).toBeDefined();
  denied[Symbol.dispose]();
  await moving.ended('move', 'Settled', { web: 'Undone' }, 120_000);
  expect([appOf(moving)?.reason, appOf(moving)?.message]).toEqual([undefined, undefined]);
});

test('restores owner references whose owner still exists', async () => {
  await using moving = await startWeb();
  const south = moving.controller.world.cluster('south');
  const owner = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'owner', namespace: 'default' } } as KubernetesObject;
  south.put(owner);
  const { uid = '' } = moving.live('south', 'ConfigMap', 'owner')?.metadata ?? {};
  const ownerReferences = [
    { apiVersion: 'v1', kind: 'ConfigMap', name: 'owner', uid },
    { apiVersion: 'v1', kind: 'ConfigMap', name: 'gone', uid: 'gone' },
  ];
  south.put({ ...secret(hidden), metadata: { ...secret(hidden).metadata, ownerReferences } });
  await moving.migrate('move', { labels });
  await moving.ended('move', 'Settled', { web: 'Done' });
  await moving.annotate('move', undone);
  const { status } = await moving.ended('move', 'Settled', { web: 'Undone' });
  expect(moving.live('south', 'Secret', 'web')?.metadata.ownerReferences).toEqual([ownerReferences[0]]);
  expect(status.notes).toMatchObject([{ code: 'NOT_RESTORED', message: expect.stringContaining('ConfigMap gone') }]);
});

const messagesOf = ({ mirrored }: MigrationWorld) => mirrored('move')?.status.notes?.map(({ code, message }) => `${code}: ${message}`);

test('notes that a Secret comes back with other data if its copy was changed after the move', async () => {
  await using moving = await startWeb();
  await moving.migrate('move', { labels });
  await moving.ended('move', 'Settled', { web: 'Done' });
  const copy = moving.live('east', 'Secret', 'web') as KubernetesObject;
  const rotated = Buffer.from('rotated').toString('base64');
  moving.controller.world.cluster('east').put({ ...copy, data: { token: rotated } } as KubernetesObject);
  await moving.annotate('move', undone);
  await moving.ended('move', 'Settled', { web: 'Undone' });
  expect(messagesOf(moving)).toEqual([
    'NOT_RESTORED: Secret default/web was changed in east after it was copied: south has the data of the copy, which may differ from the data before the migration',
  ]);
  expect(moving.live('south', 'Secret', 'web')).toMatchObject({ data: { token: rotated } });
});

const configured = (): KubernetesObject => {
  const web = workload('web') as unknown as { spec: { template: { spec: { containers: object[] } } } };
  const { spec } = web;
  const containers = spec.template.spec.containers.map((one) => ({ ...one, envFrom: [{ configMapRef: { name: 'web', optional: true } }] }));
  return { ...web, spec: { ...spec, template: { ...spec.template, spec: { containers } } } } as unknown as KubernetesObject;
};
const config = {
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name: 'web', namespace: 'default' },
  data: { a: '1' },
} as KubernetesObject;
const nodePort = {
  ...{ apiVersion: 'v1', kind: 'Service', metadata: { name: 'web', namespace: 'default' } },
  spec: { type: 'NodePort', selector: { app: 'web' }, ports: [{ name: 'http', port: 80, nodePort: 30080 }] },
} as unknown as KubernetesObject;

async function startConfigured(objects: readonly KubernetesObject[]): Promise<MigrationWorld> {
  const moving = await startMigrationWorld({ objects: [configured(), ...objects] });
  moving.controller.startProcess();
  await moving.controller.world.until(
    () => (moving.live('south', 'Deployment.apps', 'web') as { status?: { availableReplicas?: number } })?.status?.availableReplicas === 2,
  );
  return moving;
}

test('leaves out an object that the source refuses for ever, and ends', async () => {
  await using moving = await startConfigured([config]);
  await moving.migrate('move', { labels });
  await moving.ended('move', 'Settled', { web: 'Done' });
  using _refused = moving.controller.world.cluster('south').refuseWrites({ type: 'invalid', field: 'data' }, { kind: 'ConfigMap' });
  await moving.annotate('move', undone);
  await moving.ended('move', 'Settled', { web: 'Undone' });
  expect(messagesOf(moving)).toEqual([expect.stringMatching(/^NOT_RESTORED: ConfigMap default\/web cannot be created in south: /)]);
});

test('restores a Service without its node port if another Service has that port by now', async () => {
  await using moving = await startConfigured([nodePort]);
  await moving.migrate('move', { labels });
  await moving.ended('move', 'Settled', { web: 'Done' });
  moving.controller.world
    .cluster('south')
    .refuseWrites({ type: 'invalid', field: 'spec.ports[0].nodePort' }, { kind: 'Service', times: 1 } as never);
  await moving.annotate('move', undone);
  await moving.ended('move', 'Settled', { web: 'Undone' });
  expect(messagesOf(moving)).toEqual(['NOT_RESTORED: Service default/web has other node ports than before in south']);
  expect(moving.live('south', 'Service', 'web')).toMatchObject({ spec: { type: 'NodePort', ports: [{ port: 80 }] } });
});

test('waits for a Service that the source refuses, until a user creates it', async () => {
  const { spec, ...rest } = nodePort as KubernetesObject & { readonly spec: object };
  const plain = { ...rest, spec: { ...spec, type: 'ClusterIP', ports: [{ name: 'http', port: 80 }] } } as unknown as KubernetesObject;
  await using moving = await startConfigured([plain]);
  const { world } = moving.controller;
  await moving.migrate('move', { labels });
  await moving.ended('move', 'Settled', { web: 'Done' });
  using _refused = world.cluster('south').refuseWrites({ type: 'invalid', field: 'spec' }, { kind: 'Service' });
  await moving.annotate('move', undone);
  await world.until(() => appOf(moving)?.reason === 'Invalid');
  expect(appOf(moving)?.message).toContain('Service default/web cannot be created in south: ');
  expect(appOf(moving)?.message).toContain('If you create it there yourself, the undo continues');
  await world.pass(30_000);
  expect(moving.live('east', 'Deployment.apps', 'web')).toBeDefined();
  world.cluster('south').put(plain);
  await moving.ended('move', 'Settled', { web: 'Undone' }, 400_000);
});

test('notes an object of the source that another client has replaced, and restores finalizers', async () => {
  const held = { ...nodePort, metadata: { ...nodePort.metadata, finalizers: ['example.com/hold'] } } as KubernetesObject;
  await using moving = await startConfigured([config, held]);
  const { world } = moving.controller;
  const south = world.cluster('south');
  await moving.migrate('move', { labels, soak: '1m' });
  await world.until(() => appOf(moving)?.step === 'Soak');
  south.remove('ConfigMap', 'web', 'default');
  const { uid } = south.put(config).metadata;
  await world.until(() => appOf(moving)?.message?.includes('finalizers') === true, 180_000);
  south.remove('Service', 'web', 'default');
  await world.until(() => appOf(moving)?.step === 'Remove', 60_000);
  await moving.annotate('move', undone);
  await moving.ended('move', 'Settled', { web: 'Undone' }, 180_000);
  expect(messagesOf(moving)).toContain('NOT_RESTORED: ConfigMap default/web was replaced in south by another client, and stays as it is');
  expect(moving.live('south', 'ConfigMap', 'web')?.metadata.uid).toBe(uid);
  expect(moving.live('south', 'Service', 'web')?.metadata.finalizers).toEqual(['example.com/hold']);
});
