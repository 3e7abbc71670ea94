import { once } from 'node:events';
import { expect, test, vi } from 'vitest';
import { MusterError } from '../../../src/core/errors.ts';
import { askForEvents, eventsIn, postOn, rawConnection, type SentEvent } from '../../support/clients/event-client.ts';
import { startFed } from '../../support/serving/start-fed-serving.ts';
import { rawRequest } from '../../support/serving/start-serving.ts';

const plain = 'subscription { ticks { n } }';

test('a stream begins at once, sends each message as an event, ends with complete, and frees its connection', async () => {
  await using edge = await startFed();
  const { socket, text, waitFor } = await rawConnection(edge.serving.port);
  postOn(socket, plain);
  await waitFor(/\r\n\r\n3\r\n:\n\n\r\n$/);
  const head = text().toLowerCase();
  expect(head).toMatch(/^http\/1\.1 200 ok\r\n/);
  for (const header of [
    'content-type: text/event-stream; charset=utf-8',
    'cache-control: no-cache',
    'x-accel-buffering: no',
    'x-content-type-options: nosniff',
    'connection: keep-alive',
    'transfer-encoding: chunked',
  ])
    expect(head).toContain(`\r\n${header}\r\n`);
  expect(head).toMatch(/\r\nx-request-id: [0-9a-f-]{36}\r\n/);
  edge.source.feed({ n: 1 });
  await waitFor(/event: next\ndata: \{"data":\{"ticks":\{"n":1\}\}\}\n\n/);
  edge.source.fail(new MusterError('GONE', 'the kind has left'));
  await waitFor(/"code":"GONE".*\n\n(\r\n.*\r\n)?event: complete\ndata: \n\n\r\n0\r\n\r\n$/);
  const before = text().length;
  postOn(socket, '{ hello }', { accept: 'application/json' });
  await waitFor(/\{"data":\{"hello":"hello world"\}\}$/);
  expect(text().slice(before)).toMatch(/^HTTP\/1\.1 200 OK\r\n/);
  socket.destroy();
});

test('a HEAD of a subscription is answered and begins no stream', async () => {
  await using edge = await startFed();
  const path = `/graphql?query=${encodeURIComponent(plain)}`;
  const head = await rawRequest(edge.origin, { method: 'HEAD', path, headers: { accept: 'text/event-stream' }, timeout: 2_000 });
  expect([head.status, head.text, await edge.streams()]).toEqual([200, '', 0]);
});

test('a client of HTTP/1.0 gets the same without chunks', async () => {
  await using edge = await startFed();
  const { socket, text, waitFor } = await rawConnection(edge.serving.port);
  postOn(socket, plain, { version: '1.0' });
  await waitFor(/\r\n\r\n:\n\n$/);
  edge.source.feed({ n: 1 });
  await waitFor(/event: next/);
  edge.source.fail(new MusterError('GONE', 'the kind has left'));
  await once(socket, 'close');
  expect(eventsIn(text().split('\r\n\r\n')[1] ?? '').map(({ event }) => event)).toEqual(['next', 'next', 'complete']);
});

test('messages come in order and unchanged', async () => {
  await using edge = await startFed();
  using client = await edge.events('subscription { ticks { n text } }');
  const texts = ['plain', 'two\nlines', 'data: no\n\nevent: complete\n', 'ü🙂'];
  for (const [n, text] of texts.entries()) edge.source.feed({ n, text });
  const events = await client.until(texts.length);
  expect(events).toEqual(texts.map((text, n) => ({ event: 'next', data: { data: { ticks: { n, text } } } })));
});

test.each<[string, object, object]>([
  ['a query', { query: '{ hello }' }, { data: { hello: 'hello world' } }],
  [
    'a query with variables',
    { query: 'query ($to: String) { hello(to: $to) }', variables: { to: 'you' } },
    { data: { hello: 'hello you' } },
  ],
  ['introspection', { query: '{ __schema { queryType { name } } }' }, { data: { __schema: { queryType: { name: 'Query' } } } }],
  ['a document that is not valid', { query: '{ nothing }' }, { errors: [{ extensions: { code: 'BAD_INPUT' } }] }],
  ['a document that cannot be read', { query: '{' }, { errors: [{ extensions: { code: 'BAD_INPUT' } }] }],
  ['a subscription that is not valid', { query: 'subscription { nothing }' }, { errors: [{ extensions: { code: 'BAD_INPUT' } }] }],
  [
    'a subscription with wrong arguments',
    { query: 'subscription { ticks(of: "nothing") { n } }' },
    { errors: [{ message: 'expected something', path: ['ticks'], extensions: { code: 'BAD_INPUT' } }] },
  ],
])('%s is answered by one event', async (_, body, expected) => {
  await using edge = await startFed();
  using client = await askForEvents(edge.url, body);
  expect([client.status, client.headers['content-type']]).toEqual([200, 'text/event-stream; charset=utf-8']);
  const events = await client.until(2);
  expect(events).toMatchObject([
    { event: 'next', data: expected },
    { event: 'complete', data: undefined },
  ]);
  await vi.waitUntil(() => client.isOver());
  expect(client.isCut()).toBe(false);
});

const json = 'application/json';
const events = 'text/event-stream';

test.each([
  [`${events}, ${json}`, json, events],
  [`${json}, ${events};q=0.5`, json, events],
  [`${events}, ${json};q=0.9`, events, events],
  [`application/graphql-response+json, ${json}, ${events}, multipart/mixed`, 'application/graphql-response+json', events],
  [`${events}, */*;q=0.1`, events, events],
  ['*/*', json, json],
  [`${json}, ${events};q=0`, json, json],
])('Accept: %s', async (accept, forQuery, forSubscription) => {
  await using edge = await startFed();
  const typeOf = async (query: string) => {
    using client = await edge.events(query, { accept });
    return client.headers['content-type']?.split(';')[0];
  };
  expect([await typeOf('{ hello }'), await typeOf(plain)]).toEqual([forQuery, forSubscription]);
});

test('a subscription whose client does not accept a stream is refused with a hint', async () => {
  await using edge = await startFed();
  const { errors } = await edge.ask(plain);
  expect(errors).toMatchObject([
    {
      message: 'expected a query, got a subscription: use WebSocket, or Accept: text/event-stream',
      extensions: { code: 'BAD_INPUT' },
    },
  ]);
  expect(edge.source.opened).toBe(0);
});

const aliases = Array.from({ length: 31 }, (_, place) => `a${place}: n`).join(' ');
const secret = 'a-token-of-some-length';

test.each<[string, { readonly body?: string; readonly headers?: Record<string, string> }]>([
  ['no token', { headers: { authorization: '' } }],
  ['a wrong token', { headers: { authorization: 'Bearer wrong' } }],
  ['another origin', { headers: { origin: 'https://elsewhere.example.com' } }],
  ['another content type', { headers: { 'content-type': 'text/plain' } }],
  ['a compressed body', { headers: { 'content-encoding': 'gzip' } }],
  ['no JSON', { body: 'nonsense' }],
  ['a batch', { body: '[]' }],
  ['variables that are no object', { body: '{"query":"{ hello }","variables":[]}' }],
  ['too large a body', { body: JSON.stringify({ query: `{ hello } # ${'x'.repeat(5 << 20)}` }) }],
  ['too many tokens', { body: JSON.stringify({ query: `{ ${'hello '.repeat(2_001)} }` }) }],
  ['too many aliases', { body: JSON.stringify({ query: `subscription { ticks { ${aliases} } }` }) }],
  ['two root fields', { body: JSON.stringify({ query: 'subscription { a: ticks { n } b: ticks { n } }' }) }],
  ['no such operation', { body: JSON.stringify({ query: '{ hello }', operationName: 'other' }) }],
  ['a query', { body: '{"query":"{ hello }"}' }],
])('server-sent events and a single answer give the same result: %s', async (_, { body = JSON.stringify({ query: plain }), headers }) => {
  await using edge = await startFed({ token: secret });
  const verdictOf = async (accept: string) => {
    const answer = await edge.post(body, { authorization: `Bearer ${secret}`, accept, ...headers });
    const text = await answer.text();
    const first = text.startsWith('event:')
      ? eventsIn(text)[0]?.data
      : text.startsWith('{')
        ? (JSON.parse(text) as SentEvent['data'])
        : undefined;
    return { isRefused: answer.status >= 400, code: first?.errors?.[0]?.extensions.code };
  };
  expect(await verdictOf(events)).toEqual(await verdictOf(json));
});

test('a valid token and an allowed origin open a stream', async () => {
  const origin = 'https://portal.example.com';
  await using edge = await startFed({ token: secret, config: { allowOrigins: [origin] } });
  using client = await edge.events(plain, { authorization: `Bearer ${secret}`, origin });
  expect(client.headers['access-control-allow-origin']).toBe(origin);
  edge.source.feed({ n: 1 });
  await client.until(1);
});
