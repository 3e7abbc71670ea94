import { describe, expect, test } from 'vitest';
import { createWireClient, type WireClient, type WireProtocol } from '../support/clients/wire-client.ts';
import { createManualClock, turns } from '../support/manual-clock.ts';
import type { SimCluster, SimClusterOptions } from '../support/sim/sim-cluster.ts';
import { startSimCluster } from '../support/sim/start-sim-cluster.ts';

const start = (options: Partial<SimClusterOptions> = {}) => startSimCluster({ name: 'south', ...options });
const protocols: readonly WireProtocol[] = ['h2', 'http1'];
const configMaps = '/api/v1/configmaps';
const secrets = '/api/v1/secrets';
const reviews = '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews';

const statusesOf = async (client: WireClient, ...paths: string[]) => {
  const statuses: number[] = [];
  for (const path of paths) statuses.push((await client.ask(path)).status);
  return statuses;
};

/** Advances the clock until the promise resolves. */
async function settled<T>(promise: Promise<T>, step: () => Promise<void>): Promise<T> {
  let isSettled = false;
  const end = () => {
    isSettled = true;
  };
  promise.then(end, end);
  while (!isSettled) await step();
  return promise;
}

describe.each(protocols)('over %s', (protocol) => {
  test('gives as many prepared answers as configured, in their scope, with a Status as default body', async () => {
    await using south = await start();
    await using client = createWireClient(south, protocol);
    south.answer({ status: 500, times: 2 }, { resource: 'configmaps' });
    expect(await statusesOf(client, configMaps, secrets, configMaps, configMaps)).toEqual([500, 200, 500, 200]);
    south.answer({ status: 429, headers: { 'Retry-After': '7' } }, { kind: 'ConfigMap', verb: 'list' });
    const throttled = await client.ask(configMaps);
    expect(throttled.headers['retry-after']).toBe('7');
    expect(JSON.parse(throttled.text)).toMatchObject({ kind: 'Status', code: 429, reason: 'TooManyRequests' });
    using _html = south.answer(
      { status: 200, headers: { 'content-type': 'text/html' }, body: '<p>', times: Infinity },
      { path: '/version' },
    );
    const page = await client.ask('/version');
    expect([page.status, page.headers['content-type'], page.text]).toEqual([200, 'text/html', '<p>']);
    south.answer({ status: 200, body: { kind: 'Odd' } }, { path: configMaps });
    expect(await client.read(configMaps)).toEqual({ kind: 'Odd' });
  });

  test('redirects', async () => {
    await using south = await start();
    await using client = createWireClient(south, protocol);
    {
      using _moved = south.redirect('https://192.0.2.1/', { resource: 'configmaps' });
      const { status, headers } = await client.ask(configMaps);
      expect([status, headers.location]).toEqual([302, 'https://192.0.2.1/']);
    }
    expect(await statusesOf(client, configMaps)).toEqual([200]);
  });

  test('delays an answer', async () => {
    const clock = createManualClock();
    await using south = await start({ clock });
    await using client = createWireClient(south, protocol);
    using _slow = south.delay(30_000, { resource: 'configmaps' });
    const late = client.ask(configMaps);
    expect(await statusesOf(client, secrets)).toEqual([200]);
    expect(clock.monotonic()).toBe(0);
    await expect.poll(() => clock.sleepers).toBe(1);
    await clock.advance(30_000);
    expect((await late).status).toBe(200);
  });

  test('sends the headers at once and then one byte per second', async () => {
    const clock = createManualClock();
    await using south = await start({ clock });
    await using client = createWireClient(south, protocol);
    using _drip = south.drip({ path: '/version' });
    using stream = await client.open('/version');
    expect(stream.status).toBe(200);
    const answer = await settled(stream.rest(), () => clock.advance(1_000));
    expect(JSON.parse(answer.text)).toMatchObject({ major: '1' });
    expect(answer.chunks.length).toBe(answer.bytes.length);
    expect(clock.monotonic()).toBeGreaterThanOrEqual((answer.bytes.length - 1) * 1_000);
  });

  test('sends chunks of one byte', async () => {
    await using south = await start();
    await using client = createWireClient(south, protocol);
    south.put({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'ä' } });
    const whole = await client.ask(configMaps);
    using _chunked = south.chunk({ resource: 'configmaps' });
    const pieces = await client.ask(configMaps);
    expect(pieces.text).toBe(whole.text);
    expect(Math.max(...pieces.chunks.map((chunk) => chunk.length))).toBeLessThan(4);
    expect(pieces.chunks.length).toBeGreaterThan(pieces.bytes.length / 2);
  });

  test('cuts a compressed list in the middle', async () => {
    await using south = await start();
    await using client = createWireClient(south, protocol);
    south.fill('ConfigMap', 400, (index) => ({ metadata: { name: 'c' }, data: { key: `${index}`.repeat(100) } }));
    const headers = { 'accept-encoding': 'gzip' };
    const whole = await client.ask(configMaps, { headers });
    expect(whole.headers['content-encoding']).toBe('gzip');
    south.cut('gzip');
    const half = await client.ask(configMaps, { headers });
    expect(half.end).toBe('reset');
    expect(half.bytes.length).toBeLessThan(whole.bytes.length * 0.7);
    south.cut('gzip', { end: 'clean' });
    expect((await client.ask(configMaps, { headers })).end).toBe('clean');
    expect((await client.ask(configMaps, { headers })).bytes.length).toBe(whole.bytes.length);
  });
});

test('stalls one stream including its headers, while the connection works', async () => {
  await using south = await start();
  await using client = createWireClient(south, 'h2');
  let isAnswered = false;
  let stalled: Promise<number>;
  {
    using _still = south.stall({ resource: 'configmaps' });
    stalled = client.ask(configMaps).then(({ status }) => {
      isAnswered = true;
      return status;
    });
    expect(await statusesOf(client, secrets, secrets)).toEqual([200, 200]);
    await expect.poll(() => south.requests.length).toBe(3);
    await turns();
    expect(isAnswered).toBe(false);
  }
  expect(await stalled).toBe(200);
});

test('forbids a kind, some namespaces or all others, also in access reviews', async () => {
  await using south = await start();
  await using client = createWireClient(south, 'h2');
  const review = async (namespace?: string) => {
    const resourceAttributes = { verb: 'list', resource: 'secrets', namespace };
    const { status } = await client.read(reviews, {
      method: 'POST',
      body: { kind: 'SelfSubjectAccessReview', apiVersion: 'authorization.k8s.io/v1', spec: { resourceAttributes } },
    });
    return status?.allowed;
  };
  {
    using _all = south.forbid({ kind: 'Secret', verbs: ['list', 'watch'] });
    const refused = await client.read(secrets);
    expect(refused).toMatchObject({ code: 403, reason: 'Forbidden', details: { kind: 'secrets' } });
    expect(refused.message).toContain('cannot list resource "secrets" in API group "" at the cluster scope');
    expect(await statusesOf(client, '/api/v1/namespaces/default/secrets', `${secrets}?watch=1`, configMaps)).toEqual([403, 403, 200]);
    expect(await statusesOf(client, '/api/v1/namespaces/default/secrets/none')).toEqual([404]);
    expect(await review()).toBe(false);
  }
  {
    using _most = south.forbid({ kind: 'Secret', exceptNamespaces: ['default'] });
    expect(await statusesOf(client, secrets, '/api/v1/namespaces/default/secrets', '/api/v1/namespaces/other/secrets')).toEqual([
      403, 200, 403,
    ]);
    expect([await review(), await review('default'), await review('other')]).toEqual([false, true, false]);
  }
  {
    using _one = south.forbid({ namespaces: ['other'] });
    expect(await statusesOf(client, secrets, '/api/v1/namespaces/default/secrets', '/api/v1/namespaces/other/secrets')).toEqual([
      200, 200, 403,
    ]);
  }
  expect([...(await statusesOf(client, secrets)), await review('other')]).toEqual([200, true]);
});

test('accepts one token: 403 without a token, 401 for an unknown or rotated one', async () => {
  await using south = await start();
  const first = { url: south.url, caPem: south.caPem, token: south.token };
  await using client = createWireClient(first, 'h2');
  using watch = await client.open(`${configMaps}?watch=1&resourceVersion=0`);
  const next = south.rotateToken();
  expect([south.token, next === first.token]).toEqual([next, false]);
  expect(await client.read(configMaps)).toMatchObject({ code: 401, reason: 'Unauthorized' });
  expect((await client.ask(configMaps, { headers: { authorization: `Bearer ${next}` } })).status).toBe(200);
  south.put({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a' } });
  expect(await watch.take(1)).toEqual(['ADDED a']);
  expect(south.rotateToken('mine')).toBe('mine');
  await using nobody = createWireClient({ ...first, token: '' }, 'h2');
  expect((await nobody.ask(configMaps, { headers: { authorization: 'Bearer mine' } })).status).toBe(200);
});

const metrics = {
  group: 'metrics.k8s.io',
  version: 'v1beta1',
  kinds: [{ kind: 'PodMetrics', resource: 'pods', singular: '', namespaced: true, verbs: ['get', 'list'], anonymous: true }],
} as const;
const aggregated = { headers: { accept: 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList' } };

const freshnessOf = async (client: WireClient, group: string) => {
  const { items } = await client.read<{ items: { metadata: { name: string }; versions: { freshness: string }[] }[] }>('/apis', aggregated);
  return items.find(({ metadata }) => metadata.name === group)?.versions[0]?.freshness;
};

test('serves an aggregated API without uids and versions, which can fail', async () => {
  await using south = await start();
  await using client = createWireClient(south, 'h2');
  south.aggregate(metrics);
  south.put({ apiVersion: 'metrics.k8s.io/v1beta1', kind: 'PodMetrics', metadata: { name: 'web', namespace: 'default' }, window: '30s' });
  const path = '/apis/metrics.k8s.io/v1beta1/pods';
  const list = await client.read(path);
  expect(list).toMatchObject({
    kind: 'PodMetricsList',
    metadata: {},
    items: [{ metadata: { name: 'web', namespace: 'default' }, window: '30s' }],
  });
  expect([list.metadata.resourceVersion, list.items[0]?.metadata.uid, list.items[0]?.metadata.resourceVersion]).toEqual([
    undefined,
    undefined,
    undefined,
  ]);
  expect(await client.read(`${path}?watch=1`)).toMatchObject({ code: 405, reason: 'MethodNotAllowed' });
  expect(south.objects('APIService').map(({ metadata }) => metadata.name)).toEqual(['v1beta1.metrics.k8s.io']);
  {
    using _broken = south.breakGroup('metrics.k8s.io');
    expect(await statusesOf(client, path, '/apis/metrics.k8s.io/v1beta1', configMaps, '/apis')).toEqual([503, 503, 200, 200]);
    expect([await freshnessOf(client, 'metrics.k8s.io'), await freshnessOf(client, 'apps')]).toEqual(['Stale', 'Current']);
  }
  expect(await statusesOf(client, path)).toEqual([200]);
  expect(await freshnessOf(client, 'metrics.k8s.io')).toBe('Current');
});

test('refuses a watch with 405, and leaves it out of discovery', async () => {
  await using south = await start();
  await using client = createWireClient(south, 'h2');
  const verbs = async () => {
    const { resources } = await client.read<{ resources: { name: string; verbs: string[] }[] }>('/api/v1');
    return resources.find(({ name }) => name === 'configmaps')?.verbs.includes('watch');
  };
  {
    using _poll = south.unwatchable({ kind: 'ConfigMap' });
    expect(await statusesOf(client, `${configMaps}?watch=1`, `${secrets}?watch=1&timeoutSeconds=1`, configMaps)).toEqual([405, 200, 200]);
    expect(await verbs()).toBe(false);
  }
  expect(await verbs()).toBe(true);
});

test('serves the kinds of its version', async () => {
  await using south = await start({ version: '1.33.13' });
  await using client = createWireClient(south, 'h2');
  const devices = '/apis/resource.k8s.io/v1/deviceclasses';
  expect(await client.read('/version')).toMatchObject({ major: '1', minor: '33', gitVersion: 'v1.33.13' });
  const initial = `${configMaps}?watch=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true`;
  expect(await client.read(initial)).toMatchObject({ code: 422, details: { causes: [{ field: 'sendInitialEvents' }] } });
  expect(await statusesOf(client, devices)).toEqual([404]);
  south.upgrade('1.36.3');
  expect(south.gitVersion).toBe('v1.36.3');
  await using again = createWireClient(south, 'h2');
  expect(await statusesOf(again, devices, `${initial}&timeoutSeconds=1`)).toEqual([200, 200]);
  expect(await again.read('/version')).toMatchObject({ minor: '36' });
});

test("upgrades to a version with another default, without changing the objects' versions", async () => {
  await using south = await start();
  const before = south.put({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a' }, data: { k: 'v' } });
  south.upgrade('1.37.0', (object) => (object.kind === 'ConfigMap' ? { ...object, immutable: false } : object));
  await using client = createWireClient(south, 'h2');
  const { items } = await client.read(configMaps);
  expect(items[0]).toMatchObject({
    immutable: false,
    metadata: { resourceVersion: before.metadata.resourceVersion, uid: before.metadata.uid },
  });
});

test('keeps the pages of a list for five minutes, or until they are expired', async () => {
  const clock = createManualClock();
  await using south: SimCluster = await start({ clock });
  await using client = createWireClient(south, 'h2');
  south.fill('ConfigMap', 5);
  const first = await client.read(`${configMaps}?limit=2`);
  const next = `${configMaps}?limit=2&continue=${first.metadata.continue}`;
  south.churn('ConfigMap', { updates: 1, deletes: 1, creates: 2 });
  await clock.advance(4 * 60_000);
  expect((await client.read(next)).items.map(({ metadata }) => metadata.name)).toEqual(['configmap-2', 'configmap-3']);
  await clock.advance(61_000);
  expect(await client.read(next)).toMatchObject({ code: 410, reason: 'Expired', metadata: { continue: expect.any(String) } });

  const other = await client.read(`${configMaps}?limit=2`);
  south.expireContinue();
  expect(await client.read(`${configMaps}?limit=2&continue=${other.metadata.continue}`)).toMatchObject({ code: 410, reason: 'Expired' });
  expect(await statusesOf(client, configMaps)).toEqual([200]);
});

test('expires the next list at a version', async () => {
  await using south = await start();
  await using client = createWireClient(south, 'h2');
  const { version } = south.list('ConfigMap');
  south.expire('list', { kind: 'ConfigMap' });
  const at = `${configMaps}?resourceVersion=${version}&resourceVersionMatch=NotOlderThan`;
  expect(await statusesOf(client, configMaps, `${configMaps}?resourceVersion=0`, at, at)).toEqual([200, 200, 410, 200]);
});
