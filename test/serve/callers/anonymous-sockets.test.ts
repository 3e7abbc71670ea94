import { connect as connectTo } from 'node:net';
import { expect, test, vi } from 'vitest';
import { type AuthenticatedChanges, startAuthenticated } from '../../support/serving/start-authenticated.ts';
import { TestSocket } from '../../support/serving/start-web-sockets.ts';

// Clients without an identity open sockets and send nothing. Callers with one must get in all the same.

type Edge = Awaited<ReturnType<typeof startAuthenticated>>;
const limits = (streams: number): AuthenticatedChanges => ({ config: { limits: { streams } } }) as AuthenticatedChanges;
const urlOf = (edge: Edge) => edge.url.replace('http', 'ws');
const open = (edge: Edge, more = {}) => TestSocket.open(urlOf(edge), more);

/** Opens sockets from one address, and sends nothing. Those above 20 wait for an answer to their upgrade. */
function occupy(edge: Edge, count: number, localAddress: string) {
  const outcomes: string[] = [];
  const opened: TestSocket[] = [];
  for (let one = 0; one < count; one++)
    open(edge, { localAddress, handshakeTimeout: 60_000 }).then(
      (socket) => void opened.push(socket),
      (error: Error) => void outcomes.push(error.message),
    );
  return { outcomes, opened };
}

async function connect(edge: Edge, name: string, client: { readonly headers?: object; readonly localAddress?: string } = {}) {
  const socket = await open(edge, client);
  socket.say({ type: 'connection_init', payload: client.headers === undefined ? edge.as(name) : {} });
  await socket.until(({ type }) => type === 'connection_ack');
  return socket;
}

test('sockets that have not identified themselves do not count as sockets', async () => {
  await using edge = await startAuthenticated(limits(3));
  const strangers = occupy(edge, 15, '127.0.0.1');
  await vi.waitUntil(() => strangers.opened.length === 15);
  const known = [await connect(edge, 'ann'), await connect(edge, 'bob')];
  // A socket may be opened before the last place is taken. It is closed when it identifies itself.
  const late = await open(edge);
  await connect(edge, 'carl');
  late.say({ type: 'connection_init', payload: edge.as('dora') });
  expect(await late.closed()).toEqual({ code: 1013, reason: 'expected at most 3 sockets' });
  await expect(open(edge)).rejects.toThrow('503');
  known[0]?.ws.close();
  await known[0]?.closed();
  await vi.waitUntil(() =>
    connect(edge, 'dora').then(
      () => true,
      () => false,
    ),
  );
});

test('one address without an identity keeps out neither another address, nor a caller that an upgrade shows', async () => {
  await using edge = await startAuthenticated();
  const strangers = occupy(edge, 1_100, '127.0.0.1');
  // 20 are open, 1,000 wait, and the others are refused at once.
  await vi.waitUntil(() => strangers.outcomes.length === 80, { timeout: 10_000 });
  expect(strangers.opened).toHaveLength(20);
  await connect(edge, 'ann', { localAddress: '127.0.0.2' });
  await connect(edge, 'bob', { headers: edge.as('bob') });
  // A wrong token is treated like none: the client may still send another one, but not before the others.
  const wrong = open(edge, { headers: { authorization: 'Bearer nonsense' }, handshakeTimeout: 60_000 });
  wrong.catch(() => undefined);
  await edge.clock.advance(3_000);
  await vi.waitUntil(() => strangers.opened.length === 40);
  expect((await strangers.opened[0]?.closed())?.code).toBe(4408);
  await edge.clock.advance(2_000);
  await expect(wrong).rejects.toThrow('429');
}, 30_000);

test('a caller has 20 sockets that are not acknowledged, whatever addresses they come from', async () => {
  await using edge = await startAuthenticated();
  const headers = edge.as('eve');
  const opened: TestSocket[] = [];
  for (let one = 0; one < 30; one++)
    open(edge, { headers, localAddress: `127.0.0.${1 + one}`, handshakeTimeout: 60_000 }).then(
      (socket) => void opened.push(socket),
      () => undefined,
    );
  await vi.waitUntil(() => opened.length === 20);
  await connect(edge, 'ann', { headers: edge.as('ann') });
  expect(opened).toHaveLength(20);
});

test('one address with all connections loses one to each other address, and to no caller', { timeout: 30_000 }, async () => {
  // The limit of connections follows from the limits of streams and requests: 20 + 5 × 2.
  const config = { limits: { streams: 20, requestsInFlight: 2 } };
  await using edge = await startAuthenticated({ config } as AuthenticatedChanges);
  const known = await connect(edge, 'ann', { localAddress: '127.0.0.3' });
  const strangers = Array.from({ length: 40 }, () => connectTo({ port: edge.serving.port, host: '127.0.0.1', localAddress: '127.0.0.9' }));
  let closed = 0;
  for (const socket of strangers) socket.on('error', () => undefined).once('close', () => closed++);
  await vi.waitUntil(() => closed === 11);
  for (const name of ['bob', 'carl']) await connect(edge, name, { headers: edge.as(name) });
  await vi.waitUntil(() => closed === 13);
  expect(known.ws.readyState).toBe(known.ws.OPEN);
  for (const socket of strangers) socket.destroy();
});
