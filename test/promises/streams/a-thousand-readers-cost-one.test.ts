import { describe, expect, test, vi } from 'vitest';
import { OperationExecutor } from '../../../src/execution/operation-executor.ts';
import { LiveSocket, type LiveStream, openStream } from '../../support/clients/live-socket.ts';
import { HeldObjects } from '../../support/gateway/held-objects.ts';
import { changesIn, PodReader, podChanges, untilAllHold } from '../../support/gateway/pod-reader.ts';
import { startGateway, type TestGateway } from '../../support/gateway/start-gateway.ts';
import { liveHeapBytes } from '../../support/heap.ts';
import { pod } from '../../support/workloads.ts';

// "A thousand readers cost hardly more than one": one watch per cluster and kind, and one execution and one encoding per message, for any
// number of readers.

/** Maximum number of operations on a socket. */
const perSocket = 50;

const watchesOf = (gateway: TestGateway, names: readonly string[]) =>
  names.map(
    (name) =>
      gateway
        .cluster(name)
        .openWatches()
        .filter(({ resource }) => resource === 'pods').length,
  );

async function openMany(gateway: TestGateway, count: number, query = podChanges): Promise<readonly LiveStream[]> {
  const sockets = await Promise.all(Array.from({ length: Math.ceil(count / perSocket) }, () => LiveSocket.open(gateway.url)));
  const streams = Array.from({ length: count }, (_, n) => sockets[Math.floor(n / perSocket)]?.start(query));
  return streams.filter((stream) => stream !== undefined);
}

const syncedIn = (stream: LiveStream) => changesIn(stream).filter(({ type }) => type === 'SYNCED').length;

/** Counts the executions of a message's operation and the encodings of its results. */
function countWork() {
  const executions = vi.spyOn(OperationExecutor.prototype, 'execute');
  const encodings = vi.spyOn(JSON, 'stringify');
  return {
    executions: () => executions.mock.calls.length,
    encodings: () => encodings.mock.calls.filter(([value]) => value?.data?.pods?.added !== undefined).length,
    [Symbol.dispose]: () => {
      executions.mockRestore();
      encodings.mockRestore();
    },
  };
}

const podNamed = (n: number, at: number) => pod(`p${n}`, { annotations: { at: String(at) } });

describe('P8: a thousand equal views', () => {
  test('cause one upstream watch per cluster, one execution and one encoding per message, and all get the same bytes', async () => {
    await using gateway = await startGateway({ north: [pod('web')], south: [pod('api')] });
    const names = ['north', 'south'];
    const streams = [
      ...(await openMany(gateway, 990)),
      ...(await Promise.all(Array.from({ length: 10 }, () => openStream('sse', gateway.url, { query: podChanges })))),
    ];
    await gateway.until(() => streams.every((stream) => syncedIn(stream) === 2));
    expect(watchesOf(gateway, names)).toEqual([1, 1]);
    const before = streams.map(({ texts }) => texts.length);
    using work = countWork();
    for (let burst = 0; burst < 5; burst++) {
      for (let n = 0; n < 20; n++) for (const name of names) gateway.cluster(name).put(podNamed(n, burst));
      await gateway.pass(100);
    }
    const last = streams.map((stream) => HeldObjects.of(changesIn(stream)));
    await gateway.until(() => streams.every((stream) => stream.seen.length === streams[0]?.seen.length));
    const told = streams.map(({ texts }, n) => texts.slice(before[n]).join('\n'));
    expect(new Set(told).size).toBe(1);
    const messages = (streams[0]?.seen.length ?? 0) - (before[0] ?? 0);
    expect(messages).toBeGreaterThanOrEqual(10);
    expect(work.executions()).toBe(messages);
    expect(work.encodings()).toBe(messages);
    expect(last[0]?.names()).toHaveLength(42);
    expect(watchesOf(gateway, names)).toEqual([1, 1]);
  });

  test('some with fragments, in another order or with fewer fields: all get the same changes', async () => {
    await using gateway = await startGateway({ north: [pod('web')] });
    const whole =
      'type cluster { name } cursor fault { code } added { id metadata { name } } modified { id metadata { name } } deleted { id metadata { name } }';
    const documents = [
      `subscription { pods { ${whole} } }`,
      'subscription { pods { ...Changes } } fragment Changes on PodChanges { type cluster { name } cursor fault { code } ...Objects } fragment Objects on PodChanges { added { ...P } modified { ...P } deleted { ...P } } fragment P on Pod { id ...Name } fragment Name on Pod { metadata { name } }',
      `subscription { pods { ... on Changes { type cursor } ... on PodChanges { cluster { name } fault { code } } deleted { id metadata { name } } modified { id metadata { name } } added { id metadata { name } } } }`,
      `subscription Other { pods { ${whole} } }`,
      // The stream does not select the fields that change below. Each event still causes a message.
      'subscription { pods { type cluster { name } cursor fault { code } added { id metadata { name } } modified { id metadata { name } } deleted { id metadata { name } } kind: __typename } }',
    ];
    const streams = (await Promise.all(documents.map((query) => openMany(gateway, 20, query)))).flat();
    await gateway.until(() => streams.every((stream) => syncedIn(stream) === 1));
    const north = gateway.cluster('north');
    for (const change of [
      () => north.put(pod('web', {}, { nodeName: 'node-1' })),
      () => north.put(pod('new')),
      () => north.put(pod('web', { labels: { tier: 'front' } }, { nodeName: 'node-1' })),
      () => north.remove('Pod', 'new', 'default'),
    ]) {
      change();
      await gateway.pass(200);
    }
    expect(watchesOf(gateway, ['north'])).toEqual([1]);
    const eventsOf = (stream: LiveStream) =>
      changesIn(stream)
        .filter(({ type }) => type === 'LIVE')
        .map(({ added, modified, deleted }) => [added, modified, deleted].map((objects) => objects.map(({ metadata }) => metadata.name)));
    for (const stream of streams)
      expect(eventsOf(stream)).toEqual([
        [[], ['web'], []],
        [['new'], [], []],
        [[], ['web'], []],
        [[], [], ['new']],
      ]);
  });

  test('end their watch some time after the last of them has ended', async () => {
    await using gateway = await startGateway({ north: [pod('web')] });
    const streams = await openMany(gateway, 100);
    await gateway.until(() => streams.every((stream) => syncedIn(stream) === 1));
    const tenMinutes = async () => {
      // Small steps leave the sockets time to answer a ping.
      for (let n = 0; n < 60; n++) {
        await gateway.pass(100);
        await gateway.clock.advance(9_900);
      }
    };
    for (const stream of streams.slice(1)) stream.stop();
    await tenMinutes();
    expect(watchesOf(gateway, ['north'])).toEqual([1]);
    streams[0]?.stop();
    await tenMinutes();
    expect(watchesOf(gateway, ['north'])).toEqual([0]);
  });
});

describe('C1: bursts to 500 readers', () => {
  test('reach them all, merged where they cannot keep up, in bounded memory', async () => {
    await using gateway = await startGateway({ north: [pod('web')], south: [pod('api')] });
    const clusters = ['north', 'south'];
    const streams = await openMany(gateway, 495);
    const readers = await Promise.all(
      Array.from({ length: 5 }, (_, n) => PodReader.open(gateway, { over: n === 0 ? 'sse' : 'websocket' })),
    );
    await untilAllHold(gateway, readers, { clusters });
    const burst = async (at: number) => {
      for (let n = 0; n < 100; n++) gateway.cluster(clusters[n % 2] ?? 'north').put(podNamed(n % 20, at * 100 + n));
      await gateway.pass(200);
    };
    // Test clients keep all messages. These must not count as memory of the gateway.
    const forget = () => {
      for (const { seen, texts } of streams) for (const kept of [seen, texts]) (kept as unknown[]).length = 0;
    };
    for (let at = 0; at < 5; at++) await burst(at);
    await untilAllHold(gateway, readers, { clusters });
    forget();
    const beforeBytes = liveHeapBytes();
    for (let at = 5; at < 20; at++) {
      await burst(at);
      forget();
    }
    await untilAllHold(gateway, readers, { clusters });
    await gateway.until(() => streams.every(({ completed, closed }) => !completed && closed === undefined));
    forget();
    // The clusters keep their own history of changes: 1,000 per kind.
    expect(liveHeapBytes() - beforeBytes).toBeLessThan(32 << 20);
  });
});
