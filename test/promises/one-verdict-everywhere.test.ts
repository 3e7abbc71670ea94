import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import type { Json } from '../../src/core/json.ts';
import { LiveSocket, type LiveStream, openStream, type ResultError } from '../support/clients/live-socket.ts';
import { startGateway, type TestGateway } from '../support/gateway/start-gateway.ts';
import { pod } from '../support/workloads.ts';

// E10: "one verdict, whatever the transport": each rule is tested over HTTP, WebSocket and server-sent events.

interface Verdict {
  /** The code, path and position of each error. The message too, if it is our own. */
  readonly errors: readonly unknown[];
  readonly data?: unknown;
}

interface Case {
  readonly rule: string;
  readonly query: string;
  readonly variables?: Readonly<Record<string, Json>>;
  /** The code of the first error. Undefined: the request is answered. */
  readonly code?: string;
}

const told = (errors: readonly ResultError[] = []) =>
  errors.map(({ message, path, extensions: { code } }) => ({ code, path: path ?? null, message }));

async function overHttp(gateway: TestGateway, { query, variables = {} }: Case): Promise<Verdict> {
  const { errors, data } = await gateway.ask(query, variables);
  return { errors: told(errors as readonly ResultError[] | undefined), data: data ?? null };
}

async function overStream(gateway: TestGateway, stream: LiveStream): Promise<Verdict> {
  await gateway.until(() => stream.completed || stream.closed !== undefined);
  expect(stream.completed, 'an answer, and not the end of the connection').toBe(true);
  const [first] = stream.seen;
  return { errors: told(stream.refusal ?? first?.errors), data: first?.data ?? null };
}

const aliases = Array.from({ length: 31 }, (_, n) => `a${n}: kind`).join(' ');
const deep = `${'{ kinds { sync { cluster '.repeat(4)}{ name }${' } } }'.repeat(4)}`;
/** Each fragment uses the next one twice, one level deeper. */
const bomb = (parts: number) =>
  Array.from({ length: parts }, (_, n) => {
    const next = `kinds { sync { cluster { ...F${n + 1} } } }`;
    return `fragment F${n} on Cluster { a: ${next} b: ${next} }`;
  }).join(' ');

const queries: readonly Case[] = [
  { rule: 'a query', query: '{ pods { totalCount } }' },
  { rule: 'a query with variables', query: 'query ($n: Int) { pods(first: $n) { totalCount } }', variables: { n: 1 } },
  { rule: 'introspection', query: '{ __schema { queryType { name } subscriptionType { name } } }' },
  { rule: 'what is no document', query: '{ pods { totalCount', code: 'BAD_INPUT' },
  { rule: 'an empty document', query: ' ', code: 'BAD_INPUT' },
  { rule: 'a field that is not there', query: '{ pods { nothing } }', code: 'BAD_INPUT' },
  {
    rule: 'a variable of the wrong type',
    query: 'query ($n: Int) { pods(first: $n) { totalCount } }',
    variables: { n: 'one' },
    code: 'BAD_INPUT',
  },
  { rule: 'a variable that is missing', query: 'query ($n: [String!]!) { resources(kinds: $n) { totalCount } }', code: 'BAD_INPUT' },
  { rule: 'fragments only', query: 'fragment F on Query { pods { totalCount } }', code: 'BAD_INPUT' },
  { rule: 'tokens', query: `{ ${'gateway { version } '.repeat(1_000)} }`, code: 'BAD_INPUT' },
  { rule: 'aliases', query: `{ pods { items { ${aliases} } } }`, code: 'TOO_COSTLY' },
  { rule: 'depth', query: `{ cluster(name: "north") ${deep} }`, code: 'TOO_COSTLY' },
  { rule: 'root fields', query: `{ ${Array.from({ length: 11 }, (_, n) => `g${n}: gateway { version }`).join(' ')} }`, code: 'TOO_COSTLY' },
  {
    rule: 'root fields of a mutation',
    query: `mutation { ${Array.from({ length: 6 }, (_, n) => `r${n}: restart(clusters: ["north"], kind: "Deployment", namespace: "a", name: "b") { result }`).join(' ')} }`,
    code: 'TOO_COSTLY',
  },
  {
    rule: 'pages inside pages',
    query: 'query ($n: Int) { pods(first: 500) { items { services(first: 500) { items { pods(first: $n) { totalCount } } } } } }',
    variables: { n: 4 },
    code: 'TOO_COSTLY',
  },
  {
    rule: 'pages inside pages whose size is not said',
    query: '{ pods { items { owned { items { owned { items { owned { items { pods: owned { totalCount } } } } } } } } } }',
    code: 'TOO_COSTLY',
  },
  {
    rule: 'groups beside pages',
    query: '{ pods(first: 500) { a: groups(by: "phase", first: 500) { count } b: groups(by: "phase", first: 500) { count } } }',
  },
  { rule: 'directives', query: `{ gateway { ${'version @include(if: true) '.repeat(51)} } }`, code: 'TOO_COSTLY' },
  {
    rule: 'a bomb of fragments',
    query: `{ cluster(name: "north") { ...F0 } } ${bomb(22)} fragment F22 on Cluster { name }`,
    code: 'TOO_COSTLY',
  },
  ...[0, -1, 501, 2 ** 31 - 1, 2 ** 31].flatMap((first): readonly Case[] => [
    { rule: `A18: a page of ${first}`, query: `{ pods(first: ${first}) { totalCount } }`, code: 'BAD_INPUT' },
    {
      rule: `A18: a page of ${first} by a variable`,
      query: 'query ($n: Int) { pods(first: $n) { totalCount } }',
      variables: { n: first },
      code: 'BAD_INPUT',
    },
  ]),
  { rule: 'a cursor that is none', query: '{ pods(after: "bm9uc2Vuc2U") { totalCount } }', code: 'BAD_INPUT' },
  { rule: 'a selector that is none', query: '{ pods(labels: "=,=") { totalCount } }', code: 'BAD_INPUT' },
  { rule: 'a cluster that is not there', query: '{ pods(clusters: ["nowhere"]) { totalCount } }', code: 'BAD_INPUT' },
  { rule: 'a name of JavaScript', query: '{ pods(clusters: ["__proto__"]) { totalCount } }', code: 'BAD_INPUT' },
  { rule: 'a mutation, which there is none of', query: 'mutation { apply { ok } }', code: 'BAD_INPUT' },
  { rule: 'subscriptions of two roots', query: 'subscription { pods { type } jobs { type } }', code: 'BAD_INPUT' },
  { rule: 'a subscription to what is not there', query: 'subscription { nothing { type } }', code: 'BAD_INPUT' },
  { rule: 'a subscription that introspects', query: 'subscription { __typename }', code: 'BAD_INPUT' },
];

const subscriptions: readonly Case[] = [
  { rule: 'a cursor that is none', query: 'subscription { pods(after: "bm9uc2Vuc2U") { type } }', code: 'BAD_INPUT' },
  { rule: 'a selector that is none', query: 'subscription { pods(labels: "=,=") { type } }', code: 'BAD_INPUT' },
  { rule: 'a cluster that is not there', query: 'subscription { pods(clusters: ["nowhere"]) { type } }', code: 'BAD_INPUT' },
  { rule: 'a kind that is not there', query: 'subscription { resources(kinds: ["Nothing"]) { type } }', code: 'BAD_INPUT' },
  { rule: 'no kind at all', query: 'subscription { resources(kinds: []) { type } }', code: 'BAD_INPUT' },
  {
    rule: 'a filter by what is not there',
    query: 'subscription { pods(where: { path: "spec.nothing", eq: 1 }) { type } }',
    code: 'BAD_INPUT',
  },
  {
    rule: 'a variable of the wrong type',
    query: 'subscription ($n: [String!]) { pods(clusters: $n) { type } }',
    variables: { n: [1] },
    code: 'BAD_INPUT',
  },
  { rule: 'aliases', query: `subscription { pods { added { ${aliases} } } }`, code: 'TOO_COSTLY' },
];

describe('the verdict on', () => {
  test('each query is the same over HTTP, WebSocket and server-sent events, to the byte', async () => {
    await using gateway = await startGateway({ north: [pod('web')] });
    await gateway.query('{ pods { totalCount } }');
    const socket = await LiveSocket.open(gateway.url);
    for (const one of queries) {
      const http = await overHttp(gateway, one);
      const [first] = http.errors as readonly { readonly code: string }[];
      expect({ rule: one.rule, code: first?.code }).toEqual({ rule: one.rule, code: one.code });
      expect(await overStream(gateway, socket.start(one.query, one.variables)), one.rule).toEqual(http);
      const operation = { query: one.query, ...(one.variables === undefined ? {} : { variables: one.variables }) };
      expect(await overStream(gateway, await openStream('sse', gateway.url, operation)), one.rule).toEqual(http);
    }
    expect(socket.closed, 'the socket has survived them all').toBeUndefined();
    expect(({} as { x?: unknown }).x).toBeUndefined();
  });

  test('each subscription is the same over WebSocket and server-sent events; a JSON request gets an error that names these transports', async () => {
    await using gateway = await startGateway({ north: [pod('web')] });
    const socket = await LiveSocket.open(gateway.url);
    for (const one of subscriptions) {
      const overSocket = await overStream(gateway, socket.start(one.query, one.variables));
      const [first] = overSocket.errors as readonly { readonly code: string }[];
      expect({ rule: one.rule, code: first?.code }).toEqual({ rule: one.rule, code: one.code });
      const operation = { query: one.query, ...(one.variables === undefined ? {} : { variables: one.variables }) };
      expect(await overStream(gateway, await openStream('sse', gateway.url, operation)), one.rule).toEqual(overSocket);
    }
    const json = await overHttp(gateway, { rule: 'JSON', query: 'subscription { pods { type } }' });
    expect(json).toMatchObject({
      errors: [{ code: 'BAD_INPUT', message: expect.stringMatching(/text\/event-stream|WebSocket/) }],
      data: null,
    });
  });
});

describe('a token that is demanded', () => {
  test('is required on every transport', async () => {
    const folder = await mkdtemp(path.join(tmpdir(), 'muster-token-'));
    const tokenFile = path.join(folder, 'token');
    const token = 'a-token-of-more-than-thirty-two-characters';
    await writeFile(tokenFile, token);
    try {
      await using gateway = await startGateway({ north: [pod('web')] }, { flags: { tokenFile } });
      const post = (headers: Record<string, string>) =>
        fetch(gateway.url, {
          method: 'POST',
          headers: { 'content-type': 'application/json', ...headers },
          body: JSON.stringify({ query: '{ pods { totalCount } }' }),
        });
      const statuses: number[] = [];
      for (const accept of ['application/json', 'text/event-stream'])
        for (const authorization of ['', 'Bearer wrong', `Bearer ${token}`]) {
          const answer = await post({ accept, ...(authorization === '' ? {} : { authorization }) });
          statuses.push(answer.status);
          await answer.text();
        }
      expect(statuses).toEqual([401, 401, 200, 401, 401, 200]);
      await expect(LiveSocket.open(gateway.url)).rejects.toThrow('got 4401');
      await expect(LiveSocket.open(gateway.url, { authorization: 'Bearer wrong' })).rejects.toThrow('got 4401');
      const socket = await LiveSocket.open(gateway.url, { authorization: `Bearer ${token}` });
      const stream = socket.start('{ pods { totalCount } }');
      await gateway.until(() => stream.completed);
      expect(stream.seen).toEqual([{ data: { pods: { totalCount: 1 } } }]);
    } finally {
      await rm(folder, { recursive: true });
    }
  });
});
