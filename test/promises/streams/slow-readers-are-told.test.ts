import { describe, expect, test } from 'vitest';
import { codesOf, type LiveStream, type Transport, transports } from '../../support/clients/live-socket.ts';
import { HeldObjects } from '../../support/gateway/held-objects.ts';
import { changesIn, PodReader, untilAllHold } from '../../support/gateway/pod-reader.ts';
import { startGateway, type TestGateway } from '../../support/gateway/start-gateway.ts';
import { pod } from '../../support/workloads.ts';

// "Every gap is reported": a reader that does not read is cut off at a bound, learns why, and loses nothing. No other reader notices.

const query = `subscription ($after: String) {
  configMaps(after: $after) {
    type cluster { name } cursor fault { code } added { ...State } modified { ...State } deleted { ...State }
  }
}
fragment State on ConfigMap { id metadata { namespace name uid resourceVersion } data }`;

const configMap = (name: string, bytes = 8, at = 0) => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name, namespace: 'default' },
  data: { text: `${at}`.padEnd(bytes, 'x') },
});

const field = 'configMaps';
const heldBy = (stream: LiveStream) => HeldObjects.of(changesIn(stream, field));
const isSynced = (stream: LiveStream) => changesIn(stream, field).some(({ type }) => type === 'SYNCED');

function inCluster(gateway: TestGateway): readonly string[] {
  const objects = gateway.cluster('north').objects('ConfigMap');
  return objects
    .map(({ metadata }) => `north/${metadata.namespace}/${metadata.name} ${metadata.uid} ${metadata.resourceVersion}`)
    .toSorted();
}

const isEqual = (gateway: TestGateway, held: HeldObjects) => held.identities().join('\n') === inCluster(gateway).join('\n');

/** Waits until the condition holds, while the gateway's clock stands still. */
async function withoutTime(isSo: () => boolean): Promise<void> {
  const startMs = performance.now();
  while (!isSo()) {
    if (performance.now() - startMs > 10_000) throw new Error('expected it to become so without any time of the gateway');
    await new Promise((resolve) => setTimeout(resolve, 2));
  }
}

/** Sends more than the kernel buffers for an unread socket, and then more than the queue holds. */
async function flood(gateway: TestGateway, rounds: number): Promise<void> {
  for (let round = 0; round < rounds; round++) {
    const { length } = gateway.cluster('north').objects('ConfigMap');
    for (let n = 0; n < 10; n++) gateway.cluster('north').put(configMap(`big-${length + n}`, 64 << 10));
    await gateway.pass(100);
  }
}

async function openSynced(gateway: TestGateway, transport: Transport): Promise<LiveStream> {
  const stream = await gateway.subscribe(query, {}, transport);
  await gateway.until(() => isSynced(stream));
  return stream;
}

describe.each(transports)('C2: a reader over %s that never reads', (transport) => {
  test('P9: is ended at its bound with SLOW_CONSUMER; the others get everything, and the gateway answers', async () => {
    await using gateway = await startGateway({ north: [configMap('first')] });
    const stuck = await openSynced(gateway, transport);
    const others = await Promise.all([...transports, ...transports].map((one) => openSynced(gateway, one)));
    const pause = stuck.pauseReading();
    const closed = async () => {
      const text = await (await fetch(new URL('/metrics', gateway.url))).text();
      return Number(/^muster_stream_closed_total\{reason="SLOW_CONSUMER"\} (\d+)$/m.exec(text)?.[1] ?? 0);
    };
    for (let n = 0; n < 40 && (await closed()) === 0; n++) {
      await flood(gateway, 1);
      // A reader that does not read delays no other reader. Only the window of a batch passes.
      await gateway.clock.advance(50);
      await withoutTime(() => others.every((stream) => isEqual(gateway, heldBy(stream))));
    }
    expect(await closed()).toBe(1);
    expect(others.map(({ completed }) => completed)).toEqual([false, false, false, false]);
    expect(await gateway.query('{ configMaps(first: 1) { totalCount } }')).toEqual({
      configMaps: { totalCount: inCluster(gateway).length },
    });

    // If the reader reads after all, it learns why it was cut off, and resumes after its last message.
    pause[Symbol.dispose]();
    await gateway.until(() => stuck.completed);
    expect(codesOf(stuck)).toEqual(['SLOW_CONSUMER']);
    const held = heldBy(stuck);
    expect(isEqual(gateway, held)).toBe(false);
    const resumed = await gateway.subscribe(query, { after: held.cursor ?? 'a cursor' }, transport);
    const whole = () => HeldObjects.of([...changesIn(stuck, field), ...changesIn(resumed, field)]);
    await gateway.until(() => isEqual(gateway, whole()));
  });

  test('does not keep its connection for ever', async () => {
    await using gateway = await startGateway({ north: [configMap('first')] });
    const stuck = await openSynced(gateway, transport);
    using _pause = stuck.pauseReading();
    await flood(gateway, 40);
    const streams = async () => {
      const text = await (await fetch(new URL('/metrics', gateway.url))).text();
      return [...text.matchAll(/^muster_streams\{.*\} (\d+)$/gm)].reduce((sum, [, count]) => sum + Number(count), 0);
    };
    await gateway.until(async () => (await streams()) === 0);
  });

  test('reads late: missed changes are merged, and it is never disconnected', async () => {
    await using gateway = await startGateway({ north: [configMap('first')] });
    const slow = await openSynced(gateway, transport);
    for (let round = 0; round < 6; round++) {
      using _pause = slow.pauseReading();
      // Few objects with many changes. Intermediate states are merged.
      for (let n = 0; n < 200; n++) {
        gateway.cluster('north').put(configMap(`often-${n % 8}`, 32 << 10, round * 1_000 + n));
        if (n % 20 === 0) await gateway.pass(100);
      }
    }
    await gateway.until(() => isEqual(gateway, heldBy(slow)));
    expect(codesOf(slow)).toEqual([]);
    expect(slow.completed).toBe(false);
  });
});

test('the last messages to a slow reader can be resumed from the middle', async () => {
  await using gateway = await startGateway({ north: [] });
  const north = gateway.cluster('north');
  north.fill('Pod', 600, pod('many'));
  const reader = await PodReader.open(gateway);
  await untilAllHold(gateway, [reader], { clusters: ['north'] });
  const pause = reader.stream.pauseReading();
  // One large object changes many times. The kernel's buffer fills, and the queue holds one change.
  for (let n = 0; n < 40; n++) {
    north.put(pod('big', { annotations: { at: String(n).padEnd(400_000) } }));
    await gateway.pass(100);
  }
  north.churn('Pod', { updates: 580 });
  for (let n = 0; n < 10; n++) north.recreate('Pod', `many-${n}`, 'default');
  await gateway.pass(500);
  const before = reader.messages.length;
  pause[Symbol.dispose]();
  await untilAllHold(gateway, [reader], { clusters: ['north'] });
  const late = reader.messages.slice(before);
  expect(
    late.filter(({ modified, deleted }) => modified.length + deleted.length > 20).length,
    'messages of one cut',
  ).toBeGreaterThanOrEqual(2);
  const counts = late.map((_, place) => before + place + 1).slice(-6);
  const resumed = await Promise.all(counts.map((count) => reader.resumed(gateway, { count })));
  await untilAllHold(gateway, resumed, { clusters: ['north'] });
});

describe('fault row 28: a relist', () => {
  test('of 10,000 changes cuts off no reader that reads', async () => {
    await using gateway = await startGateway({ north: [] });
    const north = gateway.cluster('north');
    north.fill('Pod', 5_000, pod('many'));
    const streams = await Promise.all([...transports, ...transports].map((transport) => gateway.subscribe(podStates, {}, transport)));
    const gained = (stream: LiveStream) => changesIn(stream).reduce((sum, { added, deleted }) => sum + added.length - deleted.length, 0);
    await gateway.until(() => streams.every((stream) => gained(stream) === 5_000));
    const down = north.refuse();
    north.disconnect();
    north.churn('Pod', { updates: 5_000 });
    north.churn('Pod', { deletes: 2_500 });
    north.churn('Pod', { creates: 2_500 });
    north.compact();
    down[Symbol.dispose]();
    const deletions = (stream: LiveStream) => changesIn(stream).reduce((sum, { deleted }) => sum + deleted.length, 0);
    await gateway.until(() => streams.every((stream) => stream.completed || (deletions(stream) === 2_500 && gained(stream) === 5_000)));
    expect(streams.flatMap(codesOf)).toEqual([]);
    const there = north.objects('Pod').map(({ metadata }) => `north/default/${metadata.name} ${metadata.uid} ${metadata.resourceVersion}`);
    await gateway.until(() => isWhole(streams, there.toSorted()));
    for (const stream of streams) expect(changesIn(stream).filter(({ type }) => type === 'RESET')).toEqual([]);
  });
});

const podStates = `subscription {
  pods { type cluster { name } cursor fault { code } added { ...S } modified { ...S } deleted { ...S } }
}
fragment S on Pod { id metadata { namespace name uid resourceVersion } }`;

const isWhole = (streams: readonly LiveStream[], there: readonly string[]) =>
  streams.every((stream) => HeldObjects.of(changesIn(stream)).identities().join() === there.join());
