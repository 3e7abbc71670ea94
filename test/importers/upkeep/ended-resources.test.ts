import { expect, test } from 'vitest';
import type { JsonObject } from '../../../src/core/json.ts';
import type { KubernetesObject } from '../../../src/core/objects.ts';
import { resourceKind } from '../../../src/importers/upkeep/resource-store.ts';
import { printSpec } from '../../../src/propagate/model/spec.ts';
import { configMap, intent } from '../../propagate/controller/controller-world.ts';
import {
  definitions,
  deleteResource,
  resource,
  resourceDefinition,
  resourceKey,
  startUpkeepWorld,
  type UpkeepWorld,
} from './upkeep-world.ts';

async function settled(options: Parameters<typeof startUpkeepWorld>[0] = {}): Promise<UpkeepWorld> {
  const fleet = await startUpkeepWorld(options);
  fleet.startProcess();
  fleet.world.cluster('hub').put(resource('web', ['south', 'east']));
  await fleet.untilPhase('web', 'Settled');
  return fleet;
}

const remove = (fleet: UpkeepWorld) => fleet.world.cluster('hub').remove(resourceKey, 'web', 'default');

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
  'a resource that is deleted while no gateway runs is removed completely if the hub %s',
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
  await fleet.world.until(() => String(fleet.statusOf('web')?.message).includes('"example.com/backup"'));
  expect(fleet.statusOf('web')).toMatchObject({ phase: 'Deleting', clusters: [] });
}, 60_000);

/** Puts a resource with finalizers of the operator that is being deleted before a gateway of Muster ran. */
async function deletedBeforeStart(
  fleet: UpkeepWorld,
  more: JsonObject = {},
  finalizers: readonly string[] = ['south', 'east'],
): Promise<void> {
  const { metadata, ...rest } = resource('web', ['south', 'east'], more);
  fleet.world.cluster('hub').put({ ...rest, metadata: { ...metadata, finalizers: [...finalizers] } });
  await fleet.world.until(
    () => fleet.world.members.objects.read(fleet.world.hub.cluster, resourceKind, { namespace: 'default', name: 'web' }).result === 'held',
  );
  await deleteResource(fleet);
}

const brokenAction = { customize: { clusters: [{ name: 'south', action: [{ path: '/data/mode', op: 'swap', value: ['x'] }] }] } };

test.each([
  ['a resource without a Propagation', {}],
  ['a broken resource', brokenAction],
])(
  "the deletion of %s deletes the operator's copies before the finalizers go",
  async (_, more) => {
    await using fleet = await startUpkeepWorld();
    for (const cluster of ['south', 'east']) fleet.world.cluster(cluster).put(configMap('web', { mode: 'operator' }) as KubernetesObject);
    const east = fleet.world.cluster('east');
    const held = east.get('ConfigMap', 'web', 'default');
    if (held === undefined) throw new Error('expected the copy');
    east.put({ ...held, metadata: { ...held.metadata, finalizers: ['example.com/hold'] } });
    await deletedBeforeStart(fleet, more);
    fleet.startProcess();
    await fleet.world.until(() => fleet.modes('web')[0] === undefined);
    await fleet.world.pass(20_000);
    expect(fleet.resource('web')?.metadata.finalizers).toEqual(['south', 'east']);
    expect(fleet.statusOf('web')?.message).toContain('east: the copy is being deleted');
    const { finalizers: _finalizers, ...free } = held.metadata;
    east.put({ ...held, metadata: free });
    east.remove('ConfigMap', 'web', 'default');
    await fleet.world.until(() => fleet.resource('web') === undefined);
  },
  60_000,
);

test.each([
  ['the template names no object', { template: {} }, ['south'], 'spec.template names no object, so the copies are unknown (south)'],
  ['a cluster is not in the fleet', { placement: { clusters: [{ name: 'left' }] } }, ['left'], 'left: the cluster is not in the fleet'],
])(
  "the operator's finalizers stay if %s",
  async (_, more, finalizers, message) => {
    await using fleet = await startUpkeepWorld();
    await deletedBeforeStart(fleet, more, finalizers);
    fleet.startProcess();
    await fleet.untilPhase('web', 'Failed');
    await fleet.world.pass(10_000);
    expect(fleet.resource('web')?.metadata.finalizers).toEqual(finalizers);
    expect(fleet.statusOf('web')?.message).toContain(message);
  },
  60_000,
);

test('the deletion of a resource leaves copies of other Propagations and resources alone', async () => {
  await using fleet = await startUpkeepWorld();
  fleet.startProcess();
  await fleet.propagate(intent('web', [configMap('web', { mode: 'own' })], { placement: { clusters: ['south'] } }));
  await fleet.phase('web', 'Settled');
  const other = resource('other', ['east'], { template: { ...configMap('web', { mode: 'other' }) } });
  fleet.world.cluster('hub').put(other);
  await fleet.untilPhase('other', 'Settled');
  await deletedBeforeStart(fleet);
  await fleet.world.until(() => fleet.resource('web') === undefined);
  expect(fleet.modes('web')).toEqual(['own', 'other']);
}, 60_000);

test.each<[string, readonly string[], JsonObject]>([
  ['names no cluster', [], brokenAction],
  ['names only unknown clusters', ['left'], brokenAction],
  ['names the hub', ['hub'], brokenAction],
  ['has a broken template', [], { template: { metadata: { name: 'web', namespace: 'default' } } }],
])(
  'the deletion of a resource leaves an object in the hub that a resource without a Propagation places there: it %s',
  async (_, clusters, more) => {
    await using fleet = await startUpkeepWorld();
    const hub = fleet.world.cluster('hub');
    for (const cluster of ['hub', 'south']) fleet.world.cluster(cluster).put(configMap('web', { mode: 'operator' }) as KubernetesObject);
    const template = { ...configMap('web', { mode: 'other' }) };
    hub.put(resource('other', clusters, { template, ...more }));
    await deletedBeforeStart(fleet, { placement: { clusters: [{ name: 'hub' }, { name: 'south' }] } }, ['hub', 'south']);
    fleet.startProcess();
    await fleet.world.until(() => fleet.resource('web') === undefined);
    expect([hub.get('ConfigMap', 'web', 'default')?.data, fleet.modes('web')[0]]).toEqual([{ mode: 'operator' }, undefined]);
  },
  60_000,
);

/** A template of a Deployment in this version. */
function deploymentOf(apiVersion: string): JsonObject {
  const template = { metadata: { labels: { app: 'app' } }, spec: { containers: [{ name: 'app', image: 'app:1' }] } };
  const spec = { selector: { matchLabels: { app: 'app' } }, template };
  return { apiVersion, kind: 'Deployment', metadata: { name: 'app', namespace: 'default' }, spec };
}

const team = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'team' } };
const deployed = deploymentOf('apps/v1');
const oldDeployment = deploymentOf('extensions/v1beta1');

/** A resource without a Propagation, which names the same object as the deleted one. */
interface OtherResource {
  readonly template: JsonObject;
  readonly cluster: string;
  readonly namespace?: string;
}

test.each<[string, 'stays' | 'goes', JsonObject, OtherResource?]>([
  ['a Namespace that a resource of another namespace places there', 'stays', team, { template: team, cluster: 'south', namespace: 'b' }],
  ['a Namespace that a resource of another namespace places elsewhere', 'goes', team, { template: team, cluster: 'east', namespace: 'b' }],
  ['a Deployment that a resource of an old version places there', 'stays', deployed, { template: oldDeployment, cluster: 'south' }],
  ['a Deployment that a resource of an old version places elsewhere', 'goes', deployed, { template: oldDeployment, cluster: 'east' }],
  ['a Deployment of a deleted resource of an old version', 'goes', oldDeployment],
])(
  '%s: the copy of the operator %s',
  async (_, expected, template, other) => {
    await using fleet = await startUpkeepWorld();
    const south = fleet.world.cluster('south');
    const isNamespace = template === team;
    south.put((isNamespace ? team : deployed) as never);
    if (other !== undefined) {
      const { template: written, cluster, namespace = 'default' } = other;
      const document = resource('other', [cluster], { ...brokenAction, template: written });
      fleet.world.cluster('hub').put({ ...document, metadata: { name: 'other', namespace } });
    }
    await deletedBeforeStart(fleet, { template, placement: { clusters: [{ name: 'south' }] } }, ['south']);
    fleet.startProcess();
    await fleet.world.until(() => fleet.resource('web') === undefined);
    const left = isNamespace ? south.get('Namespace', 'team') : south.get('Deployment.apps', 'app', 'default');
    expect(left === undefined ? 'goes' : 'stays').toBe(expected);
  },
  60_000,
);

test('the copies of the operator stay while the definition is being deleted', async () => {
  await using fleet = await startUpkeepWorld();
  const hub = fleet.world.cluster('hub');
  fleet.world.cluster('south').put(configMap('web', { mode: 'operator' }) as KubernetesObject);
  await deletedBeforeStart(fleet, {}, ['south']);
  const definition = hub.get(definitions, resourceDefinition().metadata.name);
  if (definition === undefined) throw new Error('expected the definition');
  hub.put({ ...definition, metadata: { ...definition.metadata, deletionTimestamp: '2026-01-01T00:00:00Z', finalizers: ['hold'] } });
  fleet.startProcess();
  await fleet.world.pass(20_000);
  expect([fleet.modes('web')[0], fleet.resource('web')?.metadata.finalizers]).toEqual(['operator', ['south']]);
  expect(fleet.statusOf('web')?.message).toContain('is being deleted on the hub, so no copy is deleted');
}, 60_000);

test('a deletion that orphans leaves the Propagation and its copies', async () => {
  await using fleet = await settled();
  await deleteResource(fleet, 'Orphan');
  await fleet.world.until(() => fleet.resource('web') === undefined);
  await fleet.world.pass(30_000);
  expect([fleet.modes('web'), fleet.mirrored('web')?.metadata.owners]).toEqual([['calm', 'calm'], []]);
}, 60_000);

test('a deletion that orphans keeps the copies of a resource without a Propagation', async () => {
  await using fleet = await startUpkeepWorld();
  fleet.world.cluster('south').put(configMap('web', { mode: 'operator' }) as KubernetesObject);
  const { metadata, ...rest } = resource('web', ['south'], brokenAction);
  const deleted = (finalizers: readonly string[], more: JsonObject = {}) => ({
    ...rest,
    metadata: { ...metadata, uid: 'web', deletionTimestamp: '2026-01-01T00:00:00Z', finalizers: [...finalizers], ...more },
  });
  fleet.world.cluster('hub').put(deleted(['orphan', 'south']));
  fleet.startProcess();
  await fleet.world.until(() => fleet.resource('web')?.metadata.annotations !== undefined);
  await fleet.world.pass(20_000);
  expect(fleet.resource('web')?.metadata.finalizers).toEqual(['orphan', 'south']);
  const { annotations = {} } = fleet.resource('web')?.metadata ?? {};
  fleet.world.cluster('hub').put(deleted(['south'], { annotations }));
  await fleet.world.until(() => (fleet.resource('web')?.metadata.finalizers ?? []).length === 0);
  expect(fleet.modes('web')[0]).toBe('operator');
}, 60_000);

test('a deletion that orphans frees the Propagation before the garbage collector of the hub does', async () => {
  await using fleet = await settled();
  const hub = fleet.world.cluster('hub');
  const deleted = (finalizers: readonly string[]) => {
    const held = fleet.resource('web');
    if (held === undefined) throw new Error('expected the resource');
    const metadata = { ...held.metadata, deletionTimestamp: '2026-01-01T00:00:00Z', finalizers: [...finalizers] };
    return { ...held, metadata };
  };
  hub.put(deleted(['south', 'orphan']));
  await fleet.world.until(() => fleet.mirrored('web')?.metadata.owners.length === 0);
  hub.put(deleted(['south']));
  await fleet.world.until(() => (fleet.resource('web')?.metadata.finalizers ?? []).length === 0);
  await fleet.world.pass(20_000);
  expect([fleet.modes('web'), fleet.mirrored('web')?.metadata.generation]).toEqual([['calm', 'calm'], 1]);
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
