import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import type { RefusedLogin } from '../../../src/audit/audit.ts';
import type { Log } from '../../../src/core/log.ts';
import { listen } from '../../../src/serve/http/listen.ts';
import { askForEvents } from '../../support/clients/event-client.ts';
import { startAuthenticated } from '../../support/serving/start-authenticated.ts';
import { rawRequest } from '../../support/serving/start-serving.ts';
import { TestSocket } from '../../support/serving/start-web-sockets.ts';

type Edge = Awaited<ReturnType<typeof startAuthenticated>>;
const ticks = 'subscription { ticks { n mine } }';
const lines: object[] = [];
const logins: RefusedLogin[] = [];
const log: Log = {
  debug: () => undefined,
  info: (fields) => lines.push(fields),
  warn: () => undefined,
  error: (fields) => lines.push(fields),
};

let edge: Edge;
beforeAll(async () => {
  const audit = { refusedLogin: (login: RefusedLogin) => logins.push(login) };
  edge = await startAuthenticated({ log, audit, config: { host: '0.0.0.0', allowOrigins: ['https://portal.example.com'] } });
});
afterAll(() => edge[Symbol.asyncDispose]());

const url = (path: string) => `http://127.0.0.1:${edge.serving.port}${path}`;
const post = (headers: Record<string, string>, body: unknown = { query: '{ hello }' }) =>
  rawRequest(url('/graphql'), {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  });
const socket = async (payload?: object, headers: Record<string, string> = {}) => {
  const opened = await TestSocket.open(url('/graphql').replace('http', 'ws'), { headers });
  opened.say({ type: 'connection_init', ...(payload === undefined ? {} : { payload }) });
  return opened;
};
const refused = 'expected credentials that this gateway accepts, such as a bearer token of its issuer';

describe('without credentials that are accepted', () => {
  const wrong = (): Record<string, Record<string, string>> => ({
    nothing: {},
    'no token': { authorization: 'Bearer' },
    nonsense: { authorization: 'Bearer nonsense' },
    'another scheme': { authorization: `Basic ${btoa('alice:alice')}` },
    'a token without a scheme': { authorization: edge.as('alice').authorization.slice(7) },
    'an expired token': edge.as('alice', { exp: 1 }),
    'a token of another issuer': edge.as('alice', { iss: 'https://127.0.0.1:1' }),
    'a token in a cookie': { cookie: `authorization=${edge.as('alice').authorization}` },
  });

  test.each(['application/json', 'application/graphql-response+json', 'text/event-stream', 'text/html', 'image/png', ''])(
    'HTTP that accepts %j is answered with 401, one message and no data',
    async (accept) => {
      for (const [what, headers] of Object.entries(wrong())) {
        const answer = await post({ ...headers, accept });
        expect(answer.status, what).toBe(401);
        expect(answer.headers['www-authenticate']).toBe('Bearer');
        expect(answer.headers['content-type']).toMatch(/json; charset=utf-8$/);
        const requestId = answer.headers['x-request-id'];
        expect(JSON.parse(answer.text), what).toEqual({
          errors: [{ message: refused, extensions: { code: 'UNAUTHENTICATED', requestId } }],
        });
      }
    },
  );

  test('a WebSocket is closed with 4401 after connection_init, and no operation runs before', async () => {
    const shown = Object.values(wrong()).map(({ authorization }) => (authorization === undefined ? undefined : { authorization }));
    for (const payload of shown) expect(await (await socket(payload)).closed()).toEqual({ code: 4401, reason: refused });
    expect(await (await socket(undefined, wrong().nonsense)).closed()).toEqual({ code: 4401, reason: refused });
    const hasty = await TestSocket.open(url('/graphql').replace('http', 'ws'));
    hasty.subscribe('1', ticks);
    expect((await hasty.closed()).code).toBe(4401);
    expect(edge.source.opened).toBe(0);
  });

  test('a token in the query string is ignored', async () => {
    const token = edge.as('alice').authorization.slice(7);
    expect((await rawRequest(url(`/graphql?access_token=${token}&query={hello}`), {})).status).toBe(401);
    const opened = await TestSocket.open(`${url('/graphql').replace('http', 'ws')}?authorization=Bearer%20${token}`);
    opened.say({ type: 'connection_init' });
    expect((await opened.closed()).code).toBe(4401);
  });

  test('identity comes before the body, the media types and the page', async () => {
    expect((await post({}, 'no json')).status).toBe(401);
    expect((await post({ 'content-type': 'text/plain' })).status).toBe(401);
    expect((await post({}, { query: '{ __typename }' })).status).toBe(401);
    expect((await post({ 'content-length': '5' }, 'x'.repeat(5))).status).toBe(401);
    expect((await rawRequest(url('/graphql'), { headers: { accept: 'text/html' } })).status).toBe(401);
    expect((await rawRequest(url('/graphql'), { method: 'HEAD' })).status).toBe(401);
    expect((await rawRequest(url('/graphql?query={hello}'), {})).status).toBe(401);
    expect((await post({ 'content-length': String(5 << 20) }, 'x'.repeat(5 << 20))).status).toBe(401);
  });

  test('only probes are open, and /metrics is not served', async () => {
    const status = async (path: string, headers = {}) => (await rawRequest(url(path), { headers })).status;
    const paths = ['/livez', '/readyz', '/readyz?verbose', '/schema.graphql', '/metrics', '/other'];
    expect(await Promise.all(paths.map((path) => status(path)))).toEqual([200, 200, 401, 401, 404, 404]);
    const mine = edge.as('alice');
    expect(await Promise.all(paths.map((path) => status(path, mine)))).toEqual([200, 200, 200, 200, 404, 404]);
  });

  test('metrics have a port of their own, without authentication, and nothing else is served there', async () => {
    const metricsListening = await listen({ host: '127.0.0.1', port: 0 });
    await using other = await startAuthenticated({ metricsListening });
    await other.post('{"query":"{ hello }"}', other.as('alice', { aud: 'other' }));
    const ask = (path: string, method = 'GET') => rawRequest(`http://127.0.0.1:${metricsListening.port}`, { path, method });
    const answer = await ask('/metrics');
    expect([answer.status, answer.headers['content-type']]).toEqual([200, 'text/plain; version=0.0.4; charset=utf-8']);
    expect(answer.text).toContain('muster_auth_failures_total{method="oidc",reason="audience"} 1');
    expect((await Promise.all(['/graphql', '/schema.graphql', '/readyz'].map((path) => ask(path)))).map(({ status }) => status)).toEqual([
      404, 404, 404,
    ]);
    expect((await ask('/metrics', 'POST')).status).toBe(405);
    await metricsListening[Symbol.asyncDispose]();
  });

  test('a preflight of an allowed origin passes, and its page may read a 401', async () => {
    const origin = 'https://portal.example.com';
    const preflight = await rawRequest(url('/graphql'), {
      method: 'OPTIONS',
      headers: { origin, 'access-control-request-method': 'POST' },
    });
    expect([preflight.status, preflight.headers['access-control-allow-origin']]).toEqual([204, origin]);
    const answer = await post({ origin });
    expect([answer.status, answer.headers['access-control-allow-origin']]).toEqual([401, origin]);
    expect((await post({ origin: 'https://evil.example.com', ...edge.as('alice') })).status).toBe(403);
  });

  test('each credential that is not accepted is recorded with its request, and a request without one is not', async () => {
    logins.length = 0;
    const { headers } = await post({ authorization: edge.as('alice', { aud: 'other' }).authorization });
    await post({});
    expect(logins).toEqual([{ requestId: headers['x-request-id'], method: 'oidc', reason: 'audience', address: '127.0.0.1' }]);
  });

  test('the log has the reason, at most ten lines a second, without names and tokens', async () => {
    const token = edge.as('alice', { aud: 'other' }).authorization;
    await edge.clock.advance(1_000);
    await post({});
    lines.length = 0;
    await edge.clock.advance(1_000);
    for (let i = 0; i < 30; i++) await post({ authorization: token });
    const requestId = expect.any(String);
    expect(lines).toEqual(Array(10).fill({ requestId, method: 'oidc', reason: 'audience' }));
    await edge.clock.advance(1_000);
    const last = await post({});
    expect(lines.at(-1)).toEqual({ requestId: last.headers['x-request-id'], method: 'none', reason: 'missing', skipped: 20 });
    expect(JSON.stringify(lines)).not.toMatch(/alice|eyJ/);
  });
});

describe('with a token', () => {
  test('HTTP, a page, and any Host are served', async () => {
    const mine = edge.as('alice');
    expect(JSON.parse((await post({ ...mine, host: 'muster.example.com' })).text)).toEqual({ data: { hello: 'hello world' } });
    const page = await rawRequest(url('/graphql'), { headers: { ...mine, accept: 'text/html' } });
    expect([page.status, page.headers['content-type']]).toEqual([200, 'text/html; charset=utf-8']);
  });

  test('the operation has the caller of the token, on every transport', async () => {
    edge.fields.scopes.length = 0;
    using events = await askForEvents(url('/graphql'), { query: ticks }, edge.as('alice'));
    const inPayload = await socket({ Authorization: edge.as('bob').authorization });
    const inHeader = await socket(undefined, edge.as('carol'));
    for (const opened of [inPayload, inHeader]) {
      expect((await opened.until(({ type }) => type === 'connection_ack')).payload, 'the ack has no token').toBeUndefined();
      opened.subscribe('1', ticks);
    }
    await vi.waitUntil(() => edge.source.readers.size === 3);
    edge.source.feed({ n: 1 });
    await events.until(1);
    for (const opened of [inPayload, inHeader]) await opened.until(({ type }) => type === 'next');
    const users = new Set(edge.fields.scopes.map(({ caller }) => caller.user?.user));
    expect([...users].sort()).toEqual(['oidc:alice', 'oidc:bob', 'oidc:carol']);
    for (const opened of [inPayload, inHeader]) opened.ws.close();
    events[Symbol.dispose]();
    await vi.waitUntil(() => edge.source.readers.size === 0);
  });

  test('the payload wins over the header of the upgrade', async () => {
    const opened = await socket({ authorization: 'Bearer nonsense' }, edge.as('alice'));
    expect((await opened.closed()).code).toBe(4401);
  });
});
