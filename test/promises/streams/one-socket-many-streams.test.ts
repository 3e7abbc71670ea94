import { describe, expect, test } from 'vitest';
import { codesOf, LiveSocket, type LiveStream } from '../../support/clients/live-socket.ts';
import { metricOf } from '../../support/gateway/metrics-of.ts';
import { changesIn, PodReader, podChanges, untilAllHold } from '../../support/gateway/pod-reader.ts';
import { countRemains, expectNothingLeft } from '../../support/gateway/remains.ts';
import { startGateway } from '../../support/gateway/start-gateway.ts';
import { pod } from '../../support/workloads.ts';

// "A socket may send as many operations as it likes": an excess fails only that operation, and an ended operation leaves nothing behind.

const isSynced = (stream: LiveStream) => changesIn(stream).some(({ type }) => type === 'SYNCED');

describe('C3: on one socket', () => {
  test('1,000 subscriptions at once are 50 streams and 950 errors, each by its id; the socket lives', async () => {
    await using gateway = await startGateway({ north: [pod('web')] });
    const socket = await LiveSocket.open(gateway.url);
    const streams = Array.from({ length: 1_000 }, () => socket.start(podChanges));
    await gateway.until(() => streams.every((stream) => stream.completed || isSynced(stream)));
    const refused = streams.filter(({ completed }) => completed);
    expect(refused).toHaveLength(950);
    expect(new Set(refused.map((stream) => codesOf(stream).join()))).toEqual(new Set(['OVERLOADED']));
    expect(await metricOf(gateway, 'muster_streams')).toBe(50);
    for (const stream of streams) stream.stop();
    await gateway.until(async () => (await metricOf(gateway, 'muster_streams')) === 0);
    // The socket has room again.
    const again = socket.start(podChanges);
    await gateway.until(() => isSynced(again));
    expect(socket.closed).toBeUndefined();
  });

  test('subscribing and completing thousands of times for most of an hour leaves nothing', async () => {
    await using gateway = await startGateway({ north: [pod('web')] });
    const keeper = await PodReader.open(gateway);
    await untilAllHold(gateway, [keeper], { clusters: ['north'] });
    const socket = await LiveSocket.open(gateway.url);
    const round = async (minutes: number) => {
      const streams = Array.from({ length: 50 }, () => socket.start(podChanges));
      await gateway.until(() => streams.every(isSynced));
      for (const stream of streams) stream.stop();
      gateway.cluster('north').put(pod('web', { annotations: { at: String(minutes) } }));
      await gateway.until(async () => (await metricOf(gateway, 'muster_streams')) === 1);
      for (let n = 0; n < 20; n++) await gateway.clock.advance((minutes * 60_000) / 20);
    };
    for (let n = 0; n < 5; n++) await round(0.25);
    const before = await countRemains(gateway);
    for (let n = 0; n < 100; n++) await round(0.4);
    expect(socket.closed).toBeUndefined();
    expectNothingLeft(before, await countRemains(gateway));
    await untilAllHold(gateway, [keeper], { clusters: ['north'] });
  }, 60_000);
});

describe('a stream that has lived for an hour', () => {
  test('ends with a code that clients retry: 4403 for a socket, UNAVAILABLE for server-sent events; resumed, it lost nothing', async () => {
    await using gateway = await startGateway({ north: [pod('web')] });
    const readers = [await PodReader.open(gateway, { over: 'websocket' }), await PodReader.open(gateway, { over: 'sse' })];
    await untilAllHold(gateway, readers, { clusters: ['north'] });
    for (let minute = 0; minute < 53; minute++) {
      // Small steps leave the sockets time to answer a ping.
      for (let n = 0; n < 6; n++) {
        await gateway.pass(100);
        await gateway.clock.advance(9_900);
      }
      gateway.cluster('north').put(pod('web', { annotations: { minute: String(minute) } }));
    }
    expect(readers.map(({ stream }) => [stream.completed, stream.closed])).toEqual([
      [false, undefined],
      [false, undefined],
    ]);
    for (let n = 0; n < 90 && readers.some(({ stream }) => stream.closed === undefined); n++) {
      await gateway.pass(100);
      await gateway.clock.advance(9_900);
    }
    const [socket, events] = readers.map(({ stream }) => stream);
    expect(socket?.closed?.code).toBe(4403);
    expect(events === undefined ? [] : codesOf(events)).toEqual(['UNAVAILABLE']);
    gateway.cluster('north').put(pod('new'));
    const resumed = await Promise.all(readers.map((reader) => reader.resumed(gateway)));
    await untilAllHold(gateway, resumed, { clusters: ['north'] });
    for (const reader of resumed) expect(reader.messages.filter(({ type }) => type === 'RESET' || type === 'INITIAL')).toEqual([]);
  });
});
