import { expect, test } from 'vitest';
import type { JsonObject } from '../../../../src/core/json.ts';
import { numberAt, objectAt } from '../../../../src/core/json-at.ts';
import type { PropagationInput } from '../../../../src/propagate/model/propagations.ts';
import { type ControllerWorld, configMap, deployment, intent, startControllerWorld } from '../controller-world.ts';

const names = ['hub', 'south', 'east'];
const emptyFleet = Object.fromEntries(names.map((name) => [name, []]));

const copyIn = ({ world }: ControllerWorld, cluster: string, name: string, kind = 'Deployment.apps') =>
  world.cluster(cluster).get(kind, name, 'default');
const countsOf = (fleet: ControllerWorld, name: string) => names.map((cluster) => countIn(fleet, cluster, name));
const countIn = (fleet: ControllerWorld, cluster: string, name: string) => {
  const copy = copyIn(fleet, cluster, name);
  return copy === undefined ? undefined : numberAt(copy, 'spec', 'replicas');
};
const codesOf = (fleet: ControllerWorld, name: string) => fleet.mirrored(name)?.status.notes?.map(({ code }) => code);
const lineOf = (fleet: ControllerWorld, name: string, cluster: string) =>
  fleet.mirrored(name)?.status.clusters?.find((line) => line.cluster === cluster);

function divided(name: string, failover: PropagationInput['failover']): PropagationInput {
  return intent(name, [deployment(name, 6)], { placement: { clusters: names }, replicas: { mode: 'DIVIDED' }, failover } as never);
}

/** The sum of the available replicas in all clusters. */
function availableOf(fleet: ControllerWorld, name: string): number {
  return names.reduce((sum, cluster) => {
    const copy = copyIn(fleet, cluster, name);
    return sum + ((copy === undefined ? undefined : numberAt(copy, 'status', 'availableReplicas')) ?? 0);
  }, 0);
}

function statefulSet(name: string): JsonObject {
  const { spec, ...rest } = deployment(name, 2);
  return { ...rest, kind: 'StatefulSet', spec: { ...(spec as JsonObject), serviceName: name } };
}

/** Makes a cluster unreachable until the result is disposed of. */
function cutOff({ world }: ControllerWorld, name: string): Disposable {
  const refused = world.cluster(name).refuse();
  world.cluster(name).disconnect();
  return refused;
}

test('M5: moves the share of a cluster that does not answer, and removes the old copies when it is back', async () => {
  await using fleet = await startControllerWorld(emptyFleet, { living: true });
  fleet.startProcess();
  await fleet.propagate(divided('ring', { after: '5s' } as never));
  await fleet.phase('ring', 'Settled');
  const old = copyIn(fleet, 'east', 'ring')?.metadata.uid;
  const cut = cutOff(fleet, 'east');
  await fleet.world.until(() => countsOf(fleet, 'ring').join() === '3,3,2', 120_000);
  await fleet.phase('ring', 'Degraded');
  await fleet.world.until(() => lineOf(fleet, 'ring', 'east')?.wave === undefined);
  await fleet.world.pass(20_000);
  const away = fleet.mirrored('ring')?.status;
  expect([away?.phase, away?.placed, away?.unplaced, away?.ready, away?.unknown]).toEqual(['Degraded', 6, 0, 6, ['east']]);
  expect(lineOf(fleet, 'ring', 'east')).toMatchObject({ phase: 'Unknown', reason: 'Unreachable' });
  expect(codesOf(fleet, 'ring')).toEqual(['POSSIBLY_DOUBLED']);
  const share = fleet.world
    .cluster('hub')
    .objects('ClusterShare.muster.dev')
    .find((one) => one.cluster === 'east');
  expect(share?.objects).toMatchObject([{ state: 'PendingDeletion', uid: old }]);
  expect(copyIn(fleet, 'east', 'ring')?.metadata.uid).toBe(old);

  cut[Symbol.dispose]();
  await fleet.world.until(() => copyIn(fleet, 'east', 'ring') === undefined);
  await fleet.phase('ring', 'Settled');
  expect(countsOf(fleet, 'ring')).toEqual([3, 3, undefined]);
  expect(codesOf(fleet, 'ring')).toEqual([]);
  await fleet.world.until(() => fleet.mirrored('ring')?.status.evictions === undefined);
}, 60_000);

test('reads no revisions for a cluster that does not answer', async () => {
  await using fleet = await startControllerWorld(emptyFleet, { living: true });
  const { world } = fleet;
  fleet.startProcess();
  await fleet.propagate(divided('quay', { after: '5s' } as never));
  await fleet.phase('quay', 'Settled');
  const revisionReads = () =>
    world.cluster('hub').requests.filter(({ method, path }) => method === 'GET' && path.includes('/controllerrevisions')).length;
  const before = revisionReads();
  const cut = cutOff(fleet, 'east');
  await world.until(() => countsOf(fleet, 'quay').join() === '3,3,2', 120_000);
  await fleet.phase('quay', 'Degraded');
  await world.pass(20_000);
  expect(revisionReads()).toBe(before);
  cut[Symbol.dispose]();
}, 60_000);

test('returns with return: Back, and never has fewer replicas meanwhile', async () => {
  await using fleet = await startControllerWorld(emptyFleet, { living: true });
  fleet.startProcess();
  await fleet.propagate(divided('tide', { after: '5s', return: 'BACK', returnAfter: '20s' } as never));
  await fleet.phase('tide', 'Settled');
  const old = copyIn(fleet, 'east', 'tide')?.metadata.uid;
  const cut = cutOff(fleet, 'east');
  await fleet.world.until(() => countsOf(fleet, 'tide').join() === '3,3,2', 120_000);
  await fleet.phase('tide', 'Degraded');
  cut[Symbol.dispose]();
  let least = Number.POSITIVE_INFINITY;
  await fleet.world.until(() => {
    least = Math.min(least, availableOf(fleet, 'tide'));
    return countsOf(fleet, 'tide').join() === '2,2,2' && copyIn(fleet, 'east', 'tide')?.metadata.uid !== old;
  }, 180_000);
  const settled = await fleet.phase('tide', 'Settled');
  expect(least).toBeGreaterThanOrEqual(6);
  expect(settled.status.evictions).toBeUndefined();
}, 60_000);

test('leaves StatefulSets and Jobs where they are while their fate is unknown', async () => {
  await using fleet = await startControllerWorld(emptyFleet, { living: true });
  fleet.startProcess();
  const groups = ['south', 'east'].map((cluster) => ({ name: cluster, set: { clusters: [cluster] } }));
  const made = (name: string, purge: string) =>
    intent(name, [statefulSet(name)], { placement: { affinityGroups: groups }, failover: { after: '5s', purge } } as never);
  for (const [name, purge] of [
    ['db', 'GRACEFULLY'],
    ['moved', 'DIRECTLY'],
    ['free', 'NEVER'],
  ] as const)
    await fleet.propagate(made(name, purge));
  for (const name of ['db', 'moved', 'free']) await fleet.phase(name, 'Settled');
  const stateful = 'StatefulSet.apps';
  const [db, free] = ['db', 'free'].map((name) => copyIn(fleet, 'south', name, stateful)?.metadata.uid);
  const cut = cutOff(fleet, 'south');
  for (const name of ['moved', 'free']) await fleet.world.until(() => copyIn(fleet, 'east', name, stateful) !== undefined, 120_000);
  await fleet.world.until(() => codesOf(fleet, 'db')?.includes('FATE_UNKNOWN') === true);
  expect(lineOf(fleet, 'db', 'south')).toMatchObject({ phase: 'Unknown', wave: 0 });
  const entryIn = (name: string) =>
    fleet.world
      .cluster('hub')
      .objects('ClusterShare.muster.dev')
      .filter((one) => one.cluster === 'south')
      .flatMap((one) => one.objects as readonly JsonObject[])
      .find((one) => one.name === name);
  await fleet.world.until(() => entryIn('free')?.state === 'PendingDeletion');
  expect(entryIn('free')).toMatchObject({ uid: free });
  expect(copyIn(fleet, 'east', 'db', stateful)).toBeUndefined();
  cut[Symbol.dispose]();
  await fleet.world.until(() => copyIn(fleet, 'south', 'moved', stateful) === undefined, 120_000);
  for (const name of ['db', 'moved', 'free']) await fleet.phase(name, 'Settled', 120_000);
  await fleet.world.until(() => fleet.mirrored('free')?.status.evictions === undefined);
  expect(codesOf(fleet, 'db')).toEqual([]);
  await fleet.world.until(() => codesOf(fleet, 'free')?.join() === 'LEFT_BEHIND');
  expect(copyIn(fleet, 'south', 'db', stateful)?.metadata.uid).toBe(db);
  expect(copyIn(fleet, 'east', 'db', stateful)).toBeUndefined();
  const released = copyIn(fleet, 'south', 'free', stateful);
  expect([released?.metadata.uid, released?.metadata.labels?.['muster.dev/propagation']]).toEqual([free, undefined]);
}, 60_000);

test('leaves a cluster with a taint without a confirmation, and keeps the decision over a crash', async () => {
  await using fleet = await startControllerWorld(emptyFleet, { living: true });
  const first = fleet.startProcess();
  const maps = Array.from({ length: 8 }, (_, index) => configMap(`map-${index}`, { a: '1' }));
  const spread = [{ max: 1 }];
  await fleet.propagate(intent('many', maps, { placement: { clusters: ['south', 'east'], spread } } as never));
  await fleet.phase('many', 'Settled');
  const [from = '', to = ''] = copyIn(fleet, 'south', 'map-0', 'ConfigMap') === undefined ? ['east', 'south'] : ['south', 'east'];
  fleet.world.setTraits(from, { taints: [{ key: 'maintenance', effect: 'NoExecute' }] });
  // Members are not notified of a change of traits alone.
  fleet.world.leave(from);
  fleet.world.join(from);
  await fleet.world.until(() => fleet.mirrored('many')?.status.evictions !== undefined, 120_000);
  first.kill();
  fleet.freeLease();
  fleet.startProcess();
  await fleet.world.until(() => copyIn(fleet, from, 'map-7', 'ConfigMap') === undefined, 120_000);
  const settled = await fleet.phase('many', 'Settled', 120_000);
  expect(settled.status.clusters?.map(({ cluster }) => cluster)).toEqual([to]);
  expect(copyIn(fleet, from, 'map-0', 'ConfigMap')).toBeUndefined();
  expect(settled.status.evictions).toMatchObject([{ cluster: from, cause: 'Taint', to: [to] }]);
}, 60_000);

const statusPath = (name: string) => `/apis/muster.dev/v1alpha1/namespaces/default/propagations/${name}/status`;

/** Starts a Propagation in south with `purge: NEVER`, and evicts its copy there by a taint. */
async function releasedFromSouth(fleet: ControllerWorld, name: string, more: object = {}) {
  const groups = ['south', 'east'].map((cluster) => ({ name: cluster, set: { clusters: [cluster] } }));
  const failover = { after: '5s', purge: 'NEVER', ...more };
  const settings = { placement: { affinityGroups: groups }, conflict: 'ADOPT', failover };
  const process = fleet.startProcess();
  await fleet.propagate(intent(name, [deployment(name, 2)], settings as never));
  await fleet.phase(name, 'Settled');
  const taint = (taints: readonly object[]) => {
    fleet.world.setTraits('south', { taints } as never);
    // Members are not notified of a change of traits alone.
    fleet.world.leave('south');
    fleet.world.join('south');
  };
  const released = () => copyIn(fleet, 'south', name)?.metadata.labels?.['muster.dev/propagation'] === undefined;
  return { process, taint, released };
}

test('says which copies `purge` Never left behind, until they are gone', async () => {
  await using fleet = await startControllerWorld(emptyFleet, { living: true });
  const { process, taint, released } = await releasedFromSouth(fleet, 'left');
  const uid = copyIn(fleet, 'south', 'left')?.metadata.uid;
  taint([{ key: 'maintenance', effect: 'NoExecute' }]);
  await fleet.world.until(released, 120_000);
  await fleet.world.until(() => codesOf(fleet, 'left')?.join() === 'LEFT_BEHIND', 120_000);
  taint([]);
  const settled = await fleet.phase('left', 'Settled', 120_000);
  await fleet.world.until(() => fleet.mirrored('left')?.status.evictions === undefined, 120_000);
  expect(settled.status.leftBehind).toMatchObject([{ cluster: 'south', key: { kind: 'Deployment', name: 'left' }, uid }]);
  process.kill();
  fleet.freeLease();
  fleet.startProcess();
  await fleet.world.pass(30_000);
  expect(codesOf(fleet, 'left')).toEqual(['LEFT_BEHIND']);
  fleet.world.cluster('south').remove('Deployment.apps', 'left', 'default');
  await fleet.world.until(() => codesOf(fleet, 'left')?.length === 0, 30_000);
  expect(fleet.mirrored('left')?.status.leftBehind).toBeUndefined();
}, 60_000);

test('forgets that copies were left behind when they are copies again', async () => {
  await using fleet = await startControllerWorld(emptyFleet, { living: true });
  const { taint, released } = await releasedFromSouth(fleet, 'again', { return: 'BACK', returnAfter: '20s' });
  const uid = copyIn(fleet, 'south', 'again')?.metadata.uid;
  taint([{ key: 'maintenance', effect: 'NoExecute' }]);
  await fleet.world.until(released, 120_000);
  await fleet.world.until(() => codesOf(fleet, 'again')?.join() === 'LEFT_BEHIND', 120_000);
  taint([]);
  await fleet.world.until(() => codesOf(fleet, 'again')?.length === 0 && !released(), 180_000);
  expect(copyIn(fleet, 'south', 'again')?.metadata.uid).toBe(uid);
}, 60_000);

test('releases no copy before the hub has recorded that it is left behind', async () => {
  await using fleet = await startControllerWorld(emptyFleet, { living: true });
  const { taint, released } = await releasedFromSouth(fleet, 'known');
  const hub = fleet.world.cluster('hub');
  let refused: Disposable | undefined;
  hub.onWrite(({ kind, subresource, object }) => {
    const isEvicted = kind === 'Propagation' && subresource === 'status' && objectAt(object, 'status').evictions !== undefined;
    // The eviction is saved. All later statuses are refused.
    if (isEvicted) refused ??= hub.answer({ status: 500, times: Number.POSITIVE_INFINITY }, { path: statusPath('known') });
    return undefined;
  });
  taint([{ key: 'maintenance', effect: 'NoExecute' }]);
  await fleet.world.until(() => refused !== undefined, 120_000);
  await fleet.world.pass(60_000);
  expect(released()).toBe(false);
  refused?.[Symbol.dispose]();
  await fleet.world.until(() => released() && codesOf(fleet, 'known')?.join() === 'LEFT_BEHIND', 120_000);
}, 60_000);

test('returns no copy before the hub has recorded the return', async () => {
  await using fleet = await startControllerWorld(emptyFleet, { living: true });
  fleet.startProcess();
  const failover = { after: '5s', return: 'BACK', returnAfter: '20s' };
  const affinityGroups = ['south', 'east'].map((cluster) => ({ name: cluster, set: { clusters: [cluster] } }));
  await fleet.propagate(intent('home', [deployment('home', 2)], { placement: { affinityGroups }, failover } as never));
  await fleet.phase('home', 'Settled');
  const cut = cutOff(fleet, 'south');
  await fleet.world.until(() => fleet.mirrored('home')?.status.evictions?.[0]?.to !== undefined, 120_000);
  cut[Symbol.dispose]();
  await fleet.world.until(() => copyIn(fleet, 'south', 'home') === undefined, 120_000);
  const hub = fleet.world.cluster('hub');
  const refused = hub.answer({ status: 500, times: Number.POSITIVE_INFINITY }, { path: statusPath('home') });
  await fleet.world.pass(60_000);
  expect(fleet.mirrored('home')?.status.evictions).toMatchObject([{ cluster: 'south' }]);
  expect(copyIn(fleet, 'south', 'home')).toBeUndefined();
  refused[Symbol.dispose]();
  await fleet.world.until(() => copyIn(fleet, 'south', 'home') !== undefined, 120_000);
}, 60_000);

test('keeps the last copies after `grace` while the other cluster is suspended', async () => {
  await using fleet = await startControllerWorld(emptyFleet, { living: true });
  fleet.startProcess();
  const affinityGroups = ['south', 'east'].map((cluster) => ({ name: cluster, set: { clusters: [cluster] } }));
  const failover = { after: '5s', grace: '60s' };
  await fleet.propagate(
    intent('last', [deployment('last', 2)], { placement: { affinityGroups }, suspend: { clusters: ['east'] }, failover }),
  );
  await fleet.phase('last', 'Settled');
  const cut = cutOff(fleet, 'south');
  await fleet.world.until(() => fleet.mirrored('last')?.status.evictions?.[0]?.to !== undefined, 60_000);
  cut[Symbol.dispose]();
  await fleet.world.pass(150_000);
  expect([availableOf(fleet, 'last'), copyIn(fleet, 'east', 'last')]).toEqual([2, undefined]);
}, 60_000);
