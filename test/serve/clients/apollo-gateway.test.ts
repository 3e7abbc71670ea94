import { composeServices } from '@apollo/composition';
import { ApolloGateway, type GatewayConfig, LocalGraphQLDataSource, RemoteGraphQLDataSource } from '@apollo/gateway';
import { buildSubgraphSchema } from '@apollo/subgraph';
import { getOperationAST, parse } from 'graphql';
import { expect, test } from 'vitest';
import { runShopGateway } from '../../support/gateway/run-shop-gateway.ts';

const teams = parse(`
  extend schema @link(url: "https://specs.apollo.dev/federation/v2.3", import: ["@key"])
  type Deployment @key(fields: "id") { id: ID! team: String }
  type Query { favourites(ids: [ID!]!): [Deployment]! }
`);
const resolvers = {
  Query: { favourites: (_: unknown, { ids }: { ids: readonly string[] }) => ids.map((id) => ({ __typename: 'Deployment', id })) },
  Deployment: { team: () => 'checkout' },
};
const logger = { debug: () => undefined, info: () => undefined, warn: () => undefined, error: console.error };

type Executor = Awaited<ReturnType<ApolloGateway['load']>>['executor'];

/** Composes Muster with the subgraph of the teams, and starts Apollo's gateway over both. Returns the function that asks it. */
async function startRouter(url: string, stack: AsyncDisposableStack) {
  const answer = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ query: '{ _service { sdl } }' }),
  });
  const { data } = (await answer.json()) as { readonly data: { readonly _service: { readonly sdl: string } } };
  const { supergraphSdl = '', errors: refusals } = composeServices([
    { name: 'muster', typeDefs: parse(data._service.sdl), url },
    { name: 'teams', typeDefs: teams, url: 'http://teams' },
  ]);
  expect(refusals).toBeUndefined();
  const local = new LocalGraphQLDataSource(buildSubgraphSchema([{ typeDefs: teams, resolvers }]));
  const config: GatewayConfig = {
    supergraphSdl,
    logger,
    buildService: (service) => (service.name === 'teams' ? local : new RemoteGraphQLDataSource({ url: service.url ?? '' })),
  };
  const router = new ApolloGateway(config);
  const { schema, executor } = await router.load();
  stack.defer(() => router.stop());
  return async (query: string) => {
    const document = parse(query);
    const operation = { document, schema, source: query, queryHash: query, operationName: null, operation: getOperationAST(document) };
    const request = { ...operation, request: { query }, context: {}, metrics: {}, logger, cache: undefined };
    const { data: found, errors } = await executor(request as unknown as Parameters<Executor>[0]);
    expect(errors).toBeUndefined();
    return found as Readonly<Record<string, unknown>>;
  };
}

test('a router joins the fields of another subgraph to the objects of a list, and finds objects by their ids', async () => {
  await using stack = new AsyncDisposableStack();
  const muster = stack.use(await runShopGateway({ federation: true }));
  const ask = await startRouter(muster.url, stack);

  const { deployments } = (await ask('{ deployments(namespaces: "shop") { items { id team cluster { name } } } }')) as {
    readonly deployments: { readonly items: readonly { readonly id: string; readonly team: string; readonly cluster: object }[] };
  };
  expect(deployments.items.map(({ team, cluster }) => ({ team, cluster }))).toEqual([
    { team: 'checkout', cluster: { name: 'north' } },
    { team: 'checkout', cluster: { name: 'south' } },
  ]);

  const ids = JSON.stringify([deployments.items[1]?.id, 'forged', deployments.items[0]?.id]);
  expect(await ask(`{ favourites(ids: ${ids}) { team spec { replicas } cluster { name } } }`)).toEqual({
    favourites: [
      { team: 'checkout', spec: { replicas: 3 }, cluster: { name: 'south' } },
      null,
      { team: 'checkout', spec: { replicas: 3 }, cluster: { name: 'north' } },
    ],
  });
}, 60_000);
