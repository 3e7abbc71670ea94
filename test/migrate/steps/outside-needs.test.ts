import { expect, test } from 'vitest';
import { numberAt } from '../../../src/core/json-at.ts';
import type { KubernetesObject } from '../../../src/core/objects.ts';
import { type MigrationWorld, service, startMigrationWorld, workload } from './migration-world.ts';

const labels = { matchLabels: { app: 'web' } };
const metadata = (name: string) => ({ name, namespace: 'default' });
const config = { apiVersion: 'v1', kind: 'ConfigMap', metadata: metadata('web'), data: { a: '1' } } as KubernetesObject;
const pull = {
  apiVersion: 'v1',
  kind: 'Secret',
  type: 'kubernetes.io/dockerconfigjson',
  metadata: metadata('pull'),
  data: { '.dockerconfigjson': 'e30=' },
} as KubernetesObject;

/** A Deployment that needs the ConfigMap `web` and the pull Secret `pull`. */
function needing(name: string): KubernetesObject {
  const made = workload(name);
  const { spec } = made as unknown as {
    spec: { template: { metadata: object; spec: { containers: Record<string, unknown>[] } } };
  };
  const containers = spec.template.spec.containers.map((one) => ({ ...one, envFrom: [{ configMapRef: { name: 'web' } }] }));
  const template = { ...spec.template, spec: { containers, imagePullSecrets: [{ name: 'pull' }] } };
  return { ...made, spec: { ...spec, template } } as KubernetesObject;
}

/** Starts a migration of `web`, and waits for its soak. */
async function startSoak(): Promise<MigrationWorld> {
  const moving = await startMigrationWorld({ objects: [needing('web'), service('web'), config, pull] });
  const available = () => numberAt(moving.live('south', 'Deployment.apps', 'web') ?? {}, 'status', 'availableReplicas');
  await moving.controller.world.until(() => available() === 2);
  moving.controller.startProcess();
  await moving.migrate('move', { labels, soak: '30s' });
  await moving.controller.world.until(() => moving.mirrored('move')?.status.apps?.[0]?.step === 'Soak');
  return moving;
}

const partsIn = ({ live }: MigrationWorld, cluster: string) =>
  [live(cluster, 'ConfigMap', 'web'), live(cluster, 'Secret', 'pull')].map((object) => object?.metadata.uid);

test('keeps objects that a workload created in Soak needs, with a note, and undoes the rest', async () => {
  await using moving = await startSoak();
  const before = partsIn(moving, 'south');
  moving.controller.world.cluster('south').put(needing('late'));
  const { status } = await moving.ended('move', 'Settled', { web: 'Done' }, 120_000);
  expect(partsIn(moving, 'south')).toEqual(before);
  expect([moving.live('south', 'Deployment.apps', 'web'), moving.live('south', 'Service', 'web')]).toEqual([undefined, undefined]);
  expect(status.notes).toMatchObject([
    { severity: 'WARNING', code: 'STILL_NEEDED', message: expect.stringContaining('ConfigMap default/web stays in south') },
    { severity: 'WARNING', code: 'STILL_NEEDED', message: expect.stringContaining('Secret default/pull stays in south') },
  ]);
  await moving.annotate('move', { 'muster.dev/undo': '2026-11-23T00:00:00Z' });
  const back = await moving.ended('move', 'Settled', { web: 'Undone' });
  expect([partsIn(moving, 'south'), partsIn(moving, 'east')]).toEqual([before, [undefined, undefined]]);
  expect(back.status.notes).toEqual([]);
});

test.each([
  ['a ServiceAccount', { apiVersion: 'v1', kind: 'ServiceAccount', metadata: metadata('ci'), imagePullSecrets: [{ name: 'pull' }] }],
  ['a Pod', { apiVersion: 'v1', kind: 'Pod', metadata: metadata('ci'), spec: { containers: [], imagePullSecrets: [{ name: 'pull' }] } }],
])('keeps a Secret that %s created in Soak needs', async (_kind, holder) => {
  await using moving = await startSoak();
  const [, before] = partsIn(moving, 'south');
  moving.controller.world.cluster('south').put(holder as unknown as KubernetesObject);
  await moving.ended('move', 'Settled', { web: 'Done' }, 120_000);
  expect(partsIn(moving, 'south')).toEqual([undefined, before]);
});

test('keeps a Service and its Ingress that other Pods use since the plan', async () => {
  await using moving = await startSoak();
  const pod = { apiVersion: 'v1', kind: 'Pod', metadata: { ...metadata('extra'), labels: { app: 'web' } }, spec: { containers: [] } };
  moving.controller.world.cluster('south').put(pod as unknown as KubernetesObject);
  await moving.ended('move', 'Settled', { web: 'Done' }, 120_000);
  expect(moving.live('south', 'Service', 'web')).toBeDefined();
});

test('deletes objects whose other holder is gone again', async () => {
  await using moving = await startSoak();
  const { world } = moving.controller;
  world.cluster('south').put(needing('late'));
  await world.pass(5_000);
  world.cluster('south').remove('Deployment.apps', 'late', 'default');
  await moving.ended('move', 'Settled', { web: 'Done' }, 120_000);
  expect(partsIn(moving, 'south')).toEqual([undefined, undefined]);
  expect(moving.mirrored('move')?.status.notes).toEqual([]);
});
