import { expect, test } from 'vitest';
import type { KubernetesObject } from '../../../src/core/objects.ts';
import { resourceKind } from '../../../src/importers/upkeep/resource-store.ts';
import { configMap } from '../../propagate/controller/controller-world.ts';
import { deleteResource, resource, resourceDefinition, startUpkeepWorld, type UpkeepWorld } from './upkeep-world.ts';

const clusters = ['south', 'east'] as const;

/** Starts a process that dies after this number of writes. Another one takes its place. */
function startMortalLeader(fleet: UpkeepWorld, life: number) {
  const process = fleet.startProcess({ life });
  const hasDied = () => process.writes >= life;
  let isReplaced = false;
  return {
    hasDied,
    async until(reached: () => boolean) {
      await fleet.world.until(() => reached() || (hasDied() && !isReplaced));
      if (reached()) return;
      // The hub does the last write, but the process does not learn it.
      await fleet.world.pass(500);
      process.kill();
      fleet.freeLease();
      fleet.startProcess();
      isReplaced = true;
      await fleet.world.until(reached);
    },
  };
}

/** Puts copies of the operator and its resource, and returns the uids of the copies. */
async function startWithOperatorCopies() {
  const fleet = await startUpkeepWorld({ definition: resourceDefinition({ status: false }) });
  await fleet.world.until(() => typeof fleet.world.members.objects.served(fleet.world.hub.cluster, resourceKind) === 'object');
  for (const cluster of clusters) fleet.world.cluster(cluster).put(configMap('web', { mode: 'calm' }) as KubernetesObject);
  const { metadata, ...rest } = resource('web', clusters);
  fleet.world.cluster('hub').put({ ...rest, metadata: { ...metadata, finalizers: [...clusters] } });
  const uids = () => clusters.map((cluster) => fleet.world.cluster(cluster).get('ConfigMap', 'web', 'default')?.metadata.uid);
  return { fleet, uids };
}

const settled = (fleet: UpkeepWorld) => () => fleet.mirrored('web')?.status.phase === 'Settled';
const isGone = (fleet: UpkeepWorld) => () => fleet.resource('web') === undefined && fleet.mirrored('web') === undefined;
const orphan = (fleet: UpkeepWorld) =>
  fleet.world.pumped(fleet.propagations.delete(fleet.context, { namespace: 'default', name: 'web' }, { policy: 'ORPHAN' }));

/** Runs the story with a leader that dies after its first write, then after its second one, and so on, until one survives. */
async function killAtEachWrite(story: (life: number) => Promise<{ readonly hasDied: boolean }>): Promise<number> {
  for (let life = 1; ; life += 1) if (!(await story(life)).hasDied) return life - 1;
}

test('copies that a user keeps stay if the leader is killed at any write, without the status subresource', async () => {
  const writes = await killAtEachWrite(async (life) => {
    const { fleet, uids } = await startWithOperatorCopies();
    await using _ = fleet;
    const before = uids();
    const leader = startMortalLeader(fleet, life);
    await leader.until(settled(fleet));
    await deleteResource(fleet, 'Orphan');
    // The Propagation may be gone before a leader sees the resource again.
    await orphan(fleet);
    await leader.until(isGone(fleet));
    expect([life, uids(), fleet.modes('web')]).toEqual([life, before, ['calm', 'calm']]);
    return { hasDied: leader.hasDied() };
  });
  expect(writes).toBeGreaterThan(10);
}, 120_000);

test('copies that a user keeps while no gateway runs stay if the next leader is killed at any write', async () => {
  const writes = await killAtEachWrite(async (life) => {
    const { fleet, uids } = await startWithOperatorCopies();
    await using _ = fleet;
    const before = uids();
    const first = fleet.startProcess();
    await fleet.world.until(settled(fleet));
    first.kill();
    fleet.freeLease();
    await deleteResource(fleet);
    await orphan(fleet);
    const leader = startMortalLeader(fleet, life);
    await leader.until(isGone(fleet));
    expect([life, uids()]).toEqual([life, before]);
    return { hasDied: leader.hasDied() };
  });
  expect(writes).toBeGreaterThan(3);
}, 120_000);

test('copies of the operator are deleted if the leader is killed at any write before there is a Propagation', async () => {
  const writes = await killAtEachWrite(async (life) => {
    const { fleet, uids } = await startWithOperatorCopies();
    await using _ = fleet;
    await deleteResource(fleet);
    const leader = startMortalLeader(fleet, life);
    await leader.until(isGone(fleet));
    expect([life, uids()]).toEqual([life, [undefined, undefined]]);
    return { hasDied: leader.hasDied() };
  });
  expect(writes).toBeGreaterThan(2);
}, 120_000);

test('the finalizers stay if it is unknown whether the Propagation was created', async () => {
  const { fleet, uids } = await startWithOperatorCopies();
  await using _ = fleet;
  const before = uids();
  // The first write is the namespace of the Lease, the second one is the record.
  const first = fleet.startProcess({ life: 2 });
  await fleet.world.until(() => fleet.resource('web')?.metadata.annotations !== undefined);
  first.kill();
  fleet.freeLease();
  await deleteResource(fleet);
  fleet.startProcess();
  await fleet.world.pass(20_000);
  expect([uids(), fleet.mirrored('web'), fleet.resource('web')?.metadata.finalizers]).toEqual([before, undefined, [...clusters]]);
  // Without the copies there is no question.
  for (const cluster of clusters) fleet.world.cluster(cluster).remove('ConfigMap', 'web', 'default');
  await fleet.world.until(() => fleet.resource('web') === undefined);
}, 60_000);
