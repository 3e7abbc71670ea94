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
  await moving.ended('move', 'Settled', { web: 'Undone' });
  expect(moving.live('south', 'Secret', 'web')).toMatchObject(secret(hidden));
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
