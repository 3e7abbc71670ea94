import { describe, expect, test } from 'vitest';
import { transports } from '../../support/clients/live-socket.ts';
import { PodReader, untilAllHold } from '../../support/gateway/pod-reader.ts';
import { startGateway, type TestGateway } from '../../support/gateway/start-gateway.ts';
import { pod } from '../../support/workloads.ts';

// "A slow cluster is reported, the others continue": streams survive clusters that fail, leave and join.

const messagesOf = (reader: PodReader, cluster: string) => reader.messages.filter((message) => message.cluster.name === cluster);
const typesOf = (reader: PodReader, cluster: string) => messagesOf(reader, cluster).map(({ type }) => type);

const untilMembers = (gateway: TestGateway, count: number) =>
  gateway.until(async () => (await gateway.query<{ clusters: readonly unknown[] }>('{ clusters { name } }')).clusters.length === count);

describe('a frozen cluster', () => {
  test.each(transports)('is FAILED over %s while the others continue, and has lost nothing when it is back', async (over) => {
    await using gateway = await startGateway({ north: [pod('web')], south: [pod('api'), pod('goes')] });
    const reader = await PodReader.open(gateway, { over });
    await untilAllHold(gateway, [reader], { clusters: ['north', 'south'] });
    {
      using _dark = gateway.cluster('south').silence();
      await gateway.until(() => reader.held().behind().includes('south'));
      expect(messagesOf(reader, 'south').at(-1)).toMatchObject({ type: 'FAILED', fault: { code: 'UNREACHABLE' } });
      gateway.cluster('north').put(pod('during'));
      gateway.cluster('south').put(pod('unheard'));
      gateway.cluster('south').remove('Pod', 'goes', 'default');
      await gateway.until(() => reader.held().names().includes('north/during'), 1_000);
      expect(reader.held().names()).toEqual(['north/during', 'north/web', 'south/api', 'south/goes']);
    }
    await untilAllHold(gateway, [reader], { clusters: ['north', 'south'] });
    expect(typesOf(reader, 'north').filter((type) => type !== 'BOOKMARK')).toEqual(['INITIAL', 'SYNCED', 'LIVE']);
    expect(typesOf(reader, 'south')).not.toContain('RESET');
  });

  test('and that has no changes is reported as in sync again', async () => {
    await using gateway = await startGateway({ north: [pod('web')] });
    const reader = await PodReader.open(gateway);
    await untilAllHold(gateway, [reader], { clusters: ['north'] });
    const north = gateway.cluster('north');
    const down = north.refuse();
    north.disconnect();
    await gateway.until(() => reader.held().behind().includes('north'));
    down[Symbol.dispose]();
    await untilAllHold(gateway, [reader], { clusters: ['north'] });
    expect(typesOf(reader, 'north').filter((type) => type !== 'BOOKMARK')).toEqual(['INITIAL', 'SYNCED', 'FAILED', 'LIVE']);
  });

  test('is reported to new readers, which get the known objects and then the rest', async () => {
    await using gateway = await startGateway({ north: [pod('web')], south: [pod('api')] });
    const first = await PodReader.open(gateway);
    await untilAllHold(gateway, [first], { clusters: ['north', 'south'] });
    const south = gateway.cluster('south');
    const down = south.refuse();
    south.disconnect();
    await gateway.until(() => first.held().behind().includes('south'));
    const second = await PodReader.open(gateway);
    const third = await first.resumed(gateway);
    await gateway.until(() => [second, third].every((reader) => reader.held().behind().includes('south')), 2_000);
    await gateway.until(() => second.held().names().join() === 'north/web,south/api', 2_000);
    south.put(pod('later'));
    down[Symbol.dispose]();
    await untilAllHold(gateway, [first, second, third], { clusters: ['north', 'south'] });
  });
});

test('a cluster that cannot be reached from the start is FAILED, and begins with INITIAL once it can', async () => {
  let down: Disposable | undefined;
  await using gateway = await startGateway(
    { north: [pod('web')], south: [pod('api')] },
    {
      before: (cluster) => {
        down = cluster('south').refuse();
      },
    },
  );
  const reader = await PodReader.open(gateway);
  await gateway.until(() => reader.held().synced().includes('north') && reader.held().behind().includes('south'), 15_000);
  expect(reader.held().names()).toEqual(['north/web']);
  down?.[Symbol.dispose]();
  await untilAllHold(gateway, [reader], { clusters: ['north', 'south'] });
  expect(typesOf(reader, 'south').filter((type) => type !== 'BOOKMARK')).toEqual(['FAILED', 'INITIAL', 'SYNCED']);
});

test('a cluster that lists slowly delays no other: each begins when it is ready', async () => {
  await using gateway = await startGateway({ north: [pod('web')], south: [pod('api')], east: [pod('db')] });
  const delays = ['south', 'east'].map((name) => gateway.cluster(name).delay(5_000, { resource: 'pods' }));
  const startMs = gateway.clock.monotonic();
  const reader = await PodReader.open(gateway);
  await gateway.until(() => reader.held().synced().includes('north'), 2_000);
  expect(reader.held().synced()).toEqual(['north']);
  await untilAllHold(gateway, [reader], { clusters: ['north', 'south', 'east'] });
  expect(gateway.clock.monotonic() - startMs).toBeLessThan(8_000);
  for (const delay of delays) delay[Symbol.dispose]();
});

describe('P12: a member', () => {
  test.each(transports)(
    'that joins begins with INITIAL, and one that leaves is GONE, over %s, without messages about the others',
    async (over) => {
      await using gateway = await startGateway({ north: [pod('web')], south: [pod('api')], west: [pod('db')] });
      await gateway.setMembers(['north', 'south']);
      await untilMembers(gateway, 2);
      const reader = await PodReader.open(gateway, { over });
      await untilAllHold(gateway, [reader], { clusters: ['north', 'south'] });
      expect(typesOf(reader, 'west')).toEqual([]);

      await gateway.setMembers(['north', 'south', 'west']);
      await untilAllHold(gateway, [reader], { clusters: ['north', 'south', 'west'] });
      gateway.cluster('west').put(pod('later'));
      await untilAllHold(gateway, [reader], { clusters: ['north', 'south', 'west'] });

      await gateway.setMembers(['north', 'west']);
      await gateway.until(() => messagesOf(reader, 'south').some(({ fault }) => fault?.code === 'GONE'));
      gateway.cluster('south').put(pod('unheard'));
      gateway.cluster('north').put(pod('still'));
      await untilAllHold(gateway, [reader], { clusters: ['north', 'west'] });
      expect(messagesOf(reader, 'south').at(-1)?.fault).toEqual({ code: 'GONE' });
      expect(typesOf(reader, 'north').filter((type) => type !== 'BOOKMARK')).toEqual(['INITIAL', 'SYNCED', 'LIVE']);
      expect(messagesOf(reader, 'south').flatMap(({ deleted }) => deleted)).toEqual([]);
    },
  );

  test('that left and is back begins anew, with its current objects', async () => {
    await using gateway = await startGateway({ north: [pod('web')], south: [pod('api'), pod('goes')] });
    const reader = await PodReader.open(gateway);
    await untilAllHold(gateway, [reader], { clusters: ['north', 'south'] });
    const cursors = reader.messages.length;
    await gateway.setMembers(['north']);
    await gateway.until(() => messagesOf(reader, 'south').some(({ fault }) => fault?.code === 'GONE'));
    gateway.cluster('south').remove('Pod', 'goes', 'default');
    await gateway.setMembers(['north', 'south']);
    await untilAllHold(gateway, [reader], { clusters: ['north', 'south'] });
    expect(typesOf(reader, 'south').filter((type) => type !== 'BOOKMARK')).toEqual(['INITIAL', 'SYNCED', 'FAILED', 'INITIAL', 'SYNCED']);
    // The same from an earlier cursor.
    const resumed = await reader.resumed(gateway, { count: cursors });
    await untilAllHold(gateway, [resumed], { clusters: ['north', 'south'] });
    expect(typesOf(resumed, 'north').filter((type) => type !== 'BOOKMARK')).toEqual([]);
  });

  test('that is gone when a stream is resumed is GONE there too', async () => {
    await using gateway = await startGateway({ north: [pod('web')], south: [pod('api')] });
    const reader = await PodReader.open(gateway);
    await untilAllHold(gateway, [reader], { clusters: ['north', 'south'] });
    const before = reader.messages.length;
    reader.stream.stop();
    await gateway.setMembers(['north']);
    await untilMembers(gateway, 1);
    const resumed = await reader.resumed(gateway, { count: before });
    await gateway.until(() => messagesOf(resumed, 'south').some(({ fault }) => fault?.code === 'GONE'));
    await untilAllHold(gateway, [resumed], { clusters: ['north'] });
    expect(resumed.held().names()).toEqual(['north/web']);
  });
});
