import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { codesOf, LiveSocket, openStream } from '../support/clients/live-socket.ts';
import { type RunningProcess, runMuster } from '../support/run-process.ts';

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'muster-ending-'));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

const query = 'subscription { pods { type cluster { name } cursor } }';
const start = () =>
  runMuster(['--demo', '--port', '0', '--log-level', 'error'], { HOME: folder, XDG_STATE_HOME: path.join(folder, 'state') });
const url = async (gateway: RunningProcess) => (await gateway.says(/^ready (http\S+)$/m))[1] ?? '';

/** Opens this many streams per transport, and waits for a message on each. Each socket carries three. */
async function openStreams(at: string, count: number) {
  const events = await Promise.all(Array.from({ length: count }, () => openStream('sse', at, { query })));
  const sockets: LiveSocket[] = [];
  for (let n = 0; n < count; n++) sockets.push(await LiveSocket.open(at));
  const operations = sockets.flatMap((socket) => [1, 2, 3].map(() => socket.start(query)));
  await vi.waitUntil(() => [...events, ...operations].every(({ seen }) => seen.length > 0), { timeout: 20_000 });
  return { events, sockets, operations };
}

test.each([
  ['a few streams', 2, 2_000],
  ['many streams, spread out so that who takes their clients next is spared', 150, 6_000],
])('SIGTERM ends %s in order: complete, 1001, exit code 0', async (_, count, withinMs) => {
  await using gateway = start();
  const { events, sockets, operations } = await openStreams(await url(gateway), count);
  const before = performance.now();
  gateway.kill('SIGTERM');
  expect(await gateway.ended).toBe(0);
  const tookMs = performance.now() - before;
  expect(tookMs).toBeLessThan(withinMs);
  expect(tookMs).toBeGreaterThan(((2 * count) / 250) * 1_000 * 0.9 - 100);
  await vi.waitUntil(() => events.every(({ completed }) => completed));
  expect(new Set(events.flatMap(codesOf))).toEqual(new Set());
  await vi.waitUntil(() => sockets.every(({ closed }) => closed !== undefined));
  expect(new Set(sockets.map(({ closed }) => closed?.code))).toEqual(new Set([1001]));
  expect(new Set(operations.flatMap(codesOf))).toEqual(new Set());
  expect(gateway.err()).toBe('');
});

test('a client that reads nothing does not keep it running', async () => {
  await using gateway = start();
  const { events, sockets } = await openStreams(await url(gateway), 2);
  const pauses = [events[0]?.pauseReading(), sockets[0]?.pauseReading()];
  const before = performance.now();
  gateway.kill('SIGTERM');
  expect(await gateway.ended).toBe(0);
  expect(performance.now() - before).toBeLessThan(8_000);
  for (const pause of pauses) pause?.[Symbol.dispose]();
});
