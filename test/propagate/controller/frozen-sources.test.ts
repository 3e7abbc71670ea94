import { expect, test } from 'vitest';
import type { JsonObject } from '../../../src/core/json.ts';
import type { KubernetesObject } from '../../../src/core/objects.ts';
import { type ControllerWorld, configMap, deployment, intent, startControllerWorld } from './controller-world.ts';

const object = (manifest: JsonObject) => manifest as unknown as KubernetesObject;
const dataIn = (fleet: ControllerWorld, cluster: string, name: string, kind = 'ConfigMap') =>
  fleet.world.cluster(cluster).get(kind, name, 'default')?.data;
const refTo = (kind: string, name: string, apiVersion = 'v1') => ({
  ref: { cluster: 'hub', apiVersion, kind, namespace: 'default', name },
});
const toSouth = { placement: { clusters: ['south'] } };
const inputOf = (sources: readonly JsonObject[], more: JsonObject = {}) => ({
  ...intent('web', [], { ...toSouth, ...more }),
  template: sources,
});

/** A Deployment whose Pods use these ConfigMaps. */
function deploymentWith(configMaps: readonly string[], image?: string): JsonObject {
  const web = deployment('web', 1, image) as {
    readonly spec: { readonly template: { readonly spec: JsonObject } & JsonObject } & JsonObject;
  };
  const volumes = configMaps.map((name) => ({ name, configMap: { name } }));
  return { ...web, spec: { ...web.spec, template: { ...web.spec.template, spec: { ...web.spec.template.spec, volumes } } } };
}

const notesOf = (fleet: ControllerWorld) =>
  fleet.mirrored('web')?.status.notes?.map(({ code, message }) => `${code}: ${message.split('.')[0]}`);

test('with the rights of a requester, a changed reference is reported and not written, until the intent is propagated again', async () => {
  await using fleet = await startControllerWorld({ hub: [object(configMap('settings', { a: '1' }))], south: [] }, { accounts: 'many' });
  const { world } = fleet;
  const hub = world.cluster('hub');
  const first = fleet.startProcess();
  const template = [refTo('ConfigMap', 'settings')];
  await fleet.propagate(inputOf(template));
  await fleet.phase('web', 'Settled');
  const { generation } = (await fleet.phase('web', 'Settled')).metadata;

  hub.put(object(configMap('settings', { a: 'changed by another user' })));
  await fleet.phase('web', 'Failed');
  expect(notesOf(fleet)).toEqual([
    'SOURCE_CHANGED: ConfigMap default/settings in cluster hub has changed since this generation was accepted, so the copies stay as they are',
  ]);
  expect(fleet.mirrored('web')?.status.conditions?.find(({ type }) => type === 'Planned')).toMatchObject({
    status: 'False',
    message: expect.stringContaining('Propagate again to accept its content'),
  });

  // The accepted content is on the hub, so another process writes nothing either. Not even a copy that was lost meanwhile.
  first.kill();
  fleet.freeLease();
  fleet.startProcess();
  await world.pass(60_000);
  expect(dataIn(fleet, 'south', 'settings')).toEqual({ a: '1' });
  world.cluster('south').remove('ConfigMap', 'settings', 'default');
  await world.pass(60_000);
  expect(dataIn(fleet, 'south', 'settings')).toBeUndefined();
  world.cluster('south').put(object(configMap('settings', { a: '1' })));

  hub.put(object(configMap('settings', { a: '1' })));
  await world.until(() => fleet.mirrored('web')?.status.notes?.length === 0);

  hub.put(object(configMap('settings', { a: '2' })));
  await fleet.phase('web', 'Failed');
  expect((await fleet.propagate(inputOf(template, { conflict: 'OVERWRITE' }))).result).toBe('ACCEPTED');
  await world.until(() => JSON.stringify(dataIn(fleet, 'south', 'settings')) === '{"a":"2"}');
  expect(fleet.mirrored('web')?.metadata.generation).toBe(generation + 1);
}, 60_000);

test('content that changes before the generation is decided is refused, until the intent is propagated again', async () => {
  await using fleet = await startControllerWorld({ hub: [object(configMap('settings', { a: '1' }))], south: [] }, { accounts: 'many' });
  const template = [refTo('ConfigMap', 'settings'), { json: deploymentWith(['later']) }];
  const hub = fleet.world.cluster('hub');
  // No gateway leads yet.
  await fleet.propagate(inputOf(template, { dependencies: true }));
  hub.put(object(configMap('settings', { a: 'of another user' })));
  fleet.startProcess();
  await fleet.phase('web', 'Failed');
  expect(notesOf(fleet)).toContain(
    'SOURCE_CHANGED: a reference or dependency has changed since propagate accepted this generation, so nothing is written',
  );
  hub.put(object(configMap('settings', { a: '1' })));
  hub.put(object(configMap('later', { b: 'of another user' })));
  await fleet.world.pass(60_000);
  expect(['settings', 'later'].map((name) => dataIn(fleet, 'south', name))).toEqual([undefined, undefined]);

  expect((await fleet.propagate(inputOf(template, { dependencies: true }))).result).toBe('ACCEPTED');
  await fleet.world.until(() => dataIn(fleet, 'south', 'later') !== undefined);
  expect(['settings', 'later'].map((name) => dataIn(fleet, 'south', name))).toEqual([{ a: '1' }, { b: 'of another user' }]);
}, 60_000);

test('propagating the same input again accepts the changed reference', async () => {
  await using fleet = await startControllerWorld({ hub: [object(configMap('settings', { a: '1' }))], south: [] }, { accounts: 'many' });
  fleet.startProcess();
  await fleet.propagate(inputOf([refTo('ConfigMap', 'settings')]));
  await fleet.phase('web', 'Settled');
  fleet.world.cluster('hub').put(object(configMap('settings', { a: '2' })));
  await fleet.phase('web', 'Failed');
  expect((await fleet.propagate(inputOf([refTo('ConfigMap', 'settings')]))).result).toBe('ACCEPTED');
  await fleet.phase('web', 'Settled');
  expect(dataIn(fleet, 'south', 'settings')).toEqual({ a: '2' });
}, 60_000);

test('a reference that no longer needs a dependency, or needs another, changes no copy', async () => {
  const known = [deploymentWith(['settings']), configMap('settings', { a: '1' }), configMap('other', { b: '1' })].map(object);
  await using fleet = await startControllerWorld({ hub: known, south: [] }, { accounts: 'many', living: true });
  fleet.startProcess();
  const hub = fleet.world.cluster('hub');
  await fleet.propagate(inputOf([refTo('Deployment', 'web', 'apps/v1')], { dependencies: true }));
  await fleet.phase('web', 'Settled');
  hub.put(object(deploymentWith(['other'], 'registry.example.com/evil:1.0')));
  await fleet.phase('web', 'Failed');
  await fleet.world.pass(30_000);
  expect([dataIn(fleet, 'south', 'settings'), dataIn(fleet, 'south', 'other')]).toEqual([{ a: '1' }, undefined]);
  expect(JSON.stringify(fleet.world.cluster('south').get('Deployment.apps', 'web', 'default'))).not.toContain('evil');
  expect(notesOf(fleet)).toEqual([
    expect.stringContaining('Deployment default/web in cluster hub has changed'),
    expect.stringContaining('ConfigMap default/other in cluster hub has changed'),
    expect.stringContaining('ConfigMap default/settings in cluster hub is not needed any more'),
  ]);
}, 60_000);

test('a dependency that appears after the generation was accepted is not written', async () => {
  await using fleet = await startControllerWorld({ hub: [], south: [] }, { accounts: 'many', living: true });
  fleet.startProcess();
  await fleet.propagate(intent('web', [deploymentWith(['later'])], { ...toSouth, dependencies: true }));
  await fleet.phase('web', 'Settled');
  fleet.world.cluster('hub').put(object(configMap('later', { a: '1' })));
  await fleet.phase('web', 'Failed');
  expect(dataIn(fleet, 'south', 'later')).toBeUndefined();
}, 60_000);

test('the data of a changed Secret are not sent, and the hub holds none of them', async () => {
  const secret = (value: string) =>
    object({ apiVersion: 'v1', kind: 'Secret', metadata: { name: 'key', namespace: 'default' }, data: { value } });
  await using fleet = await startControllerWorld({ hub: [secret('b25l')], south: [] }, { accounts: 'many' });
  fleet.startProcess();
  const { world } = fleet;
  await fleet.propagate(inputOf([refTo('Secret', 'key')]));
  await fleet.phase('web', 'Settled');
  world.cluster('hub').put(secret('dHdv'));
  await fleet.phase('web', 'Failed');
  await world.pass(30_000);
  expect(dataIn(fleet, 'south', 'key', 'Secret')).toEqual({ value: 'b25l' });
  const kept = ['Propagation.muster.dev', 'ClusterShare.muster.dev', 'ControllerRevision.apps'].map((kind) =>
    world.cluster('hub').objects(kind),
  );
  expect(JSON.stringify(kept)).not.toMatch(/b25l|dHdv/);
}, 60_000);

test('a breach is not rolled back to a reference that has changed since', async () => {
  const source = (image: string) => object(deployment('web', 1, image));
  await using fleet = await startControllerWorld({ hub: [source('web:1')], south: [] }, { accounts: 'many', living: true });
  fleet.startProcess();
  const { world } = fleet;
  const image = () => /web:\w+/.exec(JSON.stringify(world.cluster('south').get('Deployment.apps', 'web', 'default')))?.[0];
  const south = { ...toSouth, rollout: { deadline: '20s', onFailure: 'ROLLBACK' } };
  await fleet.propagate(inputOf([refTo('Deployment', 'web', 'apps/v1')], south));
  await fleet.phase('web', 'Settled', 120_000);
  const jsonPatch = [{ op: 'add', path: '/spec/template/spec/nodeSelector', value: { no: 'node' } }];
  await fleet.propagate(intent('web', [deployment('web', 1, 'web:2')], { ...south, overrides: [{ jsonPatch }] }));
  await world.until(() => image() === 'web:2');
  world.cluster('hub').put(source('web:evil'));
  const { status } = await fleet.phase('web', 'Failed', 180_000);
  expect(status.conditions?.find(({ type }) => type === 'Progressing')?.message).toContain(
    'nothing is rolled back: an object that revision 1 refers to or depends on has changed since',
  );
  await world.pass(60_000);
  expect(image()).toBe('web:2');
  world.cluster('hub').put(source('web:1'));
  await world.until(() => image() === 'web:1', 12 * 60_000);
}, 120_000);

test('with runAs.serviceAccount, changes of a reference are followed', async () => {
  await using fleet = await startControllerWorld({ hub: [object(configMap('settings', { a: '1' }))], south: [] }, { accounts: 'many' });
  fleet.startProcess();
  const runAs = { serviceAccount: { namespace: 'default', name: 'deployer' } };
  await fleet.propagate(inputOf([refTo('ConfigMap', 'settings')], { runAs }));
  await fleet.phase('web', 'Settled');
  fleet.world.cluster('hub').put(object(configMap('settings', { a: '2' })));
  await fleet.world.until(() => JSON.stringify(dataIn(fleet, 'south', 'settings')) === '{"a":"2"}', 10_000);
  expect(fleet.mirrored('web')?.status.sources).toBeUndefined();
}, 60_000);
