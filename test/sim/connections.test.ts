import { once } from 'node:events';
import net from 'node:net';
import { setImmediate as turn } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { createWireClient, type WireProtocol } from '../support/clients/wire-client.ts';
import { createManualClock } from '../support/manual-clock.ts';
import type { SimClusterOptions } from '../support/sim/sim-cluster.ts';
import { startSimCluster } from '../support/sim/start-sim-cluster.ts';

const start = (options: Partial<SimClusterOptions> = {}) => startSimCluster({ name: 'south', ...options });
const protocols: readonly WireProtocol[] = ['h2', 'http1'];

/** Tries to connect. Returns `open`, or the code of the error. */
async function dial(url: string): Promise<string> {
  const socket = net.connect(Number(new URL(url).port), '127.0.0.1');
  const { promise, resolve } = Promise.withResolvers<string>();
  socket.on('connect', () => resolve('open'));
  socket.on('error', (error) => resolve('code' in error ? String(error.code) : error.message));
  const result = await promise;
  socket.destroy();
  return result;
}

describe.each(protocols)('over %s', (protocol) => {
  test('answers and logs requests', async () => {
    const clock = createManualClock();
    await using south = await start({ clock });
    await using client = createWireClient(south, protocol);
    const { status, text } = await client.ask('/api/v1/namespaces/default/configmaps?limit=5', { headers: { 'x-mine': 'yes' } });
    expect([status, JSON.parse(text)]).toMatchObject([200, { kind: 'ConfigMapList', items: [] }]);
    expect(south.requests).toHaveLength(1);
    expect(south.requests[0]).toMatchObject({
      method: 'GET',
      path: '/api/v1/namespaces/default/configmaps',
      query: { limit: '5' },
      headers: { 'x-mine': 'yes', authorization: `Bearer ${south.token}` },
      protocol,
      startedMs: 0,
      status: 200,
      resource: { verb: 'list', group: '', version: 'v1', resource: 'configmaps', namespace: 'default' },
    });
    expect(south.connections()).toBe(1);
  });

  test('lists its open watches', async () => {
    await using south = await start();
    await using client = createWireClient(south, protocol);
    using watch = await client.open('/api/v1/pods?watch=1&resourceVersion=0');
    expect(watch.status).toBe(200);
    expect(south.openWatches()).toMatchObject([{ verb: 'watch', resource: 'pods', request: { status: 200 } }]);
    expect(south.close()).toBe(1);
    expect((await watch.rest()).end).toBe('clean');
    expect(south.openWatches()).toEqual([]);
    expect(south.requests[0]?.endedMs).toBeGreaterThanOrEqual(south.requests[0]?.startedMs ?? Number.POSITIVE_INFINITY);
  });

  test('can be silenced: sends and reads nothing, keeps connections, and continues afterwards', async () => {
    await using south = await start();
    await using client = createWireClient(south, protocol);
    using watch = await client.open('/api/v1/configmaps?watch=1&resourceVersion=0');
    let heard = false;
    let late: Promise<unknown>;
    {
      using _dark = south.silence();
      south.put({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a' } });
      late = watch.next().then((event) => {
        heard = true;
        return event;
      });
      expect(await dial(south.url)).toBe('open');
      const asked = south.requests.length;
      const unanswered = client.ask('/version');
      // Enough event-loop turns for an answer on loopback.
      for (let turns = 0; turns < 200; turns++) await turn();
      expect([heard, south.requests.length - asked, south.openWatches().length]).toEqual([false, 0, 1]);
      late = Promise.all([late, unanswered]);
    }
    expect(await late).toMatchObject([{ type: 'ADDED', object: { metadata: { name: 'a' } } }, { status: 200 }]);
  });

  test('resets every connection once', async () => {
    await using south = await start();
    await using first = createWireClient(south, protocol);
    using watch = await first.open('/api/v1/pods?watch=1&resourceVersion=0');
    south.disconnect();
    expect((await watch.rest()).end).toBe('reset');
    await using second = createWireClient(south, protocol);
    expect((await second.ask('/version')).status).toBe(200);
  });

  test('stops with all its connections, and frees the port', async () => {
    const south = await start();
    await using client = createWireClient(south, protocol);
    using watch = await client.open('/api/v1/pods?watch=1&resourceVersion=0');
    await south.stop();
    expect((await watch.rest()).end).toBe('reset');
    expect(south.connections()).toBe(0);
    expect(await dial(south.url)).toBe('ECONNREFUSED');
  });

  test('stops while silent', async () => {
    const south = await start();
    await using client = createWireClient(south, protocol);
    using watch = await client.open('/api/v1/pods?watch=1&resourceVersion=0');
    south.silence();
    await south.stop();
    expect((await watch.rest()).end).toBe('reset');
    expect(south.connections()).toBe(0);
  });
});

test('does not answer a PING while silent, but afterwards', async () => {
  await using south = await start();
  await using client = createWireClient(south, 'h2');
  await client.ask('/version');
  let acknowledged = false;
  const { promise, resolve } = Promise.withResolvers<void>();
  {
    using _dark = south.silence();
    client.session?.ping((error) => {
      acknowledged = error === null;
      resolve();
    });
    for (let turns = 0; turns < 200; turns++) await turn();
    expect(acknowledged).toBe(false);
  }
  await promise;
  expect(acknowledged).toBe(true);
});

test('refuses new connections while open ones continue, and accepts them again on the same port', async () => {
  await using south = await start();
  await using client = createWireClient(south, 'h2');
  await client.ask('/version');
  {
    using _refused = south.refuse();
    expect(await dial(south.url)).toBe('ECONNREFUSED');
    expect((await client.ask('/version')).status).toBe(200);
  }
  await expect.poll(() => dial(south.url)).toBe('open');
});

test('sends GOAWAY: open streams continue, and the session accepts no new ones', async () => {
  await using south = await start();
  await using client = createWireClient(south, 'h2');
  using watch = await client.open('/api/v1/configmaps?watch=1&resourceVersion=0');
  const told = client.session === undefined ? undefined : once(client.session, 'goaway');
  south.goAway();
  expect((await told)?.[0]).toBe(0);
  south.put({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a' } });
  expect(await watch.take(1)).toEqual(['ADDED a']);
  expect(client.session?.closed).toBe(true);
});

test('uses the configured protocol from the next connection on', async () => {
  await using south = await start({ protocols: 'http1' });
  await using one = createWireClient(south, 'http1');
  expect((await one.ask('/version')).status).toBe(200);
  await using refused = createWireClient(south, 'h2');
  expect((await refused.ask('/version')).status).toBe(0);
  south.speak('h2', { maxConcurrentStreams: 10 });
  expect((await one.ask('/version')).status).toBe(200);
  await using two = createWireClient(south, 'h2');
  expect((await two.ask('/version')).status).toBe(200);
  expect(two.session?.remoteSettings.maxConcurrentStreams).toBe(10);
  await using old = createWireClient(south, 'http1');
  expect((await old.ask('/version')).status).toBe(0);
});

test('allows the configured number of streams', async () => {
  await using south = await start({ maxConcurrentStreams: 3 });
  await using client = createWireClient(south, 'h2');
  await client.ask('/version');
  expect(client.session?.remoteSettings.maxConcurrentStreams).toBe(3);
});
