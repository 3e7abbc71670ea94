import { createHash } from 'node:crypto';
import { ApolloClient, ApolloLink, gql, HttpLink, InMemoryCache, type TypedDocumentNode } from '@apollo/client';
import { PersistedQueryLink } from '@apollo/client/link/persisted-queries';
import { GraphQLWsLink } from '@apollo/client/link/subscriptions';
import { createClient } from 'graphql-ws';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { runShopGateway, type ShopGateway } from '../../support/gateway/run-shop-gateway.ts';

interface ConfigMap {
  readonly id: string;
  readonly data: Readonly<Record<string, string>>;
  readonly cluster: { readonly name: string };
}

const fields = 'id data cluster { id name }';
const listQuery: TypedDocumentNode<{ configMaps: { items: ConfigMap[] } }> = gql(
  `{ configMaps(namespaces: "shop") { items { ${fields} } } }`,
);
const streamQuery = gql(`subscription { configMaps(namespaces: "shop") { type added { ${fields} } modified { ${fields} } } }`);
const colors = (items: readonly ConfigMap[]) => items.map(({ cluster, data }) => `${cluster.name} ${data.color}`).toSorted();

let gateway: ShopGateway;
beforeAll(async () => {
  gateway = await runShopGateway();
});
afterAll(() => gateway[Symbol.asyncDispose]());

test('a client with persisted queries learns from one refusal to send documents', async () => {
  const sent: { readonly query?: string }[] = [];
  const watched: typeof fetch = (url, init) => {
    sent.push(JSON.parse(String(init?.body)) as { readonly query?: string });
    return fetch(url, init);
  };
  const sha256 = (text: string) => createHash('sha256').update(text).digest('hex');
  const link = ApolloLink.from([new PersistedQueryLink({ sha256 }), new HttpLink({ uri: gateway.url, fetch: watched })]);
  const client = new ApolloClient({ cache: new InMemoryCache(), link });
  const { data } = await client.query({ query: listQuery });
  expect(colors(data?.configMaps.items ?? [])).toEqual(['north blue', 'south blue']);
  await client.query({ query: gql('{ clusters { id name } }') });
  expect(sent.map(({ query }) => query !== undefined)).toEqual([false, true, true]);
});

test('a stream changes the objects of a list in the cache, because ids are unique in the fleet', async () => {
  const socket = createClient({ url: gateway.url.replace('http', 'ws') });
  const link = ApolloLink.split(
    ({ operationType }) => operationType === 'subscription',
    new GraphQLWsLink(socket),
    new HttpLink({ uri: gateway.url }),
  );
  const client = new ApolloClient({ cache: new InMemoryCache(), link });
  await client.query({ query: listQuery });
  const changes = client.subscribe({ query: streamQuery }).subscribe();
  gateway.north.put({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { namespace: 'shop', name: 'web' }, data: { color: 'red' } });
  await expect
    .poll(() => colors(client.readQuery({ query: listQuery })?.configMaps.items ?? []), { timeout: 20_000 })
    .toEqual(['north red', 'south blue']);
  changes.unsubscribe();
  client.stop();
  await socket.dispose();
});
