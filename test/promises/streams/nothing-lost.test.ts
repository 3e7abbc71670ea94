import { describe, expect, test } from 'vitest';
import { podsInGraph, untilEqual } from '../../support/gateway/equal-mirror.ts';
import { type Listed, startGateway, type TestGateway } from '../../support/gateway/start-gateway.ts';
import { seededRandom } from '../../support/seeded-random.ts';
import type { SimCluster } from '../../support/sim/sim-cluster.ts';
import { pod } from '../../support/workloads.ts';

// "Nothing is lost silently": each failure alone, and random schedules of all of them.

const namesOf = async (gateway: TestGateway): Promise<string[]> => {
  const { pods } = await gateway.query<{ pods: Listed }>('{ pods(waitSeconds: 0, first: 500) { items { metadata { name } } } }');
  return pods.items.map(({ metadata }) => metadata.name);
};

async function startOne(...names: string[]) {
  const gateway = await startGateway({ north: names.map((name) => pod(name)) });
  await gateway.query('{ pods { totalCount } }');
  return { gateway, north: gateway.cluster('north') };
}

describe('B5: an expired version', () => {
  test.each(['status', 'event', 'now'] as const)(
    '(410 as %s) is repaired by a list: deleted objects are gone, and new ones are there',
    async (as) => {
      const { gateway, north } = await startOne('old', 'stays');
      await using _gateway = gateway;
      using stall = north.stall({ resource: 'pods' });
      north.remove('Pod', 'old', 'default');
      north.put(pod('new'));
      stall[Symbol.dispose]();
      north.compact();
      north.expire(as, { resource: 'pods' });
      if (as !== 'now') north.close({ resource: 'pods' });
      await untilEqual(gateway, ['north']);
      expect(await namesOf(gateway)).toEqual(['new', 'stays']);
    },
  );

  test('in a continue token begins the list again, and no part of a list is ever shown', async () => {
    await using gateway = await startGateway({ north: [] }, { clusters: { north: { version: '1.33.13' } } });
    const north = gateway.cluster('north');
    north.fill('Pod', 1_200, pod('many'));
    // A list at any version comes from the server's cache as a whole. The most recent list, which follows a 410, comes in pages.
    north.answer({ status: 410 }, { resource: 'pods', verb: 'list' });
    const slow = north.delay(1_000, { resource: 'pods', verb: 'list' });
    const pages = () => north.requests.filter(({ resource }) => resource?.resource === 'pods' && resource.verb === 'list').length;
    const seen = new Set<number>();
    await gateway.until(async () => {
      seen.add((await namesOf(gateway)).length);
      return pages() >= 3;
    });
    north.expireContinue();
    north.churn('Pod', { deletes: 5, creates: 3 });
    slow[Symbol.dispose]();
    await untilEqual(gateway, ['north']);
    expect(await podsInGraph(gateway)).toHaveLength(1_198);
    expect([...seen]).toEqual([0]);
  });
});

describe('B8: events that cannot be read', () => {
  test.each([
    ['garbage', 'not json at all\n'],
    ['null', 'null\n'],
    ['an unknown type', '{"type":"SURPRISE","object":{}}\n'],
    ['another kind', '{"type":"ADDED","object":{"kind":"Node","apiVersion":"v1","metadata":{"name":"x","resourceVersion":"9"}}}\n'],
    ['no name', '{"type":"ADDED","object":{"kind":"Pod","apiVersion":"v1","metadata":{"resourceVersion":"9"}}}\n'],
  ])('(%s) is never skipped: the stream ends and a list repairs the mirror', async (_what, line) => {
    const { gateway, north } = await startOne('web');
    await using _gateway = gateway;
    expect(north.emit(line, { resource: 'pods' })).toBe(1);
    north.put(pod('after'));
    await untilEqual(gateway, ['north']);
    expect(await namesOf(gateway)).toEqual(['after', 'web']);
  });

  test('(HTML with 200 for a list) is a fault, and nothing of it is stored', async () => {
    await using gateway = await startGateway(
      { north: [pod('web')] },
      {
        before: (cluster) => {
          const html = { status: 200, headers: { 'content-type': 'text/html' }, body: '<html>sign in</html>', times: 3 };
          cluster('north').answer(html, { resource: 'pods' });
        },
      },
    );
    const { pods } = await gateway.query<{ pods: Listed }>('{ pods(waitSeconds: 0) { items { metadata { name } } faults { code } } }');
    expect(pods.items).toEqual([]);
    await gateway.until(async () => {
      const later = await gateway.query<{ pods: Listed }>('{ pods(waitSeconds: 0) { faults { code } } }');
      return later.pods.faults.some(({ code }) => code === 'MALFORMED');
    });
    await untilEqual(gateway, ['north']);
  });
});

describe('B9: a stream that is cut', () => {
  test.each([
    ['line', 'reset'],
    ['line', 'clean'],
    ['character', 'reset'],
    ['character', 'clean'],
  ] as const)('in the middle of a %s (%s) is resumed: each change once', async (where, end) => {
    const { gateway, north } = await startOne('web');
    await using _gateway = gateway;
    north.cut(where, { resource: 'pods', end });
    north.put(pod('über-straße'.normalize('NFD').replaceAll(/[^a-z-]/g, ''), { annotations: { city: 'Köln 🚀' } }));
    north.put(pod('after'));
    await untilEqual(gateway, ['north']);
    expect(await namesOf(gateway)).toHaveLength(3);
  });
});

test('B16: an object that is created again under its name has its new uid', async () => {
  const { gateway, north } = await startOne('web');
  await using _gateway = gateway;
  const [before] = await podsInGraph(gateway);
  const made = north.recreate('Pod', 'web', 'default');
  await untilEqual(gateway, ['north']);
  const [after] = await podsInGraph(gateway);
  expect(after).toContain(made.metadata.uid ?? 'a uid');
  expect(after).not.toBe(before);
});

/** A change or a failure of the cluster. */
type Act = (cluster: SimCluster, random: () => number) => Disposable | undefined;

const once =
  (change: (cluster: SimCluster, random: () => number) => unknown): Act =>
  (cluster, random) => {
    change(cluster, random);
    return undefined;
  };

const acts: readonly Act[] = [
  once((cluster, random) => cluster.put(pod(`p${Math.floor(random() * 12)}`, { annotations: { at: String(random()) } }))),
  once((cluster, random) => cluster.put(pod(`p${Math.floor(random() * 12)}`, { labels: { app: 'other' } }))),
  once((cluster, random) => cluster.remove('Pod', `p${Math.floor(random() * 12)}`, 'default')),
  once((cluster) => cluster.get('Pod', 'p1', 'default') && cluster.recreate('Pod', 'p1', 'default')),
  once((cluster) => cluster.disconnect()),
  once((cluster) => cluster.close()),
  once((cluster) => cluster.goAway()),
  once((cluster) => cluster.compact()),
  once((cluster) => cluster.expire('now', { resource: 'pods' })),
  once((cluster) => cluster.expire('status', { resource: 'pods' })),
  once((cluster) => cluster.error(500, { resource: 'pods' })),
  once((cluster) => cluster.cut('line', { resource: 'pods' })),
  once((cluster) => cluster.emit('garbage\n', { resource: 'pods' })),
  once((cluster) => cluster.bookmark(undefined, { resource: 'pods' })),
  (cluster) => cluster.answer({ status: 503 }, { resource: 'pods' }),
  (cluster) => cluster.answer({ status: 429, headers: { 'retry-after': '2' } }, { resource: 'pods' }),
  (cluster) => cluster.stall({ resource: 'pods' }),
  (cluster) => cluster.refuse(),
  (cluster) => cluster.silence(),
];

describe('after any schedule of changes and faults the mirror equals the cluster', () => {
  const seed = Number(process.env.MUSTER_TEST_SEED ?? Date.now() % 1_000_000);

  test.each([
    { version: '1.36.3', protocols: 'h2' },
    { version: '1.33.13', protocols: 'http1' },
  ] as const)(
    `over $protocols with $version (MUSTER_TEST_SEED=${seed})`,
    async (how) => {
      const random = seededRandom(seed);
      await using gateway = await startGateway({ north: [pod('p0')] }, { clusters: { north: how } });
      await gateway.query('{ pods { totalCount } }');
      const lasting: Disposable[] = [];
      for (let n = 0; n < 40; n++) {
        const act = acts[Math.floor(random() * acts.length)];
        const lasts = act?.(gateway.cluster('north'), random);
        if (lasts !== undefined) lasting.push(lasts);
        await gateway.pass(random() * 3_000);
        if (random() < 0.4) lasting.shift()?.[Symbol.dispose]();
      }
      for (const fault of lasting) fault[Symbol.dispose]();
      await untilEqual(gateway, ['north'], 15 * 60_000);
    },
    120_000,
  );
});
