import { setTimeout as sleep } from 'node:timers/promises';
import { buildSchema, GraphQLObjectType, GraphQLSchema, GraphQLString, getIntrospectionQuery } from 'graphql';
import { expect, test, vi } from 'vitest';
import { MusterError } from '../../src/core/errors.ts';
import { clusterName } from '../../src/core/names.ts';
import type { OperationScope } from '../../src/operations/operation.ts';
import { createManualClock } from '../support/manual-clock.ts';
import { rawRequest, servedOf, startServing } from '../support/serving/start-serving.ts';

/** Makes a schema whose one field runs this resolver. */
function schemaThat(resolve: (scope: OperationScope) => unknown): GraphQLSchema {
  const slow = { type: GraphQLString, resolve: (_: unknown, __: unknown, scope: OperationScope) => resolve(scope) };
  return new GraphQLSchema({
    query: new GraphQLObjectType({ name: 'Query', fields: { slow, hello: { type: GraphQLString, resolve: () => 'world' } } }),
    mutation: new GraphQLObjectType({ name: 'Mutation', fields: { slow } }),
  });
}

const limits = { bodyBytes: 4 << 20, requestsInFlight: 2, querySeconds: 30, mutationSeconds: 60, streams: 5_000 };
const slowBody = '{"query":"{ slow }"}';

/** Makes fields that wait until the test releases them. */
function waitingSchema() {
  const waiting: { readonly scope: OperationScope; go(): void }[] = [];
  const schema = schemaThat((scope) => new Promise((resolve) => waiting.push({ scope, go: () => resolve('done') })));
  return { schema, waiting };
}

test('a MusterError has its code and the path of the field', async () => {
  const schema = schemaThat(() => {
    throw new MusterError('BAD_INPUT', 'expected less');
  });
  await using edge = await startServing({ schema: () => schema });
  expect(await edge.ask('{ slow hello }')).toEqual({
    data: { slow: null, hello: 'world' },
    errors: [
      {
        message: 'expected less',
        path: ['slow'],
        locations: [{ line: 1, column: 3 }],
        extensions: { code: 'BAD_INPUT', requestId: expect.any(String) },
      },
    ],
  });
});

test('an operation that is too costly is refused as a whole, even if parts could be answered', async () => {
  const schema = schemaThat(() => {
    throw new MusterError('TOO_COSTLY', 'expected less');
  });
  await using edge = await startServing({ schema: () => schema });
  const { data, errors } = await edge.ask('{ hello slow }');
  expect(data).toBeUndefined();
  expect(errors).toMatchObject([{ message: 'expected less', path: ['slow'], extensions: { code: 'TOO_COSTLY' } }]);
});

test('faults behind nulls are in extensions, once per code, cluster and kind', async () => {
  const fault = {
    code: 'FORBIDDEN',
    cluster: clusterName('north'),
    kind: { group: 'apps', kind: 'Deployment' },
    message: 'may not be read',
    retry: 'NEVER',
  } as const;
  const schema = schemaThat((scope) => {
    for (const item of [0, 1, 2]) scope.reportFault(fault, ['pods', item, 'owner']);
    scope.reportFault({ ...fault, cluster: clusterName('south') }, ['pods', 3, 'owner']);
    return null;
  });
  await using edge = await startServing({ schema: () => schema });
  const entry = { code: 'FORBIDDEN', kind: 'Deployment.apps', message: 'may not be read', retry: 'NEVER' };
  expect(await edge.ask('{ slow }')).toEqual({
    data: { slow: null },
    extensions: {
      faults: [
        { ...entry, path: ['pods', 0, 'owner'], count: 3, cluster: 'north' },
        { ...entry, path: ['pods', 3, 'owner'], count: 1, cluster: 'south' },
      ],
    },
  });
});

test.each([
  { operation: 'a query', document: '{ slow }', seconds: 30 },
  { operation: 'a mutation', document: 'mutation { slow }', seconds: 60 },
])('$operation that takes too long is aborted with an error', async ({ document, seconds }) => {
  const clock = createManualClock();
  const { schema, waiting } = waitingSchema();
  await using edge = await startServing({ schema: () => schema, clock, config: { limits } });
  const answer = edge.ask(document);
  await vi.waitUntil(() => waiting.length === 1);
  await clock.advance(seconds * 1_000 - 1);
  expect(waiting[0]?.scope.signal.aborted).toBe(false);
  await clock.advance(1);
  expect((await answer).errors).toMatchObject([{ message: `expected to answer within ${seconds} s`, extensions: { code: 'TOO_COSTLY' } }]);
  expect(waiting[0]?.scope.signal.aborted).toBe(true);
});

test('a client that leaves ends its operation at once, without a line in the log', async () => {
  const { schema, waiting } = waitingSchema();
  const lines: string[] = [];
  const write = (_: unknown, message: string) => void lines.push(message);
  await using edge = await startServing({ schema: () => schema, log: { debug: write, info: write, warn: write, error: write } });
  const leaving = new AbortController();
  const answer = edge.post(slowBody, {}, leaving.signal).catch((error: Error) => error.name);
  await vi.waitUntil(() => waiting.length === 1);
  leaving.abort();
  await vi.waitUntil(() => waiting[0]?.scope.signal.aborted === true);
  expect(await answer).toBe('AbortError');
  await edge.ask('{ hello }');
  expect(lines).toEqual(['answered']);
});

test('operations beyond the bound are refused with Retry-After, and slots are freed', async () => {
  const { schema, waiting } = waitingSchema();
  await using edge = await startServing({ schema: () => schema, config: { limits } });
  const first = [edge.ask('{ slow }'), edge.ask('{ slow }')];
  await vi.waitUntil(() => waiting.length === 2);
  const refused = await edge.post('not even JSON');
  expect([refused.status, refused.headers.get('retry-after')]).toEqual([429, '1']);
  expect(((await refused.json()) as { errors: { extensions: { code: string } }[] }).errors[0]?.extensions.code).toBe('OVERLOADED');
  for (const { go } of waiting) go();
  expect((await Promise.all(first)).map(({ data }) => data)).toEqual([{ slow: 'done' }, { slow: 'done' }]);
  for (let turn = 0; turn < 5; turn++) expect((await edge.post('not even JSON')).status).toBe(400);
  expect((await edge.ask('{ hello }')).data).toEqual({ hello: 'world' });
});

test('an operation keeps the schema with which it began; the next one has the new schema', async () => {
  const { schema: before, waiting } = waitingSchema();
  const after = buildSchema('type Query { fresh: String }');
  let current = before;
  await using edge = await startServing({ schema: () => current });
  const running = edge.ask('{ slow hello }');
  await vi.waitUntil(() => waiting.length === 1);
  expect((await edge.ask('{ fresh }')).errors?.[0]?.message).toContain('Cannot query field "fresh"');
  current = after;
  expect(await edge.ask('{ fresh }')).toEqual({ data: { fresh: null } });
  expect((await edge.ask('{ hello }')).errors?.[0]?.message, 'no verdict of the old schema is kept').toContain(
    'Cannot query field "hello"',
  );
  waiting[0]?.go();
  expect(await running).toEqual({ data: { slow: 'done', hello: 'world' } });
});

test('an answer to introspection is made once per schema, and gzipped for clients that accept it', async () => {
  let current = servedOf(buildSchema('type Query { "What it says." hello: String }'));
  let made = 0;
  await using edge = await startServing({
    served: () => current,
    contextOf: (scope) => {
      made++;
      return scope;
    },
  });
  const body = JSON.stringify({ query: getIntrospectionQuery() });
  const plain = () => rawRequest(edge.url, { method: 'POST', body, headers: { 'content-type': 'application/json' } });
  const answers = await Promise.all([plain(), plain(), plain()]);
  expect(new Set(answers.map(({ text }) => text)).size).toBe(1);
  expect(made).toBe(1);
  expect(answers[0]?.headers['content-encoding']).toBeUndefined();
  const gzipped = await edge.post(body, { 'accept-encoding': 'gzip' });
  expect(gzipped.headers.get('content-encoding')).toBe('gzip');
  expect(await gzipped.text()).toBe(answers[0]?.text);
  expect(made).toBe(1);
  current = servedOf(buildSchema('type Query { other: String }'));
  expect((await plain()).text).toContain('"other"');
  expect(made).toBe(2);
  expect(answers[0]?.text).not.toContain('requestId');
});

test('an answer to introspection with errors is not kept', async () => {
  await using edge = await startServing();
  const ids = new Set<unknown>();
  for (let turn = 0; turn < 2; turn++)
    ids.add((await edge.ask('query ($n: String!) { __type(name: $n) { name } }')).errors?.[0]?.extensions.requestId);
  expect(ids.size).toBe(2);
});

test('tokens, depth, aliases, directives and root fields have bounds', async () => {
  await using edge = await startServing();
  const refusals = [
    `{ ${'hello '.repeat(2_001)} }`,
    `{ ${Array.from({ length: 31 }, (_, n) => `a${n}: hello`).join(' ')} }`,
    `{ hello ${'@skip(if: false) '.repeat(51)} }`,
    `{ ${Array.from({ length: 11 }, (_, n) => `a${n}: hello`).join(' ')} }`,
  ];
  for (const query of refusals) {
    const { errors, data } = await edge.ask(query);
    expect(data).toBeUndefined();
    expect(['TOO_COSTLY', 'BAD_INPUT']).toContain(errors?.[0]?.extensions.code);
  }
  expect((await edge.ask('{ hello }')).data).toEqual({ hello: null });
});

test('drain lets operations in flight end, and refuses new ones', async () => {
  const { schema, waiting } = waitingSchema();
  const edge = await startServing({ schema: () => schema });
  const running = edge.ask('{ slow }');
  await vi.waitUntil(() => waiting.length === 1);
  const drained = edge.serving.drain(30_000);
  await expect(edge.ask('{ hello }')).rejects.toThrow();
  waiting[0]?.go();
  expect(await running).toEqual({ data: { slow: 'done' } });
  await drained;
});

test('drain ends operations that take too long with SHUTTING_DOWN', async () => {
  const clock = createManualClock();
  const { schema, waiting } = waitingSchema();
  const edge = await startServing({ schema: () => schema, clock });
  const running = edge.post(slowBody);
  await vi.waitUntil(() => waiting.length === 1);
  const drained = edge.serving.drain(5_000);
  await clock.advance(5_000);
  const answer = await running;
  expect(answer.status).toBe(503);
  expect(await answer.json()).toMatchObject({ errors: [{ extensions: { code: 'SHUTTING_DOWN' } }] });
  await drained;
});

test('drain of an idle edge with open connections resolves at once', async () => {
  const edge = await startServing();
  await edge.ask('{ hello }');
  const result = await Promise.race([edge.serving.drain(30_000).then(() => 'drained'), sleep(2_000, 'late', { ref: false })]);
  expect(result).toBe('drained');
});

test('the log has one line per request at debug, without document and variables', async () => {
  const lines: Record<string, unknown>[] = [];
  const { schema } = waitingSchema();
  const quiet = () => undefined;
  await using edge = await startServing({
    schema: () => schema,
    log: { debug: (fields, message) => message === 'answered' && lines.push(fields), info: quiet, warn: quiet, error: quiet },
  });
  await edge.ask('query Secret($x: String) { hello }');
  await edge.ask('{ nothing }');
  await edge.ask('{ hello }');
  expect(lines).toMatchObject([
    { operation: 'none', code: 'BAD_INPUT' },
    { operation: 'none', code: 'BAD_INPUT' },
    { operation: 'query', code: 'OK', faults: 0, transport: 'http' },
  ]);
  expect(Object.keys(lines[2] ?? {}).toSorted()).toEqual(['code', 'documentHash', 'faults', 'ms', 'operation', 'requestId', 'transport']);
});
