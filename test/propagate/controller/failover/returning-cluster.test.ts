import { expect, test } from 'vitest';
import { numberAt } from '../../../../src/core/json-at.ts';
import { type ControllerWorld, deployment, intent, startControllerWorld } from '../controller-world.ts';

const emptyFleet = Object.fromEntries(['hub', 'south', 'east'].map((name) => [name, []]));
const groups = ['south', 'east'].map((cluster) => ({ name: cluster, set: { clusters: [cluster] } }));

const copyIn = ({ world }: ControllerWorld, cluster: string, name: string) =>
  world.cluster(cluster).get('Deployment.apps', name, 'default');
const availableIn = (fleet: ControllerWorld, cluster: string, name: string) => {
  const copy = copyIn(fleet, cluster, name);
  return copy === undefined ? undefined : (numberAt(copy, 'status', 'availableReplicas') ?? 0);
};
const lineOf = (fleet: ControllerWorld, name: string, cluster: string) =>
  fleet.mirrored(name)?.status.clusters?.find((line) => line.cluster === cluster);

/** Makes a cluster unreachable until the result is disposed of. */
function cutOff({ world }: ControllerWorld, name: string): Disposable {
  const refused = world.cluster(name).refuse();
  world.cluster(name).disconnect();
  return refused;
}

/** Removes the only Node of a cluster and its Pods. Their successors wait for a Node, until the result is disposed of. */
function loseNode({ world }: ControllerWorld, name: string): Disposable {
  const cluster = world.cluster(name);
  const node = cluster.get('Node', `node-${name}`);
  if (node === undefined) throw new Error(`expected a Node in ${name}`);
  cluster.remove('Node', `node-${name}`);
  for (const { metadata } of cluster.objects('Pod')) cluster.remove('Pod', metadata.name, metadata.namespace);
  return { [Symbol.dispose]: () => void cluster.put(node) };
}

/** A fleet where south was away until east took over, two replicas each. South is still away. */
async function movedToEast(name: string, failover: object) {
  const fleet = await startControllerWorld(emptyFleet, { living: true });
  fleet.startProcess();
  await fleet.propagate(intent(name, [deployment(name, 2)], { placement: { affinityGroups: groups }, failover } as never));
  await fleet.phase(name, 'Settled');
  const south = cutOff(fleet, 'south');
  await fleet.world.until(() => availableIn(fleet, 'east', name) === 2, 120_000);
  await fleet.world.until(() => lineOf(fleet, name, 'east')?.health === 'Healthy');
  return { fleet, south };
}

test('keeps the copies of a cluster that returns while the cluster that took over is away, and plans them there again', async () => {
  const { fleet, south } = await movedToEast('turn', { after: '5s' });
  await using _ = fleet;
  const uid = copyIn(fleet, 'south', 'turn')?.metadata.uid;
  const east = cutOff(fleet, 'east');
  await fleet.world.pass(2_000);
  south[Symbol.dispose]();
  await fleet.world.until(() => lineOf(fleet, 'turn', 'south')?.phase === 'Settled', 120_000);
  expect([copyIn(fleet, 'south', 'turn')?.metadata.uid, availableIn(fleet, 'south', 'turn')]).toEqual([uid, 2]);
  expect(fleet.mirrored('turn')?.status).toMatchObject({ ready: 2, evictions: [{ cluster: 'east', cause: 'Unreachable', to: ['south'] }] });
  east[Symbol.dispose]();
  await fleet.world.until(() => copyIn(fleet, 'east', 'turn') === undefined, 120_000);
  await fleet.phase('turn', 'Settled');
  expect([copyIn(fleet, 'south', 'turn')?.metadata.uid, availableIn(fleet, 'south', 'turn')]).toEqual([uid, 2]);
}, 60_000);

test('keeps the copies of a cluster that returns until those that replaced them are healthy again', async () => {
  const { fleet, south } = await movedToEast('sick', { after: '5s' });
  await using _ = fleet;
  const node = loseNode(fleet, 'east');
  await fleet.world.until(() => availableIn(fleet, 'east', 'sick') === 0, 120_000);
  south[Symbol.dispose]();
  await fleet.world.until(() => lineOf(fleet, 'sick', 'south')?.phase === 'Deleting', 60_000);
  await fleet.world.pass(120_000);
  expect(availableIn(fleet, 'south', 'sick')).toBe(2);
  node[Symbol.dispose]();
  await fleet.world.until(() => copyIn(fleet, 'south', 'sick') === undefined, 120_000);
  expect(availableIn(fleet, 'east', 'sick')).toBe(2);
}, 60_000);

test('counts `grace` from the return of the cluster, although its eviction is longer ago', async () => {
  await using fleet = await startControllerWorld(emptyFleet, { living: true });
  fleet.startProcess();
  const node = loseNode(fleet, 'east');
  const failover = { after: '5s', grace: '60s' };
  await fleet.propagate(intent('long', [deployment('long', 2)], { placement: { affinityGroups: groups }, failover } as never));
  await fleet.phase('long', 'Settled');
  const south = cutOff(fleet, 'south');
  await fleet.world.until(() => copyIn(fleet, 'east', 'long') !== undefined, 120_000);
  await fleet.world.pass(70_000);
  south[Symbol.dispose]();
  await fleet.world.until(() => lineOf(fleet, 'long', 'south')?.phase === 'Draining', 60_000);
  await fleet.world.pass(40_000);
  expect(availableIn(fleet, 'south', 'long')).toBe(2);
  await fleet.world.until(() => copyIn(fleet, 'south', 'long') === undefined, 30_000);
  node[Symbol.dispose]();
  await fleet.phase('long', 'Settled');
}, 60_000);

test('evicts neither the hub nor another cluster because the gateway itself was cut off', async () => {
  await using fleet = await startControllerWorld(emptyFleet, { living: true });
  fleet.startProcess();
  const placements = { own: ['hub', 'east'], other: ['south', 'east'] };
  for (const [name, clusters] of Object.entries(placements)) {
    const affinityGroups = clusters.map((cluster) => ({ name: cluster, set: { clusters: [cluster] } }));
    await fleet.propagate(intent(name, [deployment(name, 2)], { placement: { affinityGroups }, failover: { after: '5s' } } as never));
  }
  for (const name of ['own', 'other']) await fleet.phase(name, 'Settled');
  const uids = [copyIn(fleet, 'hub', 'own')?.metadata.uid, copyIn(fleet, 'south', 'other')?.metadata.uid];
  const cuts = Object.keys(emptyFleet).map((name) => cutOff(fleet, name));
  await fleet.world.pass(60_000);
  for (const cut of cuts) cut[Symbol.dispose]();
  for (let passed = 0; passed < 60; passed += 1) {
    await fleet.world.pass(1_000);
    for (const name of ['own', 'other']) expect(fleet.mirrored(name)?.status.evictions).toBeUndefined();
  }
  for (const name of ['own', 'other']) await fleet.phase(name, 'Settled');
  expect([copyIn(fleet, 'hub', 'own')?.metadata.uid, copyIn(fleet, 'south', 'other')?.metadata.uid]).toEqual(uids);
}, 60_000);
