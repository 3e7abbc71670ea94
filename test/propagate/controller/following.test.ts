import { expect, test } from 'vitest';
import type { JsonObject } from '../../../src/core/json.ts';
import type { KubernetesObject } from '../../../src/core/objects.ts';
import { type ControllerWorld, configMap, deployment, intent, startControllerWorld } from './controller-world.ts';

const object = (manifest: JsonObject) => manifest as unknown as KubernetesObject;
const dataIn = (fleet: ControllerWorld, cluster: string, name: string) =>
  fleet.world.cluster(cluster).get('ConfigMap', name, 'default')?.data;

test('follows dependencies of a template, also those that are created later', async () => {
  await using fleet = await startControllerWorld({ hub: [object(configMap('settings', { a: '1' }))], south: [] });
  fleet.startProcess();
  const { spec, ...web } = deployment('web', 0);
  const { template } = spec as { readonly template: { readonly metadata: JsonObject; readonly spec: JsonObject } };
  const volumes = ['settings', 'later'].map((name) => ({ name, configMap: { name } }));
  const pods = { ...template, spec: { ...template.spec, volumes } };
  const needy = { ...web, spec: { ...(spec as JsonObject), template: pods } };
  await fleet.propagate(intent('web', [needy], { placement: { clusters: ['south'] }, dependencies: true }));
  await fleet.world.until(() => JSON.stringify(dataIn(fleet, 'south', 'settings')) === '{"a":"1"}');
  await fleet.world.pass(10_000);

  const hub = fleet.world.cluster('hub');
  hub.put(object(configMap('settings', { a: '2' })));
  await fleet.world.until(() => JSON.stringify(dataIn(fleet, 'south', 'settings')) === '{"a":"2"}', 10_000);
  hub.put(object(configMap('later', { b: '1' })));
  await fleet.world.until(() => JSON.stringify(dataIn(fleet, 'south', 'later')) === '{"b":"1"}', 10_000);
}, 60_000);

test('chooses a cluster once its Nodes show its location, drops it when the location changes, and keeps it while the location is unknown', async () => {
  const node = (name: string): KubernetesObject => ({ apiVersion: 'v1', kind: 'Node', metadata: { name } });
  await using fleet = await startControllerWorld({ hub: [node('zero')], south: [] }, { traits: { hub: { region: 'eu' } } });
  fleet.startProcess();
  const { world } = fleet;
  const copy = () => dataIn(fleet, 'south', 'web') !== undefined;
  const fields = [{ field: 'region', operator: 'IN', values: ['eu'] }];
  await fleet.propagate(intent('web', [configMap('web', { a: '1' })], { placement: { clusters: ['hub', 'south'], fields } }));
  await world.pass(20_000);
  expect(copy()).toBe(false);
  world.setTraits('south', { region: 'eu' });
  world.cluster('south').put(node('one'));
  await world.until(copy, 10_000);
  await fleet.phase('web', 'Settled');

  // All Nodes are being replaced: the location of the cluster is unknown.
  world.setTraits('south', {});
  world.cluster('south').remove('Node', 'one');
  await world.pass(60_000);
  expect(copy()).toBe(true);
  fleet.freeLease();
  // A new leader deletes no copy either.
  fleet.startProcess();
  await world.pass(60_000);
  expect(copy()).toBe(true);

  world.setTraits('south', { region: 'us' });
  world.cluster('south').put(node('one'));
  await world.until(() => !copy(), 20_000);
}, 60_000);

test('reschedules at a future rescheduleAt, at once when it has come', async () => {
  const gold = { labels: { tier: 'gold' } };
  await using fleet = await startControllerWorld({ hub: [], south: [], east: [] }, { living: true, traits: { hub: gold } });
  fleet.startProcess();
  const { world } = fleet;
  const count = (cluster: string) => {
    const found = world.cluster(cluster).get('Deployment.apps', 'web', 'default')?.spec as { readonly replicas: number } | undefined;
    return found?.replicas;
  };
  const counts = () => ['hub', 'south', 'east'].map(count);
  const join = async (cluster: string) => {
    world.leave(cluster);
    world.setTraits(cluster, gold);
    world.join(cluster);
    await world.pass(15_000);
  };
  const rescheduleAt = new Date(world.clock.now() + 60_000).toISOString();
  const replicas = { mode: 'DIVIDED', rescheduleAt };
  await fleet.propagate(intent('web', [deployment('web', 6)], { placement: { selector: 'tier=gold' }, replicas }));
  await fleet.phase('web', 'Settled');
  const first = fleet.mirrored('web')?.status.scheduledAt;
  await join('south');
  expect(counts()).toEqual([6, undefined, undefined]);
  expect(fleet.mirrored('web')?.status.scheduledAt).toBe(first);
  await world.until(() => count('south') === 3, 60_000);
  await world.pass(5_000);
  const second = fleet.mirrored('web')?.status.scheduledAt ?? '';
  expect(Date.parse(second)).toBeGreaterThanOrEqual(Date.parse(rescheduleAt));
  await join('east');
  await world.pass(60_000);
  expect([count('east'), fleet.mirrored('web')?.status.scheduledAt]).toEqual([undefined, second]);
}, 60_000);

test('does not delete wanted copies in a cluster that left and came back', async () => {
  await using fleet = await startControllerWorld({ hub: [], east: [] });
  fleet.startProcess();
  const { world } = fleet;
  await fleet.propagate(intent('web', [configMap('web', { a: '1' })], { placement: { clusters: ['hub', 'east'] } }));
  await fleet.phase('web', 'Settled');
  const { uid } = world.cluster('east').get('ConfigMap', 'web', 'default')?.metadata ?? {};
  world.leave('east');
  await world.pass(30_000);
  const shares = JSON.stringify(world.cluster('hub').objects('ClusterShare.muster.dev'));
  expect([shares.includes('PendingDeletion'), shares.includes(String(uid))]).toEqual([false, true]);
  fleet.freeLease();
  fleet.startProcess();
  await world.pass(30_000);
  world.join('east');
  await fleet.phase('web', 'Settled', 120_000);
  expect(world.cluster('east').get('ConfigMap', 'web', 'default')?.metadata.uid).toBe(uid);
}, 60_000);
