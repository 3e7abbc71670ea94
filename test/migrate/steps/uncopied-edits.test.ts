import { expect, test } from 'vitest';
import type { JsonObject } from '../../../src/core/json.ts';
import type { KubernetesObject } from '../../../src/core/objects.ts';
import { type MigrationWorld, service, startMigrationWorld, workload } from './migration-world.ts';

const labels = { matchLabels: { app: 'web' } };
const undone = { 'muster.dev/undo': '2026-11-23T00:00:00Z' };
const resumed = { 'muster.dev/resumed-at': '2026-11-23T00:00:00Z' };

const object = (apiVersion: string, kind: string, content: JsonObject): KubernetesObject =>
  ({ apiVersion, kind, metadata: { name: 'web', namespace: 'default' }, ...content }) as KubernetesObject;
const selector = { matchLabels: { app: 'web' } };
const scaleTargetRef = { apiVersion: 'apps/v1', kind: 'Deployment', name: 'web' };
const base64 = (text: string) => Buffer.from(text).toString('base64');

/** The objects of the application besides its workload and its Service. */
const parts: readonly KubernetesObject[] = [
  object('v1', 'ConfigMap', { data: { mode: 'fast' } }),
  object('v1', 'Secret', { type: 'Opaque', data: { token: base64('one') } }),
  object('autoscaling/v2', 'HorizontalPodAutoscaler', { spec: { scaleTargetRef, minReplicas: 2, maxReplicas: 4 } }),
  object('policy/v1', 'PodDisruptionBudget', { spec: { selector, minAvailable: 1 } }),
];

/** A Deployment that uses the ConfigMap and the Secret of its name. */
function webWith(name = 'web'): KubernetesObject {
  const web = workload(name) as KubernetesObject & { spec: { template: { spec: { containers: JsonObject[] } } } };
  const envFrom = [{ configMapRef: { name: 'web' } }, { secretRef: { name: 'web' } }];
  const containers = web.spec.template.spec.containers.map((one) => ({ ...one, envFrom }));
  return { ...web, spec: { ...web.spec, template: { ...web.spec.template, spec: { containers } } } } as unknown as KubernetesObject;
}

async function startInSoak(others: readonly KubernetesObject[] = [], soak = '20s'): Promise<MigrationWorld> {
  const moving = await startMigrationWorld({ objects: [...parts, webWith(), service('web'), ...others] });
  const { world } = moving.controller;
  await world.until(
    () => (moving.live('south', 'Deployment.apps', 'web') as { status?: { availableReplicas?: number } })?.status?.availableReplicas === 2,
  );
  moving.controller.startProcess();
  await moving.migrate('move', { labels, soak });
  await world.until(() => appOf(moving)?.step === 'Soak');
  return moving;
}

const appOf = ({ mirrored }: MigrationWorld) => mirrored('move')?.status.apps?.[0];
const notesOf = ({ mirrored }: MigrationWorld) => (mirrored('move')?.status.notes ?? []).map(({ code, message }) => `${code} ${message}`);

/** Merges members into an object of a cluster. */
function edit(moving: MigrationWorld, cluster: string, kind: string, members: JsonObject): void {
  const now = moving.live(cluster, kind, 'web') as KubernetesObject & JsonObject;
  const merged = Object.entries(members).map(([name, value]) => [name, { ...(now[name] as JsonObject), ...(value as JsonObject) }]);
  moving.controller.world.cluster(cluster).put({ ...now, ...Object.fromEntries(merged) });
}

const edits: readonly (readonly [string, JsonObject, string])[] = [
  [
    'ConfigMap',
    { data: { mode: 'slow' } },
    'ConfigMap default/web was edited in south after the plan, and its copy does not have the edit: data.mode',
  ],
  [
    'Secret',
    { data: { token: base64('two') } },
    'Secret default/web was edited in south after the plan, and its copy does not have the edit: data',
  ],
  ['Service', { spec: { ports: [{ name: 'http', port: 81 }] } }, 'its copy does not have the edit: spec.ports'],
  ['HorizontalPodAutoscaler.autoscaling', { spec: { maxReplicas: 6 } }, 'its copy does not have the edit: spec.maxReplicas'],
  ['PodDisruptionBudget.policy', { spec: { minAvailable: 2 } }, 'its copy does not have the edit: spec.minAvailable'],
  ['Deployment.apps', { spec: { minReadySeconds: 3 } }, 'its copy does not have the edit: spec.minReadySeconds'],
];

test.each(edits)('keeps the source while a %s has an edit that its copy does not have', async (kind, members, message) => {
  await using moving = await startInSoak();
  edit(moving, 'south', kind, members);
  await moving.ended('move', 'Paused', { web: 'Drain' });
  expect([appOf(moving)?.reason, appOf(moving)?.message]).toEqual(['Conflict', expect.stringContaining(message)]);
  expect(JSON.stringify(moving.mirrored('move'))).not.toContain(base64('two'));
  // The source has not changed yet.
  expect(moving.live('south', 'Service', 'web')).toBeDefined();
  expect(moving.live('south', 'Deployment.apps', 'web')).toMatchObject({ spec: { replicas: 2 } });
  // The copy gets the same edit.
  edit(moving, 'east', kind, members);
  await moving.annotate('move', resumed);
  await moving.ended('move', 'Settled', { web: 'Done' });
  expect(notesOf(moving)).toEqual([]);
  await moving.annotate('move', undone);
  await moving.ended('move', 'Settled', { web: 'Undone' });
  expect(moving.live('south', kind, 'web')).toMatchObject(members);
});

test('notes edits of labels and annotations, and restores them', async () => {
  await using moving = await startInSoak();
  const labelled = { metadata: { annotations: { owner: 'team-b' } } };
  for (const kind of ['ConfigMap', 'Deployment.apps']) edit(moving, 'south', kind, labelled);
  await moving.ended('move', 'Settled', { web: 'Done' });
  const text = 'was edited in south after the plan, and its copy in east does not have the edit: metadata.annotations';
  expect(notesOf(moving).toSorted()).toEqual([
    `COPY_DIFFERS ConfigMap default/web ${text}`,
    expect.stringContaining('COPY_DIFFERS Deployment default/web was edited in south'),
  ]);
  await moving.annotate('move', undone);
  await moving.ended('move', 'Settled', { web: 'Undone' });
  expect(moving.live('south', 'ConfigMap', 'web')).toMatchObject(labelled);
  expect(notesOf(moving)).toEqual([]);
});

test('notes edits of objects that stay in the source', async () => {
  await using moving = await startInSoak([webWith('other')]);
  edit(moving, 'south', 'ConfigMap', { data: { mode: 'slow' } });
  edit(moving, 'south', 'Secret', { data: { token: base64('two') } });
  await moving.ended('move', 'Settled', { web: 'Done' });
  const text = 'default/web was edited in south after the plan, and its copy in east does not have the edit: data';
  expect(notesOf(moving).toSorted()).toEqual([`COPY_DIFFERS ConfigMap ${text}.mode`, `COPY_DIFFERS Secret ${text}`]);
});

test('notes objects that belong to the application since the plan', async () => {
  await using moving = await startInSoak();
  const added = service('web');
  moving.controller.world.cluster('south').put({ ...added, metadata: { ...added.metadata, name: 'extra' } });
  await moving.ended('move', 'Settled', { web: 'Done' });
  expect(notesOf(moving)).toEqual(['COPY_DIFFERS Service default/extra was created in south after the plan, and is not copied to east']);
  expect(moving.live('south', 'Service', 'extra')).toBeDefined();
});

test('keeps the source while its workload was replaced after the plan', async () => {
  await using moving = await startInSoak();
  const south = moving.controller.world.cluster('south');
  south.remove('Deployment.apps', 'web', 'default');
  south.put(webWith());
  await moving.ended('move', 'Paused', { web: 'Drain' });
  expect([appOf(moving)?.reason, appOf(moving)?.message]).toEqual([
    'Conflict',
    expect.stringContaining('Deployment default/web in south has another uid than in the plan'),
  ]);
  expect(moving.live('south', 'Service', 'web')).toBeDefined();
  south.remove('Deployment.apps', 'web', 'default');
  await moving.annotate('move', resumed);
  await moving.ended('move', 'Settled', { web: 'Done' });
  expect(notesOf(moving)).toEqual([]);
});

test('notes a workload that another client creates in the source while the rest of it is removed', async () => {
  await using moving = await startInSoak();
  const south = moving.controller.world.cluster('south');
  south.onWrite(({ kind, result }) => {
    if (kind === 'Deployment' && result === 'deleted') south.put(webWith());
    return undefined;
  });
  await moving.ended('move', 'Settled', { web: 'Done' });
  expect(notesOf(moving)).toEqual(
    expect.arrayContaining([expect.stringContaining('POSSIBLY_DOUBLED Deployment default/web in south has another uid than the workload')]),
  );
});
