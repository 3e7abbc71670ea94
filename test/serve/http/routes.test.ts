import { buildSchema } from 'graphql';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { HealthCheck } from '../../../src/serve/monitoring/health.ts';
import { rawRequest, servedOf, startServing } from '../../support/serving/start-serving.ts';

const schema = buildSchema('type Query { "What it says." hello: String }');
let served = servedOf(schema);
let ready = true;
const checks: readonly HealthCheck[] = [
  { name: 'cluster/north', isGood: true, detail: 'synced' },
  { name: 'cluster/south', isGood: false, detail: 'listing' },
];
let edge: Awaited<ReturnType<typeof startServing>>;
beforeAll(async () => {
  edge = await startServing({
    served: () => served,
    health: { isReady: () => ready, checks: async () => checks },
    observed: {
      clusters: () => [
        { cluster: 'north', phase: 'SYNCED', objects: 12, ageSeconds: 1.5 },
        { cluster: 'south', phase: 'UNREACHABLE', objects: 0 },
        ...Array.from({ length: 600 }, (_, n) => ({ cluster: `c${n}`, phase: 'SYNCED', objects: 1 })),
      ],
      upstream: () => [
        { cluster: 'north', verb: 'list', code: 'OK', count: 7 },
        { cluster: 'north', verb: 'watch', code: 'OK', count: 3 },
        { cluster: 'north', verb: 'watch', code: 'EXPIRED', count: 2 },
      ],
      anomalies: () => [
        { cluster: 'north', type: 'unreadable', count: 4 },
        { cluster: 'south', type: 'invariant', count: 1 },
        ...Array.from({ length: 600 }, (_, n) => ({ cluster: `c${n}`, type: 'errorEvent', count: 1 })),
      ],
    },
    examples: [{ title: 'hello', query: '# Say hello.\n{ hello }' }],
  });
});
afterAll(() => edge[Symbol.asyncDispose]());
const get = (path: string, headers: Record<string, string> = {}, method = 'GET') => rawRequest(edge.origin, { path, headers, method });

test('the schema is served as text, with its hash as ETag, and 304 for clients that have it', async () => {
  const answer = await get('/schema.graphql');
  expect(answer.text).toContain('"""What it says."""');
  expect(answer.headers).toMatchObject({ etag: '"hash-1"', 'content-type': 'application/graphql; charset=utf-8' });
  for (const known of ['"hash-1"', 'W/"hash-1"', '"other", "hash-1"', '*']) {
    const again = await get('/schema.graphql', { 'if-none-match': known });
    expect([again.status, again.text]).toEqual([304, '']);
  }
  served = servedOf(buildSchema('type Query { other: String }'), 'hash-2');
  const changed = await get('/schema.graphql', { 'if-none-match': '"hash-1"' });
  expect([changed.status, changed.headers.etag]).toEqual([200, '"hash-2"']);
  expect(changed.text).toContain('other');
  served = servedOf(schema);
});

test('the schema is gzipped for clients that accept it', async () => {
  const large = Array.from({ length: 100 }, (_, n) => `field${n}: String`).join(' ');
  served = servedOf(buildSchema(`type Query { ${large} }`), 'hash-3');
  const [plain, packed] = [await get('/schema.graphql'), await get('/schema.graphql', { 'accept-encoding': 'br, gzip;q=0.5' })];
  expect(plain.headers['content-encoding']).toBeUndefined();
  expect(packed.headers).toMatchObject({ 'content-encoding': 'gzip', vary: 'Accept-Encoding' });
  expect(Number(packed.headers['content-length'])).toBeLessThan(Number(plain.headers['content-length']));
  expect((await get('/schema.graphql', { 'accept-encoding': 'gzip;q=0' })).headers['content-encoding']).toBeUndefined();
  served = servedOf(schema);
});

test('livez answers, readyz answers when the gateway is ready, and verbose shows the checks', async () => {
  expect((await get('/livez')).status).toBe(200);
  expect((await get('/readyz')).status).toBe(200);
  ready = false;
  expect((await get('/livez')).status).toBe(200);
  const verbose = await get('/readyz?verbose');
  expect(verbose.status).toBe(503);
  expect(verbose.text).toBe('[+]cluster/north ok: synced\n[-]cluster/south not yet: listing\nreadyz check failed\n');
  ready = true;
});

test('a gateway that is retired is not ready, still answers, and sends clients to another connection', async () => {
  await using own = await startServing();
  const before = await fetch(`${own.origin}/readyz`);
  expect([before.status, before.headers.get('connection')]).toEqual([200, 'keep-alive']);
  own.serving.retire();
  const after = await fetch(`${own.origin}/readyz`);
  expect([after.status, after.headers.get('connection')]).toEqual([503, 'close']);
  const answer = await own.post(JSON.stringify({ query: '{ hello }' }));
  expect([answer.status, answer.headers.get('connection')]).toEqual([200, 'close']);
});

test('metrics have the promised names, and labels from closed sets', async () => {
  await edge.ask('{ hello }');
  await edge.ask('{ helo }');
  await edge.post('x');
  const { text, headers } = await get('/metrics');
  expect(headers['content-type']).toContain('text/plain; version=0.0.4');
  for (const line of [
    'muster_requests_total{transport="http",operation_type="query",code="OK"} 1',
    'muster_requests_total{transport="http",operation_type="none",code="BAD_INPUT"} 2',
    'muster_cluster_phase{cluster="south",phase="UNREACHABLE"} 1',
    'muster_mirror_objects{cluster="north"} 12',
    'muster_mirror_age_seconds{cluster="north"} 1.5',
    'muster_upstream_requests_total{cluster="north",verb="list",code="OK"} 7',
    'muster_watch_restarts_total{cluster="north",reason="ended"} 3',
    'muster_watch_restarts_total{cluster="north",reason="EXPIRED"} 2',
    'muster_watch_anomalies_total{cluster="north",type="unreadable"} 4',
    'muster_watch_anomalies_total{cluster="other",type="errorEvent"} 102',
  ])
    expect(text).toContain(`${line}\n`);
  for (const name of [
    'muster_request_seconds_bucket',
    'nodejs_eventloop_lag_seconds',
    'nodejs_heap_size_used_bytes',
    'nodejs_gc_duration_seconds',
  ])
    expect(text).toContain(name);
  expect(text).not.toContain('muster_mirror_age_seconds{cluster="south"}');
  expect(text.match(/muster_mirror_objects\{/g)).toHaveLength(501);
  expect(text).toContain('muster_mirror_objects{cluster="other"} 102\n');
  expect(text.match(/^# HELP (\S+)/gm)?.length).toBe(new Set(text.match(/^# HELP (\S+)/gm)).size);
});

test('a browser gets the whole GraphiQL page, without other hosts, with examples', async () => {
  const page = await get('/graphql', { accept: 'text/html,application/xhtml+xml,*/*;q=0.8' });
  expect(page.status).toBe(200);
  expect(page.headers['content-type']).toBe('text/html; charset=utf-8');
  expect(page.headers['content-security-policy']).toContain("default-src 'none'");
  expect(page.text).toMatch(/graphiql/i);
  expect(page.text).toContain('# Say hello.');
  // A token among the headers then applies to subscriptions too.
  expect(page.text).toContain('"subscriptionsProtocol":"GRAPHQL_SSE"');
  expect(page.text).not.toMatch(/<(?:script|link|img)[^>]+(?:src|href)="https?:/);
  const packed = await get('/graphql', { accept: 'text/html', 'accept-encoding': 'gzip' });
  expect(packed.headers['content-encoding']).toBe('gzip');
});

test('GraphiQL is sent compressed, and with 304 to a browser that has it', async () => {
  const headers = { accept: 'text/html', 'accept-encoding': 'gzip, deflate, br' };
  const page = await get('/graphql', headers);
  expect(page.headers).toMatchObject({ 'content-encoding': 'br', vary: 'Accept-Encoding', etag: expect.stringMatching(/^".{43}"$/) });
  expect(Number(page.headers['content-length'])).toBeLessThan(4 << 20);
  const again = await get('/graphql', { ...headers, 'if-none-match': `W/${page.headers.etag}` });
  expect([again.status, again.text, again.headers.etag]).toEqual([304, '', page.headers.etag]);
  expect(again.headers['content-length']).toBeUndefined();
  expect((await get('/graphql', { ...headers, 'if-none-match': '"another"' })).status).toBe(200);
});

test.each([
  ['/graphql', '*/*', 400],
  ['/graphql', 'application/json', 400],
  ['/graphql', 'text/html;q=0.1, application/json', 400],
  ['/nowhere', '*/*', 404],
  ['/graphql/health', '*/*', 404],
])('GET %s with Accept: %s is %i', async (path, accept, status) => {
  expect((await get(path, { accept })).status).toBe(status);
});

test('HEAD has the headers of GET and no body', async () => {
  const [head, full] = [await get('/schema.graphql', {}, 'HEAD'), await get('/schema.graphql')];
  expect([head.status, head.text]).toEqual([200, '']);
  expect(head.headers['content-length']).toBe(full.headers['content-length']);
});
