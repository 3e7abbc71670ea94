import { once } from 'node:events';
import { createServer, request } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { expect, test, vi } from 'vitest';
import { type HttpListener, listen } from '../../../src/serve/http/listen.ts';
import { rawRequest } from '../../support/serving/start-serving.ts';

const address = { host: '127.0.0.1', port: 0 };
const nextTurn = () => new Promise((resolve) => setImmediate(resolve));
const originOf = ({ port }: HttpListener) => `http://127.0.0.1:${port}`;

test('requests that come before there is a handler wait for it, and then all are answered', async () => {
  await using listening = await listen(address);
  const early = [
    rawRequest(originOf(listening), { path: '/a' }),
    rawRequest(originOf(listening), { path: '/b', method: 'POST', body: 'x' }),
  ];
  await nextTurn();
  listening.onRequest(async ({ url }, response) => void response.end(url));
  expect((await Promise.all(early)).map(({ text }) => text)).toEqual(['/a', '/b']);
  expect((await rawRequest(originOf(listening), { path: '/c' })).text).toBe('/c');
});

test('a client that left before there is a handler is not answered, and nothing waits for the rest of its request', async () => {
  await using listening = await listen(address);
  const asked: (string | undefined)[] = [];
  const leaving = request(`${originOf(listening)}/left`, { method: 'POST', headers: { 'content-length': '10' } });
  leaving.on('error', () => undefined).write('half');
  const staying = rawRequest(originOf(listening), { path: '/stays' });
  await vi.waitUntil(() => leaving.socket?.connecting === false);
  leaving.destroy();
  await new Promise((resolve) => leaving.once('close', resolve));
  // The server receives this request after the end of the other client.
  const after = rawRequest(originOf(listening), { path: '/after' });
  for (let turn = 0; turn < 20; turn++) await nextTurn();
  listening.onRequest(async ({ url }, response) => {
    asked.push(url);
    response.end('here');
  });
  expect([(await staying).text, (await after).text]).toEqual(['here', 'here']);
  expect(asked.toSorted()).toEqual(['/after', '/stays']);
});

test('a server without a handler ends with its requests', async () => {
  const listening = await listen(address);
  const early = rawRequest(originOf(listening), { path: '/a' });
  const ended = expect(early).rejects.toThrow();
  await nextTurn();
  await listening[Symbol.asyncDispose]();
  await ended;
  await listening[Symbol.asyncDispose]();
});

test('an upgrade that comes before there is a handler waits for it, and is cut if there never is one', async () => {
  const headers = { connection: 'Upgrade', upgrade: 'websocket' };
  await using listening = await listen(address);
  const early = rawRequest(originOf(listening), { path: '/early', headers });
  await nextTurn();
  listening.onUpgrade(({ url }, socket) => socket.end(`HTTP/1.1 418 Teapot\r\nconnection: close\r\ncontent-length: 6\r\n\r\n${url}`));
  expect(await early).toMatchObject({ status: 418, text: '/early' });

  const silent = await listen(address);
  const ended = expect(rawRequest(originOf(silent), { headers })).rejects.toThrow();
  for (let turn = 0; turn < 20; turn++) await nextTurn();
  await silent[Symbol.asyncDispose]();
  await ended;
});

test('one connection too many is closed at once, and there is room again when one has left', async () => {
  await using listening = await listen({ ...address, maxConnections: 2 });
  listening.onRequest(async ({ url }, response) => void response.end(url));
  const kept = [connect(listening.port, '127.0.0.1'), connect(listening.port, '127.0.0.1')];
  await Promise.all(kept.map((socket) => once(socket, 'connect')));
  await expect(rawRequest(originOf(listening), { path: '/third' })).rejects.toThrow();
  const [first] = kept;
  first?.destroy();
  await vi.waitUntil(() =>
    rawRequest(originOf(listening), { path: '/third' }).then(
      ({ text }) => text === '/third',
      () => false,
    ),
  );
});

test('a port in use is refused in one line', async () => {
  const other = createServer();
  await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve));
  const { port } = other.address() as AddressInfo;
  await expect(listen({ host: '127.0.0.1', port })).rejects.toMatchObject({
    code: 'BAD_INPUT',
    message: `port ${port} on 127.0.0.1 is in use: choose another with --port`,
  });
  other.close();
});
