import { expect, test, vi } from 'vitest';
import type { LiveAnswer } from '../../../src/cluster/cluster-api.ts';
import { clusterName } from '../../../src/core/names.ts';
import { askForEvents } from '../../support/clients/event-client.ts';
import { startAuthenticated } from '../../support/serving/start-authenticated.ts';
import { TestSocket } from '../../support/serving/start-web-sockets.ts';

const ticks = 'subscription { ticks { n } }';
type Edge = Awaited<ReturnType<typeof startAuthenticated>>;

async function openSocket(edge: Edge, authorization: string): Promise<TestSocket> {
  const socket = await TestSocket.open(edge.url.replace('http', 'ws'));
  socket.say({ type: 'connection_init', payload: { authorization } });
  return socket;
}

/** Opens a stream of each transport. */
async function openBoth(edge: Edge, authorization: string) {
  const socket = await openSocket(edge, authorization);
  await socket.until(({ type }) => type === 'connection_ack');
  socket.subscribe('1', ticks);
  const events = await askForEvents(edge.url, { query: ticks }, { authorization });
  await vi.waitUntil(() => edge.source.readers.size === 2);
  return { socket, events };
}

const lastErrors = [
  { event: 'next', data: { errors: [{ extensions: { code: 'UNAUTHENTICATED' } }] } },
  { event: 'complete', data: undefined },
];

test('E6: streams end between the end of the token and 30 s later: WebSocket with 4403, SSE with UNAUTHENTICATED', async () => {
  await using edge = await startAuthenticated();
  const exp = Math.floor(edge.clock.now() / 1_000) + 60;
  const { socket, events } = await openBoth(edge, edge.as('alice', { exp }).authorization);
  await edge.clock.advance(exp * 1_000 - edge.clock.now());
  edge.source.feed({ n: 1 });
  await events.until(1);
  expect(events.isOver()).toBe(false);
  await edge.clock.advance(29_000);
  expect((await socket.closed()).code).toBe(4403);
  expect((await events.until(3)).slice(1)).toMatchObject(lastErrors);
  await vi.waitUntil(() => edge.source.readers.size === 0);
  expect((await edge.post('{"query":"{ hello }"}', edge.as('alice', { exp: exp - 2 }))).status).toBe(401);
});

test('a token that the hub no longer accepts: HTTP 401 within 10 s, WebSocket 4401 and SSE UNAUTHENTICATED within 60 s', async () => {
  let answer: 'accepts' | 'refuses' | 'is away' = 'accepts';
  const send = async (): Promise<LiveAnswer> => {
    if (answer === 'is away')
      return { type: 'failed', fault: { code: 'UNREACHABLE', message: 'no connection', cluster: hub.cluster, retry: 'LATER' } } as never;
    const status =
      answer === 'refuses' ? { authenticated: false } : { authenticated: true, audiences: ['muster'], user: { username: 'jane' } };
    return { type: 'answered', status: 201, body: Buffer.from(JSON.stringify({ kind: 'TokenReview', status })) } as never;
  };
  const hub = { cluster: clusterName('hub'), send };
  await using edge = await startAuthenticated({ authentication: { tokenReview: { audiences: ['muster'] } }, hub: () => hub });
  const authorization = 'Bearer opaque';
  const status = async () => (await edge.post('{"query":"{ hello }"}', { authorization })).status;
  const { socket, events } = await openBoth(edge, authorization);
  for (let i = 0; i < 6; i++) await edge.clock.advance(20_000);
  answer = 'is away';
  await edge.clock.advance(10_000);
  const unchecked = await edge.post('{"query":"{ hello }"}', { authorization });
  expect([unchecked.status, unchecked.headers.get('retry-after')]).toEqual([503, '5']);
  expect(await unchecked.json()).toMatchObject({ errors: [{ extensions: { code: 'UNAVAILABLE' } }] });
  expect((await (await openSocket(edge, authorization)).closed()).code).toBe(1013);
  answer = 'accepts';
  await edge.clock.advance(60_000);
  expect([await status(), edge.source.readers.size, events.isOver()]).toEqual([200, 2, false]);
  answer = 'refuses';
  await edge.clock.advance(10_000);
  expect(await status()).toBe(401);
  for (let i = 0; i < 5; i++) await edge.clock.advance(10_000);
  expect((await socket.closed()).code).toBe(4401);
  expect(await events.until(2)).toMatchObject(lastErrors);
  await vi.waitUntil(() => edge.source.readers.size === 0);
});

test('a client that leaves while the hub reviews its token starts no operation', async () => {
  const asked = Promise.withResolvers<void>();
  const answered = Promise.withResolvers<LiveAnswer>();
  const send = () => {
    asked.resolve();
    return answered.promise;
  };
  const hub = { cluster: clusterName('hub'), send };
  await using edge = await startAuthenticated({ authentication: { tokenReview: { audiences: ['muster'] } }, hub: () => hub });
  const leaving = new AbortController();
  const headers = { 'content-type': 'application/json', accept: 'text/event-stream', authorization: 'Bearer opaque' };
  const left = fetch(edge.url, { method: 'POST', headers, body: JSON.stringify({ query: ticks }), signal: leaving.signal });
  await asked.promise;
  leaving.abort();
  await expect(left).rejects.toThrow();
  // The gateway has seen the end of the connection once it has answered a later request on another one.
  expect((await fetch(`${edge.origin}/livez`)).status).toBe(200);
  const status = { authenticated: true, audiences: ['muster'], user: { username: 'jane' } };
  answered.resolve({ type: 'answered', status: 201, body: Buffer.from(JSON.stringify({ kind: 'TokenReview', status })) } as never);
  expect((await edge.post('{"query":"{ hello }"}', { authorization: 'Bearer opaque' })).status).toBe(200);
  expect([edge.source.opened, edge.source.readers.size]).toEqual([0, 0]);
});
