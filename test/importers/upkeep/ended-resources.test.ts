import { expect, test } from 'vitest';
import { printSpec } from '../../../src/propagate/model/spec.ts';
import { definitions, resource, resourceDefinition, resourceKey, startUpkeepWorld, type UpkeepWorld } from './upkeep-world.ts';

async function settled(options: Parameters<typeof startUpkeepWorld>[0] = {}): Promise<UpkeepWorld> {
  const fleet = await startUpkeepWorld(options);
  fleet.startProcess();
  fleet.world.cluster('hub').put(resource('web', ['south', 'east']));
  await fleet.untilPhase('web', 'Settled');
  return fleet;
}

const remove = (fleet: UpkeepWorld) => fleet.world.cluster('hub').remove(resourceKey, 'web', 'default');

/** Deletes the resource like a client, so that finalizers count. */
async function deleteResource({ world }: UpkeepWorld, cascade: 'Background' | 'Orphan' = 'Background'): Promise<void> {
  const served = world.members.objects.served(world.hub.cluster, { group: 'mulitcluster.practice.com', kind: 'MultiClusterResource' });
  const client = world.hub.client();
  if (typeof served !== 'object' || client === undefined) throw new Error('expected the kind to be served');
  const { signal } = new AbortController();
  await world.pumped(
    client.delete({ resource: served, namespace: 'default', name: 'web', preconditions: {}, cascade, run: 'real' }, signal),
  );
}

test('a deleted resource takes its Propagation and its copies with it', async () => {
  await using fleet = await settled();
  await deleteResource(fleet);
  await fleet.gone('web');
  expect(fleet.modes('web')).toEqual([undefined, undefined]);
}, 60_000);

test.each([
  ['deletes what it owns', true],
  ['leaves what it owns to the leader', false],
])(
  'a resource that is deleted while no gateway runs goes completely if the hub %s',
  async (_, collects) => {
    await using fleet = await startUpkeepWorld();
    const first = fleet.startProcess();
    fleet.world.cluster('hub').put(resource('web', ['south', 'east']));
    await fleet.untilPhase('web', 'Settled');
    first.kill();
    const propagation = fleet.mirrored('web');
    if (propagation === undefined || 'problems' in propagation.spec) throw new Error('expected web');
    if (!collects) {
      // The embedded hub finds what an object owns by its uid.
      const owners = propagation.metadata.owners.map((owner) => ({ ...owner, uid: 'of-an-earlier-resource' }));
      await fleet.world.pumped(
        fleet.stores.propagations.update(propagation, { document: printSpec(propagation.spec), owners }, fleet.context.signal),
      );
    }
    remove(fleet);
    await fleet.world.pass(5_000);
    expect([fleet.modes('web'), fleet.mirrored('web')?.metadata.deletionTimestamp === undefined]).toEqual([['calm', 'calm'], !collects]);
    fleet.freeLease();
    fleet.startProcess();
    await fleet.gone('web');
    expect(fleet.modes('web')).toEqual([undefined, undefined]);
  },
  60_000,
);

test('a resource that is deleted and created again owns its Propagation again', async () => {
  await using fleet = await settled();
  await deleteResource(fleet);
  fleet.world.cluster('hub').put(resource('web', ['south']));
  await fleet.world.until(() => fleet.modes('web')[1] === undefined);
  await fleet.untilPhase('web', 'Settled');
  expect(fleet.modes('web')).toEqual(['calm', undefined]);
  expect(fleet.mirrored('web')?.metadata.owners[0]?.uid).toBe(fleet.resource('web')?.metadata.uid);
}, 60_000);

test("the operator's finalizers stay until the last copy is gone, and other finalizers stay for ever", async () => {
  await using fleet = await startUpkeepWorld();
  const hub = fleet.world.cluster('hub');
  fleet.startProcess();
  const { metadata, ...rest } = resource('web', ['south', 'east', 'left']);
  hub.put({ ...rest, metadata: { ...metadata, finalizers: ['south', 'example.com/backup', 'east', 'left'] } });
  await fleet.untilPhase('web', 'Settled');
  const held = fleet.world.cluster('east').get('ConfigMap', 'web', 'default');
  if (held === undefined) throw new Error('expected the copy');
  fleet.world.cluster('east').put({ ...held, metadata: { ...held.metadata, finalizers: ['example.com/hold'] } });
  await deleteResource(fleet);
  await fleet.world.until(() => fleet.modes('web')[0] === undefined);
  await fleet.world.pass(20_000);
  expect(fleet.resource('web')?.metadata.finalizers).toEqual(['south', 'example.com/backup', 'east', 'left']);
  expect(fleet.statusOf('web')?.phase).toBe('Deleting');
  const { finalizers: _, ...free } = fleet.world.cluster('east').get('ConfigMap', 'web', 'default')?.metadata ?? held.metadata;
  fleet.world.cluster('east').put({ ...held, metadata: free });
  fleet.world.cluster('east').remove('ConfigMap', 'web', 'default');
  await fleet.world.until(() => fleet.resource('web')?.metadata.finalizers?.length === 1);
  expect(fleet.resource('web')?.metadata.finalizers).toEqual(['example.com/backup']);
  expect(fleet.mirrored('web')).toBeUndefined();
}, 60_000);

test('a broken resource with finalizers of the operator can be deleted', async () => {
  await using fleet = await startUpkeepWorld();
  const { metadata, ...rest } = resource('web', ['south'], { template: {} });
  fleet.startProcess();
  fleet.world.cluster('hub').put({ ...rest, metadata: { ...metadata, finalizers: ['south'] } });
  await fleet.untilPhase('web', 'Failed');
  await deleteResource(fleet);
  await fleet.world.until(() => fleet.resource('web') === undefined);
}, 60_000);

test('a deletion that orphans leaves the Propagation and its copies', async () => {
  await using fleet = await settled();
  await deleteResource(fleet, 'Orphan');
  await fleet.world.until(() => fleet.resource('web') === undefined);
  await fleet.world.pass(30_000);
  expect([fleet.modes('web'), fleet.mirrored('web')?.metadata.owners]).toEqual([['calm', 'calm'], []]);
}, 60_000);

test('a definition may come after the gateway', async () => {
  await using fleet = await startUpkeepWorld({ definition: 'none' });
  fleet.startProcess();
  await fleet.world.pass(20_000);
  fleet.world.cluster('hub').define(resourceDefinition());
  fleet.world.cluster('hub').put(resource('web', ['south']));
  await fleet.untilPhase('web', 'Settled', 120_000);
  expect(fleet.modes('web')).toEqual(['calm', undefined]);
}, 60_000);

test('the removal of the definition holds the deletion of all copies until a user confirms it', async () => {
  await using fleet = await settled();
  const hub = fleet.world.cluster('hub');
  hub.remove(definitions, resourceDefinition().metadata.name);
  await fleet.world.until(() => fleet.mirrored('web')?.status.phase === 'Held');
  await fleet.world.pass(60_000);
  expect(fleet.modes('web')).toEqual(['calm', 'calm']);
  // The new resource waits for the decision about the old one.
  hub.define(resourceDefinition());
  hub.put(resource('web', ['south', 'east']));
  await fleet.untilPhase('web', 'Held', 120_000);
  expect(fleet.statusOf('web')?.message).toContain('"policy":"Orphan"');
  const held = fleet.mirrored('web');
  if (held === undefined || 'problems' in held.spec) throw new Error('expected web');
  const uid = fleet.world.cluster('east').get('ConfigMap', 'web', 'default')?.metadata.uid;
  const document = printSpec({ ...held.spec, deletion: { ...held.spec.deletion, policy: 'Orphan' } });
  await fleet.world.pumped(fleet.stores.propagations.update(held, { document }, fleet.context.signal));
  await fleet.untilPhase('web', 'Settled', 120_000);
  expect(fleet.world.cluster('east').get('ConfigMap', 'web', 'default')?.metadata.uid).toBe(uid);
}, 60_000);

test('a definition that is gone while no gateway runs deletes no copy', async () => {
  await using fleet = await startUpkeepWorld();
  const first = fleet.startProcess();
  fleet.world.cluster('hub').put(resource('web', ['south', 'east']));
  await fleet.untilPhase('web', 'Settled');
  first.kill();
  fleet.world.cluster('hub').remove(definitions, resourceDefinition().metadata.name);
  await fleet.world.pass(5_000);
  fleet.freeLease();
  fleet.startProcess();
  await fleet.world.pass(60_000);
  expect([fleet.modes('web'), fleet.mirrored('web')?.status.phase]).toEqual([['calm', 'calm'], 'Held']);
}, 60_000);

test('of two gateways only the leader writes, and the other takes over', async () => {
  await using fleet = await startUpkeepWorld();
  const first = fleet.startProcess();
  await fleet.world.until(() => first.controller.isLeading());
  const second = fleet.startProcess();
  fleet.world.cluster('hub').put(resource('web', ['south', 'east']));
  await fleet.untilPhase('web', 'Settled');
  expect(second.writes).toBe(0);
  first.kill();
  fleet.world.cluster('hub').put(resource('web', ['south']));
  await fleet.world.until(() => fleet.modes('web')[1] === undefined);
  expect(second.writes).toBeGreaterThan(0);
}, 60_000);

test('two leaders agree', async () => {
  await using fleet = await startUpkeepWorld();
  const processes = [fleet.startProcess(), fleet.startProcess({ lease: 'own' })];
  const hub = fleet.world.cluster('hub');
  for (let at = 0; at < 5; at += 1) hub.put(resource(`web-${at}`, ['south', 'east']));
  for (let at = 0; at < 5; at += 1) await fleet.untilPhase(`web-${at}`, 'Settled');
  for (let at = 0; at < 5; at += 1) hub.put(resource(`web-${at}`, ['south']));
  await fleet.world.until(() => [0, 1, 2, 3, 4].every((at) => fleet.modes(`web-${at}`)[1] === undefined));
  for (let at = 0; at < 5; at += 1) await fleet.untilPhase(`web-${at}`, 'Settled');
  await fleet.world.pass(10_000);
  const writes = processes.map((process) => process.writes);
  await fleet.world.pass(60_000);
  expect(processes.map((process) => process.writes)).toEqual(writes);
  for (let at = 0; at < 5; at += 1) expect(fleet.mirrored(`web-${at}`)?.metadata.generation).toBe(2);
}, 60_000);
