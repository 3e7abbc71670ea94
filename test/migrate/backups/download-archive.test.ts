import { once } from 'node:events';
import http, { type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { type DownloadOptions, downloadArchive } from '../../../src/migrate/backups/download-archive.ts';

let stack: AsyncDisposableStack;
beforeEach(() => {
  stack = new AsyncDisposableStack();
});
afterEach(() => stack.disposeAsync());

async function serve(listener: RequestListener): Promise<string> {
  const server = http.createServer(listener);
  await once(server.listen(0, '127.0.0.1'), 'listening');
  stack.defer(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

interface Wish extends Partial<DownloadOptions> {
  readonly signal?: AbortSignal;
}

async function download(url: string, { signal = new AbortController().signal, ...options }: Wish = {}): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of downloadArchive(url, { allowHttp: false, idleMs: 10_000, ...options }, signal)) chunks.push(chunk);
  return Buffer.concat(chunks).toString();
}

test('sends one GET with the whole URL and without credentials', async () => {
  const seen: unknown[] = [];
  const url = await serve(({ method, url: target, headers }, response) => {
    seen.push([method, target, headers.authorization, headers.cookie]);
    response.end('the bytes');
  });
  expect(await download(`${url}/bucket/x?signature=a%2Fb`)).toBe('the bytes');
  expect(seen).toEqual([['GET', '/bucket/x?signature=a%2Fb', undefined, undefined]]);
});

test.each([301, 302, 307, 403, 404, 500, 204, 206])('fails on status %i, and follows no redirect', async (status) => {
  let calls = 0;
  const url = await serve((_, response) => {
    calls += 1;
    response.writeHead(status, { location: '/elsewhere' }).end();
  });
  await expect(download(url)).rejects.toThrow(`the download was answered with status ${status}`);
  expect(calls).toBe(1);
});

test.each([
  ['http://storage.example.com/x?signature=canary', 'its download URL is not https'],
  ['file:///etc/passwd', 'its download URL is not https'],
  ['not a URL', 'its download URL is not https'],
  ['https://ada:canary@storage.example.com/x', 'its download URL has a user or a password'],
])('refuses %s before any connection', async (url, message) => {
  await expect(download(url)).rejects.toThrow(message);
  await expect(download(url)).rejects.not.toThrow('canary');
});

test('connects to http on other machines only if the config allows it', async () => {
  // The name is reserved: it never resolves.
  await expect(download('http://storage.invalid/x', { allowHttp: true })).rejects.toThrow(/^the download failed \(E[A-Z_]+\)$/);
});

test('fails if the connection breaks, or no byte arrives in time', async () => {
  const broken = await serve((_, response) => {
    response.writeHead(200, { 'content-length': 100 });
    response.write('some', () => response.destroy());
  });
  await expect(download(broken)).rejects.toThrow('the download failed (ECONNRESET)');
  const stalling = await serve((_, response) => {
    response.writeHead(200);
    response.write('some');
  });
  await expect(download(stalling, { idleMs: 50 })).rejects.toThrow('the download stopped for 0.05 s');
  const silent = await serve(() => undefined);
  await expect(download(silent, { idleMs: 50 })).rejects.toThrow('the download stopped for 0.05 s');
});

test('an abort, and a reader that stops early, close the connection', async () => {
  const life = new AbortController();
  const closed: Promise<unknown>[] = [];
  const url = await serve((_, response) => {
    closed.push(once(response, 'close'));
    response.writeHead(200);
    response.write('some');
  });
  const aborted = downloadArchive(url, { allowHttp: false, idleMs: 10_000 }, life.signal);
  await aborted.next();
  life.abort();
  await expect(aborted.next()).rejects.toThrow('abort');
  const stopped = downloadArchive(url, { allowHttp: false, idleMs: 10_000 }, new AbortController().signal);
  await stopped.next();
  await stopped.return();
  await Promise.all(closed);
  expect(closed).toHaveLength(2);
});

test.each(['127.0.0.1', 'localhost', '[::ffff:127.0.0.1]'])(
  'connects to %s for users who share the gateway only if it is allowed',
  async (host) => {
    let calls = 0;
    const url = await serve((_, response) => {
      calls += 1;
      response.end(Buffer.from([0x1f, 0x8b, 1]));
    });
    const there = url.replace('127.0.0.1', host);
    await expect(download(there, { allowHttp: true, allowPrivate: [] })).rejects.toThrow(/^the download failed$/);
    await expect(download('https://169.254.169.254/latest', { allowPrivate: [] })).rejects.toThrow(/^the download failed$/);
    expect(calls).toBe(0);
    expect((await download(there, { allowHttp: true, allowPrivate: ['127.0.0.0/8'] })).length).toBeGreaterThan(0);
  },
);

test('hides from users who share the gateway which server answered', async () => {
  const allowPrivate = ['127.0.0.0/8'];
  const closed = await serve(() => undefined);
  const answers: readonly RequestListener[] = [
    (_, response) => response.writeHead(404).end(),
    (_, response) => response.end('a page'),
    (_, response) => response.end('x'),
    (_, response) => response.destroy(),
    () => undefined,
  ];
  for (const answer of answers)
    await expect(download(await serve(answer), { allowPrivate, idleMs: 50 })).rejects.toThrow(/^the download failed$/);
  await stack.disposeAsync();
  stack = new AsyncDisposableStack();
  await expect(download(closed, { allowPrivate })).rejects.toThrow(/^the download failed$/);
});
