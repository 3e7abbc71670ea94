import { buildSchema, GraphQLInt, GraphQLObjectType, GraphQLSchema, GraphQLString } from 'graphql';
import { serverAudits } from 'graphql-http';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { rawRequest, startServing } from '../../support/serving/start-serving.ts';

const modern = 'application/graphql-response+json';
let edge: Awaited<ReturnType<typeof startServing>>;
beforeAll(async () => {
  const schema = new GraphQLSchema({
    query: new GraphQLObjectType({
      name: 'Query',
      fields: {
        hello: { type: GraphQLString, resolve: () => 'world' },
        number: { type: GraphQLInt, args: { of: { type: GraphQLInt } }, resolve: (_, { of }: { of?: number }) => of },
        broken: {
          type: GraphQLString,
          resolve: () => {
            throw new TypeError('a secret of ours');
          },
        },
      },
    }),
  });
  edge = await startServing({ schema: () => schema });
});
afterAll(() => edge[Symbol.asyncDispose]());

describe('the audit of graphql-http', () => {
  const audits = serverAudits({ url: () => edge.url, fetchFn: fetch });
  test.each(audits.filter(({ name }) => /^(MUST|SHOULD)/.test(name)).map((audit) => [audit.name, audit] as const))(
    '%s',
    async (_, audit) => {
      const result = await audit.fn();
      expect(result.status === 'ok' ? 'ok' : `${result.status}: ${result.reason}`).toBe('ok');
    },
  );
  test('has its test cases', () => {
    const counts = ['MUST', 'SHOULD'].map((word) => audits.filter(({ name }) => name.startsWith(`${word} `)).length);
    expect(counts).toEqual([13, 23]);
  });
});

test.each([
  ['a parse error', '{ hello', 200, 400],
  ['a validation error', '{ helo }', 200, 400],
  ['a missing operation', 'fragment F on Query { hello }', 200, 400],
  ['an error of a field', '{ broken }', 200, 200],
  ['an answer', '{ hello }', 200, 200],
])('%s is status %3$i in application/json and %4$i in the newer type', async (_, query, plainStatus, modernStatus) => {
  const body = JSON.stringify({ query });
  const [plain, newer] = await Promise.all([edge.post(body, { accept: 'application/json' }), edge.post(body, { accept: modern })]);
  expect([plain.status, newer.status]).toEqual([plainStatus, modernStatus]);
  expect(plain.headers.get('content-type')).toBe('application/json; charset=utf-8');
  expect(newer.headers.get('content-type')).toBe(`${modern}; charset=utf-8`);
  const withoutId = (text: string) => text.replaceAll(/"requestId":"[^"]+"/g, '');
  expect(withoutId(await plain.text())).toBe(withoutId(await newer.text()));
});

test.each([
  [undefined, 'application/json'],
  ['*/*', 'application/json'],
  ['application/*', 'application/json'],
  ['text/html, application/json;q=0.1', 'application/json'],
  [`${modern}, application/json;q=0.9`, modern],
  [`application/json, ${modern}`, modern],
  [`application/json, ${modern};q=0.5`, 'application/json'],
  [`${modern};charset=utf-8`, modern],
])('to Accept: %s the answer is %s', async (accept, type) => {
  const answer = await edge.post('{"query":"{ hello }"}', accept === undefined ? {} : { accept });
  expect(answer.status).toBe(200);
  expect(answer.headers.get('content-type')).toBe(`${type}; charset=utf-8`);
});

test.each(['text/html', 'text/event-stream;q=0', `${modern};charset=utf-16`, 'application/json;q=0'])(
  'refuses Accept: %s',
  async (accept) => {
    expect((await edge.post('{"query":"{ hello }"}', { accept })).status).toBe(406);
  },
);

test('errors of the caller have a message, a location and a code', async () => {
  const { errors } = await edge.ask('{\n  helo\n}');
  expect(errors).toEqual([
    {
      message: 'Cannot query field "helo" on type "Query". Did you mean "hello"?',
      locations: [{ line: 2, column: 3 }],
      extensions: { code: 'BAD_INPUT', requestId: expect.stringMatching(/^[0-9a-f-]{36}$/) },
    },
  ]);
});

test('wrong variables are an error of the caller too', async () => {
  for (const [query, variables] of [
    ['query ($n: Int!) { number(of: $n) }', { n: 'many' }],
    ['query ($n: Int!) { number(of: $n) }', {}],
    ['query ($n: Int) { number(of: $n) }', { n: 2 ** 31 }],
  ] as const) {
    const { errors, data } = await edge.ask(query, variables);
    expect(errors?.map(({ extensions }) => extensions.code)).toEqual(['BAD_INPUT']);
    expect(data ?? null).toBeNull();
  }
});

test('an integer beyond 2⁵³ is refused where a smaller one is expected, and never rounded', async () => {
  const answer = await edge.post('{"query":"query ($n: Int) { number(of: $n) }","variables":{"n":9007199254740993}}');
  const { errors } = (await answer.json()) as { errors: { extensions: { code: string } }[] };
  expect(errors[0]?.extensions.code).toBe('BAD_INPUT');
});

test('a bug shows nothing but the id of its request', async () => {
  const bugs: unknown[] = [];
  await using own = await startServing({
    schema: () => brokenSchema,
    log: { debug: () => undefined, info: () => undefined, warn: () => undefined, error: (fields) => bugs.push(fields) },
  });
  const answer = await own.post('{"query":"{ broken }"}');
  const text = await answer.text();
  expect(text).not.toContain('secret');
  expect(JSON.parse(text)).toMatchObject({
    data: { broken: null },
    errors: [{ message: 'Unexpected error.', path: ['broken'], extensions: { code: 'INTERNAL_SERVER_ERROR' } }],
  });
  expect(bugs).toMatchObject([{ requestId: answer.headers.get('x-request-id'), error: { message: 'a secret of ours' } }]);
});

describe('GET', () => {
  const get = (query: string, headers: Record<string, string> = {}) => rawRequest(edge.url, { path: `/graphql?${query}`, headers });

  test('answers queries, with variables as JSON whose integers are exact', async () => {
    const query = encodeURIComponent('query Q($n: Int) { number(of: $n) }');
    const answer = await get(`query=${query}&operationName=Q&variables=${encodeURIComponent('{"n":7}')}`);
    expect([answer.status, JSON.parse(answer.text)]).toEqual([200, { data: { number: 7 } }]);
    const large = await get(`query=${query}&variables=${encodeURIComponent('{"n":9007199254740993}')}`);
    expect(large.text).toContain('BAD_INPUT');
    const wrong = await get(`query=${query}&variables=x`);
    expect([wrong.status, wrong.text]).toEqual([400, expect.stringContaining('the parameter variables is not JSON')]);
  });

  test('reads a query string that has a question mark in it', async () => {
    const answer = await get('query=query($n:Int){number(of:$n)}&operationName=Why?&variables={"n":7}');
    expect(answer.text).toContain('no operation named \\"Why?\\"');
  });

  test('takes a parameter without a value as absent', async () => {
    expect(JSON.parse((await get('query={hello}&operationName=&variables=&extensions=')).text)).toEqual({ data: { hello: 'world' } });
  });

  test('runs no mutations', async () => {
    const { status, headers, text } = await get(`query=${encodeURIComponent('mutation { hello }')}`);
    expect([status, headers.allow]).toEqual([405, 'POST']);
    expect(text).toContain('BAD_INPUT');
  });

  test('refuses requests from pages of another site, which a browser sends without Origin', async () => {
    expect((await get('query={hello}', { 'sec-fetch-site': 'cross-site' })).status).toBe(403);
    expect((await get('query={hello}', { 'sec-fetch-site': 'same-origin' })).status).toBe(200);
  });

  test('HEAD sends only the headers', async () => {
    const head = await rawRequest(edge.url, { method: 'HEAD', path: '/graphql?query={hello}' });
    expect([head.status, head.text, head.headers['content-length']]).toEqual([200, '', '26']);
  });

  test('P1: GET and POST are the only methods', async () => {
    for (const method of ['PUT', 'DELETE', 'PATCH']) expect((await fetch(edge.url, { method, body: '{}' })).status).toBe(405);
  });
});

test('F6: a persisted query without its text is answered with a request for the text', async () => {
  const body = JSON.stringify({ extensions: { persistedQuery: { version: 1, sha256Hash: 'x' } } });
  const [plain, newer] = await Promise.all([edge.post(body), edge.post(body, { accept: modern })]);
  expect([plain.status, newer.status]).toEqual([200, 400]);
  expect(await plain.json()).toMatchObject({
    errors: [{ message: 'PersistedQueryNotSupported', extensions: { code: 'PERSISTED_QUERY_NOT_SUPPORTED' } }],
  });
});

const brokenSchema = buildSchema('type Query { broken: String }');
const brokenField = brokenSchema.getQueryType()?.getFields().broken;
if (brokenField !== undefined)
  brokenField.resolve = () => {
    throw new TypeError('a secret of ours');
  };
