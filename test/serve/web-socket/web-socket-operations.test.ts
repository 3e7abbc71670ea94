import { getEventListeners } from 'node:events';
import { getIntrospectionQuery } from 'graphql';
import { describe, expect, test, vi } from 'vitest';
import { MusterError } from '../../../src/core/errors.ts';
import { createManualClock, turns } from '../../support/manual-clock.ts';
import { startWebSockets } from '../../support/serving/start-web-sockets.ts';

const ticks = 'subscription { ticks }';
const next = (text: string) => ({ type: 'next', payload: { data: { ticks: text } } });
const complete = { type: 'complete' };

type Edge = Awaited<ReturnType<typeof startWebSockets>>;

/** Starts streams, and returns the source that feeds them. */
async function streaming(edge: Edge, count = 1) {
  await until(() => edge.tickers.length >= count && edge.subscriptions.count('websocket') >= count);
  return edge.tickers;
}

describe('an operation', () => {
  test('a query has one answer, then it is complete', async () => {
    await using edge = await startWebSockets();
    const socket = await edge.connect();
    socket.subscribe('a', 'query Hello($text: String) { echo(text: $text) }', { variables: { text: 'x' }, operationName: 'Hello' });
    await socket.until(({ type }) => type === 'complete');
    expect(socket.of('a')).toEqual([{ type: 'next', payload: { data: { echo: 'x' } } }, complete]);
    expect(edge.admission.inFlight).toBe(0);
  });

  test('a stream has many messages, in order, each in a frame of its own', async () => {
    await using edge = await startWebSockets();
    const socket = await edge.connect();
    socket.subscribe('a', ticks);
    const [ticker] = await streaming(edge);
    for (const text of ['1', '2', '3']) ticker?.tick(text);
    await until(() => socket.of('a').length === 3);
    expect(socket.of('a')).toEqual([next('1'), next('2'), next('3')]);
  });

  test('frames of every length arrive complete', async () => {
    await using edge = await startWebSockets();
    const socket = await edge.connect();
    socket.subscribe('a', ticks);
    const [ticker] = await streaming(edge);
    // Sizes around the borders of the three forms of a frame's length, and of the bound for copying.
    const sizes = [0, 1, ...[125, 126, 127, 16_384, 65_535, 65_536].flatMap((border) => range(border - 75, border + 5)), 300_000];
    const texts = sizes.map((size) => 'ü'.repeat(size % 2) + 'x'.repeat(Math.max(0, size)));
    for (const text of texts) {
      const seen = socket.received.length;
      ticker?.tick(text);
      await until(() => socket.received.length > seen);
    }
    expect(
      socket
        .of('a')
        .slice(0)
        .map(({ payload }) => (payload as { data: { ticks: string } }).data.ticks),
    ).toEqual(texts);
    expect(socket.ws.readyState).toBe(socket.ws.OPEN);
  });

  test('errors belong to their operation: malformed documents, unknown fields, wrong variables, bugs; the socket and its other streams continue', async () => {
    await using edge = await startWebSockets();
    const socket = await edge.connect();
    socket.subscribe('stream', ticks);
    const [ticker] = await streaming(edge);
    const cases: readonly (readonly [string, string, object?])[] = [
      ['{ hello', 'BAD_INPUT'],
      ['', 'BAD_INPUT'],
      ['{ nothing }', 'BAD_INPUT'],
      ['fragment F on Query { hello }', 'BAD_INPUT'],
      ['query A { hello } query B { hello }', 'BAD_INPUT'],
      ['query A { hello }', 'BAD_INPUT', { operationName: 'B' }],
      ['subscription { ticks hello: ticks }', 'BAD_INPUT'],
      ['mutation { hello }', 'BAD_INPUT'],
      ['query ($text: String!) { echo(text: $text) }', 'BAD_INPUT'],
      ['query ($text: String) { echo(text: $text) }', 'BAD_INPUT', { variables: { text: '\ud800' } }],
      ['query ($text: String) { echo(text: $text) }', 'BAD_INPUT', { variables: { text: '\0' } }],
      ['query ($number: Int) { echo(number: $number) }', 'BAD_INPUT', { variables: { number: 2 ** 31 } }],
      [`query ($text: String) { echo(text: $text) }`, 'BAD_INPUT', { variables: { text: nested(300) } }],
      ['{ bug }', 'INTERNAL_SERVER_ERROR'],
      ['subscription { bug }', 'INTERNAL_SERVER_ERROR'],
      [`{ ${'hello '.repeat(2_100)}}`, 'BAD_INPUT'],
    ];
    for (const [index, [query, , more]] of cases.entries()) socket.subscribe(`case ${index}`, query, more);
    socket.subscribe('last', '{ hello }');
    await until(() => cases.every((_, index) => socket.of(`case ${index}`).length > 0) && socket.of('last').length === 2);
    for (const [index, [query, code]] of cases.entries()) {
      const [first, ...rest] = socket.of(`case ${index}`);
      const errors = errorsIn(first);
      expect([query, errors[0]?.extensions.code]).toEqual([query, code]);
      expect(errors[0]?.extensions.requestId).toMatch(/^[0-9a-f-]{36}$/);
      expect(JSON.stringify(errors)).not.toContain('secret');
      expect(rest).toEqual(first?.type === 'error' ? [] : [complete]);
    }
    expect(socket.of('case 0')[0]).toMatchObject({ payload: [{ locations: [{ line: 1, column: 8 }] }] });
    ticker?.tick('still here');
    await until(() => socket.of('stream').length === 1);
    expect(edge.subscriptions.count('websocket')).toBe(1);
  });

  test('the end of a stream is sent: its error as the last message, then complete', async () => {
    await using edge = await startWebSockets();
    const socket = await edge.connect();
    socket.subscribe('a', ticks);
    const [ticker] = await streaming(edge);
    ticker?.tick('1');
    await until(() => socket.of('a').length === 1);
    ticker?.end(new MusterError('SLOW_CONSUMER', 'expected to be read'));
    await socket.until(({ type }) => type === 'complete');
    expect(socket.of('a')).toEqual([
      next('1'),
      {
        type: 'next',
        payload: {
          errors: [{ message: 'expected to be read', extensions: { code: 'SLOW_CONSUMER', requestId: expect.any(String) } }],
        },
      },
      complete,
    ]);
    // The id is free again.
    socket.subscribe('a', ticks);
    await streaming(edge, 1);
    await until(() => edge.tickers.length === 2);
  });

  test('the 51st operation on one socket gets an error, and there is room again when one has ended', async () => {
    await using edge = await startWebSockets();
    const socket = await edge.connect();
    for (let count = 1; count <= 1_000; count++) socket.subscribe(String(count), ticks);
    await until(() => socket.of('1000').length === 1);
    expect(edge.subscriptions.count('websocket')).toBe(50);
    expect(socket.of('50')).toEqual([]);
    for (const id of ['51', '1000'])
      expect(socket.of(id)).toMatchObject([
        { type: 'error', payload: [{ message: 'expected at most 50 operations on one socket', extensions: { code: 'OVERLOADED' } }] },
      ]);
    socket.say({ id: '7', type: 'complete' });
    socket.subscribe('again', '{ hello }');
    await until(() => socket.of('again').length === 2);
    expect(socket.of('again')[0]?.type).toBe('next');
  });

  test('the bounds of the process apply here too: streams, and operations in flight', async () => {
    await using edge = await startWebSockets({ maxStreams: 1 });
    const socket = await edge.connect();
    socket.subscribe('1', ticks);
    socket.subscribe('2', ticks);
    expect(await socket.until(({ id }) => id === '2')).toMatchObject({ type: 'error', payload: [{ extensions: { code: 'OVERLOADED' } }] });
    const places = Array.from({ length: 400 }, () => edge.admission.takeSlot());
    socket.subscribe('3', '{ hello }');
    expect(await socket.until(({ id }) => id === '3')).toMatchObject({ type: 'error', payload: [{ extensions: { code: 'OVERLOADED' } }] });
    for (const place of places) place[Symbol.dispose]();
  });

  test('a query may take 30 s', async () => {
    const clock = createManualClock();
    await using edge = await startWebSockets({ clock });
    const socket = await edge.connect();
    socket.subscribe('1', '{ slow }');
    await until(() => edge.waiting.length === 1);
    for (let second = 0; second < 30; second++) {
      await clock.advance(1_000);
      await turns(10);
    }
    await until(() => socket.of('1').length > 0);
    expect(socket.of('1')).toMatchObject([{ type: 'next', payload: { errors: [{ extensions: { code: 'TOO_COSTLY' } }] } }, complete]);
  });

  test('an answer to introspection is made once for all clients, whichever of them leaves', async () => {
    await using edge = await startWebSockets();
    const [leaving, staying] = [await edge.connect(), await edge.connect()];
    for (const socket of [leaving, staying]) socket.subscribe('1', getIntrospectionQuery());
    leaving.ws.terminate();
    await staying.until(({ type }) => type === 'complete');
    staying.subscribe('2', getIntrospectionQuery());
    await until(() => staying.of('2').length === 2);
    expect(staying.of('2')).toEqual(staying.of('1'));
    expect(staying.of('1')[0]).toMatchObject({ type: 'next', payload: { data: { __schema: { queryType: { name: 'Query' } } } } });
    expect(edge.executions()).toBe(1);
    expect(edge.admission.inFlight).toBe(0);
  });

  test('integers beyond 2^53 stay exact', async () => {
    await using edge = await startWebSockets();
    const socket = await edge.connect();
    socket.say(
      '{"id":"1","type":"subscribe","payload":{"query":"query ($n: Int) { echo(number: $n) }","variables":{"n":9007199254740993}}}',
    );
    const answer = await socket.until(({ id }) => id === '1');
    expect(JSON.stringify(answer)).toContain('9007199254740993');
  });
});

describe('A6: names that every object has', () => {
  test.each(['__proto__', 'constructor', 'prototype', 'toString', 'hasOwnProperty'])(
    '%s is an id and a variable like others',
    async (name) => {
      await using edge = await startWebSockets();
      const socket = await edge.connect();
      socket.say(`{"id":"${name}","type":"subscribe","payload":{"query":"${ticks}","variables":{"${name}":{"x":1}}}}`);
      const [ticker] = await streaming(edge);
      ticker?.tick('1');
      await until(() => socket.of(name).length === 1);
      expect(socket.of(name)).toEqual([next('1')]);
      socket.say({ id: name, type: 'complete' });
      await until(() => ticker?.isDisposed === true);
      socket.subscribe(name, '{ hello }');
      await until(() => socket.of(name).length === 3);
      expect(({} as { x?: unknown }).x).toBeUndefined();
    },
  );
});

describe('that its client has ended', () => {
  test('a stream ends at once, sends no more messages, and its id is free', async () => {
    await using edge = await startWebSockets();
    const socket = await edge.connect();
    socket.subscribe('a', ticks);
    const [ticker] = await streaming(edge);
    socket.say({ id: 'a', type: 'complete' });
    await until(() => ticker?.isDisposed === true);
    ticker?.tick('late');
    socket.subscribe('a', '{ hello }');
    await until(() => socket.of('a').length === 2);
    expect(socket.of('a')).toEqual([{ type: 'next', payload: { data: { hello: 'world' } } }, complete]);
  });

  test('a query is aborted, and its late answer is not sent', async () => {
    await using edge = await startWebSockets();
    const socket = await edge.connect();
    socket.subscribe('a', '{ slow }');
    await until(() => edge.waiting.length === 1);
    socket.say({ id: 'a', type: 'complete' });
    await until(() => edge.admission.inFlight === 0);
    edge.waiting[0]?.resolve('late');
    socket.subscribe('b', '{ hello }');
    await until(() => socket.of('b').length === 2);
    expect(socket.of('a')).toEqual([]);
    expect(edge.bugs).toEqual([]);
  });

  test('subscribe, complete and subscribe of one id in one turn leave the last one', async () => {
    await using edge = await startWebSockets();
    const socket = await edge.connect();
    socket.raw.cork();
    for (let time = 0; time < 20; time++) {
      socket.subscribe('a', ticks);
      socket.say({ id: 'a', type: 'complete' });
    }
    socket.subscribe('a', ticks);
    socket.raw.uncork();
    await until(
      () =>
        edge.tickers.length >= 1 &&
        edge.tickers.filter(({ isDisposed }) => !isDisposed).length === 1 &&
        edge.subscriptions.count('websocket') === 1,
    );
    edge.tickers.at(-1)?.tick('1');
    await until(() => socket.of('a').length === 1);
    expect(socket.of('a')).toEqual([next('1')]);
    expect(edge.bugs).toEqual([]);
  });

  test.each(['close', 'terminate'] as const)('a socket ends all of its operations (%s)', async (how) => {
    await using edge = await startWebSockets();
    const socket = await edge.connect();
    for (let count = 0; count < 10; count++) socket.subscribe(String(count), ticks);
    socket.subscribe('slow', '{ slow }');
    await streaming(edge, 10);
    socket.ws[how]();
    await until(() => edge.sockets.size === 0 && edge.admission.inFlight === 0);
    expect(edge.tickers.every(({ isDisposed }) => isDisposed)).toBe(true);
    expect([edge.subscriptions.count('websocket'), edge.subscriptions.groups]).toEqual([0, 0]);
    expect(edge.bugs).toEqual([]);
  });

  test('C3: thousands of streams that begin and complete on one socket leave nothing behind', async () => {
    const clock = createManualClock();
    await using edge = await startWebSockets({ clock });
    const socket = await edge.connect();
    const round = async (from: number) => {
      for (let id = from; id < from + 40; id++) socket.subscribe(String(id), ticks);
      await until(() => edge.subscriptions.count('websocket') === 40);
      for (let id = from; id < from + 40; id++) socket.say({ id: String(id), type: 'complete' });
      await until(() => edge.subscriptions.count('websocket') === 0);
    };
    await round(0);
    const server = edge.rawSockets()[0];
    const counts = () => ({
      sleepers: clock.sleepers,
      groups: edge.subscriptions.groups,
      ofSocket: server?.eventNames().map((name) => [name, server.listenerCount(name)]),
      open: edge.tickers.filter(({ isDisposed }) => !isDisposed).length,
    });
    await turns();
    const before = counts();
    for (let time = 1; time <= 75; time++) await round(time * 40);
    await turns();
    expect(counts()).toEqual(before);
    expect(edge.tickers).toHaveLength(76 * 40);
    expect(socket.received.filter(({ type }) => type !== 'connection_ack')).toEqual([]);
  });
});

describe('a client that reads slowly', () => {
  test('gets no more than there is room for; other clients and its own queries are not delayed by its streams', async () => {
    await using edge = await startWebSockets();
    const [paused, good] = [await edge.connect(), await edge.connect()];
    paused.subscribe('a', ticks);
    await streaming(edge, 1);
    good.subscribe('a', ticks);
    const [slow, quick] = await streaming(edge, 2);
    paused.raw.pause();
    const text = 'x'.repeat(100_000);
    for (let count = 0; count < 200 && slow?.pauses === 0; count++) {
      slow?.tick(text);
      await turns(2);
    }
    expect(slow?.pauses).toBe(1);
    const server = edge.rawSockets().find(({ writableLength }) => writableLength > 0);
    expect(server?.writableLength).toBeLessThan(64 * 1024 + 2 * text.length);
    quick?.tick('1');
    await until(() => good.of('a').length === 1);
    paused.raw.resume();
    slow?.tick('last');
    await until(() => paused.of('a').at(-1)?.payload !== undefined && JSON.stringify(paused.of('a').at(-1)).includes('last'));
  });

  test('that sends requests and never reads is not read either', async () => {
    await using edge = await startWebSockets();
    const socket = await edge.connect();
    socket.raw.pause();
    const payload = { pad: 'x'.repeat(200_000) };
    for (let count = 0; count < 200; count++) socket.say({ type: 'ping', payload });
    const server = edge.rawSockets()[0];
    await until(() => server?.isPaused() === true);
    await turns(50);
    expect(server?.writableLength).toBeLessThan(1_000_000);
    socket.raw.resume();
    await until(() => socket.received.filter(({ type }) => type === 'pong').length === 200);
  });

  test('stays connected while it reads, and is cut when it stops', async () => {
    const clock = createManualClock();
    await using edge = await startWebSockets({ clock });
    const socket = await edge.connect();
    socket.subscribe('a', ticks);
    const [ticker] = await streaming(edge);
    socket.raw.pause();
    const text = 'x'.repeat(1_000_000);
    const server = edge.rawSockets()[0];
    // Fills the connection until neither kernel takes any more.
    const fill = async () => {
      const lengths: number[] = [];
      await vi.waitUntil(
        () => {
          lengths.push(server?.writableLength ?? 0);
          if (lengths.at(-1) === 0) ticker?.tick(text);
          return lengths.at(-1) !== 0 && lengths.length >= 5 && new Set(lengths.slice(-5)).size === 1;
        },
        { interval: 10, timeout: 10_000 },
      );
    };
    await fill();
    // The pong comes after all bytes sent before the ping. These are megabytes, and the client reads some in each period.
    for (let period = 0; period < 4; period++) {
      const left = server?.writableLength ?? 0;
      expect(left).toBeGreaterThan(0);
      socket.raw.resume();
      await until(() => (server?.writableLength ?? 0) < left);
      socket.raw.pause();
      await fill();
      await clock.advance(12_000);
    }
    expect(edge.sockets.size).toBe(1);
    await clock.advance(84_000);
    await until(() => edge.sockets.size === 0);
    expect(ticker?.isDisposed).toBe(true);
  });

  test('streams of one socket share its room fairly', async () => {
    await using edge = await startWebSockets();
    const socket = await edge.connect();
    for (const id of ['a', 'b', 'c']) socket.subscribe(id, ticks);
    const tickers = await streaming(edge, 3);
    socket.raw.pause();
    const text = 'x'.repeat(100_000);
    for (let count = 0; count < 100; count++) for (const ticker of tickers) ticker.tick(text);
    await turns(20);
    socket.raw.resume();
    await until(() => socket.received.length === 301);
    const half = socket.received.slice(100, 200);
    for (const id of ['a', 'b', 'c']) expect(half.filter((message) => message.id === id).length).toBeGreaterThan(25);
  });
});

test('no rejection and no exception reaches the process', async () => {
  const rejections: unknown[] = [];
  const record = (error: unknown) => rejections.push(error);
  process.on('unhandledRejection', record);
  await using edge = await startWebSockets({
    engine: {
      prepare: () => {
        throw new Error('a bug of ours');
      },
    },
  });
  const socket = await edge.connect();
  socket.subscribe('1', '{ hello }');
  expect(await socket.until(({ id }) => id === '1')).toMatchObject({
    type: 'error',
    payload: [{ message: 'Unexpected error.', extensions: { code: 'INTERNAL_SERVER_ERROR' } }],
  });
  expect(edge.bugs).toMatchObject([{ message: 'a bug of ours' }]);
  await turns();
  process.off('unhandledRejection', record);
  expect(rejections).toEqual([]);
  expect(getEventListeners(process, 'unhandledRejection')).not.toContain(record);
});

interface ToldError {
  readonly message: string;
  readonly extensions: { readonly code: string; readonly requestId: string };
}

/** Returns the errors of a message of type `error` or `next`. */
function errorsIn(message: { readonly type: string; readonly payload?: unknown } | undefined): readonly ToldError[] {
  const payload = message?.payload as readonly ToldError[] | { readonly errors?: readonly ToldError[] } | undefined;
  return payload !== undefined && 'errors' in payload ? (payload.errors ?? []) : ((payload ?? []) as readonly ToldError[]);
}

function range(from: number, to: number): readonly number[] {
  return Array.from({ length: to - from + 1 }, (_, index) => from + index);
}

function nested(levels: number): unknown {
  return levels === 0 ? 'x' : [nested(levels - 1)];
}

/** Waits without a time limit, because the machine may be busy. */
async function until(isSo: () => boolean): Promise<void> {
  await vi.waitUntil(isSo, { interval: 2, timeout: 20_000 });
}

describe('an operation whose caller has no turn yet', () => {
  /** Starts the endpoint with a scheduler that lets an operation start when the test resolves its turn. */
  async function withSlowScheduler() {
    const waiting: PromiseWithResolvers<void>[] = [];
    const waitForTurn = () => {
      const turn = Promise.withResolvers<void>();
      waiting.push(turn);
      return turn.promise;
    };
    return { waiting, edge: await startWebSockets({ requestScheduler: { waitForTurn } }) };
  }

  test('waits, and is answered later with its own document', async () => {
    const { waiting, edge: own } = await withSlowScheduler();
    await using edge = own;
    const socket = await edge.connect();
    for (const text of ['a', 'b']) socket.subscribe(text, `{ echo(text: "${text}") }`);
    await until(() => waiting.length === 2);
    expect(edge.executions()).toBe(0);
    for (const { resolve } of waiting) resolve();
    await until(() => ['a', 'b'].every((text) => socket.of(text).length === 2));
    for (const text of ['a', 'b']) expect(socket.of(text)).toEqual([{ type: 'next', payload: { data: { echo: text } } }, complete]);
  });

  test('is not started once the client has completed it or has gone', async () => {
    const { waiting, edge: own } = await withSlowScheduler();
    await using edge = own;
    const [socket, gone] = [await edge.connect(), await edge.connect()];
    socket.subscribe('a', '{ hello }');
    gone.subscribe('a', '{ hello }');
    await until(() => waiting.length === 2);
    socket.say({ id: 'a', type: 'complete' });
    gone.ws.terminate();
    await until(() => edge.rawSockets()[1]?.destroyed === true);
    socket.subscribe('b', '{ hello }');
    await until(() => waiting.length === 3);
    for (const { resolve } of waiting) resolve();
    await until(() => socket.of('b').length === 2);
    expect([edge.executions(), socket.of('a'), edge.bugs]).toEqual([1, [], []]);
  });

  test('counts among the 50 of its socket', async () => {
    const { waiting, edge: own } = await withSlowScheduler();
    await using edge = own;
    const socket = await edge.connect();
    for (const index of range(0, 51)) socket.subscribe(`${index}`, '{ hello }');
    await until(() => socket.of('50').length === 1);
    expect(socket.of('50')).toMatchObject([{ type: 'error', payload: [{ extensions: { code: 'OVERLOADED' } }] }]);
    expect(waiting).toHaveLength(50);
  });
});
