import { expect, test, vi } from 'vitest';
import { RequestScheduler } from '../../src/operations/request-scheduler.ts';
import { bindingOf, roleOf, ruleOf } from '../access/reviewed/access-world.ts';
import { LiveSocket } from '../support/clients/live-socket.ts';
import { runSharedGateway } from '../support/gateway/run-shared-gateway.ts';
import { startSimCluster } from '../support/sim/start-sim-cluster.ts';

// A caller cannot have more turns by using several ways at once: the work of all callers has one scheduler, whichever way it comes.

test('P2: requests over HTTP, operations over WebSockets and the lists of a cluster with authorization: live have the same scheduler', async () => {
  await using cluster = await startSimCluster({ name: 'north', authorization: 'rbac' });
  const objects = [
    { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'shop' } },
    { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a', namespace: 'shop' } },
    roleOf(undefined, 'reader', ruleOf(['get', 'list', 'watch'], [''], ['configmaps'])),
    bindingOf('shop', 'ann', 'ClusterRole/reader', 'User/oidc:ann'),
  ];
  for (const object of objects) cluster.put(object);
  const config = { clusters: [{ name: 'north', context: 'north', authorization: 'live' }] };
  await using gateway = await runSharedGateway({ contexts: [{ name: 'north', cluster }], config });
  await gateway.firstCluster('ann');
  const socket = await LiveSocket.open(gateway.url, gateway.as('ann'));

  using waitForTurn = vi.spyOn(RequestScheduler.prototype, 'waitForTurn');
  const turnsOf = async (work: () => Promise<unknown>) => {
    waitForTurn.mockClear();
    await work();
    return waitForTurn.mock.calls.map(([caller], call) => ({ scheduler: waitForTurn.mock.contexts[call], caller }));
  };
  const overHttp = await turnsOf(() => gateway.ask('ann', '{ whoami { name } }'));
  const overSocket = await turnsOf(async () => {
    const { seen } = socket.start('{ whoami { name } }');
    await vi.waitFor(() => expect(seen[0]?.data).toEqual({ whoami: { name: 'oidc:ann' } }));
  });
  const listed = await turnsOf(async () => {
    const { data } = await gateway.ask('ann', '{ configMaps { totalCount } }');
    expect(data).toEqual({ configMaps: { totalCount: 1 } });
  });

  expect([overHttp.length, overSocket.length]).toEqual([1, 1]);
  // The request itself, and the part of the list.
  expect(listed).toHaveLength(2);
  const all = [...overHttp, ...overSocket, ...listed];
  expect(new Set(all.map(({ scheduler }) => scheduler)).size).toBe(1);
  expect(new Set(all.map(({ caller }) => caller)).size).toBe(1);
});
