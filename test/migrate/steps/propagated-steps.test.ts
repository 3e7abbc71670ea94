import { expect, test } from 'vitest';
import type { JsonObject } from '../../../src/core/json.ts';
import { numberAt } from '../../../src/core/json-at.ts';
import type { KubernetesObject } from '../../../src/core/objects.ts';
import type { MigratedApp } from '../../../src/migrate/model/migration-status-definition.ts';
import { deployment, intent } from '../../propagate/controller/controller-world.ts';
import { cutOff, type MigrationWorld, startMigrationWorld } from './migration-world.ts';

/** A Propagation of Deployments that runs in south. */
async function startPropagated(names: readonly string[] = ['web'], more: JsonObject = {}): Promise<MigrationWorld> {
  const moving = await startMigrationWorld({ objects: [] });
  const templates = names.map((name) => {
    const web = deployment(name, 2);
    return { ...web, metadata: { ...(web.metadata as object), labels: { group: 'all' } } };
  });
  await moving.controller.propagate(intent('web', templates, { placement: { clusters: ['south'] }, ...more }));
  return moving;
}

function appOf({ mirrored }: MigrationWorld, index = 0): MigratedApp | undefined {
  return mirrored('move')?.status.apps?.[index];
}

const undone = { 'muster.dev/undo': '2026-11-23T00:00:00Z' };
const grouped = { labels: { matchLabels: { group: 'all' } } };

test('gives a propagated application a new placement, and its old one when it is undone', async () => {
  await using moving = await startPropagated();
  moving.controller.startProcess();
  await moving.controller.phase('web', 'Settled');
  await moving.migrate('move', grouped);
  await moving.ended('move', 'Settled', { web: 'Done' });
  expect(moving.controller.mirrored('web')?.document).toMatchObject({ placement: { clusters: ['east'] } });
  expect(moving.live('south', 'Deployment.apps', 'web')).toBeUndefined();
  await moving.annotate('move', { 'muster.dev/undo': '2026-11-23T00:00:00Z' });
  await moving.ended('move', 'Settled', { web: 'Undone' });
  expect(moving.controller.mirrored('web')?.document).toMatchObject({ placement: { clusters: ['south'] } });
  expect(moving.live('south', 'Deployment.apps', 'web')).toMatchObject({ status: { availableReplicas: 2 } });
  expect(moving.live('east', 'Deployment.apps', 'web')).toBeUndefined();
});

test('gives the source its share again when the placement of before includes the target', async () => {
  const divided = { placement: { exclude: ['north'] }, replicas: { mode: 'DIVIDED', total: 4 } };
  await using moving = await startPropagated(['web'], divided);
  const countsOf = () =>
    ['south', 'east'].map((cluster) => numberAt(moving.live(cluster, 'Deployment.apps', 'web') ?? {}, 'spec', 'replicas'));
  moving.controller.startProcess();
  await moving.controller.phase('web', 'Settled');
  await moving.migrate('move', grouped);
  await moving.ended('move', 'Settled', { web: 'Done' });
  expect(countsOf()).toEqual([undefined, 4]);
  await moving.annotate('move', { 'muster.dev/undo': '2026-11-23T00:00:00Z' });
  await moving.ended('move', 'Settled', { web: 'Undone' });
  await moving.controller.phase('web', 'Settled');
  expect(moving.controller.mirrored('web')?.document).toMatchObject({ placement: { exclude: ['north'] } });
  expect(countsOf()).toEqual([2, 2]);
});

test('keeps the copies in the source while the target has fewer replicas, if others scale them', async () => {
  await using moving = await startPropagated(['web'], { replicas: { mode: 'EXTERNAL' } });
  const { world } = moving.controller;
  const scale = (cluster: string, replicas: number) => {
    const web = moving.live(cluster, 'Deployment.apps', 'web') as KubernetesObject & { readonly spec: object };
    world.cluster(cluster).put({ ...web, spec: { ...web.spec, replicas } } as KubernetesObject);
  };
  moving.controller.startProcess();
  await moving.controller.phase('web', 'Settled');
  scale('south', 3);
  await world.until(() => numberAt(moving.live('south', 'Deployment.apps', 'web') ?? {}, 'status', 'availableReplicas') === 3);
  await moving.migrate('move', { ...grouped, soak: '10s' });
  await world.until(() => appOf(moving)?.step === 'Soak');
  scale('east', 0);
  await world.until(() => appOf(moving)?.reason === 'Unhealthy', 120_000);
  expect([appOf(moving)?.step, appOf(moving)?.message]).toEqual(['Drain', expect.stringContaining('0 of 3 replicas healthy')]);
  scale('east', 2);
  await world.pass(30_000);
  expect(moving.live('south', 'Deployment.apps', 'web')).toMatchObject({ status: { availableReplicas: 3 } });
  scale('east', 3);
  await moving.ended('move', 'Settled', { web: 'Done' });
});

test('waits in Drain for a source that is away, and names the copies that may run there', async () => {
  await using moving = await startPropagated();
  const { world } = moving.controller;
  moving.controller.startProcess();
  await moving.controller.phase('web', 'Settled');
  const old = moving.live('south', 'Deployment.apps', 'web')?.metadata.uid;
  await moving.migrate('move', { ...grouped, soak: '1m' });
  await world.until(() => appOf(moving)?.step === 'Soak');
  const cut = cutOff(moving, 'south');
  await world.until(() => appOf(moving)?.reason === 'Unreachable', 180_000);
  const away = moving.mirrored('move')?.status;
  expect(away?.apps).toMatchObject([{ step: 'Drain', message: expect.stringContaining('south') }]);
  expect(appOf(moving)?.source).toMatchObject([{ state: 'PendingDeletion', uid: old, key: { kind: 'Deployment', name: 'web' } }]);
  expect([away?.phase, away?.notes?.map(({ code }) => code)]).toEqual(['Degraded', ['POSSIBLY_DOUBLED']]);
  cut[Symbol.dispose]();
  const { status } = await moving.ended('move', 'Settled', { web: 'Done' }, 180_000);
  expect([status.notes, status.apps?.[0]?.source, status.apps?.[0]?.reason]).toEqual([[], [], undefined]);
  expect(moving.live('south', 'Deployment.apps', 'web')).toBeUndefined();
});

test('moves applications of one Propagation together, whatever maxConcurrency is', async () => {
  await using moving = await startPropagated(['api', 'web']);
  moving.controller.startProcess();
  await moving.controller.phase('web', 'Settled');
  await moving.migrate('move', { ...grouped, maxConcurrency: 1 });
  await moving.ended('move', 'Settled', { api: 'Done', web: 'Done' });
  await moving.annotate('move', { 'muster.dev/undo': '2026-11-23T00:00:00Z' });
  await moving.ended('move', 'Settled', { api: 'Undone', web: 'Undone' });
  for (const name of ['api', 'web']) {
    expect(moving.live('south', 'Deployment.apps', name)).toMatchObject({ status: { availableReplicas: 2 } });
    expect(moving.live('east', 'Deployment.apps', name)).toBeUndefined();
  }
});

/** Changes the placement of the Propagation as a user does. */
function edit({ controller: { world } }: MigrationWorld, placement: JsonObject): void {
  const hub = world.cluster('north');
  const web = hub.get('Propagation.muster.dev', 'web', 'default') as KubernetesObject & { readonly spec: JsonObject };
  hub.put({ ...web, spec: { ...web.spec, placement } } as KubernetesObject);
}

test('keeps the edits of a placement when it is undone', async () => {
  await using moving = await startMigrationWorld({ objects: [], others: { west: [] } });
  const { controller } = moving;
  const web = deployment('web', 2);
  const template = { ...web, metadata: { ...(web.metadata as object), labels: { group: 'all' } } };
  await controller.propagate(intent('web', [template], { placement: { clusters: ['south'] } }));
  controller.startProcess();
  await controller.phase('web', 'Settled');
  await moving.migrate('move', grouped);
  await moving.ended('move', 'Settled', { web: 'Done' });
  edit(moving, { clusters: ['east', 'west'] });
  await controller.world.until(() => moving.live('west', 'Deployment.apps', 'web') !== undefined);
  await controller.phase('web', 'Settled');
  await moving.annotate('move', undone);
  await moving.ended('move', 'Settled', { web: 'Undone' });
  expect(controller.mirrored('web')?.document).toMatchObject({ placement: { clusters: ['south', 'west'] } });
  expect(moving.live('west', 'Deployment.apps', 'web')).toMatchObject({ status: { availableReplicas: 2 } });
  expect(moving.live('east', 'Deployment.apps', 'web')).toBeUndefined();
});

test('does not undo a placement that was edited so that it has lost the target, until it allows the source', async () => {
  await using moving = await startPropagated();
  moving.controller.startProcess();
  await moving.controller.phase('web', 'Settled');
  await moving.migrate('move', grouped);
  await moving.ended('move', 'Settled', { web: 'Done' });
  edit(moving, { clusters: ['north'] });
  await moving.controller.world.until(() => moving.live('north', 'Deployment.apps', 'web') !== undefined);
  await moving.annotate('move', undone);
  await moving.controller.world.until(() => appOf(moving)?.reason === 'Conflict');
  expect(appOf(moving)?.message).toContain('does not allow south any more: add south to it');
  await moving.controller.world.pass(30_000);
  expect(moving.controller.mirrored('web')?.document).toMatchObject({ placement: { clusters: ['north'] } });
  edit(moving, { clusters: ['south'] });
  await moving.ended('move', 'Settled', { web: 'Undone' });
  expect(moving.live('south', 'Deployment.apps', 'web')).toMatchObject({ status: { availableReplicas: 2 } });
});

test('keeps the copies in the target while the source is away, also if the Propagation does not choose it then', async () => {
  await using moving = await startPropagated(['web'], { failover: { after: '5s' } });
  const { world } = moving.controller;
  moving.controller.startProcess();
  await moving.controller.phase('web', 'Settled');
  await moving.migrate('move', grouped);
  await moving.ended('move', 'Settled', { web: 'Done' });
  const cut = cutOff(moving, 'south');
  await world.pass(60_000);
  await moving.annotate('move', undone);
  await world.until(() => appOf(moving)?.reason === 'Unreachable', 180_000);
  await world.pass(120_000);
  expect(moving.live('east', 'Deployment.apps', 'web')).toMatchObject({ status: { availableReplicas: 2 } });
  cut[Symbol.dispose]();
  await moving.ended('move', 'Settled', { web: 'Undone' }, 300_000);
  expect(moving.live('south', 'Deployment.apps', 'web')).toMatchObject({ status: { availableReplicas: 2 } });
});
