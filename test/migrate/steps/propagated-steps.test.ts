import { expect, test } from 'vitest';
import type { JsonObject } from '../../../src/core/json.ts';
import { numberAt } from '../../../src/core/json-at.ts';
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
