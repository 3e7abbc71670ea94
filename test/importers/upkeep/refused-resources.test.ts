import { expect, test } from 'vitest';
import type { JsonObject } from '../../../src/core/json.ts';
import type { KubernetesObject } from '../../../src/core/objects.ts';
import { configMap, intent } from '../../propagate/controller/controller-world.ts';
import { customized, resource, resourceDefinition, resourceKey, startUpkeepWorld, type UpkeepWorld } from './upkeep-world.ts';

const template = (json: JsonObject) => ({ template: json });
const messageOf = (fleet: UpkeepWorld, name: string) => String(fleet.statusOf(name)?.message);

test.each([
  ['no template', { template: null }, 'spec.template: expected a manifest'],
  [
    'a template without a name',
    template({ apiVersion: 'v1', kind: 'ConfigMap', metadata: {} }),
    'spec.template.metadata.name: expected a text',
  ],
  ['a Secret', template({ apiVersion: 'v1', kind: 'Secret', metadata: { name: 's' }, data: { key: 'aGlkZGVu' } }), 'spec.template: '],
  [
    'an unknown operation',
    { customize: { clusters: [{ name: 'south', action: [{ path: '/data/mode', op: 'swap', value: ['x'] }] }] } },
    'spec.customize.clusters[0].action[0].op: expected one of add, remove, replace, test, got "swap"',
  ],
])(
  'reports %s with its path, stops no other resource, and continues when it is corrected',
  async (_, broken, message) => {
    await using fleet = await startUpkeepWorld();
    const hub = fleet.world.cluster('hub');
    fleet.startProcess();
    hub.put(resource('broken', ['south'], broken as JsonObject));
    hub.put(resource('other', ['south']));
    await fleet.untilPhase('broken', 'Failed');
    await fleet.untilPhase('other', 'Settled');
    expect(messageOf(fleet, 'broken').slice(0, message.length)).toBe(message);
    expect(fleet.statusOf('broken')).toMatchObject({ observedGeneration: 1, clusters: [], notes: [{ severity: 'ERROR' }] });
    expect(JSON.stringify(fleet.statusOf('broken'))).not.toContain('aGlkZGVu');
    expect(fleet.mirrored('broken')).toBeUndefined();
    hub.put(resource('broken', ['south']));
    await fleet.untilPhase('broken', 'Settled');
    expect(fleet.statusOf('broken')).not.toHaveProperty('message');
  },
  60_000,
);

test('a resource that becomes broken keeps its copies', async () => {
  await using fleet = await startUpkeepWorld();
  const hub = fleet.world.cluster('hub');
  fleet.startProcess();
  hub.put(resource('web', ['south', 'east']));
  await fleet.untilPhase('web', 'Settled');
  hub.put(resource('web', ['south'], template({ apiVersion: 'v1' })));
  await fleet.untilPhase('web', 'Failed');
  await fleet.world.pass(20_000);
  expect(fleet.modes('web')).toEqual(['calm', 'calm']);
  expect(fleet.statusOf('web')?.clusters).toHaveLength(2);
  hub.put(resource('web', ['south']));
  await fleet.untilPhase('web', 'Settled');
  await fleet.world.until(() => fleet.modes('web')[1] === undefined);
}, 60_000);

test('a resource that no cluster can run reports why', async () => {
  await using fleet = await startUpkeepWorld();
  fleet.startProcess();
  const policy = template({ apiVersion: 'policy/v1beta1', kind: 'PodSecurityPolicy', metadata: { name: 'web' } });
  fleet.world.cluster('hub').put(resource('web', ['south'], policy));
  await fleet.untilPhase('web', 'Failed');
  await fleet.world.until(() => messageOf(fleet, 'web')?.startsWith('placement: no cluster fits the placement') === true);
  expect(messageOf(fleet, 'web')).toMatch(/do not serve .*policy\/v1beta1.* \(API_MISSING\)$/);
}, 60_000);

test('a resource whose object another manager has reports the cluster', async () => {
  await using fleet = await startUpkeepWorld();
  fleet.startProcess();
  fleet.world.cluster('south').put(configMap('web', { mode: 'foreign' }) as KubernetesObject);
  fleet.world.cluster('hub').put(resource('web', ['south']));
  await fleet.untilPhase('web', 'Paused');
  expect(fleet.statusOf('web')?.clusters).toEqual([{ cluster: 'south', phase: 'Failed', reason: 'Conflict' }]);
  expect(messageOf(fleet, 'web')).toBe('south: owned by another manager: .data.mode (kube-controller-manager)');
}, 60_000);

test('leaves a foreign Propagation of the same name alone, until it is gone', async () => {
  await using fleet = await startUpkeepWorld();
  fleet.startProcess();
  await fleet.propagate(intent('web', [configMap('others', { mode: 'own' })], { placement: { clusters: ['south'] } }));
  await fleet.phase('web', 'Settled');
  const before = fleet.mirrored('web')?.document;
  fleet.world.cluster('hub').put(resource('web', ['south', 'east']));
  await fleet.untilPhase('web', 'Failed');
  expect(messageOf(fleet, 'web')).toContain('NAME_TAKEN: the Propagation web exists');
  expect(fleet.statusOf('web')).toMatchObject({ clusters: [], notes: [{ severity: 'ERROR', code: 'NAME_TAKEN' }] });
  await fleet.world.pass(20_000);
  expect([fleet.mirrored('web')?.document, fleet.mirrored('web')?.metadata.owners]).toEqual([before, []]);
  // The deletion of the resource does not touch the foreign Propagation either.
  fleet.world.cluster('hub').remove(resourceKey, 'web', 'default');
  await fleet.world.pass(10_000);
  expect(fleet.world.cluster('south').get('ConfigMap', 'others', 'default')).toBeDefined();
  fleet.world.cluster('hub').put(resource('web', ['south', 'east']));
  await fleet.world.pumped(fleet.propagations.delete(fleet.context, { namespace: 'default', name: 'web' }, undefined));
  await fleet.untilPhase('web', 'Settled');
  expect(fleet.modes('web')).toEqual(['calm', 'calm']);
}, 60_000);

test.each([
  ['from the hub', { cluster: 'hub' }, 'Settled'],
  ['from a file', {}, 'Settled'],
  ['from another cluster', { cluster: 'south' }, 'Failed'],
])(
  'a Propagation that was imported %s ends as %s',
  async (_, source, phase) => {
    await using fleet = await startUpkeepWorld();
    fleet.startProcess();
    const object = {
      apiVersion: 'mulitcluster.practice.com/v1alpha1',
      kind: 'MultiClusterResource',
      namespace: 'default',
      name: 'web',
      role: 'Template',
    };
    const from = { system: 'MultiClusterResource', ...source, objects: [object] };
    await fleet.propagate(intent('web', [configMap('web', { mode: 'calm' })], { placement: { clusters: ['south'] }, source: from }));
    await fleet.phase('web', 'Settled');
    const uid = fleet.world.cluster('south').get('ConfigMap', 'web', 'default')?.metadata.uid;
    fleet.world.cluster('hub').put(resource('web', ['south'], customized('south', 'wild')));
    await fleet.untilPhase('web', phase);
    expect(fleet.mirrored('web')?.metadata.owners).toHaveLength(phase === 'Settled' ? 1 : 0);
    expect(fleet.modes('web')[0]).toBe(phase === 'Settled' ? 'wild' : 'calm');
    expect(fleet.world.cluster('south').get('ConfigMap', 'web', 'default')?.metadata.uid).toBe(uid);
  },
  60_000,
);

test('writes no status without the subresource, and keeps the resources in sync all the same', async () => {
  await using fleet = await startUpkeepWorld({ definition: resourceDefinition({ status: false }) });
  const process = fleet.startProcess();
  fleet.world.cluster('hub').put(resource('web', ['south']));
  await fleet.world.until(() => fleet.modes('web')[0] === 'calm');
  await fleet.phase('web', 'Settled');
  expect(fleet.statusOf('web')).toBeUndefined();
  const { writes } = process;
  await fleet.world.pass(300_000);
  // One attempt per minute.
  expect(process.writes - writes).toBeLessThan(10);
}, 60_000);

test('writes a status once if the schema of the kind drops its members', async () => {
  const schema = {
    type: 'object',
    properties: {
      spec: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
      status: { type: 'object', properties: { phase: { type: 'string' } } },
    },
  };
  await using fleet = await startUpkeepWorld({ definition: resourceDefinition({ schema }) });
  const process = fleet.startProcess();
  fleet.world.cluster('hub').put(resource('web', ['south']));
  await fleet.untilPhase('web', 'Settled');
  expect(fleet.statusOf('web')).toEqual({ phase: 'Settled' });
  await fleet.world.pass(10_000);
  const { writes } = process;
  await fleet.world.pass(120_000);
  expect(process.writes - writes).toBeLessThan(5);
}, 60_000);
