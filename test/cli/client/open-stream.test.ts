import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { type WebSocket, WebSocketServer } from 'ws';
import type { GatewayAnswer } from '../../../src/cli/client/gateway-client.ts';
import { webSocketSubscriptions } from '../../../src/cli/client/open-stream.ts';
import { StreamLost, StreamRefused } from '../../../src/cli/client/subscription.ts';

/** The reaction of a gateway to a request, given the socket and the id of the operation. */
type Script = (socket: WebSocket, id: string) => void;

let server: WebSocketServer;
let url: string;
let script: Script;
let inits: unknown[];

beforeEach(async () => {
  inits = [];
  server = new WebSocketServer({ port: 0, host: '127.0.0.1', path: '/graphql' });
  server.on('connection', (socket) => {
    socket.on('message', (data) => {
      const { type, id, payload } = JSON.parse(String(data)) as { type: string; id: string; payload?: unknown };
      if (type === 'connection_init') {
        inits.push(payload);
        socket.send('{"type":"connection_ack"}');
      } else if (type === 'subscribe') script(socket, id);
      else if (type === 'complete') socket.emit('completed', id);
    });
  });
  await once(server, 'listening');
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/graphql`;
});
afterEach(async () => {
  for (const client of server.clients) client.terminate();
  await new Promise((resolve) => server.close(resolve));
});

const next = (id: string, payload: GatewayAnswer) => JSON.stringify({ id, type: 'next', payload });
const never = new AbortController().signal;

/** Reads all messages and the error that ended them. */
async function read(signal: AbortSignal = never) {
  const seen: unknown[] = [];
  try {
    for await (const answer of webSocketSubscriptions({ url })({ query: 'subscription { x }' }, signal)) seen.push(answer.data);
    return { seen };
  } catch (error) {
    return { seen, error };
  }
}

test('yields exact messages in order, sends the token, and tells the gateway when the caller stops reading', async () => {
  const completed = new Promise((resolve) => server.once('connection', (socket) => socket.once('completed', resolve)));
  script = (socket, id) => {
    for (const x of ['1', '2', '9007199254740993']) socket.send(`{"id":"${id}","type":"next","payload":{"data":{"x":${x}}}}`);
  };
  const seen: string[] = [];
  for await (const { data } of webSocketSubscriptions({ url, token: async () => 'correct-horse' })({ query: 'subscription { x }' }, never))
    if (seen.push(JSON.stringify(data)) === 3) break;
  expect(seen).toEqual(['{"x":1}', '{"x":2}', '{"x":9007199254740993}']);
  expect(inits).toEqual([{ authorization: 'Bearer correct-horse' }]);
  await completed;
});

test('ends on an abort without an error', async () => {
  const life = new AbortController();
  script = () => life.abort();
  expect(await read(life.signal)).toEqual({ seen: [] });
});

test.each([
  ['1001', 1001, true, false],
  ['1013', 1013, true, false],
  ['4403, the end of its hour', 4403, true, true],
])('counts a close with %s as lost', async (_, code, wasOpen, isPlanned) => {
  script = (socket, id) => {
    socket.send(next(id, { data: { x: 1 } }));
    socket.close(code, 'why');
  };
  const { seen, error } = await read();
  expect(seen).toEqual([{ x: 1 }]);
  expect(error).toBeInstanceOf(StreamLost);
  expect(error).toMatchObject({ wasOpen, isPlanned, message: `the connection was closed: ${code} why` });
});

test('counts a close of the gateway before its acknowledgement as the loss of a connection that was accepted', async () => {
  server.removeAllListeners('connection');
  server.on('connection', (socket) => socket.close(4408, 'expected connection_init within 3 s'));
  expect((await read()).error).toMatchObject({ name: 'StreamLost', wasOpen: true, isPlanned: false });
});

test('counts a cut connection and a completed stream as lost', async () => {
  script = (socket) => socket.terminate();
  expect((await read()).error).toMatchObject({ name: 'StreamLost', wasOpen: true, code: '' });
  script = (socket, id) => socket.send(JSON.stringify({ id, type: 'complete' }));
  expect((await read()).error).toMatchObject({ name: 'StreamLost', wasOpen: true });
});

test.each(['SLOW_CONSUMER', 'UNAVAILABLE', 'SHUTTING_DOWN', 'OVERLOADED', 'GONE'])('counts an end with %s as lost', async (code) => {
  script = (socket, id) => socket.send(next(id, { errors: [{ message: 'why', extensions: { code } }] }));
  expect((await read()).error).toMatchObject({ name: 'StreamLost', message: `${code} why`, code });
});

test.each([
  ['a token that is not the right one', (socket: WebSocket) => socket.close(4401, 'Unauthorized'), 2],
  ['a protocol that is broken', (socket: WebSocket) => socket.close(4400, 'Bad Request'), 1],
  [
    'lost rights',
    (socket: WebSocket, id: string) =>
      socket.send(next(id, { data: null, errors: [{ message: 'no', extensions: { code: 'FORBIDDEN' } }] })),
    1,
  ],
  [
    'a document that is refused',
    (socket: WebSocket, id: string) => socket.send(JSON.stringify({ id, type: 'error', payload: [{ message: 'no' }] })),
    1,
  ],
])('fails for good with %s', async (_, does, exitCode) => {
  script = does;
  expect((await read()).error).toMatchObject({ name: 'CommandFailure', exitCode });
});

test('distinguishes a refused request from other errors', async () => {
  script = (socket, id) =>
    socket.send(JSON.stringify({ id, type: 'error', payload: [{ message: 'no', extensions: { code: 'BAD_INPUT' } }] }));
  const { error } = await read();
  expect(error).toBeInstanceOf(StreamRefused);
  expect(error).toMatchObject({ exitCode: 2, message: 'no' });
});

test('continues after an error with data, which concerns a part of the message', async () => {
  script = (socket, id) => {
    socket.send(next(id, { data: { x: 1 }, errors: [{ message: 'in a field' }] }));
    socket.close(1001);
  };
  expect((await read()).seen).toEqual([{ x: 1 }]);
});

test('reports that an unreachable gateway was never open', async () => {
  await new Promise((resolve) => server.close(resolve));
  expect((await read()).error).toMatchObject({ name: 'StreamLost', wasOpen: false });
});

test('loses the stream at 1,000 unread messages, after yielding them', async () => {
  script = (socket, id) => {
    for (let x = 0; x < 2_000; x++) socket.send(next(id, { data: { x } }));
  };
  const iterator = webSocketSubscriptions({ url })({ query: 'subscription { x }' }, never)[Symbol.asyncIterator]();
  expect((await iterator.next()).value).toEqual({ data: { x: 0 } });
  const [socket] = server.clients;
  if (socket !== undefined && socket.readyState !== socket.CLOSED) await once(socket, 'close');
  let count = 1;
  await expect(
    (async () => {
      for (; !(await iterator.next()).done; count++);
    })(),
  ).rejects.toThrow('the output was slower than the stream');
  expect(count).toBeGreaterThanOrEqual(1_000);
  expect(count).toBeLessThanOrEqual(1_001);
});

test('pings a silent gateway and gives up after half a minute', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  try {
    const pinged = new Promise<void>((resolve) => {
      script = (socket) => {
        socket.on('message', (data) => {
          if (String(data).includes('"ping"')) resolve();
        });
        setImmediate(() => vi.advanceTimersByTime(15_000));
      };
    });
    const reading = read();
    await pinged;
    vi.advanceTimersByTime(15_000);
    expect((await reading).error).toMatchObject({ name: 'StreamLost', wasOpen: true });
  } finally {
    vi.useRealTimers();
  }
});
