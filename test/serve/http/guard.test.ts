import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { rawRequest, startServing } from '../../support/serving/start-serving.ts';

const hello = '{"query":"{ hello }"}';
const json = { 'content-type': 'application/json' };
type Edge = Awaited<ReturnType<typeof startServing>>;

describe('local mode', () => {
  let edge: Edge;
  beforeAll(async () => {
    edge = await startServing({ config: { allowOrigins: ['https://portal.example.com'] } });
  });
  afterAll(() => edge[Symbol.asyncDispose]());
  const post = (headers: Record<string, string>) => rawRequest(edge.url, { method: 'POST', body: hello, headers: { ...json, ...headers } });

  test('refuses a Host with a port that does not exist', async () => {
    expect((await post({ host: 'localhost:65536' })).status).toBe(403);
  });

  test.each(['evil.example.com', 'evil.example.com:4000', '127.0.0.1.evil.example.com', '10.0.0.1', '[::2]', 'localhost@evil.example.com'])(
    'refuses the Host %j, which a rebound name would send, on every path',
    async (host) => {
      expect((await post({ host })).status).toBeGreaterThanOrEqual(400);
      for (const path of ['/graphql', '/schema.graphql', '/metrics', '/readyz', '/livez'])
        expect((await rawRequest(edge.origin, { path, headers: { host } })).status).toBeGreaterThanOrEqual(400);
    },
  );

  test.each(['localhost', 'localhost:1234', '127.0.0.1', '127.1.2.3:80', '[::1]:4000', 'LOCALHOST'])('serves the Host %s', async (host) => {
    expect((await post({ host })).status).toBe(200);
  });

  test.each([
    'https://evil.example.com',
    'null',
    'http://localhost:1',
    'https://portal.example.com.evil.com',
    'http://portal.example.com',
    'file://',
  ])('refuses the Origin %s', async (origin) => {
    const answer = await post({ origin, host: 'localhost:4000' });
    expect(answer.status).toBe(403);
    expect(answer.headers['access-control-allow-origin']).toBeUndefined();
  });

  test.each(['/', '/x', '?x', '#x'])('refuses its own Origin followed by %s, which no browser sends', async (rest) => {
    const { status } = await post({ origin: edge.origin + rest });
    expect(status).toBe(403);
    expect((await post({ origin: edge.origin })).status).toBe(200);
  });

  test.each(['http://localhost:4000', 'https://localhost:4000'])('serves its own Origin %s', async (origin) => {
    const answer = await post({ origin, host: 'localhost:4000' });
    expect(answer.status).toBe(200);
    expect(answer.headers['access-control-allow-origin']).toBeUndefined();
  });

  test('lets an allowed origin read the answer, and send a preflight', async () => {
    const origin = 'https://portal.example.com';
    const answer = await post({ origin });
    expect([answer.status, answer.headers['access-control-allow-origin'], answer.headers.vary]).toEqual([200, origin, 'Origin']);
    expect(answer.headers['access-control-allow-credentials']).toBeUndefined();
    const asked = await rawRequest(edge.url, {
      method: 'OPTIONS',
      headers: { origin, 'access-control-request-method': 'POST', 'access-control-request-headers': 'content-type' },
    });
    expect(asked.status).toBe(204);
    expect(asked.headers).toMatchObject({
      'access-control-allow-origin': origin,
      'access-control-allow-methods': expect.stringContaining('POST'),
      'access-control-allow-headers': 'content-type, authorization',
    });
  });

  test('gives no CORS headers to a preflight from a foreign origin', async () => {
    const asked = await rawRequest(edge.url, {
      method: 'OPTIONS',
      headers: { origin: 'https://evil.example.com', 'access-control-request-method': 'POST' },
    });
    expect(asked.status).toBe(403);
    expect(Object.keys(asked.headers).filter((name) => name.startsWith('access-control'))).toEqual([]);
  });
});

describe('with a token file', () => {
  let edge: Edge;
  beforeAll(async () => {
    edge = await startServing({ token: 'correct-horse', config: { host: '0.0.0.0' } });
  });
  afterAll(() => edge[Symbol.asyncDispose]());

  test.each([
    [undefined, 401],
    ['Bearer wrong-horse', 401],
    ['Bearer correct-hors', 401],
    ['Bearer correct-horsee', 401],
    ['Basic correct-horse', 401],
    ['correct-horse', 401],
    ['Bearer correct-horse', 200],
    ['bearer  correct-horse', 200],
  ])('Authorization: %s is %i', async (authorization, status) => {
    const headers = authorization === undefined ? {} : { authorization };
    const answer = await edge.post(hello, headers);
    expect(answer.status).toBe(status);
    if (status === 401) {
      expect(answer.headers.get('www-authenticate')).toBe('Bearer');
      expect(((await answer.json()) as { errors: { extensions: { code: string } }[] }).errors[0]?.extensions.code).toBe('UNAUTHENTICATED');
    }
    for (const path of ['/schema.graphql', '/metrics', '/readyz?verbose'])
      expect((await fetch(edge.origin + path, { headers })).status).toBe(status);
  });

  test('probes need no token, and return no details', async () => {
    for (const path of ['/livez', '/readyz']) expect(await (await fetch(edge.origin + path)).text()).toBe('ok\n');
  });

  test('the token is checked before the body is read', async () => {
    expect((await edge.post('not json')).status).toBe(401);
  });

  test('any host name is accepted', async () => {
    const headers = { ...json, host: 'muster.example.com', authorization: 'Bearer correct-horse' };
    expect((await rawRequest(edge.url, { method: 'POST', body: hello, headers })).status).toBe(200);
  });
});
