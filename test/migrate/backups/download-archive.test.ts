import { once } from 'node:events';
import http, { type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { downloadArchive } from '../../../src/migrate/backups/download-archive.ts';

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

async function download(url: string, { allowHttp = false, idleMs = 10_000, signal = new AbortController().signal } = {}): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of downloadArchive(url, { allowHttp, idleMs }, signal)) chunks.push(chunk);
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
