import { expect, test } from 'vitest';
import { type ControllerWorld, deployment, intent, startControllerWorld } from '../controller-world.ts';

/** Sets the status that the Deployment controller would set: all replicas are ready. */
function rollOut(fleet: ControllerWorld, cluster: string): void {
  const found = fleet.world.cluster(cluster).get('Deployment.apps', 'web', 'default');
  if (found === undefined) throw new Error(`expected a Deployment in ${cluster}`);
  const { replicas } = found.spec as { readonly replicas: number };
  const figures = { replicas, updatedReplicas: replicas, readyReplicas: replicas, availableReplicas: replicas };
  fleet.world.cluster(cluster).put({ ...found, status: { observedGeneration: found.metadata.generation ?? 1, ...figures } });
}

test('the status counts the replicas that an override sets, and another process divides as before', async () => {
  await using fleet = await startControllerWorld({ hub: [], north: [], south: [] });
  const first = fleet.startProcess();
  const countIn = (cluster: string) => fleet.world.cluster(cluster).get('Deployment.apps', 'web', 'default')?.spec;
  const base = { placement: { clusters: ['north', 'south'] }, replicas: { mode: 'Divided' } };
  const overrides = [{ set: { clusters: ['north'] }, merge: { spec: { replicas: 5 } } }];
  await fleet.propagate(intent('web', [deployment('web', 6)], { ...base, overrides }));
  await fleet.world.until(() => countIn('north') !== undefined && countIn('south') !== undefined);
  expect([countIn('north'), countIn('south')]).toMatchObject([{ replicas: 5 }, { replicas: 3 }]);
  for (const cluster of ['north', 'south']) rollOut(fleet, cluster);
  const settled = await fleet.phase('web', 'Settled', 60_000);
  expect(settled.status).toMatchObject({ desired: 8, placed: 8, ready: 8 });
  expect(settled.status.clusters?.map(({ cluster, replicas, divided, ready }) => [cluster, replicas, divided, ready])).toEqual([
    ['north', 5, 3, 5],
    ['south', 3, undefined, 3],
  ]);
  first.kill();
  fleet.freeLease();
  fleet.startProcess();
  await fleet.world.pass(30_000);
  expect([countIn('north'), countIn('south')]).toMatchObject([{ replicas: 5 }, { replicas: 3 }]);
  await fleet.propagate(intent('web', [deployment('web', 6)], base));
  await fleet.world.until(() => JSON.stringify(countIn('north')).includes('"replicas":3'));
  expect(countIn('south')).toMatchObject({ replicas: 3 });
  rollOut(fleet, 'north');
  const plain = await fleet.phase('web', 'Settled', 60_000);
  expect(plain.status).toMatchObject({ desired: 6, placed: 6 });
  expect(plain.status.clusters?.map(({ replicas, divided }) => [replicas, divided])).toEqual([
    [3, undefined],
    [3, undefined],
  ]);
}, 60_000);
