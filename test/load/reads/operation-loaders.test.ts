import { expect, test, vi } from 'vitest';
import type { MirrorKey } from '../../../src/load/reads/mirror-loader.ts';
import { transports } from '../../support/clients/live-socket.ts';
import { startGateway, type TestGateway } from '../../support/gateway/start-gateway.ts';
import { deployment, pod } from '../../support/workloads.ts';

/** The keys of each batch that DataLoader loaded, in order. */
const batches: (readonly unknown[])[] = [];

vi.mock('dataloader', async (importOriginal) => {
  const { default: DataLoader } = await importOriginal<{ default: typeof import('dataloader') }>();
  class CountingLoader<Key, Value> extends DataLoader<Key, Value> {
    constructor(...[batch, options]: ConstructorParameters<typeof DataLoader<Key, Value>>) {
      super((keys) => {
        batches.push([...keys]);
        return batch(keys);
      }, options);
    }
  }
  return { default: CountingLoader };
});

/** The batches since the last call: of each, its keys as cluster and kind. */
function batchesSince(): readonly (readonly string[])[] {
  return batches.splice(0).map((keys) => (keys as readonly MirrorKey[]).map(({ cluster, kind }) => `${cluster.name} ${kind.kind}`).sort());
}

async function startWithPods(): Promise<TestGateway> {
  const placed = (name: string) => pod(name, {}, { nodeName: 'n1', serviceAccountName: 'robot' });
  const node = { apiVersion: 'v1', kind: 'Node', metadata: { name: 'n1' } };
  const account = { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: 'robot', namespace: 'default' } };
  const gateway = await startGateway({
    north: [placed('a'), placed('b'), node, account, deployment('web')],
    south: [placed('c'), node, account, deployment('web')],
  });
  batchesSince();
  return gateway;
}

test('the mirrors that an operation needs are loaded in one batch per tick', async () => {
  await using gateway = await startWithPods();
  const related = 'items { node { metadata { name } } serviceAccount { metadata { name } } }';
  const data = await gateway.query(`{ one: pods { ${related} } two: pods(first: 1) { totalCount } three: deployments { totalCount } }`);
  expect(data).toMatchObject({
    one: { items: [1, 2, 3].map(() => ({ node: { metadata: { name: 'n1' } }, serviceAccount: { metadata: { name: 'robot' } } })) },
    two: { totalCount: 3 },
    three: { totalCount: 2 },
  });
  expect(batchesSince()).toEqual([
    ['north Deployment', 'north Pod', 'north Pod', 'south Deployment', 'south Pod', 'south Pod'],
    // The mirrors of Nodes run already, so the operation holds them at once.
    ['north ServiceAccount', 'south ServiceAccount'],
  ]);
});

test('a mutation loads the relations of its answer', async () => {
  await using gateway = await startWithPods();
  const { deployments } = await gateway.query<{ deployments: { items: { id: string }[] } }>('{ deployments { items { id } } }');
  batchesSince();
  const data = await gateway.query(
    'mutation ($targets: [Target!]!) { restart(targets: $targets) { results { resource { ... on Deployment { pods { totalCount } } } } } }',
    { targets: deployments.items },
  );
  const restarted = { resource: { pods: { totalCount: 0 } } };
  expect(data).toEqual({ restart: { results: [restarted, restarted] } });
  expect(batchesSince()).toEqual([['north Pod', 'north ReplicaSet', 'south Pod', 'south ReplicaSet']]);
});

test.each(transports)('a subscription over %s loads its mirrors in one batch, and those of relations in another', async (transport) => {
  await using gateway = await startWithPods();
  const stream = await gateway.subscribe('subscription { pods { type added { serviceAccount { metadata { name } } } } }', {}, transport);
  await gateway.until(() => stream.seen.filter(({ data }) => JSON.stringify(data).includes('SYNCED')).length === 2);
  // Compiled code gives up on a relation that waits. graphql-js then asks for the same mirror again, in the same batch.
  const batches = batchesSince().map((keys) => [...new Set(keys)]);
  expect(batches).toEqual([['north Pod', 'south Pod'], ['north ServiceAccount'], ['south ServiceAccount']]);
  gateway.cluster('north').put(pod('new', {}, { serviceAccountName: 'robot' }));
  await gateway.until(() => stream.seen.length === 5);
  expect(stream.seen.at(-1)?.data).toEqual({ pods: { type: 'LIVE', added: [{ serviceAccount: { metadata: { name: 'robot' } } }] } });
  expect(batchesSince(), 'the stream holds them').toEqual([]);
});

test('live reads of one operation are one batch', async () => {
  await using gateway = await startWithPods();
  const read = (name: string, cluster: string) =>
    `${name}: pod(cluster: "${cluster}", namespace: "default", name: "${name}", live: true) { id }`;
  await gateway.query(`{ ${read('a', 'north')} ${read('b', 'north')} ${read('c', 'south')} again: ${read('a', 'north').slice(3)} }`);
  expect(batches.splice(0).map((keys) => keys.length)).toEqual([3]);
});
