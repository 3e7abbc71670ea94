import { expect, test } from 'vitest';
import { type Listed, startGateway, type TestGateway } from '../support/gateway/start-gateway.ts';
import { pod } from '../support/workloads.ts';

// "No silent wrong answer": the GraphQL view of an account that may read pods in some namespaces only.

const fields = 'items { metadata { name namespace } } totalCount sync { phase } faults { code }';

async function podsIn(gateway: TestGateway, args: string): Promise<unknown> {
  const { pods } = await gateway.query<{ pods: Listed }>(`{ pods(${args}) { ${fields} } }`);
  return {
    pods: pods.items.map(({ metadata }) => `${metadata.namespace}/${metadata.name}`),
    phases: pods.sync.map(({ phase }) => phase),
    faults: pods.faults.map(({ code }) => code),
  };
}

/** Two namespaces may be read. A client must know their names to find them. */
function startRestricted(): Promise<TestGateway> {
  return startGateway(
    { north: ['shop', 'web', 'hidden'].map((namespace) => pod('one', { namespace })) },
    {
      before: (cluster) => {
        cluster('north').forbid({ resource: 'pods', exceptNamespaces: ['shop', 'web'] });
        cluster('north').forbid({ resource: 'namespaces' });
      },
    },
  );
}

test('the first query that names another namespace has its rows', async () => {
  await using gateway = await startRestricted();
  const whole = { phases: ['SYNCED'], faults: [] };
  expect(await podsIn(gateway, 'namespaces: "shop", waitSeconds: 10')).toEqual({ pods: ['shop/one'], ...whole });
  expect(await podsIn(gateway, 'namespaces: "web", waitSeconds: 10')).toEqual({ pods: ['web/one'], ...whole });
});

test('the answer does not depend on earlier queries: a missing right is reported, for one namespace and for all', async () => {
  await using gateway = await startRestricted();
  const denied = { pods: [], phases: ['MISSING'], faults: ['FORBIDDEN'] };
  const hidden = () => podsIn(gateway, 'namespaces: "hidden", waitSeconds: 10');
  expect(await hidden()).toEqual(denied);
  expect(await podsIn(gateway, 'waitSeconds: 10')).toEqual(denied);
  await podsIn(gateway, 'namespaces: ["shop", "web"], waitSeconds: 10');
  expect(await hidden()).toEqual(denied);
  expect(await podsIn(gateway, 'namespaces: ["hidden", "shop"], waitSeconds: 10')).toEqual({ ...denied, pods: ['shop/one'] });
  expect(await podsIn(gateway, 'waitSeconds: 0')).toEqual({ pods: ['shop/one', 'web/one'], phases: ['SYNCED'], faults: ['FORBIDDEN'] });
});

test('a query that does not wait reports a namespace that is not known yet', async () => {
  await using gateway = await startRestricted();
  await podsIn(gateway, 'namespaces: "shop", waitSeconds: 10');
  gateway.cluster('north').delay(3_000, { resource: 'selfsubjectaccessreviews' });
  const unknown = { phases: ['SYNCING'], faults: ['SYNCING'] };
  expect(await podsIn(gateway, 'namespaces: "web", waitSeconds: 0')).toEqual({ pods: [], ...unknown });
  expect(await podsIn(gateway, 'namespaces: "web", waitSeconds: 30')).toEqual({ pods: ['web/one'], phases: ['SYNCED'], faults: [] });
});

test('a single object of another namespace is found by the first query', async () => {
  await using gateway = await startRestricted();
  await podsIn(gateway, 'namespaces: "shop", waitSeconds: 10');
  const { pod: found } = await gateway.query<{ pod: unknown }>(
    '{ pod(cluster: "north", namespace: "web", name: "one") { metadata { name namespace } } }',
  );
  expect(found).toEqual({ metadata: { name: 'one', namespace: 'web' } });
});
