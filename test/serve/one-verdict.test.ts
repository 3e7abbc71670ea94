import { monitorEventLoopDelay } from 'node:perf_hooks';
import { getIntrospectionQuery } from 'graphql';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { askForEvents } from '../support/clients/event-client.ts';
import { fedSchema, HandFedSource } from '../support/serving/hand-fed-streams.ts';
import { startServing } from '../support/serving/start-serving.ts';
import { TestSocket } from '../support/serving/start-web-sockets.ts';

interface Sent {
  readonly query: string;
  readonly operationName?: string;
  readonly variables?: object;
}

interface Told {
  readonly message: string;
  readonly path?: unknown;
  readonly locations?: unknown;
  readonly extensions: { readonly code: string; readonly requestId?: string };
}

interface Verdict {
  readonly data?: unknown;
  readonly errors?: readonly Told[];
}

let edge: Awaited<ReturnType<typeof startServing>>;
let socket: TestSocket;
let ids = 0;
beforeAll(async () => {
  const { schema } = fedSchema(new HandFedSource());
  edge = await startServing({ schema: () => schema });
  socket = await TestSocket.open(edge.url.replace('http', 'ws'));
  socket.say({ type: 'connection_init' });
  await socket.until(({ type }) => type === 'connection_ack');
});
afterAll(() => edge[Symbol.asyncDispose]());

/** Removes the id of the request, which every error must have. */
function comparable({ data, errors }: Verdict): Verdict {
  for (const { extensions } of errors ?? []) expect(extensions.requestId).toMatch(/^[0-9a-f-]{36}$/);
  const told = errors?.map(({ extensions: { code }, ...error }) => ({ ...error, extensions: { code } }));
  return { ...(data === undefined ? {} : { data }), ...(told === undefined ? {} : { errors: told }) };
}

async function overHttp(sent: Sent): Promise<Verdict> {
  return (await (await edge.post(JSON.stringify(sent))).json()) as Verdict;
}

async function overEvents(sent: Sent): Promise<Verdict> {
  using answer = await askForEvents(edge.url, sent);
  if (answer.status !== 200) return JSON.parse(await untilOver(answer)) as Verdict;
  const [event] = await answer.until(1);
  return (event?.data ?? {}) as Verdict;
}

async function untilOver(answer: Awaited<ReturnType<typeof askForEvents>>): Promise<string> {
  while (!answer.isOver()) await new Promise((resolve) => setImmediate(resolve));
  return answer.text();
}

async function overSocket(payload: Sent): Promise<Verdict> {
  const id = `verdict ${ids++}`;
  socket.say({ id, type: 'subscribe', payload });
  const message = await socket.until((one) => one.id === id);
  return (message.type === 'error' ? { errors: message.payload } : message.payload) as Verdict;
}

/** The longest time for which the event loop was blocked, in the best of three attempts. Other programs block it too. */
async function leastLagMs(attempt: () => Promise<unknown>): Promise<number> {
  const lags: number[] = [];
  for (let time = 0; time < 3; time++) {
    const lag = monitorEventLoopDelay({ resolution: 5 });
    lag.enable();
    await attempt();
    lag.disable();
    lags.push(lag.max / 1e6);
  }
  return Math.min(...lags);
}

const spreads = Array.from({ length: 22 }, (_, n) => `fragment F${n} on Query { ${`...F${n + 1} `.repeat(2)}}`).join(' ');

describe('E10: HTTP, server-sent events and WebSocket give the same result', () => {
  test.each<[string, Sent]>([
    ['a query', { query: '{ hello }' }],
    ['introspection', { query: getIntrospectionQuery() }],
    ['a part of introspection', { query: '{ __typename __type(name: "Query") { name } }' }],
    ['introspection with errors', { query: 'query ($n: Int!) { __typename @include(if: $n) }', variables: { n: 1 } }],
    ['one of several', { query: 'query A { hello } query B { other: hello }', operationName: 'B' }],
    ['none of several', { query: 'query A { hello } query B { hello }' }],
    ['an operation that is not there', { query: '{ hello }', operationName: 'Missing' }],
    ['a syntax error', { query: '{ hello' }],
    ['nothing', { query: '' }],
    ['fragments only', { query: 'fragment F on Query { hello }' }],
    ['an unknown field', { query: '{ nothing }' }],
    ['an unknown argument', { query: '{ hello(x: 1) }' }],
    ['a mutation where there are none', { query: 'mutation { hello }' }],
    ['a variable that is missing', { query: 'query ($n: Int!) { hello @include(if: true) } ', variables: {} }],
    ['a variable of a wrong type', { query: 'query ($yes: Boolean!) { hello @include(if: $yes) }', variables: { yes: 'maybe' } }],
    ['half a character in a variable', { query: 'query ($yes: String) { hello }', variables: { yes: '\ud800' } }],
    ['variables 300 levels deep', { query: '{ hello }', variables: { x: JSON.parse('['.repeat(300) + ']'.repeat(300)) } }],
    ['too many aliases', { query: `{ ${Array.from({ length: 31 }, (_, n) => `a${n}: hello`).join(' ')} }` }],
    ['A2: 20,000 aliases', { query: `{ ${Array.from({ length: 20_000 }, (_, n) => `a${n}:hello`).join(' ')} }` }],
    ['A2: 20,000 repeated fields', { query: `{ ${'hello '.repeat(20_000)}}` }],
    ['A2: 5,000 directives', { query: `{ hello ${'@include(if: true) '.repeat(5_000)}}` }],
    ['A2: fragments that double 22 times', { query: `{ ...F0 } ${spreads} fragment F22 on Query { hello }` }],
    ['A2: 100,000 tokens', { query: `{${' hello'.repeat(40_000)} }`.replaceAll('hello', 'a') }],
    ['A3: a literal 20,000 deep', { query: `{ hello(x: ${'['.repeat(20_000)}${']'.repeat(20_000)}) }` }],
  ])('%s', async (_what, sent) => {
    const [asked, streamed] = [comparable(await overHttp(sent)), comparable(await overEvents(sent))];
    const said = comparable(await overSocket(sent));
    expect(said).toEqual(asked);
    expect(streamed).toEqual(asked);
    expect(await leastLagMs(() => overSocket(sent))).toBeLessThan(50);
    // The socket and its other operations continue.
    expect(await overSocket({ query: '{ hello }' })).toEqual({ data: { hello: 'hello world' } });
  });

  test.each<[string, Sent]>([
    ['two root fields', { query: 'subscription { ticks { n } more: ticks { n } }' }],
    ['an unknown field', { query: 'subscription { nothing }' }],
    ['a field of a message that is unknown', { query: 'subscription { ticks { nothing } }' }],
    ['introspection of a subscription', { query: 'subscription { __typename }' }],
  ])('a subscription: %s', async (_what, sent) => {
    const said = comparable(await overSocket(sent));
    expect(said).toEqual(comparable(await overEvents(sent)));
    expect(said.errors).not.toBeUndefined();
  });
});

describe('the token, on every transport', () => {
  let guarded: Awaited<ReturnType<typeof startServing>>;
  beforeAll(async () => {
    const { schema } = fedSchema(new HandFedSource());
    guarded = await startServing({ schema: () => schema, token: 'correct-horse', config: { host: '0.0.0.0' } });
  });
  afterAll(() => guarded[Symbol.asyncDispose]());

  const outcome = {
    http: async (authorization: string | undefined) => {
      const answer = await guarded.post('{"query":"{ hello }"}', authorization === undefined ? {} : { authorization });
      return answer.status === 200 ? 'served' : `${answer.status}`;
    },
    sse: async (authorization: string | undefined) => {
      const headers: Record<string, string> = authorization === undefined ? {} : { authorization };
      using answer = await askForEvents(guarded.url, { query: '{ hello }' }, headers);
      return answer.status === 200 ? 'served' : `${answer.status}`;
    },
    websocket: async (authorization: string | undefined) => {
      const client = await TestSocket.open(guarded.url.replace('http', 'ws'));
      client.say({ type: 'connection_init', ...(authorization === undefined ? {} : { payload: { authorization } }) });
      client.subscribe('1', '{ hello }');
      const served = client
        .until(({ type }) => type === 'next')
        .then(
          () => 'served',
          async () => `${(await client.closed()).code}`,
        );
      const told = await served;
      client.ws.terminate();
      return told;
    },
  };

  test.each<[string | undefined, boolean]>([
    [undefined, false],
    ['Bearer wrong-horse', false],
    ['Bearer correct-hors', false],
    ['correct-horse', false],
    ['Basic correct-horse', false],
    ['Bearer correct-horse', true],
    ['bearer  correct-horse', true],
  ])('%s', async (authorization, isRight) => {
    expect(await outcome.http(authorization)).toBe(isRight ? 'served' : '401');
    expect(await outcome.sse(authorization)).toBe(isRight ? 'served' : '401');
    expect(await outcome.websocket(authorization)).toBe(isRight ? 'served' : '4401');
  });

  test('each request with no token or a wrong one is counted by its transport', async () => {
    const text = await (await fetch(`${guarded.origin}/metrics`, { headers: { authorization: 'Bearer correct-horse' } })).text();
    expect(text).toMatch(/^muster_requests_total\{transport="websocket",operation_type="none",code="UNAUTHENTICATED"\} [1-9]/m);
    expect(text).toMatch(/^muster_requests_total\{transport="websocket",operation_type="query",code="OK"\} [1-9]/m);
  });
});
