import { expect, test } from 'vitest';
import { numberAt } from '../../../../src/core/json-at.ts';
import type { PropagationInput } from '../../../../src/propagate/model/propagations.ts';
import { type ControllerWorld, deployment, intent, startControllerWorld } from '../controller-world.ts';

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

/** Makes a cluster unreachable until the result is disposed of. */
function cutOff({ world }: ControllerWorld, name: string): Disposable {
  const refused = world.cluster(name).refuse();
  world.cluster(name).disconnect();
  return refused;
}

test('moves the share of a cluster that does not answer, and removes the old copies when it is back', async () => {
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
