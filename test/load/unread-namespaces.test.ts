import { expect, test } from 'vitest';
import type { Access } from '../../src/access/access.ts';
import type { Fault } from '../../src/core/faults.ts';
import type { LogBatchView } from '../../src/load/logs/logs.ts';
import type { FakeMirror } from '../support/graph/fake-mirrors.ts';
import { type GraphOverMirrors, graphOverMirrors } from '../support/graph/graph-over-mirrors.ts';
import { callerNamed, readEagerly } from '../support/graph/stream-fold.ts';
import { loadBaseline, objectNamed, servedAs } from '../support/kubernetes-objects.ts';
import { turns } from '../support/manual-clock.ts';
import { createRestrictingAccess } from '../support/restricting-access.ts';

// A requested namespace that is not mirrored, because there was no room for it (docs/internals/mirror.md 3.4). An answer must have a fault
// instead of silently missing rows.
const model = loadBaseline();
const pods = servedAs(model, 'Pod');
const tooLarge = { phase: 'MISSING', fault: { code: 'TOO_LARGE' } };

const unreachable = ({ cluster }: FakeMirror): Fault => ({ code: 'UNREACHABLE', cluster, message: 'as the test says', retry: 'LATER' });

function start(access?: Access) {
  const graph = graphOverMirrors({ model, ...(access === undefined ? {} : { access }) });
  const north = graph.mirrors.join('north');
  north.discover(pods);
  const mirror = north.mirror(pods);
  mirror.list(objectNamed('a', { namespace: 'shop' }));
  mirror.leaveOut('web');
  return { graph, mirror };
}

async function list({ ask }: GraphOverMirrors, args: string, caller = 'me') {
  const fields = 'items { metadata { name } sync { phase } } sync { phase fault { code } } faults { code }';
  const { at } = await ask(`{ pods(${args}) { ${fields} } }`, {}, { caller });
  return { items: at('pods.items'), sync: at('pods.sync'), faults: at('pods.faults') };
}

const shopRow = { metadata: { name: 'a' }, sync: { phase: 'SYNCED' } };
const whole = { sync: [{ phase: 'SYNCED', fault: null }], faults: [] };
const short = { sync: [tooLarge], faults: [{ code: 'TOO_LARGE' }] };

test('a list has the fault, and the rows of the other namespaces keep their sync', async () => {
  const { graph } = start();
  expect(await list(graph, 'namespaces: "web"')).toEqual({ items: [], ...short });
  expect(await list(graph, 'namespaces: ["shop", "web"]')).toEqual({ items: [shopRow], ...short });
  expect(await list(graph, 'namespaces: "shop"')).toEqual({ items: [shopRow], ...whole });
});

test('a fault of the mirror itself comes first', async () => {
  const { graph, mirror } = start();
  mirror.fail(unreachable(mirror));
  expect(await list(graph, 'namespaces: "web"')).toMatchObject({ sync: [{ phase: 'STALE', fault: { code: 'UNREACHABLE' } }] });
});

test('a hidden namespace looks empty', async () => {
  const { graph } = start(createRestrictingAccess({ ann: { north: ['shop'] }, bob: { north: ['shop', 'web'] } }));
  expect(await list(graph, 'namespaces: ["shop", "web"]', 'ann')).toEqual({ items: [shopRow], ...whole });
  expect(await list(graph, 'namespaces: ["shop", "web"]', 'bob')).toEqual({ items: [shopRow], ...short });
});

test('a single object that is not found is a fault, not absent', async () => {
  const { graph } = start();
  const single = (namespace: string) => graph.ask(`{ pod(cluster: "north", namespace: "${namespace}", name: "b") { metadata { name } } }`);
  expect((await single('web')).faults).toMatchObject([{ fault: { code: 'TOO_LARGE' }, path: ['pod'] }]);
  expect((await single('shop')).faults).toEqual([]);
});

test('a stream has FAILED until there is room, and repeats that after each change', async () => {
  const { graph, mirror } = start();
  const kind = model.kinds.get('Pod');
  if (kind === undefined) throw new Error('no Pods');
  const read = await readEagerly(graph.streams.changes(callerNamed('me'), kind, { namespaces: ['shop', 'web'] }));
  await turns();
  expect(read.lines()).toEqual(['INITIAL north +a', 'SYNCED north', 'FAILED north TOO_LARGE']);
  mirror.put(objectNamed('b', { namespace: 'shop' }));
  await turns();
  await graph.clock.advance(1_000);
  expect(read.lines(3)).toEqual(['LIVE north +b', 'FAILED north TOO_LARGE']);
  mirror.leaveOut();
  await graph.clock.advance(1_000);
  expect(read.lines(5)).toEqual(['LIVE north']);
  mirror.leaveOut('web');
  await graph.clock.advance(1_000);
  expect(read.lines(6)).toEqual(['FAILED north TOO_LARGE']);
  mirror.store.failed(unreachable(mirror));
  await graph.clock.advance(1_000);
  mirror.store.synced();
  await graph.clock.advance(1_000);
  expect(read.lines(7)).toEqual(['FAILED north UNREACHABLE', 'FAILED north TOO_LARGE']);
});

test('followed logs report it once, and again after another failure', async () => {
  const { graph, mirror } = start();
  const messages: LogBatchView[] = [];
  const source = graph.logs.follow(callerNamed('me'), { namespaces: ['web'] }, {});
  const ready = () => {
    for (let message = reader.take(); message !== undefined; message = reader.take()) messages.push(message);
  };
  const reader = await source.open({ ready, ended: () => undefined }, new AbortController().signal);
  await graph.clock.advance(1_000);
  mirror.put(objectNamed('b', { namespace: 'shop' }));
  await graph.clock.advance(1_000);
  expect(messages).toMatchObject([{ fault: { code: 'TOO_LARGE' } }]);
  mirror.store.failed(unreachable(mirror));
  await graph.clock.advance(1_000);
  mirror.store.synced();
  await graph.clock.advance(1_000);
  expect(messages.map(({ fault }) => fault?.code)).toEqual(['TOO_LARGE', 'UNREACHABLE', 'TOO_LARGE']);
});

const forbidden = { phase: 'MISSING', fault: { code: 'FORBIDDEN' } };
const refused = { sync: [forbidden], faults: [{ code: 'FORBIDDEN' }] };
/** The shown objects are correct, but not complete. */
const partly = { sync: [{ phase: 'SYNCED', fault: { code: 'FORBIDDEN' } }], faults: [{ code: 'FORBIDDEN' }] };

function startConfined(access?: Access) {
  const { graph, mirror } = start(access);
  mirror.confine('shop');
  return { graph, mirror };
}

test('a namespace that may not be listed is a fault of lists and single objects, and others are complete', async () => {
  const { graph } = startConfined();
  expect(await list(graph, 'namespaces: "batch"')).toEqual({ items: [], ...refused });
  expect(await list(graph, 'namespaces: ["batch", "shop"]')).toEqual({ items: [shopRow], ...refused });
  expect(await list(graph, 'namespaces: "shop"')).toEqual({ items: [shopRow], ...whole });
  const { faults } = await graph.ask('{ pod(cluster: "north", namespace: "batch", name: "b") { metadata { name } } }');
  expect(faults).toMatchObject([{ fault: { code: 'FORBIDDEN' }, path: ['pod'] }]);
});

test('a list without namespaces has the known rows, and a fault that rows are missing', async () => {
  const { graph, mirror } = startConfined();
  expect(await list(graph, 'first: 9')).toEqual({ items: [shopRow], ...partly });
  mirror.confine();
  expect(await list(graph, 'first: 9')).toEqual({ items: [shopRow], ...whole });
});

test('a namespace that the gateway may not list is no fault for callers who may not see it', async () => {
  const { graph } = startConfined(createRestrictingAccess({ ann: { north: ['shop'] }, bob: { north: ['shop', 'batch'] } }));
  for (const args of ['first: 9', 'namespaces: ["shop", "batch"]'])
    expect(await list(graph, args, 'ann')).toEqual({ items: [shopRow], ...whole });
  expect(await list(graph, 'first: 9', 'bob')).toEqual({ items: [shopRow], ...partly });
  expect(await list(graph, 'namespaces: ["shop", "batch"]', 'bob')).toEqual({ items: [shopRow], ...refused });
});

test.each([
  ['of a namespace that may not be listed', { namespaces: ['batch', 'shop'] }],
  ['of all, where not all may be listed', {}],
])('a stream %s has failed until it may, after SYNCED', async (_what, args) => {
  const { graph, mirror } = startConfined();
  const kind = model.kinds.get('Pod');
  if (kind === undefined) throw new Error('no Pods');
  const read = await readEagerly(graph.streams.changes(callerNamed('me'), kind, args));
  await turns();
  expect(read.lines()).toEqual(['INITIAL north +a', 'SYNCED north', 'FAILED north FORBIDDEN']);
  mirror.confine();
  await graph.clock.advance(1_000);
  expect(read.lines(3)).toEqual(['LIVE north']);
});

test('Jobs of a cluster with a namespace that may not be listed are counted as stale', async () => {
  const graph = graphOverMirrors({ model });
  const north = graph.mirrors.join('north');
  const jobs = servedAs(model, 'Job.batch');
  const kind = model.kinds.get('Job.batch');
  if (kind === undefined) throw new Error('no Jobs');
  north.discover(jobs);
  const mirror = north.mirror(jobs);
  mirror.list(objectNamed('sum', { namespace: 'shop' }));
  mirror.confine('shop');
  const read = await readEagerly(graph.streams.jobStatus(callerNamed('me'), kind, { namespaces: ['batch', 'shop'] }));
  await turns();
  const last = () => read.messages.at(-1)?.summary;
  expect(last()).toMatchObject({ total: 1, stale: 1, byCluster: [{ total: 1, sync: forbidden }] });
  mirror.confine();
  await graph.clock.advance(1_000);
  expect(last()).toMatchObject({ total: 1, stale: 0, byCluster: [{ sync: { phase: 'SYNCED' } }] });
});

test('followed logs report once that a namespace may not be listed', async () => {
  const { graph, mirror } = startConfined();
  const faults: unknown[] = [];
  const source = graph.logs.follow(callerNamed('me'), { namespaces: ['batch'] }, {});
  const ready = () => {
    for (let message = reader.take(); message !== undefined; message = reader.take()) faults.push(message.fault?.code);
  };
  const reader = await source.open({ ready, ended: () => undefined }, new AbortController().signal);
  await graph.clock.advance(1_000);
  mirror.await();
  await graph.clock.advance(1_000);
  mirror.put(objectNamed('b', { namespace: 'shop' }));
  await graph.clock.advance(1_000);
  expect(faults).toEqual(['FORBIDDEN']);
});
