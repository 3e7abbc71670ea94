import { expect, test, vi } from 'vitest';
import { askForEvents, type EventClient } from '../../support/clients/event-client.ts';
import { startAuthenticated } from '../../support/serving/start-authenticated.ts';
import { TestSocket } from '../../support/serving/start-web-sockets.ts';

type Edge = Awaited<ReturnType<typeof startAuthenticated>>;

async function connect(edge: Edge, name: string): Promise<TestSocket> {
  const socket = await TestSocket.open(edge.url.replace('http', 'ws'));
  socket.say({ type: 'connection_init', payload: edge.as(name) });
  return socket;
}
const acknowledged = (socket: TestSocket) => socket.until(({ type }) => type === 'connection_ack');

test('a caller may have 20 operations in flight over HTTP, and other callers are not affected', async () => {
  await using edge = await startAuthenticated();
  // A subscription that is opening is an operation in flight.
  const gate = Promise.withResolvers<void>();
  edge.source.gate = gate.promise;
  const opening = Array.from({ length: 20 }, () => askForEvents(edge.url, { query: 'subscription { ticks { n } }' }, edge.as('alice')));
  await vi.waitUntil(() => edge.source.opened === 20);
  const hello = (name: string) => edge.post('{"query":"{ hello }"}', edge.as(name));
  const refused = await hello('alice');
  expect([refused.status, refused.headers.get('retry-after')]).toEqual([429, '1']);
  expect(await refused.json()).toMatchObject({
    errors: [{ message: 'expected at most 20 operations of one caller at a time', extensions: { code: 'OVERLOADED' } }],
  });
  expect((await hello('bob')).status).toBe(200);
  gate.resolve();
  const streams = await Promise.all(opening);
  expect((await hello('alice')).status, 'a stream that has begun no longer counts').toBe(200);
  for (const stream of streams) stream[Symbol.dispose]();
});

test('queries over WebSocket count among the 20 operations, so that a caller with many sockets leaves room for others', async () => {
  await using edge = await startAuthenticated();
  const gate = Promise.withResolvers<void>();
  edge.source.gate = gate.promise;
  const opening = Array.from({ length: 20 }, () => askForEvents(edge.url, { query: 'subscription { ticks { n } }' }, edge.as('alice')));
  await vi.waitUntil(() => edge.source.opened === 20);
  const query = async (name: string) => {
    const socket = await connect(edge, name);
    await acknowledged(socket);
    socket.subscribe('1', '{ hello }');
    return socket.until(({ id }) => id === '1');
  };
  expect(await query('alice')).toMatchObject({ type: 'error', payload: [{ extensions: { code: 'OVERLOADED' } }] });
  expect(await query('bob')).toMatchObject({ type: 'next', payload: { data: { hello: 'hello world' } } });
  gate.resolve();
  for (const stream of await Promise.all(opening)) stream[Symbol.dispose]();
  expect((await query('alice')).type).toBe('next');
});

test('a caller may have 100 streams of server-sent events', async () => {
  await using edge = await startAuthenticated();
  const open = (name: string) => askForEvents(edge.url, { query: 'subscription { ticks { n } }' }, edge.as(name));
  const streams: EventClient[] = [];
  while (streams.length < 100) streams.push(...(await Promise.all(Array.from({ length: 10 }, () => open('alice')))));
  const refused = await open('alice');
  expect(refused.status).toBe(429);
  expect((await open('bob')).status).toBe(200);
  streams[0]?.[Symbol.dispose]();
  await vi.waitUntil(async () => {
    using again = await open('alice');
    return again.status === 200;
  });
});

test('a caller may have 20 sockets: the next is closed with 1013', async () => {
  await using edge = await startAuthenticated();
  const sockets = await Promise.all(Array.from({ length: 20 }, () => connect(edge, 'alice')));
  await Promise.all(sockets.map(acknowledged));
  expect(await (await connect(edge, 'alice')).closed()).toEqual({
    code: 1013,
    reason: 'expected at most 20 sockets of one caller at a time',
  });
  await acknowledged(await connect(edge, 'bob'));
  sockets[0]?.ws.close();
  await sockets[0]?.closed();
  await vi.waitUntil(async () => {
    const again = await connect(edge, 'alice');
    return acknowledged(again).then(
      () => true,
      () => false,
    );
  });
});
