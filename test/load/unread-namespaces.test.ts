import { expect, test } from 'vitest';
import type { Access } from '../../src/access/access.ts';
import type { Fault } from '../../src/core/faults.ts';
import type { LogBatchView } from '../../src/load/logs.ts';
import type { FakeMirror } from '../support/fake-mirrors.ts';
import { type GraphOverMirrors, graphOverMirrors } from '../support/graph-over-mirrors.ts';
import { loadBaseline, objectNamed, servedAs } from '../support/kubernetes-objects.ts';
import { turns } from '../support/manual-clock.ts';
import { createRestrictingAccess } from '../support/restricting-access.ts';
import { callerNamed, readEagerly } from '../support/stream-fold.ts';

// A namespace that was named and is not mirrored, as there was no room for it (docs/mirror.md 3.4): never rows of nothing without a word.
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

test('a list has the fault, and the rows of the other namespaces as true as they are', async () => {
  const { graph } = start();
  expect(await list(graph, 'namespaces: "web"')).toEqual({ items: [], ...short });
  expect(await list(graph, 'namespaces: ["shop", "web"]')).toEqual({ items: [shopRow], ...short });
  expect(await list(graph, 'namespaces: "shop"')).toEqual({ items: [shopRow], ...whole });
});

test('what is wrong with the mirror itself is told first', async () => {
  const { graph, mirror } = start();
  mirror.fail(unreachable(mirror));
  expect(await list(graph, 'namespaces: "web"')).toMatchObject({ sync: [{ phase: 'STALE', fault: { code: 'UNREACHABLE' } }] });
});

test('a namespace out of sight is as one that has nothing', async () => {
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

test('a stream has failed until there is room, and says so again after each change', async () => {
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

test('followed logs say it once, and again after another trouble', async () => {
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
