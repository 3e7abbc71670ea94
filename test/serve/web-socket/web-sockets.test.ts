import { once } from 'node:events';
import { connect } from 'node:net';
import { describe, expect, test, vi } from 'vitest';
import { createManualClock } from '../../support/manual-clock.ts';
import { rawRequest } from '../../support/serving/start-serving.ts';
import { startWebSockets, type TestSocket } from '../../support/serving/start-web-sockets.ts';

const init = { type: 'connection_init' };
const upgrade = {
  connection: 'Upgrade',
  upgrade: 'websocket',
  'sec-websocket-version': '13',
  'sec-websocket-key': 'dGhlIHNhbXBsZSBub25jZQ==',
  'sec-websocket-protocol': 'graphql-transport-ws',
};

describe('before 101', () => {
  test.each<[string, Record<string, string>, string, number, string]>([
    [
      'a foreign Origin',
      { origin: 'https://evil.example.com' },
      '/graphql',
      403,
      'the Origin header is neither that of this gateway nor an allowed one',
    ],
    [
      'an Origin that only begins like an allowed one',
      { origin: 'https://portal.example.com.evil.example.com' },
      '/graphql',
      403,
      'the Origin',
    ],
    ['an opaque Origin', { origin: 'null' }, '/graphql', 403, 'the Origin header'],
    ['a Host that is not ours', { host: 'rebound.example.com' }, '/graphql', 403, 'the Host header does not name this gateway'],
    ['another path', {}, '/', 404, 'expected an upgrade at /graphql'],
    ['a path that only begins like ours', {}, '/graphql/x', 404, 'expected an upgrade at /graphql'],
    ['no subprotocol', { 'sec-websocket-protocol': '' }, '/graphql', 400, 'expected the subprotocol graphql-transport-ws'],
    [
      'the legacy subprotocol',
      { 'sec-websocket-protocol': 'graphql-ws' },
      '/graphql',
      400,
      'the older protocol graphql-ws is not supported',
    ],
    ['an upgrade to something else', { upgrade: 'tcp' }, '/graphql', 400, 'expected an upgrade to websocket'],
    ['a key that is none', { 'sec-websocket-key': 'short' }, '/graphql', 400, 'Sec-WebSocket-Key'],
    ['a version that is none', { 'sec-websocket-version': '99' }, '/graphql', 400, 'Sec-WebSocket-Version'],
  ])('P17: %s is refused, and the connection closed', async (_what, headers, path, status, text) => {
    await using edge = await startWebSockets();
    const answer = await rawRequest(edge.origin, { path, headers: { ...upgrade, ...headers } });
    expect([answer.status, answer.headers.connection?.toLowerCase()]).toEqual([status, 'close']);
    expect(answer.text).toContain(text);
    expect(edge.sockets.size).toBe(0);
  });

  test.each<[string, Record<string, string>]>([
    ['no Origin', {}],
    ['an allowed Origin', { origin: 'https://portal.example.com' }],
    ['our own Origin', { origin: 'own' }],
    ['several subprotocols, ours among them', { 'sec-websocket-protocol': 'graphql-ws, graphql-transport-ws' }],
  ])('%s is accepted', async (_what, headers) => {
    await using edge = await startWebSockets();
    const { origin, 'sec-websocket-protocol': offered } = headers;
    const socket = await edge.open({
      ...(origin === undefined ? {} : { headers: { origin: origin === 'own' ? edge.origin : origin } }),
      ...(offered === undefined ? {} : { protocols: offered.split(', ') }),
    });
    expect(socket.ws.protocol).toBe('graphql-transport-ws');
  });

  test('a client that offers h2c is answered in HTTP/1.1', async () => {
    await using edge = await startWebSockets();
    const headers = { connection: 'Upgrade, HTTP2-Settings', upgrade: 'h2c', 'http2-settings': 'AAMAAABkAAQAAP__' };
    expect(await rawRequest(edge.origin, { path: '/graphql', headers })).toMatchObject({ status: 200, text: 'plain' });
  });

  test('a client that resets its connection meanwhile harms no other client', async () => {
    await using edge = await startWebSockets();
    const lines = Object.entries({ host: '127.0.0.1', ...upgrade, origin: 'https://evil.example.com' }).map(
      ([name, value]) => `${name}: ${value}`,
    );
    for (let time = 0; time < 20; time++) {
      const socket = connect(Number(new URL(edge.url).port), '127.0.0.1').on('error', () => undefined);
      await once(socket, 'connect');
      socket.write(`GET /graphql HTTP/1.1\r\n${lines.join('\r\n')}\r\n\r\n`);
      socket.resetAndDestroy();
    }
    expect(await (await edge.connect()).until(({ type }) => type === 'connection_ack')).toEqual({ type: 'connection_ack' });
  });

  test('one socket too many is refused with Retry-After', async () => {
    await using edge = await startWebSockets({ maxSockets: 2 });
    const [first] = [await edge.connect(), await edge.connect()];
    const answer = await rawRequest(edge.origin, { path: '/graphql', headers: upgrade });
    expect([answer.status, answer.headers['retry-after'], answer.text]).toEqual([503, '5', 'expected at most 2 sockets\n']);
    first?.ws.close();
    await first?.closed();
    await until(() => edge.sockets.size === 1);
    await edge.connect();
  });
});

describe('1,000 sockets without connection_init', () => {
  test('20 are let in, 20 more as soon as those are cut, the others are refused; then all is as before', async () => {
    const clock = createManualClock();
    await using edge = await startWebSockets({ clock });
    const outcomes: string[] = [];
    const all = Array.from({ length: 1_000 }, () =>
      edge.open({ handshakeTimeout: 60_000 }).then(
        (socket) => socket.closed().then(({ code }) => void outcomes.push(String(code))),
        (error: Error) => void outcomes.push(error.message),
      ),
    );
    await until(() => edge.sockets.size === 1_000);
    await clock.advance(3_000);
    await until(() => outcomes.length === 20);
    await clock.advance(2_000);
    await until(() => outcomes.length === 980);
    expect(edge.refusals[0]).toMatchObject({ status: 429, code: 'OVERLOADED', headers: { 'retry-after': '1' } });
    await clock.advance(1_000);
    await Promise.all(all);
    const [cut, refused] = ['4408', 'Unexpected server response: 429'].map((outcome) => Array.from({ length: 20 }, () => outcome));
    expect([outcomes.slice(0, 20), outcomes.slice(20, 40), outcomes.slice(980)]).toEqual([cut, refused, cut]);
    expect(new Set(outcomes.slice(20, 980)).size).toBe(1);
    await until(() => edge.sockets.size === 0);
    expect(clock.sleepers).toBe(0);
    await edge.connect();
  });

  test('any number of clients get in if they send connection_init', async () => {
    await using edge = await startWebSockets();
    const all = await Promise.all(Array.from({ length: 300 }, () => edge.connect()));
    expect(edge.sockets.size).toBe(300);
    for (const { ws } of all) ws.terminate();
    await until(() => edge.sockets.size === 0);
  });
});

describe('a client that must send a token', () => {
  const wanted = { door: { token: 'correct-horse' } };

  test.each<[string, unknown, string | undefined]>([
    ['in the payload', { authorization: 'Bearer correct-horse' }, undefined],
    ['in the payload, as a header is written', { Authorization: 'bearer correct-horse' }, undefined],
    ['in the header of the upgrade', undefined, 'Bearer correct-horse'],
    ['in the payload, which counts more than the header', { authorization: 'Bearer correct-horse' }, 'Bearer wrong-horse'],
  ])('is let in with the right one %s', async (_where, payload, authorization) => {
    await using edge = await startWebSockets(wanted);
    const socket = await edge.connect(payload, authorization === undefined ? {} : { headers: { authorization } });
    // The acknowledgement does not repeat the token.
    expect(socket.received).toEqual([{ type: 'connection_ack' }]);
  });

  test.each<[string, unknown, string | undefined, string]>([
    ['nothing', undefined, undefined, 'expected a bearer token in the Authorization header'],
    ['an empty payload', {}, undefined, 'expected a bearer token in the Authorization header'],
    ['another token', { authorization: 'Bearer wrong-horse' }, undefined, 'the bearer token is wrong'],
    ['the token alone', { authorization: 'correct-horse' }, undefined, 'expected a bearer token in the Authorization header'],
    [
      'a token that is no text',
      { authorization: { Bearer: 'correct-horse' } },
      undefined,
      'expected a bearer token in the Authorization header',
    ],
    ['another one in the header', undefined, 'Bearer wrong-horse', 'the bearer token is wrong'],
  ])('is closed with 4401 for %s', async (_what, payload, authorization, reason) => {
    await using edge = await startWebSockets(wanted);
    const socket = await edge.open(authorization === undefined ? {} : { headers: { authorization } });
    socket.say({ ...init, payload });
    socket.subscribe('1', '{ hello }');
    expect(await socket.closed()).toEqual({ code: 4401, reason });
    expect(socket.received).toEqual([]);
    expect(edge.refusals).toMatchObject([{ code: 'UNAUTHENTICATED' }]);
  });

  test('is not authenticated by a token in the query string', async () => {
    await using edge = await startWebSockets(wanted);
    const socket = await edge.open({}, '?authorization=Bearer%20correct-horse&token=correct-horse');
    socket.say(init);
    expect((await socket.closed()).code).toBe(4401);
  });
});

describe('messages that the protocol does not allow close the socket', () => {
  const subscribe = { id: '1', type: 'subscribe', payload: { query: 'subscription { ticks }' } };
  test.each<[string, (socket: TestSocket) => void, number, string]>([
    ['subscribe before connection_init', (socket) => socket.say(subscribe), 4401, 'Unauthorized'],
    ['a second connection_init', (socket) => socket.say(init, init), 4429, 'Too many initialisation requests'],
    ['a second connection_init, later', (socket) => socket.say(init, subscribe, init), 4429, 'Too many initialisation requests'],
    ['an id in use', (socket) => socket.say(init, subscribe, subscribe), 4409, 'Subscriber for 1 already exists'],
    ['an unknown type', (socket) => socket.say(init, { type: 'start', id: '1' }), 4400, 'expected a JSON object with a type'],
    [
      'a type that only servers send',
      (socket) => socket.say(init, { type: 'next', id: '1', payload: {} }),
      4400,
      'expected a JSON object with a type',
    ],
    ['no type', (socket) => socket.say({ id: '1' }), 4400, 'expected a JSON object with a type'],
    [
      'a type named like what every object has',
      (socket) => socket.say({ type: 'constructor' }),
      4400,
      'expected a JSON object with a type',
    ],
    ['no JSON', (socket) => socket.say('hello'), 4400, 'expected a JSON object with a type'],
    ['an array', (socket) => socket.say('[]'), 4400, 'expected a JSON object with a type'],
    ['no object at all', (socket) => socket.say('null'), 4400, 'expected a JSON object with a type'],
    ['100,000 brackets', (socket) => socket.say('['.repeat(100_000)), 4400, 'expected'],
    ['a binary message', (socket) => socket.say(Buffer.from(JSON.stringify(init))), 4400, 'expected messages as text, got a binary one'],
    ['subscribe without id', (socket) => socket.say(init, { ...subscribe, id: '' }), 4400, 'Invalid message received'],
    ['an id that is no text', (socket) => socket.say(init, { ...subscribe, id: 1 }), 4400, 'Invalid message received'],
    [
      'an endless id',
      (socket) => socket.say(init, { ...subscribe, id: 'x'.repeat(129) }),
      4400,
      'expected an id of at most 128 characters',
    ],
    ['subscribe without query', (socket) => socket.say(init, { ...subscribe, payload: {} }), 4400, 'Invalid message received'],
    [
      'variables that are no object',
      (socket) => socket.say(init, { ...subscribe, payload: { query: '{ hello }', variables: [] } }),
      4400,
      'Invalid message received',
    ],
    [
      'an init of 17 KiB',
      (socket) => socket.say({ ...init, payload: { pad: 'x'.repeat(17 << 10) } }),
      4400,
      'expected at most 16384 bytes',
    ],
    [
      'an init payload with NUL',
      (socket) => socket.say({ ...init, payload: { pad: '\0' } }),
      4400,
      'a text in the body has a lone surrogate or NUL',
    ],
    ['a message of more than 256 KiB', (socket) => socket.say(init, { ...subscribe, payload: { query: '#'.repeat(256 << 10) } }), 1009, ''],
    ['the same without init', (socket) => socket.say('x'.repeat((256 << 10) + 1)), 1009, ''],
    ['text that is not UTF-8', (socket) => socket.ws.send(Buffer.from([0xc3, 0x28]), { binary: false }), 1007, ''],
    ['a frame that is none', (socket) => socket.raw.write(Buffer.from([0xff, 0xff, 0xff, 0xff])), 1002, ''],
  ])('%s', async (_what, misbehave, code, reason) => {
    await using edge = await startWebSockets();
    const good = await edge.connect();
    const socket = await edge.open();
    misbehave(socket);
    const closed = await socket.closed();
    expect(closed.code).toBe(code);
    expect(closed.reason).toContain(reason);
    expect(edge.bugs).toEqual([]);
    await until(() => edge.sockets.size === 1);
    good.subscribe('1', '{ hello }');
    expect(await good.until(({ type }) => type === 'next')).toMatchObject({ payload: { data: { hello: 'world' } } });
  });

  test('a ping is answered, with its payload, before and after the init', async () => {
    await using edge = await startWebSockets();
    const socket = await edge.open();
    socket.say({ type: 'ping' });
    socket.say({ ...init });
    socket.say({ type: 'ping', payload: { since: 1 } });
    socket.say({ type: 'pong' });
    await socket.until(({ payload }) => payload !== undefined);
    expect(socket.received).toEqual([{ type: 'pong' }, { type: 'connection_ack' }, { type: 'pong', payload: { since: 1 } }]);
  });
});

describe('time limits', () => {
  test('a client without connection_init is closed after 3 s with 4408, others are not', async () => {
    const clock = createManualClock();
    await using edge = await startWebSockets({ clock });
    const [silent, good] = [await edge.open(), await edge.connect()];
    await clock.advance(2_999);
    expect(edge.sockets.size).toBe(2);
    await clock.advance(1);
    expect(await silent.closed()).toEqual({ code: 4408, reason: 'expected connection_init within 3 s' });
    good.subscribe('1', '{ hello }');
    await good.until(({ type }) => type === 'next');
  });

  test('a client that does not answer pings is cut within 24 s, others stay connected', async () => {
    const clock = createManualClock();
    await using edge = await startWebSockets({ clock });
    const [silent, good] = [await edge.connect({}, { autoPong: false }), await edge.connect()];
    const pings: number[] = [];
    silent.ws.on('ping', () => pings.push(clock.monotonic()));
    for (let time = 0; time < 24 && edge.sockets.size === 2; time++) await pass(clock, 1_000);
    expect((await silent.closed()).code).toBe(1006);
    expect(pings).toHaveLength(1);
    for (let time = 0; time < 60; time++) await pass(clock, 1_000);
    expect([edge.sockets.size, good.ws.readyState]).toEqual([1, good.ws.OPEN]);
  });

  test.each([
    [0, 3_240_000],
    [0.5, 3_600_000],
    [0.999, 3_960_000],
  ])('a socket lives for an hour, plus or minus 10 % (%f)', async (chance, expectedMs) => {
    const clock = createManualClock({ random: () => chance });
    await using edge = await startWebSockets({ clock });
    const socket = await edge.connect();
    socket.subscribe('1', 'subscription { ticks }');
    await until(() => edge.tickers.length === 1);
    for (let past = 0; past < expectedMs - 12_000; past += 6_000) await pass(clock, 6_000);
    expect(edge.sockets.size).toBe(1);
    for (let past = 0; past < 36_000 && edge.sockets.size > 0; past += 6_000) await pass(clock, 6_000);
    const { code, reason } = await socket.closed();
    expect([code, reason]).toEqual([4403, 'this socket has lived for an hour: connect again, and resume with `after`']);
    expect(edge.tickers[0]?.isDisposed).toBe(true);
    expect(clock.sleepers).toBe(0);
  });
});

describe('the end of the gateway', () => {
  test('closes all sockets with 1001, spread evenly, accepts no new ones, and cuts those that do not answer', async () => {
    const clock = createManualClock();
    await using edge = await startWebSockets({ clock });
    const sockets = await Promise.all(Array.from({ length: 10 }, () => edge.connect()));
    const frozen = await edge.connect();
    frozen.raw.pause();
    const closedAt: number[] = [];
    for (const socket of sockets) socket.ws.on('close', () => closedAt.push(Math.round(clock.monotonic() / 100)));
    const drained = edge.sockets.drain(11_000);
    expect((await rawRequest(edge.origin, { path: '/graphql', headers: upgrade })).status).toBe(503);
    for (let past = 0; past < 12_500; past += 100) await pass(clock, 100);
    expect(closedAt).toEqual([0, 10, 20, 30, 40, 50, 60, 70, 80, 90].map((due) => expect.closeTo(due, -0.5)));
    expect(edge.sockets.size).toBe(0);
    await drained;
    for (const socket of sockets) expect((await socket.closed()).code).toBe(1001);
    expect(clock.sleepers).toBe(0);
  });

  test('takes no time without sockets', async () => {
    await using edge = await startWebSockets({ clock: createManualClock() });
    await edge.sockets.drain(20_000);
  });

  test('refuses sockets that wait for a handshake slot', async () => {
    const clock = createManualClock();
    await using edge = await startWebSockets({ clock });
    for (let count = 0; count < 20; count++) await edge.open();
    const late = rawRequest(edge.origin, { path: '/graphql', headers: upgrade });
    await until(() => edge.sockets.size === 21);
    const drained = edge.sockets.drain(0);
    expect((await late).status).toBe(503);
    await drained;
    expect(clock.sleepers).toBe(0);
  });
});

/** Moves the clock, and lets the sockets do their work. */
async function pass(clock: ReturnType<typeof createManualClock>, ms: number): Promise<void> {
  await clock.advance(ms);
  await new Promise((resolve) => setTimeout(resolve, 1));
}

/** Waits without a time limit, because the machine may be busy. */
async function until(isSo: () => boolean): Promise<void> {
  await vi.waitUntil(isSo, { interval: 2, timeout: 20_000 });
}
