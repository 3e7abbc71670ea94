import { GraphQLInt, GraphQLList, GraphQLNonNull, GraphQLObjectType, GraphQLSchema, parse, validateExecutionArgs } from 'graphql';
import { expect, test } from 'vitest';
import type { BailReason } from '../../src/execution/bail.ts';
import { constantProperty, declareRepeatable, repeatableResolverUnless, valueResolver } from '../../src/execution/known-resolvers.ts';
import { OperationExecutor } from '../../src/execution/operation-executor.ts';
import { createManualClock } from '../support/manual-clock.ts';

/** Makes an executor over a schema whose root list contains these numbers, and runs one query again and again. */
function executing(numbers: unknown[], query = '{ items { n } }') {
  const clock = createManualClock();
  const bails: BailReason[] = [];
  const contexts: string[] = [];
  const requests: string[] = [];
  const item = new GraphQLObjectType({
    name: 'Item',
    fields: {
      n: { type: new GraphQLNonNull(GraphQLInt), resolve: constantProperty('n') },
      twice: { type: GraphQLInt, resolve: ({ n }: { n: number }) => requests.push('twice') && n * 2 },
      self: { type: GraphQLInt, resolve: valueResolver((source: { n: number }) => source.n) },
    },
  });
  const items = { type: new GraphQLNonNull(new GraphQLList(new GraphQLNonNull(item))) };
  const schema = new GraphQLSchema({
    query: new GraphQLObjectType({
      name: 'Query',
      fields: {
        items: { ...items, resolve: declareRepeatable(() => numbers.map((n) => ({ n }))) },
        live: {
          ...items,
          args: { live: { type: GraphQLInt } },
          resolve: repeatableResolverUnless('live', (_source, args: { readonly live?: number }) => {
            requests.push(`live ${args.live}`);
            return numbers.map((n) => ({ n }));
          }),
        },
      },
    }),
    mutation: new GraphQLObjectType({ name: 'Mutation', fields: { add: { type: GraphQLInt, resolve: declareRepeatable(() => 1) } } }),
  });
  const executor = new OperationExecutor({ clock, onBail: (reason) => void bails.push(reason) });
  const validated = validateExecutionArgs({ schema, document: parse(query) });
  if (!('schema' in validated)) throw new Error(String(validated));
  const run = async () => {
    contexts.length = 0;
    const newContext = (by: string) => {
      contexts.push(by);
      return {};
    };
    const result = await executor.execute(validated, { newContext, throwIfOver: () => undefined });
    return { json: JSON.stringify(result), by: contexts.join() };
  };
  return { run, bails, requests, clock };
}

test('compiles an operation at its second use', async () => {
  const { run } = executing([1, 2]);
  const json = '{"data":{"items":[{"n":1},{"n":2}]}}';
  expect(await run()).toEqual({ json, by: 'graphql-js' });
  expect(await run()).toEqual({ json, by: 'compiled' });
});

test('never compiles a mutation, a field that was not declared, or an argument that makes requests', async () => {
  for (const query of [
    'mutation { add }',
    '{ items { n twice } }',
    '{ live(live: 1) { n } }',
    '{ __type(name: "Item") { name } items { n } }',
  ]) {
    const { run } = executing([1], query);
    for (let n = 0; n < 3; n += 1) expect((await run()).by, query).toBe('graphql-js');
  }
  const { run } = executing([1], '{ live { n } }');
  await run();
  expect((await run()).by).toBe('compiled');
});

test('a fall back to graphql-js never repeats the request of a resolver', async () => {
  const { run, requests } = executing([null], '{ live(live: 1) { n } }');
  for (let n = 0; n < 4; n += 1) await run();
  expect(requests).toHaveLength(4);
});

test('graphql-js answers when the data is not as expected, with its own errors', async () => {
  const { run, bails } = executing([1, null]);
  const { json } = await run();
  expect(json).toContain('Cannot return null for non-nullable field Item.n.');
  expect(await run()).toEqual({ json, by: 'compiled,graphql-js' });
  expect(bails).toEqual(['null']);
});

test('after three bails within a minute an operation is left to graphql-js for a minute', async () => {
  const numbers: unknown[] = [null];
  const { run, bails, clock } = executing(numbers);
  for (let n = 0; n < 4; n += 1) await run();
  expect(bails).toHaveLength(3);
  numbers[0] = 1;
  expect((await run()).by).toBe('graphql-js');
  await clock.advance(60_000);
  expect((await run()).by).toBe('compiled');
  numbers[0] = null;
  await run();
  await clock.advance(61_000);
  for (let n = 0; n < 2; n += 1) await run();
  numbers[0] = 1;
  expect((await run()).by).toBe('compiled');
});

test('the text of an object is used again only for the same object', async () => {
  const numbers: unknown[] = [1, 2];
  const { run } = executing(numbers, '{ items { n self } }');
  for (let n = 0; n < 3; n += 1) await run();
  numbers[1] = 3;
  expect(JSON.parse((await run()).json).data.items).toEqual([
    { n: 1, self: 1 },
    { n: 3, self: 3 },
  ]);
});
