import { expect, test } from 'vitest';
import type { JsonObject } from '../../../src/core/json.ts';
import { listAt, textAt } from '../../../src/core/json-at.ts';
import type { KubernetesObject } from '../../../src/core/objects.ts';
import { type ControllerWorld, configMap, deployment, intent, job, startControllerWorld } from './controller-world.ts';

const object = (manifest: JsonObject) => manifest as unknown as KubernetesObject;
const place = (name: string) => ({ namespace: 'default', name });
const refTo = (kind: string, name: string, cluster = 'hub', apiVersion = 'v1') => ({
  ref: { cluster, apiVersion, kind, namespace: 'default', name },
});
const secret = (name: string): KubernetesObject =>
  object({ apiVersion: 'v1', kind: 'Secret', metadata: { name, namespace: 'default' }, type: 'Opaque', data: { a: 'YQ==' } });

function withSource(name: string, kinds: readonly (readonly [kind: string, name: string])[], more: JsonObject = {}) {
  return { ...intent(name, [], more), template: kinds.map(([kind, of]) => refTo(kind, of)) };
}

/** Counts the writes of Muster to this object, without dry runs. */
function writesTo({ world }: ControllerWorld, cluster: string, kind: string, name: string) {
  const writes = world.cluster(cluster).writes();
  return writes.filter((write) => !write.isDry && write.manager === 'muster' && write.kind === kind && write.name === name);
}

const standsIn = ({ world }: ControllerWorld, cluster: string, kind: string, name: string) =>
  world.cluster(cluster).get(kind, name, 'default') !== undefined;

const inventoryIn = ({ world }: ControllerWorld, cluster: string) =>
  world
    .cluster('hub')
    .objects('ClusterShare.muster.dev')
    .filter((share) => textAt(share, 'cluster') === cluster)
    .flatMap((share) => listAt(share, 'objects').map((entry) => textAt(entry, 'name')));

async function deleteIntent(fleet: ControllerWorld, name: string): Promise<void> {
  await fleet.world.pumped(fleet.propagations.delete(fleet.context, place(name), undefined));
  await fleet.gone(name);
}

test('a source counts as placed in its own cluster, is never written, and stays when the Propagation is deleted', async () => {
  const sources = [object(configMap('settings', { a: '1' })), secret('key')];
  await using fleet = await startControllerWorld({ hub: sources, south: [] });
  fleet.startProcess();
  const input = withSource(
    'web',
    [
      ['ConfigMap', 'settings'],
      ['Secret', 'key'],
    ],
    { conflict: 'ADOPT' },
  );
  const plan = await fleet.world.pumped(fleet.propagations.plan(fleet.context, input));
  const inHub = plan.clusters.find(({ cluster }) => cluster === 'hub');
  expect([plan.ok, inHub?.objects.map(({ action, fault }) => [action, fault])]).toEqual([
    true,
    [
      ['HOLD', undefined],
      ['HOLD', undefined],
    ],
  ]);
  await fleet.propagate(input);
  const settled = await fleet.phase('web', 'Settled');
  expect(settled.status.clusters?.map(({ cluster, phase, health }) => [cluster, phase, health])).toEqual([
    ['hub', 'Settled', 'Healthy'],
    ['south', 'Settled', 'Healthy'],
  ]);
  expect(settled.status.aggregate?.map(({ observed, health }) => [observed, health])).toEqual([
    [true, 'Healthy'],
    [true, 'Healthy'],
  ]);
  expect([standsIn(fleet, 'south', 'ConfigMap', 'settings'), standsIn(fleet, 'south', 'Secret', 'key')]).toEqual([true, true]);
  await fleet.propagate({ ...input, placement: { clusters: ['south'] } });
  await fleet.phase('web', 'Settled');
  await deleteIntent(fleet, 'web');
  expect([standsIn(fleet, 'south', 'ConfigMap', 'settings'), standsIn(fleet, 'south', 'Secret', 'key')]).toEqual([false, false]);
  expect([...writesTo(fleet, 'hub', 'ConfigMap', 'settings'), ...writesTo(fleet, 'hub', 'Secret', 'key')]).toEqual([]);
}, 60_000);

test('a Job that is its own source counts towards the completion', async () => {
  await using fleet = await startControllerWorld({ hub: [object(job('once'))], south: [] }, { living: true });
  fleet.startProcess();
  const template = [refTo('Job', 'once', 'hub', 'batch/v1')];
  await fleet.propagate({ ...intent('once', [], { conflict: 'ADOPT', completion: { mode: 'ALL' } }), template });
  await fleet.world.until(() => fleet.mirrored('once')?.status.completion?.done === true);
  expect(fleet.mirrored('once')?.status.completion).toMatchObject({ needed: 2, complete: 2 });
}, 60_000);

test.each([
  ['divided replicas', { conflict: 'ADOPT', replicas: { mode: 'DIVIDED' } }],
  ['an override', { conflict: 'OVERWRITE', overrides: [{ env: [{ operator: 'ADD', name: 'A', value: '1' }] }] }],
])(
  'a plan that would change the source in its own cluster is refused with the reason: %s',
  async (_, more) => {
    await using fleet = await startControllerWorld({ hub: [object(deployment('web', 6))], south: [], east: [] }, { living: true });
    fleet.startProcess();
    const input = { ...intent('web', [], more), template: [refTo('Deployment', 'web', 'hub', 'apps/v1')] };
    const outcome = await fleet.propagate(input);
    expect([outcome.result, outcome.notes.map(({ code, path }) => [code, path])]).toEqual([
      'REFUSED',
      [['SOURCE_IS_TARGET', 'template[0].ref']],
    ]);
    expect(outcome.notes[0]?.message).toContain('cluster hub');
    // Propagates the same intent without the cluster of the source.
    await fleet.propagate({ ...input, placement: { exclude: ['hub'] } });
    await fleet.phase('web', 'Settled');
    await fleet.world.pass(10_000);
    expect(writesTo(fleet, 'hub', 'Deployment', 'web')).toEqual([]);
  },
  60_000,
);

test('a copy that becomes the source leaves the inventory and is not deleted when the placement changes', async () => {
  await using fleet = await startControllerWorld({ hub: [], south: [] });
  fleet.startProcess();
  const manifest = configMap('settings', { a: '1' });
  await fleet.propagate(intent('web', [manifest]));
  await fleet.phase('web', 'Settled');
  const uid = fleet.world.cluster('hub').get('ConfigMap', 'settings', 'default')?.metadata.uid;
  await fleet.propagate(withSource('web', [['ConfigMap', 'settings']], { placement: { clusters: ['south'] } }));
  await fleet.phase('web', 'Settled');
  expect([inventoryIn(fleet, 'hub'), inventoryIn(fleet, 'south')]).toEqual([[], ['settings']]);
  await deleteIntent(fleet, 'web');
  expect(fleet.world.cluster('hub').get('ConfigMap', 'settings', 'default')?.metadata.uid).toBe(uid);
  expect(standsIn(fleet, 'south', 'ConfigMap', 'settings')).toBe(false);
}, 60_000);

test('a deletion right after a copy became the source leaves the source, its Namespace and its definition', async () => {
  await using fleet = await startControllerWorld({ hub: [], south: [] });
  const process = fleet.startProcess();
  const namespace = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'shop' } };
  const manifest = { ...configMap('settings', { a: '1' }), metadata: { name: 'settings', namespace: 'shop' } };
  await fleet.propagate(intent('web', [namespace, manifest]));
  await fleet.phase('web', 'Settled');
  process.kill();
  const ref = { cluster: 'hub', apiVersion: 'v1', kind: 'ConfigMap', namespace: 'shop', name: 'settings' };
  const outcome = await fleet.propagate({ ...intent('web', []), template: [{ json: namespace }, { ref }] });
  expect(outcome.result).toBe('ACCEPTED');
  await fleet.world.pumped(fleet.propagations.delete(fleet.context, place('web'), undefined));
  fleet.freeLease();
  fleet.startProcess();
  await fleet.gone('web');
  const { world } = fleet;
  const standing = ['hub', 'south'].map((name) => [
    world.cluster(name).get('Namespace', 'shop') !== undefined,
    world.cluster(name).get('ConfigMap', 'settings', 'shop') !== undefined,
  ]);
  expect(standing).toEqual([
    [true, true],
    [false, false],
  ]);
}, 60_000);

test('a dependency counts as placed where it is read from, and is never written, adopted or pruned there', async () => {
  await using fleet = await startControllerWorld({ hub: [object(configMap('files', { a: '1' }))], south: [] }, { living: true });
  fleet.startProcess();
  const { spec, ...web } = deployment('web', 0);
  const { template, ...rest } = spec as { readonly template: { readonly metadata: JsonObject; readonly spec: JsonObject } };
  const volumes = [{ name: 'files', configMap: { name: 'files' } }];
  const needy = { ...web, spec: { ...rest, template: { ...template, spec: { ...template.spec, volumes } } } };
  const input = intent('web', [needy], { conflict: 'OVERWRITE', dependencies: true });
  await fleet.propagate(input);
  await fleet.phase('web', 'Settled');
  expect([inventoryIn(fleet, 'hub'), inventoryIn(fleet, 'south')]).toEqual([['web'], ['files', 'web']]);
  const labelled = await fleet.propagate({ ...input, overrides: [{ labels: [{ operator: 'ADD', values: { a: 'b' } }] }] });
  expect([labelled.result, labelled.notes.map(({ code }) => code)]).toEqual(['REFUSED', ['SOURCE_IS_TARGET']]);
  await deleteIntent(fleet, 'web');
  expect([standsIn(fleet, 'hub', 'ConfigMap', 'files'), standsIn(fleet, 'south', 'ConfigMap', 'files')]).toEqual([true, false]);
  expect(writesTo(fleet, 'hub', 'ConfigMap', 'files')).toEqual([]);
}, 60_000);

test('a cluster that is a member under two names does not make a source its own copy', async () => {
  const south = [object(configMap('settings', { a: '1' }))];
  await using fleet = await startControllerWorld({ hub: [], south }, { aliases: { alias: 'south' } });
  fleet.startProcess();
  const input = { ...intent('web', [], { conflict: 'ADOPT' }), template: [refTo('ConfigMap', 'settings', 'south')] };
  await fleet.propagate(input);
  await fleet.phase('web', 'Settled');
  await deleteIntent(fleet, 'web');
  expect(standsIn(fleet, 'south', 'ConfigMap', 'settings')).toBe(true);
  expect(writesTo(fleet, 'south', 'ConfigMap', 'settings')).toEqual([]);
}, 60_000);

test('refuses a circle: a source that another Propagation makes from the copy', async () => {
  await using fleet = await startControllerWorld({ hub: [object(configMap('settings', { a: '1' }))], south: [], east: [] });
  fleet.startProcess();
  const first = withSource('first', [['ConfigMap', 'settings']], { placement: { clusters: ['south'] } });
  await fleet.propagate(first);
  await fleet.phase('first', 'Settled');
  const onwards = { ...intent('second', [], { placement: { clusters: ['east'] } }), template: [refTo('ConfigMap', 'settings', 'south')] };
  await fleet.propagate(onwards);
  await fleet.phase('second', 'Settled');
  const back = {
    ...intent('third', [], { placement: { clusters: ['hub'] }, conflict: 'OVERWRITE' }),
    template: [refTo('ConfigMap', 'settings', 'east')],
    overrides: [{ labels: [{ operator: 'ADD', values: { a: 'b' } }] }],
  };
  const outcome = await fleet.propagate(back);
  expect([outcome.result, outcome.notes.map(({ code }) => code)]).toEqual(['REFUSED', ['CIRCLE']]);
  expect(outcome.notes[0]?.message).toContain('default/first');
  expect(writesTo(fleet, 'hub', 'ConfigMap', 'settings')).toEqual([]);
}, 60_000);

test('stops one of two Propagations that make a circle and were applied at once, reports why, and deletes no source', async () => {
  await using fleet = await startControllerWorld({ hub: [], south: [object(configMap('settings', { a: '1' }))], east: [] });
  const ring = [
    ['first', 'south', 'east'],
    ['second', 'east', 'south'],
  ] as const;
  const inputOf = (name: string, from: string, to: string) => ({
    ...intent(name, [], { placement: { clusters: [to] }, conflict: 'OVERWRITE' }),
    template: [refTo('ConfigMap', 'settings', from)],
    overrides: [{ labels: [{ operator: 'ADD', values: { [name]: 'yes' } }] }],
  });
  fleet.world.cluster('east').put(object(configMap('settings', { a: '2' })));
  for (const [name, from, to] of ring) expect((await fleet.propagate(inputOf(name, from, to))).result).toBe('ACCEPTED');
  fleet.startProcess();
  const reasons = () => ring.map(([name]) => fleet.mirrored(name)?.status.clusters?.[0]?.reason);
  await fleet.world.until(() => reasons().includes('Conflict'));
  await fleet.world.pass(5_000);
  const before = writesTo(fleet, 'south', 'ConfigMap', 'settings').length;
  await fleet.world.pass(60_000);
  expect(writesTo(fleet, 'south', 'ConfigMap', 'settings')).toHaveLength(before);
  expect(before).toBeLessThan(6);
  await deleteIntent(fleet, 'second');
  expect([standsIn(fleet, 'south', 'ConfigMap', 'settings'), standsIn(fleet, 'east', 'ConfigMap', 'settings')]).toEqual([true, true]);
  await fleet.world.pumped(fleet.propagations.resume(fleet.context, place('first'), { confirmPrune: false, abandon: [] }));
  await fleet.phase('first', 'Settled');
}, 60_000);
