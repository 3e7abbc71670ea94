import { expect, test } from 'vitest';
import { printSpec } from '../../../src/propagate/model/spec.ts';
import { customized, resource, resourceKey, startUpkeepWorld } from './upkeep-world.ts';

test('keeps a Propagation for each resource, and follows its changes', async () => {
  await using fleet = await startUpkeepWorld();
  const hub = fleet.world.cluster('hub');
  fleet.startProcess();
  hub.put(resource('web', ['south', 'east'], customized('south', 'wild')));
  await fleet.untilPhase('web', 'Settled');
  expect(fleet.modes('web')).toEqual(['wild', 'calm']);
  const { metadata } = hub.get(resourceKey, 'web', 'default') ?? {};
  expect(fleet.mirrored('web')?.metadata.owners).toEqual([
    { apiVersion: 'mulitcluster.practice.com/v1alpha1', kind: 'MultiClusterResource', name: 'web', uid: metadata?.uid, controller: true },
  ]);
  expect(fleet.mirrored('web')?.document).toMatchObject({
    conflict: 'Adopt',
    source: { system: 'MultiClusterResource', objects: [{ kind: 'MultiClusterResource', name: 'web', role: 'Template' }] },
  });
  expect(fleet.statusOf('web')).toEqual({
    observedGeneration: 1,
    phase: 'Settled',
    clusters: [
      { cluster: 'east', phase: 'Settled' },
      { cluster: 'south', phase: 'Settled' },
    ],
    notes: [],
  });

  hub.put(resource('web', ['south', 'east'], customized('south', 'wilder')));
  await fleet.world.until(() => fleet.modes('web')[0] === 'wilder');
  hub.put(resource('web', ['south'], customized('south', 'wilder')));
  await fleet.world.until(() => fleet.modes('web')[1] === undefined);
  await fleet.world.until(() => fleet.statusOf('web')?.observedGeneration === 3 && fleet.statusOf('web')?.phase === 'Settled');
  expect(fleet.modes('web')).toEqual(['wilder', undefined]);
}, 60_000);

test('names the failing action as the author of the resource wrote it', async () => {
  await using fleet = await startUpkeepWorld();
  fleet.startProcess();
  const clusters = [
    { name: 'south', action: [{ path: '/data/none', op: 'remove' }] },
    {
      name: 'east',
      action: [
        { path: '/metadata/labels/a', op: 'add', value: ['b'] },
        { path: '/data/q/r', op: 'replace', value: ['z'] },
      ],
    },
  ];
  fleet.world.cluster('hub').put(resource('web', ['south', 'east'], { customize: { clusters } }));
  await fleet.untilPhase('web', 'Failed');
  expect(fleet.statusOf('web')).toMatchObject({
    message:
      'spec.customize.clusters[1].action[1]: replace: there is no value at "/data/q/r"; ' +
      'spec.customize.clusters[0].action[0]: remove: there is no value at "/data/none"',
    notes: ['remove: there is no value at "/data/none": ', 'replace: there is no value at "/data/q/r": '].map((reason) => ({
      severity: 'WARNING',
      code: 'PATCH_FAILS',
      message: expect.stringContaining(reason),
    })),
  });
}, 60_000);

test('names the same failing action of two clusters twice', async () => {
  await using fleet = await startUpkeepWorld();
  fleet.startProcess();
  const action = [{ path: '/data/none', op: 'remove' }];
  const clusters = ['south', 'east'].map((name) => ({ name, action }));
  fleet.world.cluster('hub').put(resource('web', ['south', 'east'], { customize: { clusters } }));
  await fleet.untilPhase('web', 'Failed');
  const paths = String(fleet.statusOf('web')?.message).match(/spec\.customize\.clusters\[\d\]\.action\[0\]/g);
  expect(paths?.toSorted()).toEqual(['spec.customize.clusters[0].action[0]', 'spec.customize.clusters[1].action[0]']);
}, 60_000);

test('adopts the objects that the operator made, and changes them later', async () => {
  await using fleet = await startUpkeepWorld();
  const south = fleet.world.cluster('south');
  const made = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'web', namespace: 'default' }, data: { mode: 'calm' } };
  const { uid } = south.put(made).metadata;
  fleet.startProcess();
  fleet.world.cluster('hub').put(resource('web', ['south']));
  await fleet.untilPhase('web', 'Settled');
  fleet.world.cluster('hub').put(resource('web', ['south'], customized('south', 'wild')));
  await fleet.world.until(() => fleet.modes('web')[0] === 'wild');
  expect(south.get('ConfigMap', 'web', 'default')?.metadata.uid).toBe(uid);
}, 60_000);

test('puts back a spec and an owner that were changed by hand', async () => {
  await using fleet = await startUpkeepWorld();
  fleet.startProcess();
  fleet.world.cluster('hub').put(resource('web', ['south', 'east']));
  await fleet.untilPhase('web', 'Settled');
  const before = fleet.mirrored('web');
  if (before === undefined || 'problems' in before.spec) throw new Error('expected web');
  const { owners } = before.metadata;
  const document = { ...printSpec(before.spec), placement: { clusters: ['east'] } };
  await fleet.world.pumped(fleet.stores.propagations.update(before, { document, owners: [] }, fleet.context.signal));
  await fleet.world.until(() => (fleet.mirrored('web')?.metadata.generation ?? 0) === 3);
  expect([fleet.mirrored('web')?.document, fleet.mirrored('web')?.metadata.owners]).toEqual([before.document, owners]);
  await fleet.untilPhase('web', 'Settled');
  expect(fleet.modes('web')).toEqual(['calm', 'calm']);
}, 60_000);

test('waits longer each time if another client keeps changing the spec', async () => {
  await using fleet = await startUpkeepWorld();
  fleet.startProcess();
  fleet.world.cluster('hub').put(resource('web', ['south', 'east']));
  await fleet.untilPhase('web', 'Settled');
  const wanted = fleet.mirrored('web')?.document;
  let changes = 0;
  const fight = async () => {
    const now = fleet.mirrored('web');
    if (now === undefined || 'problems' in now.spec || JSON.stringify(now.document) !== JSON.stringify(wanted)) return false;
    const document = { ...printSpec(now.spec), placement: { clusters: ['east'] } };
    const changed = await fleet.world.pumped(fleet.stores.propagations.update(now, { document }, fleet.context.signal));
    if (changed.result === 'written') changes += 1;
    return false;
  };
  const startMs = fleet.world.clock.monotonic();
  while (fleet.world.clock.monotonic() < startMs + 60_000) {
    await fight();
    await fleet.world.pass(200);
  }
  expect(changes).toBeGreaterThan(3);
  expect(changes).toBeLessThan(10);
}, 120_000);

test('writes copies as the configured service account of the namespace', async () => {
  await using fleet = await startUpkeepWorld({ serviceAccount: 'deployer' });
  fleet.startProcess();
  fleet.world.cluster('hub').put(resource('web', ['south']));
  await fleet.world.until(() => fleet.mirrored('web') !== undefined);
  expect(fleet.mirrored('web')?.document).toMatchObject({ runAs: { serviceAccount: { namespace: 'default', name: 'deployer' } } });
}, 60_000);

test('leaves clusters out that are not in the fleet, and includes them when they join', async () => {
  await using fleet = await startUpkeepWorld();
  fleet.world.leave('east');
  fleet.startProcess();
  fleet.world.cluster('hub').put(resource('web', ['south', 'east']));
  await fleet.untilPhase('web', 'Settled');
  expect(fleet.modes('web')).toEqual(['calm', undefined]);
  expect(fleet.statusOf('web')?.notes).toEqual([
    { severity: 'WARNING', code: 'UNKNOWN_CLUSTER', message: expect.stringContaining('"east"') },
  ]);
  fleet.world.join('east');
  await fleet.world.until(() => fleet.modes('web')[1] === 'calm');
  await fleet.world.until(() => JSON.stringify(fleet.statusOf('web')?.notes) === '[]');
}, 60_000);

test('keeps the copy of a cluster that leaves the fleet and comes back', async () => {
  await using fleet = await startUpkeepWorld();
  fleet.startProcess();
  fleet.world.cluster('hub').put(resource('web', ['south', 'east']));
  await fleet.untilPhase('web', 'Settled');
  const uid = fleet.world.cluster('east').get('ConfigMap', 'web', 'default')?.metadata.uid;
  fleet.world.leave('east');
  await fleet.world.pass(30_000);
  expect(fleet.mirrored('web')?.metadata.generation).toBe(1);
  fleet.world.join('east');
  await fleet.world.pass(30_000);
  expect(fleet.world.cluster('east').get('ConfigMap', 'web', 'default')?.metadata.uid).toBe(uid);
  await fleet.untilPhase('web', 'Settled');
}, 60_000);
