import { describe, expect, test } from 'vitest';
import { transports } from '../../support/clients/live-socket.ts';
import { changesIn, PodReader, untilAllHold } from '../../support/gateway/pod-reader.ts';
import { startGateway, type TestGateway } from '../../support/gateway/start-gateway.ts';
import type { SimCluster } from '../../support/sim/sim-cluster.ts';
import { pod } from '../../support/workloads.ts';

// "The messages of a stream add up to the list": despite any failure between cluster and gateway, each change comes once and in order. The
// readers check every message; this file changes the clusters.

/** Opens one reader per transport. */
async function openBoth(gateway: TestGateway): Promise<readonly PodReader[]> {
  const readers = await Promise.all(transports.map((over) => PodReader.open(gateway, { over })));
  await untilAllHold(gateway, readers, { clusters: ['north'] });
  return readers;
}

async function startRead(...names: string[]) {
  const gateway = await startGateway({ north: names.map((name) => pod(name)) });
  const readers = await openBoth(gateway);
  return { gateway, north: gateway.cluster('north'), readers, untilTrue: () => untilAllHold(gateway, readers, { clusters: ['north'] }) };
}

/** Returns all changes after the initial state, as `added web`. */
function toldBy(reader: PodReader): readonly string[] {
  const live = changesIn(reader.stream).filter(({ type }) => type === 'LIVE');
  return live.flatMap((message) =>
    (['deleted', 'modified', 'added'] as const).flatMap((how) => message[how].map(({ metadata }) => `${how} ${metadata.name}`)),
  );
}

const typesOf = (reader: PodReader) => reader.messages.map(({ type }) => type);

/** Changes the pods while no watch sends events. */
function changeUnheard(cluster: SimCluster, change: () => void): void {
  using _paused = cluster.stall({ resource: 'pods' });
  change();
}

/** Changes the pods while there is no watch, and leaves no history to resume from. A list finds all changes at once. */
function changeUnlistened(cluster: SimCluster, change: () => void): void {
  using _down = cluster.refuse();
  cluster.disconnect();
  change();
  cluster.compact();
}

describe('B5: an expired version', () => {
  test.each(['status', 'event', 'now'] as const)(
    '(410 as %s): vanished objects are deleted once, and objects that stayed are not added again',
    async (as) => {
      const { gateway, north, readers, untilTrue } = await startRead('old', 'stays', 'moves');
      await using _gateway = gateway;
      const stall = north.stall({ resource: 'pods' });
      north.remove('Pod', 'old', 'default');
      north.put(pod('moves', { annotations: { at: 'another place' } }));
      north.put(pod('new'));
      north.compact();
      north.expire(as, { resource: 'pods' });
      north.disconnect();
      stall[Symbol.dispose]();
      await untilTrue();
      for (const reader of readers) {
        expect(toldBy(reader).toSorted()).toEqual(['added new', 'deleted old', 'modified moves']);
        expect(typesOf(reader).filter((type) => type === 'RESET' || type === 'INITIAL')).toEqual(['INITIAL']);
      }
    },
  );

  test('at the moment in which the list is fetched in pages, no incomplete list is sent', async () => {
    await using gateway = await startGateway({ north: [pod('stays')] }, { clusters: { north: { version: '1.33.13' } } });
    const north = gateway.cluster('north');
    const readers = await openBoth(gateway);
    changeUnheard(north, () => {
      north.remove('Pod', 'stays', 'default');
      north.fill('Pod', 1_200, pod('many'));
      north.compact();
      north.answer({ status: 410 }, { resource: 'pods', verb: 'list' });
      north.disconnect();
    });
    const slow = north.delay(1_000, { resource: 'pods', verb: 'list' });
    const pages = () =>
      north.requests.filter(({ query, resource }) => resource?.resource === 'pods' && query.continue !== undefined).length;
    await gateway.until(() => pages() >= 1);
    for (const reader of readers) expect(reader.held().names()).toEqual(['north/stays']);
    north.expireContinue();
    north.churn('Pod', { deletes: 5, creates: 3 });
    slow[Symbol.dispose]();
    await untilAllHold(gateway, readers, { clusters: ['north'] });
    for (const reader of readers) expect(toldBy(reader).filter((change) => change === 'deleted stays')).toHaveLength(1);
  });
});

describe('B8: events that cannot be read', () => {
  test.each([
    ['garbage', 'not json at all\n'],
    ['null', 'null\n'],
    ['an unknown type', '{"type":"SURPRISE","object":{}}\n'],
    ['another kind', '{"type":"ADDED","object":{"kind":"Node","apiVersion":"v1","metadata":{"name":"x","resourceVersion":"9"}}}\n'],
    ['no name', '{"type":"ADDED","object":{"kind":"Pod","apiVersion":"v1","metadata":{"resourceVersion":"9"}}}\n'],
  ])('(%s) is sent to no client, and no change that came with it is lost', async (_what, line) => {
    const { gateway, north, readers, untilTrue } = await startRead('web', 'goes');
    await using _gateway = gateway;
    north.put(pod('before'));
    expect(north.emit(line, { resource: 'pods' })).toBe(1);
    north.put(pod('after'));
    north.remove('Pod', 'goes', 'default');
    await untilTrue();
    for (const reader of readers) expect(toldBy(reader).toSorted()).toEqual(['added after', 'added before', 'deleted goes']);
  });
});

describe('B9: a watch that is cut', () => {
  test.each([
    ['line', 'reset'],
    ['line', 'clean'],
    ['character', 'reset'],
    ['character', 'clean'],
  ] as const)('in the middle of a %s (%s): each change is sent once', async (where, end) => {
    const { gateway, north, readers, untilTrue } = await startRead('web');
    await using _gateway = gateway;
    north.cut(where, { resource: 'pods', end });
    north.put(pod('cologne', { annotations: { city: 'Köln 🚀' } }));
    north.put(pod('after'));
    await untilTrue();
    for (const reader of readers) expect(toldBy(reader)).toEqual(['added cologne', 'added after']);
  });
});

describe('B16: an object that is created again under its name', () => {
  test('is the old one deleted, then the new one added', async () => {
    const { gateway, north, readers, untilTrue } = await startRead('web', 'api');
    await using _gateway = gateway;
    const { uid: old } = north.get('Pod', 'web', 'default')?.metadata ?? {};
    const made = north.recreate('Pod', 'web', 'default');
    await untilTrue();
    for (const reader of readers) {
      const live = reader.messages.filter(({ type }) => type === 'LIVE');
      const uids = live.map(({ deleted, added }) => [deleted, added].map((objects) => objects.map(({ metadata }) => metadata.uid)));
      expect(uids).toEqual([
        [[old], []],
        [[], [made.metadata.uid]],
      ]);
    }
  });

  test('many times, also without a reader in between, is always sent as a deletion and then an addition', async () => {
    const { gateway, north, readers, untilTrue } = await startRead('web', 'api');
    await using _gateway = gateway;
    for (let n = 0; n < 5; n++) north.recreate('Pod', 'web', 'default');
    await untilTrue();
    changeUnheard(north, () => {
      for (let n = 0; n < 3; n++) north.recreate('Pod', 'api', 'default');
    });
    await untilTrue();
    changeUnlistened(north, () => north.recreate('Pod', 'api', 'default'));
    await untilTrue();
    for (const reader of readers) {
      const told = toldBy(reader);
      for (const name of ['web', 'api']) {
        const steps = told.filter((change) => change.endsWith(name)).map((change) => change.split(' ')[0]);
        expect(steps, 'deleted, added, deleted, added').toEqual(steps.map((_, place) => (place % 2 === 0 ? 'deleted' : 'added')));
        expect(steps.length).toBeGreaterThan(0);
      }
    }
  });

  test('with its whole namespace', async () => {
    const { gateway, north, readers, untilTrue } = await startRead('web');
    await using _gateway = gateway;
    const namespace = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'shop' } };
    north.put(namespace);
    north.put(pod('till', { namespace: 'shop' }));
    await untilTrue();
    north.remove('Namespace', 'shop');
    north.put(namespace);
    north.put(pod('till', { namespace: 'shop' }));
    await untilTrue();
    for (const reader of readers) expect(toldBy(reader)).toEqual(['added till', 'deleted till', 'added till']);
  });
});

test('an object that stops matching is deleted with its last matching state, and one that starts to match is added', async () => {
  await using gateway = await startGateway({ north: [pod('web'), pod('api')] });
  const north = gateway.cluster('north');
  const readers = await Promise.all(transports.map((over) => PodReader.open(gateway, { over, variables: { labels: 'app=web' } })));
  await gateway.until(() => readers.every((reader) => reader.held().names().join() === 'north/web'));
  north.put(pod('web', { labels: { app: 'elsewhere' } }));
  north.put(pod('api', { labels: { app: 'web' } }));
  await gateway.until(() => readers.every((reader) => reader.held().names().join() === 'north/api'));
  north.remove('Pod', 'web', 'default');
  north.put(pod('last', { labels: { app: 'web' } }));
  await gateway.until(() => readers.every((reader) => reader.held().names().join() === 'north/api,north/last'));
  for (const reader of readers) {
    expect(toldBy(reader).toSorted()).toEqual(['added api', 'added last', 'deleted web']);
    const [deleted] = reader.messages.flatMap((message) => message.deleted);
    expect(deleted?.metadata.labels).toEqual({ app: 'web' });
  }
});

test('a right that is lost for a while is reported as a fault, never as deletions', async () => {
  const { gateway, north, readers, untilTrue } = await startRead('web', 'api');
  await using _gateway = gateway;
  const forbidden = north.forbid({ resource: 'pods' });
  north.close({ resource: 'pods' });
  await gateway.until(() => readers.every((reader) => reader.messages.some(({ fault }) => fault?.code === 'FORBIDDEN')));
  await gateway.pass(90_000);
  for (const reader of readers) expect(toldBy(reader)).toEqual([]);
  forbidden[Symbol.dispose]();
  north.put(pod('later'));
  await untilAllHold(gateway, readers, { clusters: ['north'], withinMs: 15 * 60_000 });
  await untilTrue();
  for (const reader of readers) expect(toldBy(reader).filter((change) => change.startsWith('deleted'))).toEqual([]);
});
