import { GraphQLInt, GraphQLList, GraphQLObjectType, GraphQLSchema, GraphQLString } from 'graphql';
import { expect, test, vi } from 'vitest';
import type { OperationScope } from '../../src/operations/operation.ts';
import { LiveSocket, openStream } from '../support/clients/live-socket.ts';
import { createManualClock } from '../support/manual-clock.ts';
import { startServing } from '../support/serving/start-serving.ts';

/** An operation that is too costly is refused in the same way over every transport, before anything is read. */

function readSchema(onRound: () => void = () => undefined) {
  let reads = 0;
  const pod: GraphQLObjectType = new GraphQLObjectType({
    name: 'Pod',
    fields: () => ({ name: { type: GraphQLString }, pods: podsField }),
  });
  const podsField = {
    type: new GraphQLList(pod),
    args: { first: { type: GraphQLInt, default: { value: 20 } }, only: { type: new GraphQLList(GraphQLInt) } },
    resolve: () => {
      reads++;
      return [{ name: 'web' }];
    },
  };
  const slow = { type: GraphQLString, resolve: () => new Promise(() => undefined) };
  // Checks its time at every step, and never lets the event loop continue.
  const busy = {
    type: GraphQLString,
    resolve: (_: unknown, __: unknown, { throwIfOver }: OperationScope) => {
      for (let round = 0; round < 100; round += 1) {
        onRound();
        throwIfOver();
      }
      return 'done';
    },
  };
  const query = new GraphQLObjectType({ name: 'Query', fields: { pods: podsField, slow, busy } });
  const mutation = new GraphQLObjectType({ name: 'Mutation', fields: { pods: podsField } });
  return { schema: new GraphQLSchema({ query, mutation }), reads: () => reads };
}

interface Asked {
  readonly query: string;
  readonly variables?: Readonly<Record<string, number | readonly number[] | null>>;
}

interface Told {
  readonly message: string;
  readonly extensions: { readonly code: string };
}

/** Returns the first error of each transport: HTTP, WebSocket, server-sent events. */
async function askEverywhere(url: string, { query, variables = {} }: Asked): Promise<readonly (Told | undefined)[]> {
  const post = async () => {
    const body = JSON.stringify({ query, variables });
    const answer = await fetch(url, { method: 'POST', headers: { 'content-type': 'application/json' }, body });
    return ((await answer.json()) as { readonly errors?: readonly Told[] }).errors?.[0];
  };
  const socket = await LiveSocket.open(url);
  const streams = [socket.start(query, variables), await openStream('sse', url, { query, variables })];
  const streamed = streams.map(async (stream) => {
    await vi.waitUntil(() => stream.completed || stream.closed !== undefined, 20_000);
    expect(stream.completed).toBe(true);
    return (stream.refusal ?? stream.seen[0]?.errors)?.[0] as Told | undefined;
  });
  return await Promise.all([post(), ...streamed]);
}

const nested = (...firsts: readonly string[]) => firsts.reduceRight((inner, first) => `pods(first: ${first}) { name ${inner} }`, '');

test('variables with too many values are refused before they are coerced, over every transport', async () => {
  const { schema, reads } = readSchema();
  await using edge = await startServing({ schema: () => schema });
  const variables = { n: Array.from({ length: 50_000 }, () => 1) };
  for (const told of await askEverywhere(edge.url, { query: 'query ($n: [Int]) { pods(only: $n) { name } }', variables })) {
    expect(told).toMatchObject({ message: expect.stringContaining('values in the variables'), extensions: { code: 'BAD_INPUT' } });
  }
  expect(reads()).toBe(0);
});

test.each<[string, Asked, number | undefined]>([
  ['what is affordable', { query: `{ ${nested('500', '500', '2')} }` }, undefined],
  ['pages that multiply', { query: `{ ${nested('500', '500', '4')} }` }, 500 + 250_000 + 1_000_000],
  ['pages of variables', { query: `query ($n: Int) { ${nested('$n', '$n', '$n')} }`, variables: { n: 100 } }, 1_010_100],
  ['smaller ones', { query: `query ($n: Int) { ${nested('$n', '$n', '$n')} }`, variables: { n: 99 } }, undefined],
  ['pages that are not said', { query: `query ($n: Int = 100) { ${nested('$n', '$n', '$n')} }` }, 1_010_100],
  ['a mutation', { query: `mutation { ${nested('500', '500', '4')} }` }, 500 + 250_000 + 1_000_000],
])('%s: the same result over HTTP, WebSocket and server-sent events', async (_, asked, figure) => {
  const { schema, reads } = readSchema();
  await using edge = await startServing({ schema: () => schema });
  for (const told of await askEverywhere(edge.url, asked)) {
    expect(told?.extensions.code).toBe(figure === undefined ? undefined : 'TOO_COSTLY');
    if (figure !== undefined) expect(told?.message).toContain(`expected an operation of at most 1000000 objects, got ${figure}: `);
  }
  expect(reads() === 0, 'nothing is read of what is refused').toBe(figure !== undefined);
});

test('the cost estimate of one schema is not used for the next', async () => {
  const [cheap, dear] = [
    new GraphQLSchema({ query: new GraphQLObjectType({ name: 'Query', fields: { pods: { type: pods() } } }) }),
    readSchema(),
  ];
  let schema = cheap;
  await using edge = await startServing({ schema: () => schema });
  const query = '{ pods { pods { pods { pods { pods { name } } } } } }';
  expect((await edge.ask(query)).errors).toBeUndefined();
  schema = dear.schema;
  expect((await edge.ask(query)).errors).toMatchObject([{ extensions: { code: 'TOO_COSTLY' } }]);
});

function pods(): GraphQLObjectType {
  const pod: GraphQLObjectType = new GraphQLObjectType({
    name: 'Pod',
    fields: () => ({ name: { type: GraphQLString }, pods: { type: pod } }),
  });
  return pod;
}

test('a query that takes 30 s ends with an error on each transport', async () => {
  const clock = createManualClock();
  await using edge = await startServing({ schema: () => readSchema().schema, clock });
  const asked = askEverywhere(edge.url, { query: '{ slow }' });
  const metrics = async () => (await fetch(`${edge.origin}/metrics`)).text();
  await vi.waitUntil(async () => {
    await clock.advance(1_000);
    return (await metrics()).split('code="TOO_COSTLY"').length > 3;
  }, 20_000);
  for (const told of await asked)
    expect(told).toMatchObject({ message: 'expected to answer within 30 s', extensions: { code: 'TOO_COSTLY' } });
});

test.each([1, 10])('a resolver that blocks the event loop ends with an error after 30 s too, if it checks every %i s', async (seconds) => {
  const clock = createManualClock();
  const { monotonic } = clock;
  let heldMs = 0;
  const held = { ...clock, monotonic: () => monotonic() + heldMs };
  let rounds = 0;
  const { schema } = readSchema(() => {
    rounds += 1;
    heldMs += seconds * 1_000;
  });
  await using edge = await startServing({ schema: () => schema, clock: held });
  for (const told of await askEverywhere(edge.url, { query: '{ busy }' }))
    expect(told).toMatchObject({ message: 'expected to answer within 30 s', extensions: { code: 'TOO_COSTLY' } });
  expect(rounds).toBe((3 * 30) / seconds);
});
