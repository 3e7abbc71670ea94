import { expect, test, vi } from 'vitest';
import { systemClock } from '../../../src/core/clock.ts';
import { MusterError } from '../../../src/core/errors.ts';
import { postOn, rawConnection } from '../../support/clients/event-client.ts';
import type { HandFedSource } from '../../support/serving/hand-fed-streams.ts';
import { startFed } from '../../support/serving/start-fed-serving.ts';

const plain = 'subscription { ticks { n } }';

test('a comment every 12 s keeps all streams open, with one timer', async () => {
  await using edge = await startFed();
  const clients = await Promise.all([edge.events(plain), edge.events(plain), edge.events(plain)]);
  const { sleepers } = edge.clock;
  for (let beat = 0; beat < 2; beat++) await edge.clock.advance(12_000);
  await vi.waitUntil(() => clients.every((client) => client.text() === ':\n\n'.repeat(3)));
  expect(sleepers, 'comments, lifetimes and deadlines').toBeLessThanOrEqual(3);
  for (const client of clients) client[Symbol.dispose]();
});

test('after an hour a stream completes, and can be resumed', async () => {
  await using edge = await startFed();
  using client = await edge.events(plain);
  await edge.clock.advance(3_600_000);
  expect(await client.until(2)).toMatchObject([
    { event: 'next', data: { errors: [{ extensions: { code: 'UNAVAILABLE' } }] } },
    { event: 'complete' },
  ]);
  await vi.waitUntil(() => client.isOver());
});

test('a client that hangs up leaves nothing behind', async () => {
  await using edge = await startFed();
  for (let round = 0; round < 5; round++) {
    const clients = await Promise.all(Array.from({ length: 20 }, () => edge.events(plain)));
    expect(await edge.streams()).toBe(20);
    edge.source.feed({ n: round });
    for (const client of clients) client[Symbol.dispose]();
    await vi.waitUntil(() => edge.source.readers.size === 0);
  }
  expect(await edge.streams()).toBe(0);
  await edge.clock.advance(30_000);
  expect(edge.clock.sleepers).toBe(0);
});

test('a request behind a stream on its connection waits for the end of the stream, and leaves with its client', async () => {
  await using edge = await startFed();
  const { socket, text, waitFor } = await rawConnection(edge.serving.port);
  for (const query of [plain, '{ hello }', plain, plain]) postOn(socket, query);
  await waitFor(/\r\n\r\n/);
  expect((await edge.ask('{ hello }')).data, 'what came later on another connection').toEqual({ hello: 'hello world' });
  expect(edge.source.opened).toBe(1);
  edge.source.fail(new MusterError('GONE', 'the kind has left'));
  await waitFor(/event: complete[\s\S]*\r\n\r\nevent: next\ndata: \{"data":\{"hello":"hello world"\}\}\n\nevent: complete/);
  await vi.waitUntil(() => edge.source.opened === 2);
  expect(text().match(/HTTP\/1\.1 200 OK/g)?.length).toBe(3);
  socket.destroy();
  await vi.waitUntil(() => edge.source.readers.size === 0);
  expect([edge.source.opened, await edge.streams()]).toEqual([2, 0]);
});

test('a client that hangs up while its stream is being opened leaves nothing behind', async () => {
  await using edge = await startFed();
  const { promise, resolve } = Promise.withResolvers<void>();
  edge.source.gate = promise;
  const leaving = new AbortController();
  const asked = edge
    .post(JSON.stringify({ query: plain }), { accept: 'text/event-stream' }, leaving.signal)
    .catch((error: Error) => error.name);
  await vi.waitUntil(() => edge.source.opened === 1);
  leaving.abort();
  expect(await asked).toBe('AbortError');
  resolve();
  await vi.waitUntil(async () => (await edge.ask('{ hello }')).data !== undefined && edge.source.readers.size === 0);
  expect(await edge.streams()).toBe(0);
});

/** Feeds more than the buffers of unread connections can hold, until this many streams take no more. */
async function fillUp(source: HandFedSource, stalled = 1): Promise<void> {
  const text = 'x'.repeat(1 << 20);
  const full = () => [...source.readers].filter(({ queue }) => queue.length > 0).length;
  for (let n = 0; n < 200; n++) {
    source.feed({ n, text });
    const hasRoom = await vi.waitUntil(() => full() < stalled, { timeout: 200, interval: 2 }).catch(() => false);
    if (!hasRoom) return;
  }
  throw new Error('expected a connection to be full after 200 MiB');
}

test('a client that reads nothing is disconnected, and no other client is affected', async () => {
  await using edge = await startFed();
  using stalled = await edge.events('subscription { ticks { n text } }');
  using reading = await edge.events(plain);
  stalled.pause();
  await fillUp(edge.source);
  const [reader] = edge.source.readers;
  const held = reader?.queue.length;
  edge.source.feed({ n: 1_000_000, text: '' });
  await vi.waitUntil(() => reading.text().includes('1000000'));
  expect(reader?.queue.length, 'nothing is taken that cannot be sent').toBe((held ?? 0) + 1);
  await edge.clock.advance(60_000);
  expect(edge.source.readers.size).toBe(2);
  await edge.clock.advance(24_000);
  await vi.waitUntil(() => edge.source.readers.size === 1);
  stalled.resume();
  await vi.waitUntil(() => stalled.isCut());
  edge.source.feed({ n: 2_000_000 });
  await vi.waitUntil(() => reading.text().includes('2000000'));
});

test('a client that reads again gets all waiting messages', async () => {
  await using edge = await startFed();
  using client = await edge.events('subscription { ticks { n text } }');
  client.pause();
  await fillUp(edge.source);
  edge.source.feed({ n: 1_000_000, text: '' });
  client.resume();
  await vi.waitUntil(() => client.text().includes('1000000'), { timeout: 10_000 });
  const numbers = client.events().map(({ data }) => (data as { data: { ticks: { n: number } } }).data.ticks.n);
  expect(numbers.slice(0, -1)).toEqual(numbers.slice(0, -1).map((_, place) => place));
});

test('a client that is too slow gets an error when it reads again, and one that never reads is cut', async () => {
  await using edge = await startFed();
  using late = await edge.events('subscription { ticks { n text } }');
  using never = await edge.events('subscription { ticks { n text } }');
  for (const client of [late, never]) client.pause();
  await fillUp(edge.source, 2);
  edge.source.fail(new MusterError('SLOW_CONSUMER', 'too slow: go on with `after`'));
  expect(edge.source.readers.size).toBe(0);
  late.resume();
  await vi.waitUntil(() => late.isOver(), { timeout: 10_000 });
  expect(late.events().slice(-2)).toMatchObject([
    { event: 'next', data: { errors: [{ extensions: { code: 'SLOW_CONSUMER' } }] } },
    { event: 'complete' },
  ]);
  await edge.clock.advance(84_000);
  never.resume();
  await vi.waitUntil(() => never.isCut());
});

test('one stream too many is refused with Retry-After, and there is room when one has left', async () => {
  const limits = { bodyBytes: 4 << 20, requestsInFlight: 400, querySeconds: 30, mutationSeconds: 60, streams: 2 };
  await using edge = await startFed({ config: { limits } });
  const [first, second] = await Promise.all([edge.events(plain), edge.events(plain)]);
  using refused = await edge.events(plain);
  expect([refused.status, refused.headers['retry-after'], refused.headers['content-type']]).toEqual([
    429,
    '1',
    'application/json; charset=utf-8',
  ]);
  await vi.waitUntil(() => refused.isOver());
  expect(JSON.parse(refused.text())).toMatchObject({ errors: [{ extensions: { code: 'OVERLOADED' } }] });
  expect((await edge.ask('{ hello }')).data, 'queries are apart').toEqual({ hello: 'hello world' });
  first[Symbol.dispose]();
  await vi.waitUntil(() => edge.source.readers.size === 1);
  using third = await edge.events(plain);
  expect(third.status).toBe(200);
  second[Symbol.dispose]();
});

test('streams do not take slots of operations in flight', async () => {
  const limits = { bodyBytes: 4 << 20, requestsInFlight: 1, querySeconds: 30, mutationSeconds: 60, streams: 10 };
  await using edge = await startFed({ config: { limits } });
  const clients = [];
  for (let count = 0; count < 3; count++) clients.push(await edge.events(plain));
  expect((await edge.ask('{ hello }')).data).toEqual({ hello: 'hello world' });
  for (const client of clients) client[Symbol.dispose]();
});

test('streams that begin in one turn are let in one after the other, and none is refused', async () => {
  const limits = { bodyBytes: 4 << 20, requestsInFlight: 20, querySeconds: 30, mutationSeconds: 60, streams: 1_000 };
  await using edge = await startFed({ clock: systemClock, config: { limits } });
  const clients = await Promise.all(Array.from({ length: 300 }, () => edge.events(plain)));
  expect(new Set(clients.map(({ status }) => status))).toEqual(new Set([200]));
  edge.source.feed({ n: 1 });
  await Promise.all(clients.map((client) => client.until(1)));
  for (const client of clients) client[Symbol.dispose]();
});

test('metrics count open streams, their ends, and the result of each request', async () => {
  await using edge = await startFed();
  const clients = [await edge.events(plain), await edge.events(plain), await edge.events('subscription { nothing }')];
  clients[0]?.[Symbol.dispose]();
  await vi.waitUntil(() => edge.source.readers.size === 1);
  edge.source.fail(new MusterError('FORBIDDEN', 'may not be watched any more'));
  const text = await (await fetch(`${edge.origin}/metrics`)).text();
  for (const line of [
    'muster_streams{transport="sse"} 0',
    'muster_stream_closed_total{reason="CLIENT"} 1',
    'muster_stream_closed_total{reason="FORBIDDEN"} 1',
    'muster_requests_total{transport="sse",operation_type="subscription",code="OK"} 1',
    'muster_requests_total{transport="sse",operation_type="subscription",code="FORBIDDEN"} 1',
    'muster_requests_total{transport="sse",operation_type="none",code="BAD_INPUT"} 1',
    'muster_request_seconds_count 1',
  ])
    expect(text).toContain(`${line}\n`);
  for (const client of clients) client[Symbol.dispose]();
});

test('an edge that ends completes its streams without an error, and closes their connections', async () => {
  await using edge = await startFed({ clock: systemClock });
  const clients = await Promise.all(Array.from({ length: 20 }, () => edge.events(plain)));
  edge.source.feed({ n: 1 });
  await Promise.all(clients.map((client) => client.until(1)));
  const startMs = performance.now();
  await edge.serving.drain(30_000);
  expect(performance.now() - startMs).toBeLessThan(5_000);
  await vi.waitUntil(() => clients.every((client) => client.isOver()));
  for (const client of clients) {
    expect(client.events().map(({ event }) => event)).toEqual(['next', 'complete']);
    expect([client.isOver(), client.isCut()]).toEqual([true, false]);
  }
});

test('many streams are ended one after the other, at 250 per second', async () => {
  await using edge = await startFed();
  const clients = await Promise.all(Array.from({ length: 250 }, () => edge.events(plain)));
  const drained = edge.serving.drain(30_000);
  for (let step = 0; step < 5; step++) await edge.clock.advance(100);
  const half = edge.source.readers.size;
  for (let step = 0; step < 10; step++) await edge.clock.advance(100);
  await drained;
  expect(half).toBeGreaterThan(50);
  expect(half).toBeLessThan(200);
  await vi.waitUntil(() => clients.every((client) => client.isOver()));
  expect(clients.filter((client) => client.events().at(-1)?.event !== 'complete')).toEqual([]);
});

test('an edge that ends does not wait for clients that read nothing', async () => {
  await using edge = await startFed({ clock: systemClock });
  using stalled = await edge.events('subscription { ticks { n text } }');
  stalled.pause();
  await fillUp(edge.source);
  const startMs = performance.now();
  await edge.serving.drain(500);
  expect(performance.now() - startMs).toBeLessThan(4_000);
  stalled.resume();
  await vi.waitUntil(() => stalled.isCut());
});
