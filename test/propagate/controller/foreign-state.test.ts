import { expect, test } from 'vitest';
import type { KubernetesObject } from '../../../src/core/objects.ts';
import type { PropagationView } from '../../../src/propagate/model/propagations.ts';
import { type ControllerWorld, deployment, intent, startControllerWorld } from './controller-world.ts';

// The requester may not be allowed to see an object that has the name of a copy. So its state is no part of the status.

const foreign = {
  ...deployment('ledger', 7, 'bank:1'),
  status: { replicas: 7, readyReplicas: 7, availableReplicas: 7 },
} as unknown as KubernetesObject;
/** The health of each copy as a query shows it. */
const shownHealth = async (fleet: ControllerWorld) => {
  const view = await fleet.propagations.get(fleet.context, { namespace: 'default', name: 'web' });
  return view?.objects.flatMap(({ entries }) => entries.map(({ key, health }) => `${key.name}: ${health}`));
};

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
  expect(await shownHealth(fleet)).toEqual(['ledger: Unhealthy']);
}, 60_000);

test('the health of copies in queries and streams does not follow an object of another owner, while another copy is unhealthy', async () => {
  await using fleet = await startControllerWorld({ hub: [], south: [foreign] }, { accounts: 'many', living: true });
  fleet.startProcess();
  await fleet.propagate(intent('web', [deployment('ledger', 2), deployment('own', 1)], toSouth));
  const { world } = fleet;
  await world.until(() => world.cluster('south').get('Deployment.apps', 'own', 'default') !== undefined, 60_000);
  await world.until(() => fleet.mirrored('web')?.status.clusters?.[0]?.reason === 'Conflict', 60_000);
  world.cluster('south').remove('Deployment.apps', 'own', 'default');
  const seen = new Set<string>();
  const listener = {
    changed: (view: PropagationView | undefined) => {
      const entry = view?.objects.flatMap(({ entries }) => entries).find(({ key }) => key.name === 'ledger');
      if (entry !== undefined) seen.add(entry.health);
    },
    ended: () => undefined,
  };
  await fleet.propagations.follow(fleet.context, { namespace: 'default', name: 'web' }, listener, new AbortController().signal);
  await world.until(() => fleet.mirrored('web')?.status.clusters?.[0]?.health === 'Unhealthy', 60_000);
  const before = await shownHealth(fleet);
  world.cluster('south').put({ ...foreign, status: { replicas: 7, readyReplicas: 3 } } as unknown as KubernetesObject);
  await world.pass(5_000);
  expect([before, await shownHealth(fleet)]).toEqual([before, before]);
  expect(before).toContain('ledger: Unknown');
  expect([...seen]).toEqual(['Unknown']);
}, 60_000);
