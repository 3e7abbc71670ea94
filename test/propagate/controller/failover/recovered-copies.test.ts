import { expect, test } from 'vitest';
import type { JsonObject } from '../../../../src/core/json.ts';
import { numberAt } from '../../../../src/core/json-at.ts';
import { marks } from '../../../../src/propagate/model/propagation.ts';
import { type ControllerWorld, deployment, intent, startControllerWorld } from '../controller-world.ts';

const clusters = ['hub', 'south', 'east'];
const affinityGroups = ['south', 'east'].map((cluster) => ({ name: cluster, set: { clusters: [cluster] } }));

async function startWorld(failover: JsonObject = { unhealthyAfter: '60s' }) {
  const fleet = await startControllerWorld(Object.fromEntries(clusters.map((name) => [name, []])), { living: true });
  const process = fleet.startProcess();
  await fleet.propagate(
    intent('web', [deployment('web', 2)], {
      placement: { affinityGroups },
      failover: { ...failover, purge: 'DIRECTLY' },
    }),
  );
  await fleet.phase('web', 'Settled');
  return { fleet, process };
}

const copyIn = ({ world }: ControllerWorld, cluster: string) => world.cluster(cluster).get('Deployment.apps', 'web', 'default');

const isAvailable = (fleet: ControllerWorld) => numberAt(copyIn(fleet, 'south') ?? {}, 'status', 'availableReplicas') === 2;

/** Removes the Node of the cluster with its Pods, and waits until the status shows the unhealthy copy. Returns a function that adds the Node again. */
async function loseNode(fleet: ControllerWorld, name: string): Promise<() => void> {
  const cluster = fleet.world.cluster(name);
  const node = cluster.get('Node', `node-${name}`);
  if (node === undefined) throw new Error(`expected a Node in ${name}`);
  cluster.remove('Node', `node-${name}`);
  for (const { metadata } of cluster.objects('Pod')) cluster.remove('Pod', metadata.name, metadata.namespace);
  const line = () => fleet.mirrored('web')?.status.clusters?.find((one) => one.cluster === name);
  await fleet.world.until(() => line()?.unhealthySince !== undefined, 60_000);
  return () => void cluster.put(node);
}

async function expectToStay(fleet: ControllerWorld, uid: string | undefined): Promise<void> {
  for (let pass = 0; pass < 120; pass += 1) {
    await fleet.world.pass(500);
    expect(fleet.mirrored('web')?.status.evictions).toBeUndefined();
  }
  expect(copyIn(fleet, 'south')?.metadata.uid).toBe(uid);
  expect(copyIn(fleet, 'east')).toBeUndefined();
}

test('a copy that recovered while no gateway ran stays', async () => {
  const { fleet, process } = await startWorld();
  await using _ = fleet;
  const uid = copyIn(fleet, 'south')?.metadata.uid;
  const addNode = await loseNode(fleet, 'south');
  process.kill();
  addNode();
  await fleet.world.until(() => isAvailable(fleet), 60_000);
  await fleet.world.pass(120_000);
  fleet.freeLease();
  fleet.startProcess();
  await expectToStay(fleet, uid);
}, 120_000);

test('a copy that recovered while its cluster was away stays', async () => {
  const { fleet } = await startWorld();
  await using _ = fleet;
  const uid = copyIn(fleet, 'south')?.metadata.uid;
  const addNode = await loseNode(fleet, 'south');
  const refused = fleet.world.cluster('south').refuse();
  fleet.world.cluster('south').disconnect();
  await fleet.world.pass(10_000);
  addNode();
  await fleet.world.until(() => isAvailable(fleet), 60_000);
  await fleet.world.pass(120_000);
  refused[Symbol.dispose]();
  await expectToStay(fleet, uid);
}, 120_000);

test('a copy that is still unhealthy after a start of the gateway leaves', async () => {
  const { fleet, process } = await startWorld();
  await using _ = fleet;
  await loseNode(fleet, 'south');
  process.kill();
  await fleet.world.pass(120_000);
  fleet.freeLease();
  fleet.startProcess();
  await fleet.world.until(() => copyIn(fleet, 'east') !== undefined, 60_000);
}, 120_000);

test('a cluster that was away only while the rollout was paused keeps its copies', async () => {
  const { fleet } = await startWorld({ after: '5s' });
  await using _ = fleet;
  const hub = fleet.world.cluster('hub');
  const annotate = (annotations: JsonObject) => {
    const propagation = hub.get('Propagation.muster.dev', 'web', 'default');
    if (propagation === undefined) throw new Error('expected the Propagation');
    hub.put({ ...propagation, metadata: { ...propagation.metadata, annotations: { ...annotations } } as typeof propagation.metadata });
  };
  const uid = copyIn(fleet, 'south')?.metadata.uid;
  annotate({ [marks.paused]: 'true' });
  await fleet.world.pass(5_000);
  const refused = fleet.world.cluster('south').refuse();
  fleet.world.cluster('south').disconnect();
  await fleet.world.pass(60_000);
  expect(fleet.mirrored('web')?.status.clusters?.find(({ cluster }) => cluster === 'south')?.awaySince).toBeDefined();
  expect(fleet.mirrored('web')?.status.evictions).toBeUndefined();
  refused[Symbol.dispose]();
  await fleet.world.pass(30_000);
  annotate({});
  await expectToStay(fleet, uid);
}, 120_000);
