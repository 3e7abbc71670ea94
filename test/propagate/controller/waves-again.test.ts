import { expect, test } from 'vitest';
import type { KubernetesObject } from '../../../src/core/objects.ts';
import { type ControllerWorld, configMap, deployment, intent, startControllerWorld } from './controller-world.ts';

const gold = { labels: { tier: 'gold' } };

test('takes changes within one generation through the waves, although the process that noticed them died', async () => {
  const source = (a: string): KubernetesObject => ({
    ...{ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'source', namespace: 'default' } },
    data: { a },
  });
  await using fleet = await startControllerWorld({ origin: [source('1')], north: [], south: [] });
  const dataIn = (cluster: string) => fleet.world.cluster(cluster).get('ConfigMap', 'source', 'default')?.data;
  const first = fleet.startProcess();
  const ref = { cluster: 'origin', apiVersion: 'v1', kind: 'ConfigMap', namespace: 'default', name: 'source' };
  const waves = ['north', 'south'].map((name) => ({ name, set: { clusters: [name] } }));
  const placement = { clusters: ['north', 'south'] };
  await fleet.propagate({ namespace: 'default', name: 'web', template: [{ ref }], placement, rollout: { waves, soak: '40s' } });
  await fleet.phase('web', 'Settled', 120_000);
  const { generation } = (await fleet.stored('web'))?.metadata ?? {};
  first.kill();
  fleet.freeLease();
  const second = fleet.startProcess({ life: 1 });
  await fleet.world.pass(10_000);
  fleet.world.cluster('origin').put(source('2'));
  await fleet.world.until(() => second.writes === 1);
  fleet.freeLease();
  fleet.startProcess();
  await fleet.world.until(() => JSON.stringify(dataIn('north')) === '{"a":"2"}');
  await fleet.world.pass(30_000);
  expect([dataIn('north'), dataIn('south')]).toEqual([{ a: '2' }, { a: '1' }]);
  await fleet.world.until(() => JSON.stringify(dataIn('south')) === '{"a":"2"}', 60_000);
  expect((await fleet.phase('web', 'Settled', 120_000)).metadata.generation).toBe(generation);
}, 120_000);

/** Sets the status that the Deployment controller would set. */
function rollOut(fleet: ControllerWorld, cluster: string): void {
  const found = fleet.world.cluster(cluster).get('Deployment.apps', 'web', 'default');
  if (found === undefined) throw new Error(`expected a Deployment in ${cluster}`);
  const figures = { replicas: 1, updatedReplicas: 1, readyReplicas: 1, availableReplicas: 1 };
  fleet.world.cluster(cluster).put({ ...found, status: { observedGeneration: found.metadata.generation ?? 1, ...figures } });
}

test('starts a cluster that joins after the decision last, whatever wave it matches', async () => {
  await using fleet = await startControllerWorld({ hub: [], early: [], late: [], south: [] }, { traits: { early: gold, south: gold } });
  fleet.startProcess();
  const has = (cluster: string) => fleet.world.cluster(cluster).get('Deployment.apps', 'web', 'default') !== undefined;
  const waves = [{ name: 'first', set: { clusters: ['early', 'late'] } }];
  await fleet.propagate(intent('web', [deployment('web', 1)], { placement: { selector: 'tier=gold' }, rollout: { waves } }));
  await fleet.world.until(() => has('early'));
  fleet.world.leave('late');
  fleet.world.setTraits('late', gold);
  fleet.world.join('late');
  await fleet.world.pass(20_000);
  expect(['early', 'late', 'south'].map(has)).toEqual([true, false, false]);
  rollOut(fleet, 'early');
  await fleet.world.until(() => has('south'));
  await fleet.world.pass(10_000);
  expect(has('late')).toBe(false);
  rollOut(fleet, 'south');
  await fleet.world.until(() => has('late'));
}, 60_000);

test('a cluster whose wanted objects are unknown delays its wave', async () => {
  await using fleet = await startControllerWorld({ hub: [], early: [], south: [] });
  const has = (cluster: string) => fleet.world.cluster(cluster).get('Deployment.apps', 'web', 'default') !== undefined;
  const stalled = fleet.world.cluster('early').stall({ resource: 'deployments' });
  fleet.startProcess();
  const placement = { clusters: ['early', 'south'] };
  const waves = [{ name: 'first', set: { clusters: ['early'] } }];
  await fleet.propagate(intent('web', [deployment('web', 1)], { placement, rollout: { waves } }));
  await fleet.world.pass(40_000);
  expect(['early', 'south'].map(has)).toEqual([false, false]);
  stalled[Symbol.dispose]();
  fleet.world.cluster('early').disconnect();
  await fleet.world.until(() => has('early'), 300_000);
  await fleet.world.pass(20_000);
  expect(has('south')).toBe(false);
  rollOut(fleet, 'early');
  await fleet.world.until(() => has('south'));
}, 60_000);

test('starts a late cluster last, also after further plans', async () => {
  await using fleet = await startControllerWorld({ hub: [], early: [], late: [], south: [] }, { traits: { early: gold, south: gold } });
  fleet.startProcess();
  const has = (cluster: string) => fleet.world.cluster(cluster).get('Deployment.apps', 'web', 'default') !== undefined;
  const waves = [{ name: 'first', set: { clusters: ['early', 'late'] } }];
  await fleet.propagate(intent('web', [deployment('web', 1)], { placement: { selector: 'tier=gold' }, rollout: { waves } }));
  await fleet.world.until(() => has('early'));
  for (const name of ['late', 'hub']) {
    if (name === 'late') fleet.world.leave(name);
    fleet.world.setTraits(name, name === 'late' ? gold : { labels: { tier: 'iron' } });
    if (name === 'late') fleet.world.join(name);
    await fleet.world.pass(15_000);
    fleet.world.setTraits('south', { labels: { tier: 'gold', turn: name } });
    fleet.world.leave('south');
    fleet.world.join('south');
    await fleet.world.pass(15_000);
  }
  expect(['early', 'late', 'south'].map(has)).toEqual([true, false, false]);
}, 60_000);

test('a plan made while a copy is being written does not end the wave of that copy', async () => {
  await using fleet = await startControllerWorld({ hub: [], early: [], late: [], south: [] }, { traits: { early: gold, south: gold } });
  fleet.startProcess();
  const has = (cluster: string) => fleet.world.cluster(cluster).get('Deployment.apps', 'web', 'default') !== undefined;
  const waves = [{ name: 'first', set: { clusters: ['early', 'late'] } }];
  const { promise: answered, resolve: answer } = Promise.withResolvers<undefined>();
  fleet.world.cluster('early').onWrite(() => answered);
  await fleet.propagate(intent('web', [deployment('web', 1)], { placement: { selector: 'tier=gold' }, rollout: { waves } }));
  await fleet.world.until(() => has('early'));
  fleet.world.leave('late');
  fleet.world.setTraits('late', gold);
  fleet.world.join('late');
  await fleet.world.pass(3_000);
  expect(has('south')).toBe(false);
  answer(undefined);
  await fleet.world.pass(20_000);
  expect(['early', 'late', 'south'].map(has)).toEqual([true, false, false]);
  rollOut(fleet, 'early');
  await fleet.world.until(() => has('south'));
}, 60_000);

test('a copy is deleted if its cluster left the placement while the copy was being created', async () => {
  await using fleet = await startControllerWorld({ hub: [], north: [], other: [], south: [] }, { traits: { north: gold, south: gold } });
  fleet.startProcess();
  const has = (cluster: string) => fleet.world.cluster(cluster).get('ConfigMap', 'web', 'default') !== undefined;
  const { promise: answered, resolve: answer } = Promise.withResolvers<undefined>();
  fleet.world.cluster('north').onWrite(() => answered);
  await fleet.propagate(intent('web', [configMap('web', { a: '1' })], { placement: { selector: 'tier=gold' } }));
  await fleet.world.until(() => has('north') && has('south'));
  fleet.world.setTraits('north', { labels: { tier: 'iron' } });
  fleet.world.setTraits('other', { labels: { tier: 'iron' } });
  fleet.world.leave('other');
  fleet.world.join('other');
  await fleet.world.pass(4_000);
  answer(undefined);
  await fleet.world.until(() => !has('north'));
  await fleet.phase('web', 'Settled');
}, 60_000);

test.each(['Abort', 'CreateOnly'] as const)(
  'the next wave waits where the copy cannot be created, with conflict %s',
  async (conflict) => {
    await using fleet = await startControllerWorld({ hub: [], north: [deployment('web', 3) as KubernetesObject], south: [] });
    fleet.startProcess();
    const has = (cluster: string) => fleet.world.cluster(cluster).get('Deployment.apps', 'web', 'default') !== undefined;
    const waves = [{ name: 'first', set: { clusters: ['north'] } }];
    const placement = { clusters: ['north', 'south'] };
    await fleet.propagate(intent('web', [deployment('web', 1)], { placement, rollout: { waves }, conflict }));
    await fleet.world.pass(20_000);
    expect(has('south')).toBe(conflict === 'CreateOnly');
  },
  60_000,
);

test('a gateway that waited long for the hub leads soon after the hub is back', async () => {
  await using fleet = await startControllerWorld({ hub: [], south: [] });
  fleet.world.leave('hub');
  const { controller } = fleet.startProcess();
  await fleet.world.pass(200_000);
  expect(controller.isLeading()).toBe(false);
  fleet.world.join('hub');
  await fleet.world.until(() => controller.isLeading(), 6_000);
}, 60_000);
