import { getEventListeners } from 'node:events';
import { describe, expect, test } from 'vitest';
import type { Fault } from '../../src/core/faults.ts';
import type { KubernetesObject } from '../../src/core/objects.ts';
import type { ChangesMessage } from '../../src/streams/messages/changes-message.ts';
import type { StreamArguments } from '../../src/streams/messages/streams.ts';
import type { FakeCluster } from '../support/graph/fake-mirrors.ts';
import { type GraphOverMirrors, graphOverMirrors } from '../support/graph/graph-over-mirrors.ts';
import { callerNamed, createFold, type EagerReader, printMessage, readByHand, readEagerly } from '../support/graph/stream-fold.ts';
import { loadBaseline, objectNamed, servedAs } from '../support/kubernetes-objects.ts';
import { turns } from '../support/manual-clock.ts';
import { versionOf } from '../support/store/store-objects.ts';

const model = loadBaseline();
const served = { pods: servedAs(model, 'Pod'), jobs: servedAs(model, 'Job.batch'), secrets: servedAs(model, 'Secret') };
const me = callerNamed('me');
let versions = 0;

function kindOf(key: string) {
  const kind = model.kinds.get(key);
  if (kind === undefined) throw new Error(`no kind ${key}`);
  return kind;
}

const pod = (name: string, labels: Readonly<Record<string, string>> = {}) => objectNamed(name, { namespace: 'shop', labels });

/** Makes a later state of the object. */
function later(object: KubernetesObject, labels = object.metadata.labels ?? {}): KubernetesObject {
  versions += 1;
  return { ...object, metadata: { ...object.metadata, labels, resourceVersion: `later-${versions}` } };
}

function join({ mirrors }: GraphOverMirrors, name: string, ...objects: readonly KubernetesObject[]): FakeCluster {
  const cluster = mirrors.join(name);
  cluster.discover(...Object.values(served));
  cluster.mirror(served.pods).list(...objects);
  return cluster;
}

const podsOf = ({ streams }: GraphOverMirrors, args: StreamArguments = {}) => streams.changes(me, kindOf('Pod'), args);
/** Opens the stream again after one of its messages. Default: the last one. */
function goOn(graph: GraphOverMirrors, read: EagerReader<ChangesMessage>, { at = read.messages.length - 1, args = {} }: Again = {}) {
  return readEagerly(podsOf(graph, { ...args, after: read.messages[at]?.cursor ?? '' }), { from: read.foldAt(at) });
}

interface Again {
  readonly at?: number;
  readonly args?: StreamArguments;
}

const fault = (code: Fault['code'], { name }: FakeCluster): Fault => ({ code, cluster: name, message: 'as the test says', retry: 'LATER' });

describe('the first state', () => {
  test('comes cluster by cluster, each with a SYNCED of its own', async () => {
    const graph = graphOverMirrors({ model });
    for (const name of ['south', 'north']) join(graph, name, pod(`${name}-1`), pod(`${name}-2`));
    const read = await readEagerly(podsOf(graph));
    expect(read.lines()).toEqual([]);
    await turns();
    expect(read.lines()).toEqual(['INITIAL north +north-1 +north-2', 'SYNCED north', 'INITIAL south +south-1 +south-2', 'SYNCED south']);
  });

  test('comes in chunks, and a resume after each of them continues without beginning again', async () => {
    const graph = graphOverMirrors({ model });
    join(graph, 'north', ...Array.from({ length: 600 }, (_, index) => pod(`pod-${index}`)));
    const read = await readEagerly(podsOf(graph));
    await turns();
    expect(read.messages.map(({ type, added }) => `${type} ${added.length}`)).toEqual([
      'INITIAL 250',
      'INITIAL 250',
      'INITIAL 100',
      'SYNCED 0',
    ]);
    const resumed = await Promise.all(read.messages.map((_, at) => goOn(graph, read, { at })));
    await turns();
    expect(resumed.map(({ messages }) => messages.map(({ type, added }) => `${type} ${added.length}`).join())).toEqual([
      'INITIAL 250,INITIAL 100,SYNCED 0',
      'INITIAL 100,SYNCED 0',
      'SYNCED 0',
      '',
    ]);
  });

  test('is SYNCED at once if there is no object, and sends nothing before the list is complete', async () => {
    const graph = graphOverMirrors({ model });
    const north = join(graph, 'north');
    const south = graph.mirrors.join('south');
    const read = await readEagerly(podsOf(graph));
    await turns();
    expect(read.lines()).toEqual(['SYNCED north']);
    south.discover(served.pods);
    await turns();
    expect(read.lines()).toEqual(['SYNCED north']);
    south.mirror(served.pods).fail(fault('TIMED_OUT', south));
    await turns();
    south.mirror(served.pods).list(pod('a'));
    north.mirror(served.pods).fail(fault('UNREACHABLE', north));
    await graph.clock.advance(5);
    expect(read.lines(1)).toEqual(['FAILED south TIMED_OUT', 'FAILED north UNREACHABLE', 'INITIAL south +a', 'SYNCED south']);
  });

  test('has a fault for a named cluster that lacks the kind, and nothing for another one', async () => {
    const graph = graphOverMirrors({ model });
    graph.mirrors.join('north').discover(served.jobs);
    const read = await readEagerly(podsOf(graph));
    const named = await readEagerly(podsOf(graph, { clusters: ['north'] }));
    await turns();
    expect([read.lines(), named.lines()]).toEqual([[], ['FAILED north NOT_SERVED']]);
  });

  test('has the same message objects for all readers at the same position', async () => {
    const graph = graphOverMirrors({ model });
    const north = join(graph, 'north', pod('a'));
    const [first, second] = await Promise.all([readByHand(podsOf(graph)), readByHand(podsOf(graph, { labels: '' }))]);
    await turns();
    const messages = first.take();
    const others = second.take();
    expect(messages.map(printMessage)).toEqual(['INITIAL north +a', 'SYNCED north']);
    expect(messages.every((message, index) => message === others[index])).toBe(true);
    expect(messages[0]?.cursor).toBe(others[0]?.cursor);
    const third = await readByHand(podsOf(graph));
    north.mirror(served.pods).put(pod('b'));
    await turns();
    expect(third.take().map(printMessage)).toEqual(['INITIAL north +a +b', 'SYNCED north']);
    expect(graph.streams.counts()).toEqual({ views: 1, readers: 3, queuedBytes: 0 });
  });
});

describe('a change', () => {
  test('comes at the end of the event-loop turn, then at most every 5 ms, merged', async () => {
    const graph = graphOverMirrors({ model });
    const north = join(graph, 'north', pod('a'));
    const read = await readEagerly(podsOf(graph));
    await turns();
    const b = pod('b');
    north.mirror(served.pods).put(b);
    await turns(1);
    expect(read.lines(2)).toEqual(['LIVE north +b']);
    const c = pod('c');
    for (const object of [c, later(c), later(b)]) {
      north.mirror(served.pods).put(object);
      await turns(1);
    }
    north.mirror(served.pods).remove(c);
    await graph.clock.advance(4);
    expect(read.lines(3)).toEqual([]);
    await graph.clock.advance(1);
    expect(read.lines(3)).toEqual(['LIVE north ~b']);
  });

  test('adds an object that now matches, and deletes one that no longer does, with its last matching state', async () => {
    const graph = graphOverMirrors({ model });
    const [web, api] = [pod('web', { app: 'web' }), pod('api', { app: 'api' })];
    const north = join(graph, 'north', web, api);
    const read = await readEagerly(podsOf(graph, { labels: 'app=web' }));
    await turns();
    north.mirror(served.pods).put(later(web, { app: 'api' }));
    north.mirror(served.pods).put(later(api, { app: 'web' }));
    north.mirror(served.pods).put(pod('other', { app: 'other' }));
    await turns();
    expect(read.lines()).toEqual(['INITIAL north +web', 'SYNCED north', 'LIVE north +api -web']);
    expect(read.messages[2]?.deleted[0]?.object.metadata.labels).toEqual({ app: 'web' });
  });

  test('is not lost if an object changed before it was deleted, all in one turn', async () => {
    const graph = graphOverMirrors({ model });
    const web = pod('web', { app: 'web' });
    const north = join(graph, 'north', web);
    const read = await readEagerly(podsOf(graph, { labels: 'app=web' }));
    await turns();
    const changed = later(web, { app: 'none' });
    north.mirror(served.pods).put(changed);
    north.mirror(served.pods).remove(changed);
    await turns();
    expect(read.lines(2)).toEqual(['LIVE north -web']);
  });

  test('of an object that was created again under its name is two messages, the deletion first', async () => {
    const graph = graphOverMirrors({ model });
    const north = join(graph, 'north', pod('a'));
    const read = await readEagerly(podsOf(graph));
    await turns();
    north.mirror(served.pods).put(pod('a'));
    await turns();
    expect(read.lines(2)).toEqual(['LIVE north -a', 'LIVE north +a']);
    const resumed = await goOn(graph, read, { at: 2 });
    await turns();
    expect(resumed.lines()).toEqual(['RESET north', 'INITIAL north +a', 'SYNCED north']);
  });

  test('of a property of the cluster that a filter names begins with RESET', async () => {
    const graph = graphOverMirrors({ model });
    const north = join(graph, 'north', pod('a'));
    const read = await readEagerly(podsOf(graph, { where: { path: 'cluster.phase', eq: 'SYNCED' } }));
    await turns();
    north.fail(fault('UNREACHABLE', north));
    await graph.clock.advance(5);
    expect(read.lines(2)).toEqual(['RESET north', 'SYNCED north']);
  });

  test('is sent in the same message to all readers, with one cursor', async () => {
    const graph = graphOverMirrors({ model });
    const north = join(graph, 'north', pod('a'));
    const readers = await Promise.all(Array.from({ length: 20 }, () => readByHand(podsOf(graph))));
    await turns();
    for (const reader of readers) reader.take();
    north.mirror(served.pods).put(pod('b'));
    await turns();
    const messages = new Set(readers.flatMap((reader) => reader.take()));
    expect(messages.size).toBe(1);
    expect(readers.map(({ calls }) => calls)).toEqual(readers.map(() => 2));
  });
});

describe('a cluster', () => {
  test('that fails gets FAILED until it is back, and the others continue', async () => {
    const graph = graphOverMirrors({ model });
    const [north, south] = [join(graph, 'north', pod('a')), join(graph, 'south')];
    const read = await readEagerly(podsOf(graph));
    await turns();
    north.mirror(served.pods).fail(fault('UNREACHABLE', north));
    south.mirror(served.pods).put(pod('b'));
    await turns();
    north.mirror(served.pods).store.synced();
    await graph.clock.advance(5);
    expect(read.lines(3)).toEqual(['FAILED north UNREACHABLE', 'LIVE south +b', 'LIVE north']);
    const joined = north.mirror(served.pods);
    joined.fail(fault('UNREACHABLE', north));
    joined.put(pod('c'));
    await graph.clock.advance(5);
    expect(read.lines(6)).toEqual(['LIVE north +c']);
  });

  test('that is not in sync, and yet changes, gets FAILED again', async () => {
    const graph = graphOverMirrors({ model });
    const north = join(graph, 'north', pod('a'));
    const read = await readEagerly(podsOf(graph));
    const slow = await readByHand(podsOf(graph));
    await turns();
    slow.take();
    slow.reader.pause();
    const { store } = north.mirror(served.pods);
    north.mirror(served.pods).fail(fault('FORBIDDEN', north));
    await turns();
    const b = pod('b');
    store.applied(b, versionOf('102'), () => b);
    await graph.clock.advance(5);
    expect(read.lines(2)).toEqual(['FAILED north FORBIDDEN', 'LIVE north +b', 'FAILED north FORBIDDEN']);
    expect(slow.take().map(printMessage)).toEqual(['LIVE north +b', 'FAILED north FORBIDDEN']);
  });

  test('that may no longer be read is cleared without deletions, and begins again', async () => {
    const graph = graphOverMirrors({ model });
    const north = join(graph, 'north', pod('a'));
    const read = await readEagerly(podsOf(graph));
    await turns();
    const lost = fault('FORBIDDEN', north);
    north.mirror(served.pods).fail(lost);
    await turns();
    north.mirror(served.pods).store.empty(lost);
    north.mirror(served.pods).refuse(lost);
    await graph.clock.advance(5);
    const late = await readEagerly(podsOf(graph));
    await turns();
    const resumed = await goOn(graph, read);
    await turns();
    north.mirror(served.pods).list(pod('b'));
    await graph.clock.advance(5);
    expect(read.lines(2)).toEqual(['FAILED north FORBIDDEN', 'FAILED north FORBIDDEN', 'RESET north', 'INITIAL north +b', 'SYNCED north']);
    expect(late.lines()).toEqual(['FAILED north FORBIDDEN', 'RESET north', 'INITIAL north +b', 'SYNCED north']);
    expect(resumed.lines()).toEqual(['FAILED north FORBIDDEN', 'RESET north', 'INITIAL north +b', 'SYNCED north']);
  });

  test('that has more changes in one turn than the feed holds begins again', async () => {
    const graph = graphOverMirrors({ model });
    const north = join(graph, 'north', pod('a'));
    const read = await readEagerly(podsOf(graph, { labels: 'app=none' }));
    await turns();
    for (let index = 0; index < 1_001; index++) north.mirror(served.pods).put(pod(`pod-${index}`));
    await turns();
    expect(read.lines()).toEqual(['SYNCED north', 'RESET north', 'SYNCED north']);
  });

  test('whose new list differs in thousands of objects sends them in batches, and only the last one can be resumed', async () => {
    const graph = graphOverMirrors({ model });
    const north = join(graph, 'north');
    const read = await readEagerly(podsOf(graph));
    await turns();
    north.mirror(served.pods).list(...Array.from({ length: 1_200 }, (_, index) => pod(`pod-${index}`)));
    await turns();
    expect(read.messages.slice(1).map(({ type, added }) => `${type} ${added.length}`)).toEqual([
      'LIVE 250',
      'LIVE 250',
      'LIVE 250',
      'LIVE 250',
      'LIVE 200',
    ]);
    const resumed = await Promise.all([1, 5].map((at) => goOn(graph, read, { at })));
    await turns();
    expect(resumed.map(({ messages }) => messages[0]?.type)).toEqual(['RESET', undefined]);
    expect(resumed.map(({ fold }) => fold.held('north Pod').length)).toEqual([1_200, 1_200]);
  });

  test('that joins begins with its first state, and one that leaves is void', async () => {
    const graph = graphOverMirrors({ model });
    const north = join(graph, 'north', pod('a'));
    const read = await readEagerly(podsOf(graph));
    await turns();
    join(graph, 'south', pod('b'));
    await turns();
    north.leave();
    await graph.clock.advance(5);
    join(graph, 'north', pod('c'));
    await graph.clock.advance(5);
    expect(read.lines(2)).toEqual(['INITIAL south +b', 'SYNCED south', 'FAILED north GONE', 'INITIAL north +c', 'SYNCED north']);
    expect(read.fold.whole().toSorted()).toEqual(['north Pod', 'south Pod']);
  });

  test.each([{ clusters: [] }, { namespaces: [] }])('%j is SYNCED without an object', async (args) => {
    const graph = graphOverMirrors({ model });
    join(graph, 'north', pod('a'));
    const read = await readEagerly(podsOf(graph, args));
    await turns();
    expect(read.lines()).toEqual(['SYNCED north']);
  });

  test('that is replaced in one turn is void, because it left and not because the next one is listing', async () => {
    const graph = graphOverMirrors({ model });
    const north = join(graph, 'north', pod('a'));
    const read = await readEagerly(podsOf(graph));
    await turns();
    north.leave();
    graph.mirrors.join('north');
    await graph.clock.advance(5);
    const gone = read.messages.find(({ fault }) => fault?.code === 'GONE')?.fault;
    expect(gone?.message).toContain('the cluster has left the fleet');
  });

  test('that no longer serves the kind is void, and begins again when it does', async () => {
    const graph = graphOverMirrors({ model });
    const north = join(graph, 'north', pod('a'));
    const read = await readEagerly(podsOf(graph));
    await turns();
    north.discover(served.jobs);
    await turns();
    north.discover(served.jobs, served.pods);
    await graph.clock.advance(5);
    north.mirror(served.pods).list(pod('b'));
    await graph.clock.advance(5);
    expect(read.lines(2)).toEqual(['FAILED north GONE', 'INITIAL north +b', 'SYNCED north']);
  });

  test('that confirms that nothing changed moves the cursor, at most twice a minute', async () => {
    const graph = graphOverMirrors({ model });
    const north = join(graph, 'north', pod('a'));
    const { store } = north.mirror(served.pods);
    const read = await readEagerly(podsOf(graph));
    await turns();
    const confirm = async () => {
      if (store.version !== undefined) store.confirmed(store.version);
      await turns();
    };
    await confirm();
    await graph.clock.advance(31_000);
    await confirm();
    await confirm();
    expect(read.lines(2)).toEqual(['BOOKMARK north']);
    const resumed = await goOn(graph, read, { at: 2 });
    await turns();
    expect(resumed.lines()).toEqual([]);
  });
});

describe('a reader that resumes', () => {
  test('receives the missed changes, and nothing twice', async () => {
    const graph = graphOverMirrors({ model });
    const [a, b] = [pod('a'), pod('b')];
    const north = join(graph, 'north', a, b);
    join(graph, 'south', pod('z'));
    const read = await readEagerly(podsOf(graph));
    await turns();
    read.reader[Symbol.dispose]();
    north.mirror(served.pods).remove(a);
    north.mirror(served.pods).put(later(b));
    const c = pod('c');
    north.mirror(served.pods).put(c);
    north.mirror(served.pods).remove(c);
    const resumed = await goOn(graph, read);
    const early = await goOn(graph, read, { at: 1 });
    await turns();
    expect(resumed.lines()).toEqual(['LIVE north ~b -a']);
    expect(early.lines()).toEqual(['LIVE north ~b -a', 'INITIAL south +z', 'SYNCED south']);
  });

  test('with a cursor that other readers have too receives the same message objects', async () => {
    const graph = graphOverMirrors({ model });
    const north = join(graph, 'north', pod('a'));
    const read = await readEagerly(podsOf(graph));
    await turns();
    read.reader[Symbol.dispose]();
    north.mirror(served.pods).put(pod('b'));
    const [one, two, other] = await Promise.all([0, 1, 1].map((at) => goOn(graph, read, { at })));
    await turns();
    expect([one?.lines()[0], two?.lines(), other?.lines()]).toEqual(['INITIAL north +b', ['LIVE north +b'], ['LIVE north +b']]);
    expect(two?.messages[0]).toBe(other?.messages[0]);
  });

  test('at a version that is no longer in the history begins again, with that cluster alone', async () => {
    const graph = graphOverMirrors({ model });
    const a = pod('a');
    const north = join(graph, 'north', a);
    const south = join(graph, 'south', pod('b'));
    const read = await readEagerly(podsOf(graph));
    await turns();
    await graph.clock.advance(11 * 60_000);
    north.mirror(served.pods).put(later(a));
    await graph.clock.advance(11 * 60_000);
    south.mirror(served.pods).put(pod('c'));
    const resumed = await goOn(graph, read, { at: 3 });
    await turns();
    expect(resumed.lines()).toEqual(['RESET north', 'INITIAL north +a', 'SYNCED north', 'LIVE south +c']);
  });

  test('while a cluster is not in sync receives the fault, and the missed changes when it is back', async () => {
    const graph = graphOverMirrors({ model });
    const north = join(graph, 'north', pod('a'));
    const read = await readEagerly(podsOf(graph));
    await turns();
    north.mirror(served.pods).fail(fault('UNREACHABLE', north));
    const resumed = await goOn(graph, read);
    await turns();
    north.mirror(served.pods).put(pod('b'));
    await graph.clock.advance(5);
    expect(resumed.lines()).toEqual(['FAILED north UNREACHABLE', 'LIVE north +b']);
  });

  test('with a source that has left meanwhile receives that it is void', async () => {
    const graph = graphOverMirrors({ model });
    const north = join(graph, 'north', pod('a'));
    const args = { clusters: ['north', 'south'] };
    join(graph, 'south', pod('b'));
    const read = await readEagerly(podsOf(graph, args));
    const any = await readEagerly(podsOf(graph));
    await turns();
    for (const { reader } of [read, any]) reader[Symbol.dispose]();
    north.leave();
    const resumed = await goOn(graph, read, { args });
    const resumedAny = await goOn(graph, any);
    await turns();
    expect([resumed.lines(), resumedAny.lines()]).toEqual([['FAILED north GONE'], ['FAILED north GONE']]);
  });

  test.each([
    ['that is none', () => 'bm9uc2Vuc2U'],
    ['of another filter', (cursor: string) => cursor],
    ['with a letter changed', (cursor: string) => `${cursor[0] === 'A' ? 'B' : 'A'}${cursor.slice(1)}`],
  ])('by a cursor %s is refused at once, always with the same message', async (what, forge) => {
    const graph = graphOverMirrors({ model });
    join(graph, 'north', pod('a'));
    const read = await readEagerly(podsOf(graph));
    await turns();
    const after = forge(read.messages.at(-1)?.cursor ?? '');
    const args = what === 'of another filter' ? { after, labels: 'app=web' } : { after };
    expect(() => podsOf(graph, args)).toThrow('expected a cursor that this gateway gave to the same caller for the same filter and order');
  });
});

describe('a reader', () => {
  test('that pauses delays no other reader, and receives the merged changes later', async () => {
    const graph = graphOverMirrors({ model });
    const a = pod('a');
    const north = join(graph, 'north', a);
    const slow = await readByHand(podsOf(graph));
    const quick = await readEagerly(podsOf(graph));
    await turns();
    slow.take();
    slow.reader.pause();
    const b = pod('b');
    for (const object of [b, later(b), later(a)]) {
      north.mirror(served.pods).put(object);
      await graph.clock.advance(5);
    }
    expect(quick.lines(2)).toEqual(['LIVE north +b', 'LIVE north ~b', 'LIVE north ~a']);
    expect(slow.calls).toBe(2);
    const [message, ...rest] = slow.take();
    expect([message && printMessage(message), rest]).toEqual(['LIVE north +b ~a', []]);
    // The reader is in step again, and shares the next messages.
    north.mirror(served.pods).put(pod('c'));
    await graph.clock.advance(5);
    expect(slow.take()[0]).toBe(quick.messages.at(-1));
  });

  test('has a cursor of its own while it is behind, which has its own positions', async () => {
    const graph = graphOverMirrors({ model });
    const north = join(graph, 'north', pod('a'));
    const south = join(graph, 'south');
    const slow = await readByHand(podsOf(graph));
    await turns();
    const before = slow.take();
    slow.reader.pause();
    north.mirror(served.pods).put(pod('b'));
    await graph.clock.advance(5);
    south.mirror(served.pods).put(pod('c'));
    await graph.clock.advance(5);
    const [first] = slow.take(1);
    expect(first && printMessage(first)).toBe('LIVE north +b');
    const from = createFold();
    for (const message of [...before, ...(first === undefined ? [] : [first])]) from.take(message);
    const resumed = await readEagerly(podsOf(graph, { after: first?.cursor ?? '' }), { from });
    await turns();
    expect(resumed.lines()).toEqual(['LIVE south +c']);
  });

  test('that takes nothing without a pause is waited for, up to a limit', async () => {
    const graph = graphOverMirrors({ model });
    const north = join(graph, 'north');
    const [lazy, other] = [await readByHand(podsOf(graph)), await readEagerly(podsOf(graph))];
    await turns();
    lazy.take();
    for (const name of ['a', 'b', 'c']) {
      north.mirror(served.pods).put(pod(name));
      await graph.clock.advance(10);
    }
    expect(other.lines(1)).toEqual(['LIVE north +a']);
    await graph.clock.advance(1_000);
    expect(other.lines(2)).toEqual(['LIVE north +b +c']);
    expect(lazy.take().map(printMessage)).toEqual(['LIVE north +a', 'LIVE north +b +c']);
  });

  test('that takes its messages lets the next batch leave at once', async () => {
    const graph = graphOverMirrors({ model });
    const north = join(graph, 'north');
    const lazy = await readByHand(podsOf(graph));
    await turns();
    lazy.take();
    for (const name of ['a', 'b', 'c']) {
      north.mirror(served.pods).put(pod(name));
      await graph.clock.advance(10);
    }
    expect(lazy.take().map(printMessage)).toEqual(['LIVE north +a']);
    await turns(1);
    expect(lazy.take().map(printMessage)).toEqual(['LIVE north +b +c']);
  });

  test('that falls behind by more than 1,000 changes is ended, and no other reader', async () => {
    const graph = graphOverMirrors({ model });
    const north = join(graph, 'north');
    const slow = await readByHand(podsOf(graph));
    const quick = await readEagerly(podsOf(graph));
    await turns();
    slow.take();
    slow.reader.pause();
    for (let index = 0; index <= 1_000; index++) {
      expect(slow.ended).toBeUndefined();
      north.mirror(served.pods).put(pod(`pod-${index}`));
      if (index % 100 === 99) await graph.clock.advance(5);
    }
    expect(graph.streams.counts().queuedBytes).toBeGreaterThan(100_000);
    await graph.clock.advance(5);
    expect(slow.ended?.code).toBe('SLOW_CONSUMER');
    expect(slow.take()).toEqual([]);
    expect(graph.streams.counts()).toEqual({ views: 1, readers: 1, queuedBytes: 0 });
    expect(quick.fold.held('north Pod')).toHaveLength(1_001);
  });

  test('that throws is ended, and no other reader, and logged', async () => {
    const graph = graphOverMirrors({ model });
    join(graph, 'north', pod('a'));
    const bad = {
      ready() {
        throw new Error('broken');
      },
      ended: () => undefined,
    };
    await podsOf(graph).open(bad, new AbortController().signal);
    const good = await readEagerly(podsOf(graph));
    await turns();
    expect(good.lines()).toEqual(['INITIAL north +a', 'SYNCED north']);
    expect(graph.streams.counts().readers).toBe(1);
    expect(graph.logged.map(({ message }) => message)).toEqual(['a listener of a stream threw: its stream was ended']);
  });

  test('ends with its signal, without a message', async () => {
    const graph = graphOverMirrors({ model });
    join(graph, 'north', pod('a'));
    const life = new AbortController();
    const read = await readEagerly(podsOf(graph), { signal: life.signal });
    await turns();
    life.abort();
    await turns();
    expect([read.ended, read.reader.take(), graph.streams.counts().views]).toEqual([undefined, undefined, 0]);
  });

  test('leaves nothing behind: 10,000 of them', async () => {
    const graph = graphOverMirrors({ model });
    const clusters = ['north', 'south'].map((name) => join(graph, name, pod('a')));
    const life = new AbortController();
    const before = graph.clock.sleepers;
    for (let round = 0; round < 100; round++) {
      const readers = await Promise.all(
        Array.from({ length: 100 }, (_, index) => readByHand(podsOf(graph, { labels: `app=${index % 10}` }), life.signal)),
      );
      if (round % 10 === 0) await turns(1);
      for (const { reader } of readers) reader[Symbol.dispose]();
    }
    await turns();
    expect(graph.streams.counts()).toEqual({ views: 0, readers: 0, queuedBytes: 0 });
    expect(clusters.map(({ leases }) => leases)).toEqual([0, 0]);
    expect([graph.clock.sleepers - before, getEventListeners(life.signal, 'abort').length, graph.mirrors.followers]).toEqual([0, 0, 0]);
  });
});

describe('the arguments', () => {
  test.each([
    [{ labels: 'app in' }],
    [{ where: { path: 'spec.nope', eq: 'x' } }],
    [{ search: 'x'.repeat(300) }],
    [{ clusters: ['nowhere'] }],
  ] satisfies readonly (readonly [StreamArguments])[])('are checked at once: %o', (args) => {
    const graph = graphOverMirrors({ model });
    join(graph, 'north');
    expect(() => podsOf(graph, args)).toThrow(expect.objectContaining({ code: 'BAD_INPUT' }));
  });

  test('may have several kinds, by any of their names', async () => {
    const graph = graphOverMirrors({ model });
    const north = join(graph, 'north', pod('a'));
    north.mirror(served.jobs).list(objectNamed('sum', { namespace: 'shop' }));
    expect(() => graph.streams.changesOfKinds(me, { model, kinds: [] }, {})).toThrow('at least one kind');
    const read = await readEagerly(graph.streams.changesOfKinds(me, { model, kinds: ['po', 'jobs', 'Pod'] }, {}));
    await turns();
    expect(read.messages.map(({ type, kind, added }) => [type, kind.kind, added.length])).toEqual([
      ['INITIAL', 'Pod', 1],
      ['SYNCED', 'Pod', 0],
      ['INITIAL', 'Job', 1],
      ['SYNCED', 'Job', 0],
    ]);
  });

  test('may have the metadata of a Secret, and nothing of its values', async () => {
    const graph = graphOverMirrors({ model });
    const north = join(graph, 'north');
    const annotations = { 'kubectl.kubernetes.io/last-applied-configuration': '{"data":{"password":"aHVudGVyMg=="}}', note: 'kept' };
    north.mirror(served.secrets).list(objectNamed('password', { namespace: 'shop', annotations }, { data: { password: 'aHVudGVyMg==' } }));
    const read = await readEagerly(graph.streams.changes(me, kindOf('Secret'), {}));
    await turns();
    expect(JSON.stringify(read.messages)).not.toContain('aHVudGVyMg');
    expect(read.messages[0]?.added[0]?.object.metadata.annotations).toEqual({ note: 'kept' });
    const asked = () => graph.streams.changes(me, kindOf('Secret'), { where: { path: 'data', exists: true } });
    expect(asked).toThrow('because only the metadata of Secret is mirrored');
  });
});
