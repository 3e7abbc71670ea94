import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import http, { type IncomingMessage, type ServerResponse } from 'node:http';
import https from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { buffer } from 'node:stream/consumers';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { ConfiguredHook } from '../../../src/config/config.ts';
import { systemClock } from '../../../src/core/clock.ts';
import { callHook } from '../../../src/migrate/traffic/call-hook.ts';
import { type HookRequest, hookRequestOf } from '../../../src/migrate/traffic/hook-request.ts';
import { createCertificate } from '../../../src/sim/certificate.ts';
import { createManualClock, turns } from '../../support/manual-clock.ts';

const place = { replicas: 2, reachable: true };
const request = hookRequestOf({
  operation: 'Shift',
  id: 'an-id',
  migration: { namespace: 'default', name: 'shop' },
  workload: { apiVersion: 'apps/v1', kind: 'Deployment', metadata: { name: 'web', namespace: 'shop' } },
  from: { cluster: 'north', ...place },
  to: { cluster: 'south', ...place },
  manifests: [],
});

let stack: AsyncDisposableStack;
let folder: string;
beforeEach(async () => {
  stack = new AsyncDisposableStack();
  folder = await mkdtemp(path.join(tmpdir(), 'muster-hook-'));
  stack.defer(() => rm(folder, { recursive: true, force: true }));
});
afterEach(() => stack.disposeAsync());

type Answer = (response: ServerResponse, request: IncomingMessage, body: Buffer) => unknown;

async function listening(server: http.Server, protocol: string): Promise<string> {
  await once(server.listen(0, '127.0.0.1'), 'listening');
  stack.defer(() => {
    server.closeAllConnections();
    server.close();
  });
  return `${protocol}://127.0.0.1:${(server.address() as AddressInfo).port}/moved`;
}

function answering(answer: Answer): http.RequestListener {
  return async (incoming, response) => answer(response, incoming, await buffer(incoming));
}

const serve = (answer: Answer) => listening(http.createServer(answering(answer)), 'http');
const file = async (name: string, text: string) => {
  await writeFile(path.join(folder, name), text);
  return path.join(folder, name);
};

const call = (hook: Partial<ConfiguredHook>, attempts = 0, sent: HookRequest = request) =>
  callHook(
    { name: 'lb', url: 'https://127.0.0.1:1', timeoutMs: 10_000, ...hook },
    { request: sent, attempts, clock: systemClock },
    new AbortController().signal,
  );

test('posts the operation as JSON, with the token that is in the file at the time of the call', async () => {
  const seen: unknown[] = [];
  const url = await serve((response, { method, url: target, headers }, body) => {
    seen.push([method, target, headers['content-type'], headers.authorization, JSON.parse(body.toString())]);
    response.writeHead(204).end();
  });
  expect(await call({ url })).toEqual({ result: 'done' });
  const tokenFile = await file('token', ' first-token\n');
  expect(await call({ url, tokenFile })).toEqual({ result: 'done' });
  await writeFile(tokenFile, 'second-token');
  expect(await call({ url, tokenFile })).toEqual({ result: 'done' });
  expect(seen).toEqual(
    [undefined, 'Bearer first-token', 'Bearer second-token'].map((token) => ['POST', '/moved', 'application/json', token, request]),
  );
});

test.each([
  [200, { result: 'done' }],
  [202, { result: 'done' }],
  [301, { result: 'failed', message: 'the hook lb answered with status 301, and redirects are not followed' }],
  [307, { result: 'failed', message: 'the hook lb answered with status 307, and redirects are not followed' }],
  [400, { result: 'failed', message: 'the hook lb answered with status 400' }],
  [401, { result: 'failed', message: 'the hook lb answered with status 401' }],
  [404, { result: 'failed', message: 'the hook lb answered with status 404' }],
  [409, { result: 'failed', message: 'the hook lb answered with status 409' }],
  [408, { result: 'again', afterMs: 800, message: 'the hook lb answered with status 408' }],
  [425, { result: 'again', afterMs: 800, message: 'the hook lb answered with status 425' }],
  [429, { result: 'again', afterMs: 800, message: 'the hook lb answered with status 429' }],
  [500, { result: 'again', afterMs: 800, message: 'the hook lb answered with status 500' }],
  [503, { result: 'again', afterMs: 800, message: 'the hook lb answered with status 503' }],
])('status %i', async (status, expected) => {
  let calls = 0;
  const url = await serve((response) => {
    calls += 1;
    response.writeHead(status, { location: '/elsewhere' }).end('an answer that is not read');
  });
  expect(await call({ url })).toEqual(expected);
  expect(calls).toBe(1);
});

test('waits 0.8 s after the first call, twice as long after each further one, and at most 30 s', async () => {
  const url = await serve((response) => response.writeHead(503).end());
  const delays: unknown[] = [];
  for (const attempts of [0, 1, 2, 3, 4, 5, 6, 10_000]) {
    const answer = await call({ url }, attempts);
    delays.push(answer.result === 'again' ? answer.afterMs : answer);
  }
  expect(delays).toEqual([800, 1_600, 3_200, 6_400, 12_800, 25_600, 30_000, 30_000]);
});

test('does not wait for the body of the answer, and closes the connection', async () => {
  const closed = Promise.withResolvers<void>();
  const url = await serve((response) => {
    response.writeHead(200);
    response.write('x');
    response.on('close', () => closed.resolve());
  });
  expect(await call({ url })).toEqual({ result: 'done' });
  await closed.promise;
});

test('ends at the timeout of the hook, and at once when the signal aborts', async () => {
  const clock = createManualClock();
  let arrived = Promise.withResolvers<void>();
  const url = await serve(() => arrived.resolve());
  const hook = { name: 'lb', url, timeoutMs: 2_500 };
  const silent = callHook(hook, { request, attempts: 0, clock }, new AbortController().signal);
  await arrived.promise;
  await clock.advance(2_500);
  expect(await silent).toEqual({ result: 'again', afterMs: 800, message: 'the hook lb did not answer within 2.5 s' });

  arrived = Promise.withResolvers();
  const life = new AbortController();
  const aborted = callHook(hook, { request, attempts: 0, clock }, life.signal);
  await arrived.promise;
  life.abort();
  expect(await aborted).toMatchObject({ result: 'again' });
  await turns();
  expect(clock.sleepers).toBe(0);
});

test('a server that refuses or resets connections is called again', async () => {
  const resetting = await serve((response) => response.destroy());
  expect(await call({ url: resetting })).toEqual({
    result: 'again',
    afterMs: 800,
    message: 'the hook lb could not be reached (ECONNRESET)',
  });
  const server = http.createServer();
  const url = await listening(server, 'http');
  server.close();
  expect(await call({ url }, 1)).toEqual({ result: 'again', afterMs: 1_600, message: 'the hook lb could not be reached (ECONNREFUSED)' });
});

test('trusts the authorities that are in the file at the time of the call, and no others', async () => {
  const [own, other] = await Promise.all([createCertificate(), createCertificate()]);
  const url = await listening(
    https.createServer(
      { key: own.key, cert: own.certificate },
      answering((response) => response.end()),
    ),
    'https',
  );
  const caFile = await file('ca.pem', other.ca);
  expect(await call({ url, caFile })).toMatchObject({ result: 'again', message: expect.stringContaining('could not be reached') });
  expect(await call({ url })).toMatchObject({ result: 'again', message: expect.stringContaining('could not be reached') });
  await writeFile(caFile, own.ca);
  expect(await call({ url, caFile })).toEqual({ result: 'done' });
});

test('fails without a call if its files cannot be used, the request is too large, or the URL is plain http to another machine', async () => {
  let calls = 0;
  const url = await serve((response) => {
    calls += 1;
    response.end();
  });
  const absent = path.join(folder, 'absent');
  const broken = await file('broken.pem', 'no certificate');
  expect(await call({ url, tokenFile: absent })).toMatchObject({ result: 'failed', message: expect.stringContaining('cannot be read') });
  expect(await call({ url, caFile: absent })).toMatchObject({
    result: 'failed',
    message: expect.stringContaining('cannot be read (ENOENT)'),
  });
  expect(await call({ url, caFile: broken })).toMatchObject({ result: 'failed', message: expect.stringContaining('certificates in PEM') });
  expect(await call({ url, caFile: '/dev/zero' })).toMatchObject({ result: 'failed', message: expect.stringContaining('at most 4194304') });
  const large = { ...request, id: 'x'.repeat(1 << 20) };
  expect(await call({ url }, 0, large)).toMatchObject({ result: 'failed', message: expect.stringContaining('at most 1048576 bytes') });
  expect(await call({ url: 'http://lb.example.com/moved' })).toMatchObject({ result: 'failed' });
  expect(calls).toBe(0);
});
