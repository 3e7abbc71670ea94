import { expect, test } from 'vitest';
import { textAt } from '../../../../src/core/json-at.ts';
import type { Propagation } from '../../../../src/propagate/model/propagation.ts';
import { type ControllerWorld, configMap, deployment, intent, startControllerWorld } from '../controller-world.ts';

const place = (name: string) => ({ namespace: 'default', name });
const linesOf = ({ status }: Propagation) => status.clusters?.map(({ cluster, phase, reason = '' }) => [cluster, phase, reason]);
const copyIn = ({ world }: ControllerWorld, cluster: string, name: string) => world.cluster(cluster).get('ConfigMap', name, 'default');

test.each(['silent', 'down'] as const)(
  'continues in the other clusters while one is %s, and in that one when it answers',
  async (how) => {
    await using fleet = await startControllerWorld({ hub: [], south: [], east: [] });
    fleet.startProcess();
    const east = fleet.world.cluster('east');
    const sick = how === 'silent' ? east.silence() : east.refuse();
    if (how === 'down') east.disconnect();
    await fleet.propagate(intent('frozen', [configMap('frozen', { a: '1' })], { placement: { clusters: ['hub', 'south', 'east'] } }));
    await fleet.world.until(() => copyIn(fleet, 'hub', 'frozen') !== undefined && copyIn(fleet, 'south', 'frozen') !== undefined);
    await fleet.world.pass(30_000);
    const held = fleet.mirrored('frozen');
    // A cluster that is known to be unreachable is not chosen. It joins when it answers.
    const settled = ['hub', 'south'].map((cluster) => [cluster, 'Settled']);
    const lines = how === 'silent' ? [['east', 'Unknown'], ...settled] : settled;
    expect(held === undefined ? [] : linesOf(held)?.map(([cluster, phase]) => [cluster, phase])).toEqual(lines);
    expect(held?.status.phase === 'Settled').toBe(how === 'down');
    sick[Symbol.dispose]();
    await fleet.world.until(() => copyIn(fleet, 'east', 'frozen') !== undefined);
    await fleet.phase('frozen', 'Settled');
  },
  60_000,
);

test('D12: copies in a cluster that left are pending until it is back, and abandoned only on request', async () => {
  await using fleet = await startControllerWorld({ hub: [], south: [], east: [] });
  fleet.startProcess();
  await fleet.propagate(intent('left', [configMap('left', { a: '1' })]));
  await fleet.phase('left', 'Settled');
  fleet.world.leave('south');
  fleet.world.leave('east');
  await fleet.world.pumped(fleet.propagations.delete(fleet.context, place('left'), undefined));
  await fleet.world.until(() => copyIn(fleet, 'hub', 'left') === undefined);
  await fleet.world.pass(30_000);
  const shares = fleet.world.cluster('hub').objects('ClusterShare.muster.dev');
  expect(
    shares.map((share) => [textAt(share, 'cluster'), textAt((share.objects as never as object[])[0] as never, 'state')]).toSorted(),
  ).toEqual([
    ['east', 'PendingDeletion'],
    ['south', 'PendingDeletion'],
  ]);
  expect(fleet.mirrored('left')?.status.phase).toBe('Deleting');

  fleet.world.join('south');
  await fleet.world.until(() => copyIn(fleet, 'south', 'left') === undefined);
  const resumed = await fleet.world.pumped(
    fleet.propagations.resume(fleet.context, place('left'), { confirmPrune: false, abandon: ['east'] }),
  );
  expect(resumed.result).toBe('ACCEPTED');
  await fleet.gone('left');
  expect(copyIn(fleet, 'east', 'left')?.data).toEqual({ a: '1' });
}, 60_000);

test('D14: after a change of the spec in mid fan-out every cluster has one generation, and after a deletion no copies', async () => {
  const names = ['hub', 'a', 'b', 'c', 'd'];
  await using fleet = await startControllerWorld(Object.fromEntries(names.map((name) => [name, []])));
  for (let after = 3; after <= 18; after += 3) {
    const name = `race-${after}`;
    fleet.freeLease();
    const process = fleet.startProcess();
    await fleet.propagate(intent(name, [configMap(name, { a: '1' })]));
    await fleet.world.until(() => process.writes >= after || copyIn(fleet, 'd', name) !== undefined);
    await fleet.propagate(intent(name, [configMap(name, { a: '2' })]));
    await fleet.phase(name, 'Settled');
    expect(names.map((cluster) => copyIn(fleet, cluster, name)?.data)).toEqual(names.map(() => ({ a: '2' })));
    await fleet.propagate(intent(name, [configMap(name, { a: '3' })]));
    await fleet.world.pumped(fleet.propagations.delete(fleet.context, place(name), undefined));
    await fleet.gone(name);
    expect(names.map((cluster) => copyIn(fleet, cluster, name))).toEqual(names.map(() => undefined));
    process.kill();
  }
}, 120_000);

test('D18: does not prune copies that are newer than the inventory of a restored hub', async () => {
  await using fleet = await startControllerWorld({ hub: [], south: [] });
  const first = fleet.startProcess();
  await fleet.propagate(intent('old', [configMap('old', { a: '1' })], { placement: { clusters: ['south'] } }));
  await fleet.phase('old', 'Settled');
  const yesterday = fleet.world.cluster('hub').backup();
  await fleet.propagate(
    intent('old', [configMap('old', { a: '1' }), configMap('newer', { a: '1' })], { placement: { clusters: ['south'] } }),
  );
  await fleet.world.until(() => copyIn(fleet, 'south', 'newer') !== undefined);
  await fleet.phase('old', 'Settled');
  first.kill();
  fleet.world.cluster('hub').restore(yesterday);
  fleet.freeLease();
  fleet.startProcess();
  await fleet.world.pass(60_000);
  expect(copyIn(fleet, 'south', 'newer')?.data).toEqual({ a: '1' });
  await fleet.world.pumped(fleet.propagations.delete(fleet.context, place('old'), undefined));
  await fleet.gone('old', 120_000);
  expect([copyIn(fleet, 'south', 'newer')?.data, copyIn(fleet, 'south', 'old')]).toEqual([{ a: '1' }, undefined]);
}, 60_000);

test('D18: a leader uses the state of a restored hub, although no write reports it', async () => {
  await using fleet = await startControllerWorld({ hub: [], south: [] });
  fleet.startProcess();
  const input = (a: string) => intent('old', [configMap('old', { a })], { placement: { clusters: ['south'] } });
  await fleet.propagate(input('1'));
  await fleet.phase('old', 'Settled');
  const hub = fleet.world.cluster('hub');
  const yesterday = hub.backup();
  await fleet.propagate(input('2'));
  await fleet.phase('old', 'Settled');
  await fleet.world.pass(30_000);
  hub.restore(yesterday);
  // The same generation number with another spec: the plan of the other spec must not be carried out.
  await fleet.world.pass(20_000);
  await fleet.propagate(input('3'));
  await fleet.world.pass(20_000);
  expect(fleet.mirrored('old')?.metadata.generation).toBe(2);
  expect(fleet.mirrored('old')?.status).toMatchObject({ observedGeneration: 2, phase: 'Settled' });
  expect(copyIn(fleet, 'south', 'old')?.data).toEqual({ a: '3' });
}, 60_000);

test.each([
  { how: 'as it is', phase: 'Degraded', left: { a: '1' } },
  { how: 'changed', phase: 'Paused', left: { a: '5' } },
  { how: 'deleted', phase: 'Deleting', left: undefined },
] as const)(
  'D18: copies of later generations hold a Propagation that is $how, until a user resumes it',
  async ({ how, phase, left }) => {
    await using fleet = await startControllerWorld({ hub: [], south: [] });
    const first = fleet.startProcess();
    const input = (a: string) => intent('old', [configMap('old', { a })], { placement: { clusters: ['south'] } });
    await fleet.propagate(input('1'));
    await fleet.phase('old', 'Settled');
    const hub = fleet.world.cluster('hub');
    const yesterday = hub.backup();
    for (const a of ['2', '3', '4']) {
      await fleet.propagate(input(a));
      await fleet.phase('old', 'Settled');
    }
    first.kill();
    hub.restore(yesterday);
    fleet.freeLease();
    const second = fleet.startProcess();
    await fleet.world.pass(10_000);
    if (how === 'changed') await fleet.propagate(input('5'));
    if (how === 'deleted') await fleet.world.pumped(fleet.propagations.delete(fleet.context, place('old'), undefined));
    const isTold = () => fleet.mirrored('old')?.status.clusters?.[0]?.reason === 'Stale';
    await fleet.world.until(isTold);
    const asked = fleet.world.cluster('south').requests.length;
    const written = second.writes;
    await fleet.world.pass(120_000);
    expect(fleet.mirrored('old')?.status).toMatchObject({
      phase,
      clusters: [{ reason: 'Stale', message: expect.stringContaining('resume the Propagation'), fault: { code: 'CONFLICT' } }],
    });
    expect(copyIn(fleet, 'south', 'old')?.data).toEqual({ a: '4' });
    // Retries get less frequent, down to one every 5 min.
    expect(fleet.world.cluster('south').requests.length - asked).toBeLessThan(20);
    expect(second.writes - written).toBeLessThan(40);

    await fleet.world.pumped(fleet.propagations.resume(fleet.context, place('old'), { confirmPrune: false, abandon: [] }));
    if (how === 'deleted') await fleet.gone('old');
    else await fleet.phase('old', 'Settled');
    expect(copyIn(fleet, 'south', 'old')?.data).toEqual(left);
  },
  60_000,
);

test('D11: holds a large prune until it is confirmed', async () => {
  await using fleet = await startControllerWorld({ hub: [], south: [] });
  fleet.startProcess();
  const many = (count: number) => Array.from({ length: count }, (_, index) => configMap(`many-${index}`, { a: '1' }));
  await fleet.propagate(intent('many', many(6), { placement: { clusters: ['south'] } }));
  await fleet.phase('many', 'Settled');
  await fleet.propagate(intent('many', many(1), { placement: { clusters: ['south'] } }));
  const held = await fleet.phase('many', 'Held');
  expect(linesOf(held)).toEqual([['south', 'Settled', 'PruneHeld']]);
  await fleet.world.pass(30_000);
  expect(copyIn(fleet, 'south', 'many-5')).toBeDefined();
  await fleet.world.pumped(fleet.propagations.resume(fleet.context, place('many'), { confirmPrune: true, abandon: [] }));
  await fleet.phase('many', 'Settled');
  expect([copyIn(fleet, 'south', 'many-0')?.data, copyIn(fleet, 'south', 'many-5')]).toEqual([{ a: '1' }, undefined]);
}, 60_000);

test('pauses clusters that were not started, and continues after a resume', async () => {
  await using fleet = await startControllerWorld({ north: [], south: [] }, { living: true });
  fleet.startProcess();
  const waves = ['north', 'south'].map((name) => ({ name, set: { clusters: [name] } }));
  const input = (image: string) => intent('pause', [deployment('pause', 1, image)], { rollout: { waves } });
  await fleet.propagate(input('web:1.0'));
  await fleet.world.until(() => fleet.world.cluster('north').get('Deployment.apps', 'pause', 'default') !== undefined);
  await fleet.world.pumped(fleet.propagations.pause(fleet.context, place('pause')));
  await fleet.phase('pause', 'Paused');
  await fleet.world.pass(60_000);
  expect(fleet.world.cluster('south').get('Deployment.apps', 'pause', 'default')).toBeUndefined();
  await fleet.world.pumped(fleet.propagations.resume(fleet.context, place('pause'), { confirmPrune: false, abandon: [] }));
  await fleet.phase('pause', 'Settled', 120_000);
}, 60_000);

test('a breach with Rollback rolls the generation back, and stays in that state', async () => {
  await using fleet = await startControllerWorld({ north: [], south: [], east: [] }, { living: true });
  const process = fleet.startProcess();
  const waves = ['north', 'south', 'east'].map((name) => ({ name, set: { clusters: [name] } }));
  const bad = {
    set: { clusters: ['south'] },
    jsonPatch: [{ op: 'add', path: '/spec/template/spec/nodeSelector', value: { none: 'such' } }],
  };
  const input = (image: string) =>
    intent('back', [deployment('back', 1, image), ...(image === 'web:2.0' ? [configMap('back-extra', { a: '1' })] : [])], {
      overrides: image === 'web:2.0' ? [{ ...bad, objects: { kind: 'Deployment' } }] : [],
      rollout: { waves, deadline: '20s', onFailure: 'ROLLBACK' },
    });
  await fleet.propagate(input('web:1.0'));
  await fleet.phase('back', 'Settled', 120_000);
  await fleet.propagate(input('web:2.0'));
  await fleet.phase('back', 'Failed', 180_000);
  const image = (cluster: string) =>
    JSON.stringify(fleet.world.cluster(cluster).get('Deployment.apps', 'back', 'default')).match(/"image":"([^"]+)"/)?.[1];
  expect(['north', 'south', 'east'].map(image)).toEqual(['web:1.0', 'web:1.0', 'web:1.0']);
  expect(['north', 'south', 'east'].map((cluster) => copyIn(fleet, cluster, 'back-extra'))).toEqual([undefined, undefined, undefined]);
  process.kill();
  fleet.freeLease();
  fleet.startProcess();
  await fleet.world.pass(60_000);
  expect(fleet.mirrored('back')?.status.phase).toBe('Failed');
  expect(['north', 'south', 'east'].map(image)).toEqual(['web:1.0', 'web:1.0', 'web:1.0']);
}, 120_000);
