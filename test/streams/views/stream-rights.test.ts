import { describe, expect, test } from 'vitest';
import type { Access, Visibility } from '../../../src/access/access.ts';
import { createLocalAccess } from '../../../src/access/local-access.ts';
import type { ChangesMessage } from '../../../src/streams/messages/changes-message.ts';
import type { StreamArguments } from '../../../src/streams/messages/streams.ts';
import type { StreamSource } from '../../../src/streams/stream-source.ts';
import type { FakeCluster } from '../../support/graph/fake-mirrors.ts';
import { type GraphOverMirrors, graphOverMirrors } from '../../support/graph/graph-over-mirrors.ts';
import { callerNamed, type EagerReader, readEagerly } from '../../support/graph/stream-fold.ts';
import { loadBaseline, objectNamed, servedAs } from '../../support/kubernetes-objects.ts';
import { turns } from '../../support/manual-clock.ts';
import { createRestrictingAccess, type Rights } from '../../support/restricting-access.ts';

const model = loadBaseline();
const pods = servedAs(model, 'Pod');
const podKind = model.kinds.get('Pod');

/** Makes rights that a test changes, and that are known at once or only later. */
function changingAccess(first: Rights, answers: 'at once' | 'later'): { readonly access: Access; rights: Rights } {
  let rights = first;
  const visibilityOf: Access['visibilityOf'] = ({ caller, cluster, kind }): Visibility => {
    const seen = rights[caller.key]?.[cluster];
    if (seen === 'all') return { type: 'all' };
    if (seen !== undefined && seen.length > 0) return { type: 'namespaces', namespaces: new Set(seen) };
    return { type: 'none', fault: { code: 'FORBIDDEN', cluster, kind, message: 'not for you', retry: 'NEVER' } };
  };
  return {
    access: {
      ...createLocalAccess(),
      maySeeCluster: ({ key }, cluster) => rights[key]?.[cluster] !== undefined,
      visibilityOf: (question, signal) =>
        answers === 'at once' ? visibilityOf(question, signal) : Promise.resolve(visibilityOf(question, signal)),
    },
    get rights() {
      return rights;
    },
    set rights(next) {
      rights = next;
    },
  };
}

function join({ mirrors }: GraphOverMirrors, name: string): FakeCluster {
  const cluster = mirrors.join(name);
  cluster.discover(pods);
  cluster.mirror(pods).list(podIn('shop', `${name}-shop`), podIn('bank', `${name}-bank`));
  return cluster;
}

const podIn = (namespace: string, name: string) => objectNamed(name, { namespace });

function podsAs({ streams }: GraphOverMirrors, caller: string, args: StreamArguments = {}): StreamSource<ChangesMessage> {
  if (podKind === undefined) throw new Error('no Pods');
  return streams.changes(callerNamed(caller), podKind, args);
}

async function openAs(graph: GraphOverMirrors, caller: string): Promise<EagerReader<ChangesMessage>> {
  return readEagerly(podsAs(graph, caller));
}

test('a caller that may watch nothing is refused; one that may watch something receives that, and faults for the rest', async () => {
  const access = createRestrictingAccess({ ann: { north: [] }, bob: { north: [], south: ['shop'] } });
  const graph = graphOverMirrors({ model, access });
  join(graph, 'north');
  join(graph, 'south');
  await expect(openAs(graph, 'ann')).rejects.toThrow(expect.objectContaining({ code: 'FORBIDDEN' }));
  await expect(openAs(graph, 'nobody')).rejects.toThrow(expect.objectContaining({ code: 'FORBIDDEN' }));
  const bob = await openAs(graph, 'bob');
  await turns();
  expect(bob.lines()).toEqual(['FAILED north FORBIDDEN', 'INITIAL south +south-shop', 'SYNCED south']);
});

test('the cursor of another caller does not name a cluster that is hidden', async () => {
  const access = createRestrictingAccess({ ann: { north: ['shop'] }, bob: { north: 'all', south: 'all' } });
  const graph = graphOverMirrors({ model, access });
  join(graph, 'north');
  join(graph, 'south');
  const bob = await openAs(graph, 'bob');
  await turns();
  const stolen = await readEagerly(podsAs(graph, 'ann', { after: bob.messages.at(-1)?.cursor ?? '' }));
  await turns();
  expect(stolen.lines()).toEqual(['RESET north', 'INITIAL north +north-shop', 'SYNCED north']);
});

test('P16: callers with equal rights share their messages; callers that differ in one namespace share none', async () => {
  const access = createRestrictingAccess({ ann: { north: ['shop'] }, bob: { north: ['shop'] }, cid: { north: ['shop', 'bank'] } });
  const graph = graphOverMirrors({ model, access });
  const north = join(graph, 'north');
  const [ann, bob, cid] = await Promise.all([openAs(graph, 'ann'), openAs(graph, 'bob'), openAs(graph, 'cid')]);
  await turns();
  north.mirror(pods).put(podIn('shop', 'new'));
  north.mirror(pods).put(podIn('bank', 'hidden'));
  await turns();
  expect(ann.lines()).toEqual(['INITIAL north +north-shop', 'SYNCED north', 'LIVE north +new']);
  expect(ann.messages.every((message, index) => message === bob.messages[index])).toBe(true);
  expect(cid.lines(2)).toEqual(['LIVE north +new +hidden']);
  const others = new Set<object>(cid.messages);
  expect(ann.messages.some((message) => others.has(message))).toBe(false);
});

describe.each(['at once', 'later'] as const)('rights known %s', (answers) => {
  test('that are lost end the streams of their caller, with no deletion', async () => {
    const changing = changingAccess({ ann: { north: ['shop', 'bank'] }, bob: { north: ['shop', 'bank'] } }, answers);
    const graph = graphOverMirrors({ model, access: changing.access });
    const north = join(graph, 'north');
    const [ann, bob] = [await openAs(graph, 'ann'), await openAs(graph, 'bob')];
    await turns();
    changing.rights = { ...changing.rights, ann: { north: ['shop'] } };
    if (answers === 'later') await graph.clock.advance(60_000);
    north.mirror(pods).put(podIn('bank', 'secret'));
    await turns();
    expect(ann.ended?.code).toBe('FORBIDDEN');
    expect(ann.lines()).toEqual(['INITIAL north +north-bank +north-shop', 'SYNCED north']);
    expect(bob.ended).toBeUndefined();
    expect(bob.lines(2)).toEqual(['LIVE north +secret']);
    expect(graph.streams.counts()).toMatchObject({ views: 1, readers: 1 });
  });

  test('that are checked every 25 s end a stream in which nothing happens', async () => {
    const changing = changingAccess({ ann: { north: 'all' } }, answers);
    const graph = graphOverMirrors({ model, access: changing.access });
    join(graph, 'north');
    const ann = await openAs(graph, 'ann');
    await turns();
    changing.rights = {};
    await graph.clock.advance(24_000);
    expect(ann.ended).toBeUndefined();
    await graph.clock.advance(1_000);
    expect(ann.ended?.code).toBe('FORBIDDEN');
    expect(graph.streams.counts()).toEqual({ views: 0, readers: 0, queuedBytes: 0 });
    expect(graph.clock.sleepers).toBe(0);
  });

  test('that are gained send the clusters concerned again, and no other one', async () => {
    const changing = changingAccess({ ann: { north: ['shop'], south: 'all' } }, answers);
    const graph = graphOverMirrors({ model, access: changing.access });
    const [north, south] = [join(graph, 'north'), join(graph, 'south')];
    const ann = await openAs(graph, 'ann');
    await turns();
    const before = ann.messages.length;
    changing.rights = { ann: { north: ['shop', 'bank'], south: 'all' } };
    await graph.clock.advance(60_000);
    expect(ann.lines(before)).toEqual(['RESET north', 'INITIAL north +north-bank +north-shop', 'SYNCED north']);
    south.mirror(pods).put(podIn('shop', 'new'));
    north.mirror(pods).put(podIn('bank', 'newer'));
    await graph.clock.advance(5);
    expect(ann.lines(before + 3).toSorted()).toEqual(['LIVE north +newer', 'LIVE south +new']);
    expect(graph.streams.counts()).toMatchObject({ views: 1, readers: 1 });
    // A cursor of the narrower scope begins with RESET, because that scope may have shown less.
    const at = before - 1;
    const resumed = await readEagerly(podsAs(graph, 'ann', { after: ann.messages[at]?.cursor ?? '' }), { from: ann.foldAt(at) });
    await turns();
    expect(resumed.messages.map(({ type }) => type)).toEqual(['RESET', 'INITIAL', 'SYNCED', 'RESET', 'INITIAL', 'SYNCED']);
  });

  test('of a cluster that joins are checked before its first message', async () => {
    const changing = changingAccess({ ann: { north: 'all' }, bob: { north: 'all', south: 'all' } }, answers);
    const graph = graphOverMirrors({ model, access: changing.access });
    join(graph, 'north');
    const [ann, bob] = [await openAs(graph, 'ann'), await openAs(graph, 'bob')];
    await turns();
    join(graph, 'south');
    await graph.clock.advance(5);
    expect(ann.lines(2)).toEqual([]);
    expect(bob.lines(2)).toEqual(['INITIAL south +south-bank +south-shop', 'SYNCED south']);
    expect([ann.ended, bob.ended]).toEqual([undefined, undefined]);
  });

  test('of a cluster that leaves are not lost', async () => {
    const changing = changingAccess({ ann: { north: 'all', south: ['shop'] } }, answers);
    const graph = graphOverMirrors({ model, access: changing.access });
    const [, south] = [join(graph, 'north'), join(graph, 'south')];
    const ann = await openAs(graph, 'ann');
    await turns();
    changing.rights = { ann: { north: 'all' } };
    south.leave();
    await graph.clock.advance(61_000);
    expect(ann.ended).toBeUndefined();
    expect(ann.lines(4)).toEqual(['FAILED south GONE']);
  });
});
