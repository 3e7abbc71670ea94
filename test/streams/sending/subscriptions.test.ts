import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { MusterError } from '../../../src/core/errors.ts';
import { fakeHeap } from '../../support/fake-heap.ts';
import { liveHeapBytes } from '../../support/heap.ts';
import { fedSchema, HandFedSource } from '../../support/serving/hand-fed-streams.ts';
import { begun, createStreamHarness, type TestStream } from '../../support/serving/stream-harness.ts';

const plain = 'subscription { ticks { n } }';
const numbers = ({ outlet }: TestStream) => outlet.seen.map(({ data }) => (data as { ticks: { n: number } }).ticks.n);

test('a hundred equal readers cost one execution and one encoding for each message', async () => {
  const harness = createStreamHarness();
  const streams = await Promise.all(Array.from({ length: 100 }, () => harness.open(plain)));
  for (const n of [1, 2, 3]) harness.source.feed({ n });
  await harness.settle();
  for (const stream of streams) expect(numbers(stream)).toEqual([1, 2, 3]);
  expect(harness.fields.executions.get('n')).toBe(3);
  expect(new Set(streams.map(({ outlet }) => outlet.payloads[0]?.json)).size).toBe(1);
  expect(new Set(streams.map(({ outlet }) => outlet.payloads[0]?.event)).size).toBe(1);
});

test('a state equal to the one before it is not sent; an equal message of changes is sent', async () => {
  const harness = createStreamHarness();
  const changes = await harness.open(plain);
  harness.source.isState = true;
  const states = await harness.open(plain);
  for (const [index, n] of [1, 1, 1, 2, 1].entries()) harness.source.feed({ n, text: String(index) });
  await harness.settle();
  expect([numbers(changes), numbers(states)]).toEqual([
    [1, 1, 1, 2, 1],
    [1, 2, 1],
  ]);
});

test('an event of server-sent events is the same JSON in its frame', async () => {
  const harness = createStreamHarness();
  const { outlet } = await harness.open('subscription { ticks { text } }');
  harness.source.feed({ n: 1, text: 'two\nlines' });
  await harness.settle();
  expect(outlet.payloads[0]?.json.toString()).toBe('{"data":{"ticks":{"text":"two\\nlines"}}}');
  expect(outlet.payloads[0]?.event.toString()).toBe('event: next\ndata: {"data":{"ticks":{"text":"two\\nlines"}}}\n\n');
});

test('a stream without room takes nothing, and continues when there is room', async () => {
  const harness = createStreamHarness();
  const [slow, quick] = [await harness.open(plain), await harness.open(plain)];
  const [reader] = harness.source.readers;
  slow.outlet.room = 2;
  for (let n = 0; n < 5; n++) harness.source.feed({ n });
  await harness.settle();
  expect([numbers(slow), numbers(quick)]).toEqual([
    [0, 1],
    [0, 1, 2, 3, 4],
  ]);
  expect([reader?.pauses, reader?.queue.length]).toEqual([1, 3]);
  // A new message does not start a stream without room.
  harness.source.feed({ n: 5 });
  await harness.settle();
  expect(reader?.pauses).toBe(1);
  slow.outlet.room = 10;
  begun(slow).resume();
  begun(slow).resume();
  await harness.settle();
  expect(numbers(slow)).toEqual([0, 1, 2, 3, 4, 5]);
});

test('each stream has its turn, however many messages one has', async () => {
  const harness = createStreamHarness();
  const order: string[] = [];
  const names = ['a', 'b', 'c'];
  for (const name of names) {
    const { outlet } = await harness.open(plain);
    const send = outlet.send.bind(outlet);
    outlet.send = (payload, next) => {
      order.push(name);
      return send(payload, next);
    };
  }
  for (const n of [1, 2]) harness.source.feed({ n });
  await harness.settle();
  // Messages that were rendered for other streams are sent at once: a makes 1, b makes 2, c makes none.
  expect(order.join('')).toBe('abbcca');
});

test('no stream makes the others wait, not even with rendered messages', async () => {
  const harness = createStreamHarness();
  const [first, second, third] = [await harness.open(plain), await harness.open(plain), await harness.open(plain)];
  first.outlet.room = 0;
  for (let n = 0; n < 50; n++) harness.source.feed({ n });
  await harness.settle();
  first.outlet.room = 100;
  third.outlet.room = 0;
  const before = second.outlet.payloads.length;
  const seenMeanwhile: number[] = [];
  const send = first.outlet.send.bind(first.outlet);
  first.outlet.send = (payload, next) => {
    seenMeanwhile.push(second.outlet.payloads.length - before);
    return send(payload, next);
  };
  begun(first).resume();
  harness.source.feed({ n: 50 });
  await harness.settle();
  expect(numbers(first).length).toBe(51);
  expect(seenMeanwhile[15], 'sixteen, then it is the turn of the next').toBe(0);
  expect(seenMeanwhile[16]).toBe(1);
});

test.each(['SLOW_CONSUMER', 'FORBIDDEN', 'GONE', 'UNAVAILABLE'] as const)(
  'a reader that ends with %s sends this as its last message',
  async (code) => {
    const harness = createStreamHarness();
    const stream = await harness.open(plain);
    harness.source.feed({ n: 1 });
    await harness.settle();
    harness.source.fail(new MusterError(code, 'for a reason'));
    expect(stream.outlet.ending?.last).toEqual({ errors: [{ message: 'for a reason', extensions: { code, requestId: 'request-1' } }] });
    expect(numbers(stream)).toEqual([1]);
    expect([harness.closed, harness.source.readers.size, harness.subscriptions.count('sse'), stream.life.signal.aborted]).toEqual([
      [code],
      0,
      0,
      true,
    ]);
    expect(harness.answered).toMatchObject([{ transport: 'sse', operationType: 'subscription', code }]);
  },
);

test('a stream without room gets its last message all the same', async () => {
  const harness = createStreamHarness();
  const { outlet } = await harness.open(plain);
  outlet.room = 0;
  harness.source.feed({ n: 1 });
  await harness.settle();
  harness.source.fail(new MusterError('SLOW_CONSUMER', 'too slow'));
  expect([outlet.payloads.length, outlet.code]).toEqual([0, 'SLOW_CONSUMER']);
});

test('errors and faults next to data are in the message, masked, and the stream continues', async () => {
  const bugs: unknown[] = [];
  const quiet = () => undefined;
  const harness = createStreamHarness({ log: { debug: quiet, info: quiet, warn: quiet, error: (fields) => bugs.push(fields) } });
  const { outlet } = await harness.open('subscription { ticks { n broken faulty } }');
  for (const n of [1, 2]) harness.source.feed({ n });
  await harness.settle();
  expect(outlet.seen.length).toBe(2);
  expect(outlet.seen[0]).toEqual({
    data: { ticks: { n: 1, broken: null, faulty: null } },
    errors: [
      {
        message: 'Unexpected error.',
        path: ['ticks', 'broken'],
        locations: [{ line: 1, column: 26 }],
        extensions: { code: 'INTERNAL_SERVER_ERROR', requestId: 'request-1' },
      },
    ],
    extensions: {
      faults: [{ code: 'UNREACHABLE', cluster: 'north', kind: null, message: 'gone', retry: 'LATER', count: 1, path: ['faulty'] }],
    },
  });
  expect(bugs).toMatchObject([{ requestId: 'request-1' }, { requestId: 'request-1' }]);
  expect(JSON.stringify(outlet.seen)).not.toContain('secret');
});

test.each([
  ['leaves no data', 'subscription { ticks { n void } }', 'INTERNAL_SERVER_ERROR'],
  ['is too costly', 'subscription { ticks { n costly } }', 'TOO_COSTLY'],
])('a message that %s is the last', async (_, query, code) => {
  const harness = createStreamHarness();
  const streams = [await harness.open(query), await harness.open(query)];
  for (const n of [1, 2]) harness.source.feed({ n });
  await harness.settle();
  for (const { outlet } of streams)
    expect([outlet.payloads.length, outlet.code, outlet.ending?.last?.data ?? null]).toEqual([0, code, null]);
  expect([harness.closed, harness.source.readers.size, harness.fields.executions.get('n')]).toEqual([[code, code], 0, 1]);
});

test('the last message has the id of its own stream, and so has its line in the log', async () => {
  const bugs: unknown[] = [];
  const quiet = () => undefined;
  const harness = createStreamHarness({ log: { debug: quiet, info: quiet, warn: quiet, error: (fields) => bugs.push(fields) } });
  const ids = ['one', 'two', 'three'];
  const streams = await Promise.all(ids.map((requestId) => harness.open('subscription { ticks { n void } }', { requestId })));
  harness.source.feed({ n: 1 });
  await harness.settle();
  expect(streams.map(({ outlet }) => outlet.ending?.last?.errors?.map(({ extensions }) => extensions?.requestId))).toEqual(
    ids.map((id) => [id]),
  );
  expect(bugs).toMatchObject(ids.map((requestId) => ({ requestId })));
  expect(harness.fields.executions.get('n')).toBe(1);
});

test.each<[string, (stream: TestStream, source: HandFedSource) => void]>([
  ['hangs up', ({ life }) => life.abort(new Error('gone'))],
  ['is too slow', (_, source) => source.fail(new MusterError('SLOW_CONSUMER', 'too slow'))],
])('a stream that %s while a message waits is no bug, but other errors are', async (_, end) => {
  const bugs: unknown[] = [];
  const quiet = () => undefined;
  const harness = createStreamHarness({ log: { debug: quiet, info: quiet, warn: quiet, error: (fields) => bugs.push(fields) } });
  harness.fields.slow = () => {
    const signal = harness.fields.scopes.at(-1)?.signal;
    return new Promise((_resolve, reject) => signal?.addEventListener('abort', () => reject(signal.reason)));
  };
  const streams = [await harness.open('subscription { ticks { n slow } }'), await harness.open('subscription { ticks { n broken slow } }')];
  harness.source.feed({ n: 1 });
  await harness.settle();
  for (const stream of streams) end(stream, harness.source);
  await harness.settle();
  expect([harness.subscriptions.groups, streams.map(({ outlet }) => outlet.payloads.length)]).toEqual([0, [0, 0]]);
  expect(bugs).toMatchObject([{ error: { message: 'a secret' } }]);
});

test('each message has a scope of its own, which is marked as a message', async () => {
  const harness = createStreamHarness();
  await harness.open(plain);
  for (const n of [1, 2]) harness.source.feed({ n });
  await harness.settle();
  const [first, second] = harness.fields.scopes;
  expect(first).toBeDefined();
  expect(first).not.toBe(second);
  expect([first?.isMessage, second?.isMessage]).toEqual([true, true]);
});

test('only its own stream waits for a live read, in order', async () => {
  const harness = createStreamHarness();
  const gates = new Map<number, () => void>();
  harness.fields.slow = ({ n }) => new Promise((resolve) => gates.set(n, () => resolve(`late ${n}`)));
  const slow = await harness.open('subscription { ticks { n slow } }');
  const quick = await harness.open(plain);
  for (const n of [1, 2]) harness.source.feed({ n });
  await harness.settle();
  expect([numbers(slow), numbers(quick), [...gates.keys()]]).toEqual([[], [1, 2], [1]]);
  const [reader] = harness.source.readers;
  expect(reader?.pauses, 'whoever feeds it is told not to wait').toBe(1);
  gates.get(1)?.();
  await harness.settle();
  expect([numbers(slow), [...gates.keys()]]).toEqual([[1], [1, 2]]);
  gates.get(2)?.();
  await harness.settle();
  expect(slow.outlet.seen.map(({ data }) => data?.ticks)).toEqual([
    { n: 1, slow: 'late 1' },
    { n: 2, slow: 'late 2' },
  ]);
});

test('a live read for a stream that has ended is sent to no client', async () => {
  const harness = createStreamHarness();
  const { promise, resolve: go } = Promise.withResolvers<string>();
  harness.fields.slow = () => promise;
  const { outlet, opened, life } = await harness.open('subscription { ticks { n slow } }');
  harness.source.feed({ n: 1 });
  await harness.settle();
  begun({ outlet, opened, life }).close();
  go('late');
  await harness.settle();
  expect([outlet.payloads.length, outlet.ending, harness.closed]).toEqual([0, undefined, ['CLIENT']]);
});

test('a bug in one reader ends that stream only', async () => {
  const harness = createStreamHarness();
  const [bad, good] = [await harness.open(plain), await harness.open(plain)];
  const [reader] = harness.source.readers;
  if (reader !== undefined)
    reader.queue.shift = () => {
      throw new Error('a secret');
    };
  harness.source.feed({ n: 1 });
  await harness.settle();
  expect([bad.outlet.code, numbers(good)]).toEqual(['INTERNAL_SERVER_ERROR', [1]]);
  expect(JSON.stringify(bad.outlet.ending)).not.toContain('secret');
});

test.each([
  ['wrong variables', 'subscription ($a: Int!) { ticks { n(plus: $a) } }', 'BAD_INPUT'],
  ['wrong arguments', 'subscription { ticks(of: "nothing") { n } }', 'BAD_INPUT'],
  ['too long a document', `subscription { ticks(of: "${'x'.repeat(65_536)}") { n } }`, 'TOO_COSTLY'],
])('%s are answered at once', async (_, query, code) => {
  const harness = createStreamHarness();
  const { opened, outlet } = await harness.open(query);
  expect(opened).toMatchObject({ code, body: { errors: [{ extensions: { code, requestId: 'request-1' } }] } });
  expect([outlet.ending, harness.source.opened, harness.closed, harness.subscriptions.groups]).toEqual([undefined, 0, [], 0]);
  expect(harness.answered).toMatchObject([{ operationType: 'subscription', code }]);
});

const resuming = 'subscription ($after: String, $of: String) { ticks(after: $after, of: $of) { n } }';

test('the cursor variable may be long, other variables may not', async () => {
  const harness = createStreamHarness();
  const long = 'x'.repeat(300_000);
  expect(numbers(await harness.open(resuming, { variables: { after: long, of: 'short' } }))).toEqual([]);
  expect([harness.source.opened, harness.subscriptions.count('sse')]).toEqual([1, 1]);
  for (const variables of [{ of: long }, { after: long, of: long }, { unknown: long }]) {
    const { opened } = await harness.open(resuming, { variables });
    expect(opened).toMatchObject({ code: 'TOO_COSTLY' });
  }
  const usedTwice = 'subscription ($after: String) { ticks(after: $after, of: $after) { n } }';
  expect((await harness.open(usedTwice, { variables: { after: long } })).opened).toMatchObject({ code: 'TOO_COSTLY' });
});

test('the cursor from which a stream resumed is not kept while it lives', async () => {
  const harness = createStreamHarness();
  const before = liveHeapBytes();
  const streams: TestStream[] = [];
  for (let count = 0; count < 20; count++) {
    streams.push(await harness.open(resuming, { variables: { after: Buffer.alloc(4 << 20, count).toString('latin1') } }));
  }
  // Bound for the memory of all streams of the group.
  expect(liveHeapBytes() - before).toBeLessThan(10 << 20);
  expect(harness.subscriptions.count('sse')).toBe(streams.length);
});

test('a source that cannot be opened gives an error, and leaves nothing behind', async () => {
  const harness = createStreamHarness();
  harness.source.gate = Promise.reject(new MusterError('FORBIDDEN', 'may not be watched'));
  const { opened } = await harness.open(plain);
  expect(opened).toMatchObject({ code: 'FORBIDDEN', body: { errors: [{ message: 'may not be watched' }] } });
  expect([harness.subscriptions.groups, harness.subscriptions.count('sse')]).toEqual([0, 0]);
});

test('a client that leaves while its stream is being opened gets no stream', async () => {
  const harness = createStreamHarness();
  const { promise, resolve } = Promise.withResolvers<void>();
  harness.source.gate = promise;
  const life = new AbortController();
  const opening = harness.open(plain, { life });
  await nextTurn();
  const gone = new Error('gone');
  life.abort(gone);
  resolve();
  await expect(opening).rejects.toBe(gone);
  expect([harness.source.readers.size, harness.subscriptions.groups, harness.subscriptions.count('sse'), harness.answered]).toEqual([
    0,
    0,
    0,
    [],
  ]);
});

test('a stream that takes too long to begin gets an error', async () => {
  const harness = createStreamHarness();
  const { promise, resolve } = Promise.withResolvers<void>();
  harness.source.gate = promise;
  const opening = harness.open(plain);
  await harness.clock.advance(30_000);
  resolve();
  expect((await opening).opened).toMatchObject({ code: 'TOO_COSTLY', body: { errors: [{ message: 'expected to begin within 30 s' }] } });
  expect(harness.source.readers.size).toBe(0);
});

test('one stream too many is refused over any transport, and there is room again when one has ended', async () => {
  const harness = createStreamHarness({ maxStreams: 3 });
  const streams = await Promise.all([
    harness.open(plain),
    harness.open(plain, { transport: 'websocket' }),
    harness.open(plain),
    harness.open(plain),
  ]);
  expect(streams.map(({ opened }) => ('code' in opened ? opened.code : 'begun'))).toEqual(['begun', 'begun', 'begun', 'OVERLOADED']);
  expect([harness.subscriptions.count('sse'), harness.subscriptions.count('websocket')]).toEqual([2, 1]);
  begun(streams[0]).close();
  begun(await harness.open(plain));
});

test('C6: from 80 % of the heap on no new stream begins, and running streams continue', async () => {
  const heap = fakeHeap();
  const harness = createStreamHarness({ heap });
  begun(await harness.open(plain));
  heap.set(0.8);
  expect((await harness.open(plain)).opened).toMatchObject({ code: 'OVERLOADED' });
  expect(harness.subscriptions.count('sse')).toBe(1);
  heap.set(0.79);
  begun(await harness.open(plain));
});

test('after about an hour a stream of server-sent events ends, and can be resumed', async () => {
  const harness = createStreamHarness();
  const [events, socket] = [await harness.open(plain), await harness.open(plain, { transport: 'websocket' })];
  expect(harness.subscriptions.lifetimeMs()).toBe(3_600_000);
  await harness.clock.advance(3_590_000);
  expect(events.outlet.ending).toBeUndefined();
  await harness.clock.advance(24_000);
  expect(events.outlet.ending?.last?.errors).toMatchObject([
    { message: 'this stream has lived for an hour: resume with `after`', extensions: { code: 'UNAVAILABLE' } },
  ]);
  expect([socket.outlet.ending, harness.closed]).toEqual([undefined, ['LIFETIME']]);
});

test('lifetimes differ at random, within 10 %', () => {
  const { subscriptions, clock } = createStreamHarness();
  const at = (chance: number) => {
    clock.random = () => chance;
    return subscriptions.lifetimeMs() / 3_600_000;
  };
  expect([at(0), at(0.999_999)].map((share) => share.toFixed(3))).toEqual(['0.900', '1.100']);
});

test('streams keep their schema until three newer ones have been served', async () => {
  const harness = createStreamHarness();
  const old = await harness.open(plain);
  const other = () => fedSchema(new HandFedSource()).schema;
  harness.swap(other());
  const second = await harness.open(plain);
  harness.swap(other());
  harness.source.feed({ n: 1 });
  await harness.settle();
  expect([numbers(old), old.outlet.ending, second.outlet.ending]).toEqual([[1], undefined, undefined]);
  harness.swap(other());
  await harness.settle();
  expect([old.outlet.code, second.outlet.ending]).toEqual(['GONE', undefined]);
  expect(old.outlet.ending?.last?.errors?.[0]?.message).toContain('`after`');
  expect(harness.subscriptions.groups).toBe(1);
  harness.swap(other());
  await harness.settle();
  expect(second.outlet.code).toBe('GONE');
});

test('a swap of the schema that was not announced is noticed by the next stream', async () => {
  const harness = createStreamHarness();
  const old = await harness.open(plain);
  for (let swap = 0; swap < 2; swap++) harness.swap(fedSchema(new HandFedSource()).schema);
  harness.subscriptions.schemaSwapped();
  expect(old.outlet.ending, 'the same schema again is no swap').toBeUndefined();
});

test('draining ends streams of server-sent events with complete, spread evenly over its time, and begins no new ones', async () => {
  const harness = createStreamHarness();
  const streams: TestStream[] = [];
  for (let count = 0; count < 10; count++) streams.push(await harness.open(plain));
  const socket = await harness.open(plain, { transport: 'websocket' });
  const ended = () => streams.filter(({ outlet }) => outlet.ending !== undefined).length;
  const drained = harness.subscriptions.drain(1_000, new AbortController().signal);
  expect((await harness.open(plain)).opened).toMatchObject({ code: 'SHUTTING_DOWN' });
  const seen = [ended()];
  for (let step = 0; step < 9; step++) {
    await harness.clock.advance(100);
    seen.push(ended());
  }
  await drained;
  expect(seen).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
  for (const { outlet } of streams) expect(outlet.ending).toEqual({ last: undefined });
  expect(socket.outlet.ending, 'its socket ends it').toBeUndefined();
  expect(harness.closed).toEqual(Array.from({ length: 10 }, () => 'SHUTTING_DOWN'));
  expect(harness.answered.filter(({ code }) => code === 'OK').length).toBe(10);
});

test('draining with no time ends all streams at once, also those that are being opened', async () => {
  const harness = createStreamHarness();
  const stream = await harness.open(plain);
  const { promise, resolve } = Promise.withResolvers<void>();
  harness.source.gate = promise;
  const opening = harness.open(plain);
  await nextTurn();
  await harness.subscriptions.drain(0, new AbortController().signal);
  resolve();
  expect([stream.outlet.ending, (await opening).opened]).toMatchObject([{}, { code: 'SHUTTING_DOWN' }]);
  expect(harness.source.readers.size).toBe(0);
});

test('closing twice, and resuming or ending after the end, does nothing', async () => {
  const harness = createStreamHarness();
  const stream = await harness.open(plain);
  const [reader] = harness.source.readers;
  begun(stream).close();
  begun(stream).close();
  begun(stream).resume();
  reader?.listener.ready();
  reader?.listener.ended(new MusterError('GONE', 'late'));
  await harness.settle();
  expect([stream.outlet.ending, stream.outlet.payloads.length, harness.closed]).toEqual([undefined, 0, ['CLIENT']]);
});

test('ten thousand streams that were opened and closed leave nothing behind', async () => {
  const harness = createStreamHarness({ maxStreams: 500 });
  const query = 'subscription ($after: String, $of: String) { ticks(after: $after, of: $of) { n } }';
  for (let round = 0; round < 20; round++) {
    const opening = Array.from({ length: 500 }, (_, place) =>
      harness.open(query, { variables: { after: `${round} ${place}`, of: `${place % 7}` } }),
    );
    const streams = await Promise.all(opening);
    expect([harness.subscriptions.count('sse'), harness.subscriptions.groups]).toEqual([500, 7]);
    harness.source.feed({ n: round });
    if (round % 2 === 0) await harness.settle();
    for (const [place, stream] of streams.entries()) {
      if (place % 2 === 0) begun(stream).close();
      else stream.life.abort();
    }
    expect([harness.subscriptions.count('sse'), harness.subscriptions.groups, harness.source.readers.size]).toEqual([0, 0, 0]);
  }
  // The timer of the deadlines ends all of them at once.
  await harness.clock.advance(30_000);
  expect([harness.clock.sleepers, harness.closed.length]).toEqual([0, 10_000]);
});
