import { expect, test } from 'vitest';
import { KeptPages, type KeptSource, sourceStateOf } from '../../../src/load/reads/kept-pages.ts';
import type { ListPage } from '../../../src/load/reads/reads.ts';
import { createStore } from '../../../src/store/contents/store.ts';
import type { QueryVisibility } from '../../../src/store/query-source.ts';
import { kindOf } from '../../support/graph/graph-messages.ts';
import { graphOverMirrors } from '../../support/graph/graph-over-mirrors.ts';
import { readContext } from '../../support/graph/read-context.ts';
import { loadBaseline, objectNamed, servedAs } from '../../support/kubernetes-objects.ts';
import { createManualClock } from '../../support/manual-clock.ts';
import { createRestrictingAccess } from '../../support/restricting-access.ts';
import { seededRandom } from '../../support/seeded-random.ts';

const model = loadBaseline();
const pods = servedAs(model, 'Pod');
const podKind = kindOf(model, 'Pod');

test('each page, also one that was kept, equals the page of a gateway that keeps none', async () => {
  const random = seededRandom(19);
  const below = (count: number) => Math.floor(random() * count);
  const access = createRestrictingAccess({ ann: { north: 'all', south: 'all' }, bob: { north: ['shop'], south: 'all' } });
  const graph = graphOverMirrors({ model, access });
  const clusters = ['north', 'south'].map((name) => {
    const cluster = graph.mirrors.join(name);
    cluster.discover(pods);
    cluster.mirror(pods).list();
    return cluster;
  });
  const seen = async (page: ListPage, reads: number) => ({
    rows: page.items.map(({ cluster, object, sync }) => [cluster.name, cluster.phase, object.metadata, sync.phase]),
    count: page.itemCount,
    totalCount: page.totalCount,
    hasNextPage: page.hasNextPage,
    hasPreviousPage: page.hasPreviousPage,
    sync: page.sync.map(({ phase, fault }) => [phase, fault]),
    reads,
  });
  let kept = 0;
  const keys = new Set<object>();
  for (let round = 0; round < 300; round += 1) {
    const mirror = clusters[below(2)]?.mirror(pods);
    const pod = objectNamed(`p${below(30)}`, { namespace: below(2) === 0 ? 'shop' : 'bank', labels: { app: `a${below(2)}` } });
    const action = below(8);
    if (action === 0) mirror?.put({ ...pod, metadata: { ...pod.metadata, uid: String(round) } });
    if (action === 1) mirror?.remove(pod);
    if (action === 2) mirror?.fail({ code: 'UNREACHABLE', cluster: mirror.cluster, message: 'connection refused', retry: 'LATER' });
    const caller = { key: below(2) === 0 ? 'ann' : 'bob' };
    const args = {
      first: 1 + below(3) * 5,
      ...(below(3) === 0 ? { labels: 'app=a1' } : {}),
      ...(below(3) === 0 ? { namespaces: ['shop'] } : {}),
      ...(below(3) === 0 ? { clusters: ['north'] } : {}),
    };
    const listed = async (from: typeof graph, after?: string) => {
      let reads = 0;
      const context = readContext(graph, { caller, countReads: (count) => (reads += count) });
      const page = await from.reads.list(context, podKind, { ...args, after });
      return { page, seen: await seen(page, reads) };
    };
    const fresh = graphOverMirrors({ model, access, mirrors: graph.mirrors });
    const first = await listed(graph);
    expect(first.seen).toEqual((await listed(fresh)).seen);
    const last = first.page.items.at(-1);
    const cursor = last && first.page.cursorOf(last);
    if (cursor !== undefined) expect((await listed(graph, cursor)).seen).toEqual((await listed(fresh, cursor)).seen);
    const { contentKey } = first.page;
    if (contentKey !== undefined && keys.has(contentKey)) kept += 1;
    if (contentKey !== undefined) keys.add(contentKey);
  }
  expect(kept).toBeGreaterThan(20);
});

test('pages with a filter, an order or aggregates are not kept, as they depend on more than objects', async () => {
  const graph = graphOverMirrors({ model });
  const north = graph.mirrors.join('north');
  north.discover(pods);
  north.mirror(pods).list(objectNamed('web', { namespace: 'shop' }));
  const keyOf = async (args: Parameters<typeof graph.reads.list>[2]) =>
    (await graph.reads.list(readContext(graph), podKind, args)).contentKey;
  expect(await keyOf({})).toBeDefined();
  expect(await keyOf({})).toBe(await keyOf({}));
  expect(await keyOf({ where: { path: 'cluster.phase', eq: 'SYNCED' } })).toBeUndefined();
  expect(await keyOf({ orderBy: [{ path: 'metadata.name' }] })).toBeUndefined();
  expect(await keyOf({ aggregated: ['spec.priority'] })).toBeUndefined();
});

function sourceWith(count: number): KeptSource {
  const clock = createManualClock();
  const store = createStore({ epoch: 'one', clock });
  const stage = store.replace();
  for (let index = 0; index < count; index += 1) {
    const pod = objectNamed(`p${index}`, { namespace: 'shop' });
    stage.add(pod, () => pod);
  }
  stage.commit(undefined);
  return { store, kind: podKind, resource: pods, visibility: { type: 'all' } };
}

const pageOf = (source: KeptSource) => {
  const objects = [...source.store.objects()];
  const page = { objects, sourceIndexes: objects.map(() => 0), totalCount: objects.length, hasNextPage: false, hasPreviousPage: false };
  return { ...page, reads: 1 };
};

test('a page is found only for the same sources of the same visibility', () => {
  const [source, other] = [sourceWith(3), sourceWith(3)];
  const pages = new KeptPages();
  const page = pageOf(source);
  const findWith = (...sources: readonly KeptSource[]) => {
    pages.keep('key', [sourceStateOf(source)], page);
    return pages.find('key', sources);
  };
  const only = (...namespaces: readonly string[]): QueryVisibility => ({ type: 'namespaces', namespaces: new Set(namespaces) });
  expect(findWith({ ...source })).toBe(page);
  expect(pages.find('other key', [source])).toBeUndefined();
  expect(findWith(other)).toBeUndefined();
  expect(findWith(source, other)).toBeUndefined();
  expect(findWith({ ...source, visibility: only('shop') })).toBeUndefined();
  expect(findWith({ ...source, resource: { ...pods } })).toBeUndefined();
  expect(findWith({ ...source, kind: { ...podKind } })).toBeUndefined();
  pages.keep('shop', [sourceStateOf({ ...source, visibility: only('shop') })], page);
  expect(pages.find('shop', [{ ...source, visibility: only('shop') }])).toBe(page);
  expect(pages.find('shop', [{ ...source, visibility: only('bank') }])).toBeUndefined();
});

test('callers with other rights keep their own pages, and callers with equal rights share one', async () => {
  const access = createRestrictingAccess({
    ann: { north: 'all', south: 'all' },
    bob: { north: ['shop'], south: 'all' },
    cleo: { north: ['bank', 'shop'], south: 'all' },
    dan: { north: ['shop', 'bank'], south: 'all' },
    eve: { north: 'all', south: ['shop'] },
  });
  const graph = graphOverMirrors({ model, access });
  for (const name of ['north', 'south']) {
    const cluster = graph.mirrors.join(name);
    cluster.discover(pods);
    cluster.mirror(pods).list(objectNamed(`of-${name}`, { namespace: 'shop' }), objectNamed(`of-${name}`, { namespace: 'bank' }));
  }
  const keyFor = async (key: string) => (await graph.reads.list(readContext(graph, { caller: { key } }), podKind, {})).contentKey;
  const callers = ['ann', 'bob', 'cleo', 'dan', 'eve'];
  const keys = async () => {
    const found: (object | undefined)[] = [];
    for (const caller of callers) found.push(await keyFor(caller));
    return found;
  };
  const [ann, bob, cleo, dan, eve] = await keys();
  expect(dan).toBe(cleo);
  expect(new Set([ann, bob, cleo, eve]).size, 'pages of different rights').toBe(4);
  const again = await keys();
  expect(again.map((key, index) => key === [ann, bob, cleo, dan, eve][index])).toEqual([true, true, true, true, true]);
});

test('a page of 1,000 clusters is kept also if the caller has other rights in each', () => {
  const source = sourceWith(1);
  const sources = Array.from({ length: 1_000 }, (_, index) => ({
    ...sourceStateOf(source),
    visibility: { type: 'namespaces', namespaces: new Set([`of-${index}`]) } as const,
  }));
  const pages = new KeptPages();
  const page = pageOf(source);
  pages.keep('key', sources, page);
  expect(pages.find('key', sources)).toBe(page);
  expect(pages.find('key', sources.toReversed())).toBeUndefined();
});

test('the objects, the sources, the number and the keys of pages are bounded', () => {
  const source = sourceWith(500);
  const page = pageOf(source);
  const empty = { ...page, objects: [] };
  const pages = new KeptPages();
  const found = (key: string) => pages.find(key, [source]) !== undefined;
  for (let n = 0; n < 65; n += 1) pages.keep(`page ${n}`, [sourceStateOf(source)], page);
  expect(found('page 0')).toBe(true);
  pages.keep('page 65', [sourceStateOf(source)], page);
  expect([found('page 0'), found('page 1'), found('page 65')], 'page 0 was used last').toEqual([true, false, true]);
  for (let n = 0; n < 1_024; n += 1) pages.keep(`empty ${n}`, [sourceStateOf(source)], empty);
  expect([found('page 65'), found('empty 0')]).toEqual([false, true]);
  const sources = Array.from({ length: 20_000 }, () => sourceStateOf(source));
  for (const key of ['many sources', 'others']) pages.keep(key, sources, empty);
  expect([pages.find('many sources', sources), pages.find('others', sources)]).toEqual([undefined, empty]);
  pages.keep('x'.repeat(5_000), [sourceStateOf(source)], page);
  expect(found('x'.repeat(5_000))).toBe(false);
});
