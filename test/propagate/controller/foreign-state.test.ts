import { expect, test } from 'vitest';
import type { KubernetesObject } from '../../../src/core/objects.ts';
import { deployment, intent, startControllerWorld } from './controller-world.ts';

// The requester may not be allowed to see an object that has the name of a copy. So its state is no part of the status.

const foreign = {
  ...deployment('ledger', 7, 'bank:1'),
  status: { replicas: 7, readyReplicas: 7, availableReplicas: 7 },
} as unknown as KubernetesObject;
const toSouth = { placement: { clusters: ['south'] } };

test('the status shows nothing of an object of another owner that has the name of a copy', async () => {
  await using fleet = await startControllerWorld({ hub: [], south: [foreign] });
  fleet.startProcess();
  await fleet.propagate(intent('web', [deployment('ledger', 2)], toSouth));
  await fleet.world.until(() => fleet.mirrored('web')?.status.clusters?.[0]?.reason === 'Conflict');
  await fleet.world.pass(10_000);
  const { clusters, aggregate, ready } = fleet.mirrored('web')?.status ?? {};
  expect(clusters).toMatchObject([{ cluster: 'south', phase: 'Failed', health: 'Unknown' }]);
  expect([clusters?.[0]?.ready, ready, JSON.stringify(aggregate)]).toEqual([undefined, undefined, expect.not.stringContaining('7')]);
});

test('the status shows nothing of an object that another owner made in place of a copy', async () => {
  await using fleet = await startControllerWorld({ hub: [], south: [] }, { accounts: 'many', living: true });
  fleet.startProcess();
  const { world } = fleet;
  const south = world.cluster('south');
  await fleet.propagate(intent('web', [deployment('ledger', 2)], toSouth));
  await fleet.phase('web', 'Settled', 120_000);
  south.remove('Deployment.apps', 'ledger', 'default');
  south.put({ ...foreign, spec: { ...(foreign.spec as object), replicas: 7 } });
  await world.until(() => fleet.mirrored('web')?.status.clusters?.[0]?.health === 'Unhealthy', 60_000);
  await world.pass(10_000);
  const { clusters, aggregate } = fleet.mirrored('web')?.status ?? {};
  expect([clusters?.[0]?.ready, JSON.stringify(aggregate)]).toEqual([undefined, expect.not.stringContaining('7')]);
}, 60_000);
