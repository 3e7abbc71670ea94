import { once } from 'node:events';
import http from 'node:http';
import { GraphQLInt, GraphQLObjectType, GraphQLSchema, GraphQLString } from 'graphql';
import { describe, expect, test, vi } from 'vitest';
import { rawConnection } from '../support/clients/event-client.ts';
import { LiveSocket } from '../support/clients/live-socket.ts';
import { createManualClock } from '../support/manual-clock.ts';
import { type ServingChanges, startServing } from '../support/serving/start-serving.ts';

const mib = 1 << 20;

const schema = new GraphQLSchema({
  query: new GraphQLObjectType({
    name: 'Query',
    fields: {
      hello: { type: GraphQLString, resolve: () => 'world' },
      text: { type: GraphQLString, args: { mib: { type: GraphQLInt } }, resolve: (_, args) => 'x'.repeat(args.mib * mib) },
    },
  }),
});

/** Starts the edge over texts of any size, with a clock that only the test moves. */
async function startTexts(limits: NonNullable<ServingChanges['config']>['limits'] = {}) {
  const clock = createManualClock();
  const edge = await startServing({ schema: () => schema, clock, config: { limits } });
  return { ...edge, clock, [Symbol.asyncDispose]: () => edge[Symbol.asyncDispose]() };
}

/** Sends a request over HTTP. Does not read the answer until `resume`. */
async function requestWithoutReading(url: string, query: string, accept = 'application/json') {
  const request = http.request(url, { method: 'POST', agent: false, headers: { 'content-type': 'application/json', accept } });
  request.on('error', () => undefined);
  request.end(JSON.stringify({ query }));
  const [answer] = (await once(request, 'response')) as [http.IncomingMessage];
  let length = 0;
  let over: 'whole' | 'cut' | undefined;
  answer.on('data', (chunk: Buffer) => {
    length += chunk.length;
  });
  answer.pause();
  answer.once('end', () => {
    over = 'whole';
  });
  answer.once('error', () => {
    over ??= 'cut';
  });
  return {
    resume: () => answer.resume(),
    pause: () => answer.pause(),
    length: () => length,
    over: () => over,
    [Symbol.dispose]: () => void request.destroy(),
  };
}

describe('an answer beyond the bound', () => {
  test('is TOO_COSTLY over HTTP and WebSocket, before and after slicing', async () => {
    await using edge = await startTexts({ answerBytes: 2 * mib });
    const socket = await LiveSocket.open(edge.url);
    for (const query of ['{ text(mib: 3) }', `{ ${Array.from({ length: 9 }, (_, n) => `a${n}: text(mib: 1)`).join(' ')} }`]) {
      expect(await edge.ask(query)).toMatchObject({ errors: [{ extensions: { code: 'TOO_COSTLY' } }] });
      const stream = socket.start(query);
      await vi.waitUntil(() => stream.completed);
      expect(stream.seen).toMatchObject([{ errors: [{ extensions: { code: 'TOO_COSTLY' } }] }]);
    }
    expect((await edge.ask('{ text(mib: 1) }')).data?.text).toHaveLength(mib);
    const text = await (await fetch(`${edge.origin}/metrics`)).text();
    expect(text).toContain('muster_requests_total{transport="http",operation_type="query",code="TOO_COSTLY"} 2\n');
    socket.close();
  });
});

describe('a client that takes nothing', () => {
  test.each(['application/json', 'text/event-stream'])('is cut after 60 s, and holds its slot until then: %s', async (accept) => {
    await using edge = await startTexts({ requestsInFlight: 1 });
    using paused = await requestWithoutReading(edge.url, '{ text(mib: 24) }', accept);
    expect((await edge.ask('{ hello }')).errors?.[0]?.extensions.code).toBe('OVERLOADED');
    await edge.clock.advance(54_000);
    expect((await edge.ask('{ hello }')).errors?.[0]?.extensions.code).toBe('OVERLOADED');
    await edge.clock.advance(24_000);
    await vi.waitUntil(async () => (await edge.ask('{ hello }')).data?.hello === 'world');
    paused.resume();
    await vi.waitUntil(() => paused.over() === 'cut');
    await edge.clock.advance(30_000);
    expect(edge.clock.sleepers, 'nobody is watched any more').toBe(0);
  });

  test('over WebSocket is cut after 60 s, and holds its slot until then', async () => {
    await using edge = await startTexts({ requestsInFlight: 1 });
    const socket = await LiveSocket.open(edge.url);
    using _paused = socket.pauseReading();
    socket.start('{ text(mib: 24) }');
    await vi.waitUntil(async () => (await edge.ask('{ hello }')).errors?.[0]?.extensions.code === 'OVERLOADED');
    await edge.clock.advance(48_000);
    expect((await edge.ask('{ hello }')).errors?.[0]?.extensions.code).toBe('OVERLOADED');
    await edge.clock.advance(36_000);
    await vi.waitUntil(async () => (await edge.ask('{ hello }')).data?.hello === 'world');
  });

  test('is cut on other pages too', async () => {
    await using edge = await startTexts();
    const { socket } = await rawConnection(edge.serving.port);
    socket.pause();
    const page = 'GET /metrics HTTP/1.1\r\nhost: localhost\r\n\r\n';
    socket.write(page.repeat(4_000));
    await vi.waitUntil(async () => edge.clock.sleepers > 0, { timeout: 10_000 });
    for (let time = 0; time < 84_000; time += 6_000) await edge.clock.advance(6_000);
    socket.resume();
    await vi.waitUntil(() => socket.closed, { timeout: 10_000 });
  });
});

test('a slow client that takes some bytes now and then gets the whole answer', async () => {
  await using edge = await startTexts();
  using slow = await requestWithoutReading(edge.url, '{ text(mib: 24) }');
  for (let taken = 0; taken < 24 * mib; ) {
    await edge.clock.advance(48_000);
    slow.resume();
    await vi.waitUntil(() => slow.length() >= Math.min(taken + 4 * mib, 24 * mib) || slow.over() !== undefined);
    slow.pause();
    taken = slow.length();
    expect(slow.over()).not.toBe('cut');
  }
  slow.resume();
  await vi.waitUntil(() => slow.over() === 'whole');
});

test('the bytes that wait in all connections are bounded: connections with the most are cut, others are answered', async () => {
  await using edge = await startTexts({ unsentBytes: 40 * mib });
  const clients = await Promise.all(Array.from({ length: 4 }, () => requestWithoutReading(edge.url, '{ text(mib: 16) }')));
  expect((await edge.ask('{ hello }')).data?.hello).toBe('world');
  for (const client of clients) client.resume();
  await vi.waitUntil(() => clients.every((client) => client.over() !== undefined), { timeout: 10_000 });
  const cut = clients.filter((client) => client.over() === 'cut');
  expect(cut.length).toBeGreaterThanOrEqual(1);
  expect(cut.length).toBeLessThanOrEqual(2);
  for (const client of clients) client[Symbol.dispose]();
});
