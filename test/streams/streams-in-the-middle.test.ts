import { expect, test } from 'vitest';
import type { KubernetesObject } from '../../src/core/objects.ts';
import type { ChangesMessage } from '../../src/streams/messages/changes-message.ts';
import { type GraphOverMirrors, graphOverMirrors } from '../support/graph/graph-over-mirrors.ts';
import { callerNamed, createFold, type Fold, printMessage, readByHand, readEagerly } from '../support/graph/stream-fold.ts';
import { loadBaseline, objectNamed, servedAs } from '../support/kubernetes-objects.ts';
import { turns } from '../support/manual-clock.ts';

const model = loadBaseline();
const pods = servedAs(model, 'Pod');
const me = callerNamed('me');
const nameOf = (n: number) => `pod-${String(n).padStart(3, '0')}`;
let versions = 0;
const pod = (n: number, more: Partial<KubernetesObject['metadata']> = {}) => {
  const object = objectNamed(nameOf(n), { namespace: 'shop' });
  return { ...object, metadata: { ...object.metadata, uid: nameOf(n), resourceVersion: String(++versions), ...more } };
};

function podsOf({ streams }: GraphOverMirrors, after?: string) {
  const kind = model.kinds.get('Pod');
  if (kind === undefined) throw new Error('no Pods');
  return streams.changes(me, kind, after === undefined ? {} : { after });
}

/** Starts 600 pods, and a reader that has taken the first message of its first state. */
async function startReading() {
  const graph = graphOverMirrors({ model });
  const north = graph.mirrors.join('north');
  north.discover(pods);
  const mirror = north.mirror(pods);
  // Not in the order of their names: the store holds them in the order of their arrival.
  mirror.list(...Array.from({ length: 600 }, (_, n) => pod((n * 7) % 600)));
  await turns();
  const hand = await readByHand(podsOf(graph));
  await turns();
  const [first] = hand.take(1);
  hand.reader[Symbol.dispose]();
  const fold = createFold();
  if (first !== undefined) fold.take(first);
  return { graph, north, mirror, first, fold };
}

/** Resumes after this message, and reads until the end of the first state. */
async function resume(graph: GraphOverMirrors, { cursor }: Pick<ChangesMessage, 'cursor'>, from: Fold) {
  const read = await readEagerly(podsOf(graph, cursor), { from });
  await turns();
  await graph.clock.advance(10);
  return read;
}

const typesOf = (messages: readonly ChangesMessage[]) => messages.map(({ type, added }) => `${type} ${added.length}`);

test('a first state comes in the order of namespaces and names, and a resume in its middle continues there', async () => {
  const { graph, first, fold } = await startReading();
  if (first === undefined) throw new Error('no message');
  expect(first.added.map(({ object }) => object.metadata.name)).toEqual(Array.from({ length: 250 }, (_, n) => nameOf(n)));
  const read = await resume(graph, first, fold);
  expect(typesOf(read.messages)).toEqual(['INITIAL 250', 'INITIAL 100', 'SYNCED 0']);
  expect(read.fold.held('north Pod')).toHaveLength(600);
});

test('changes of objects that were sent come first, and all other objects come as they are now', async () => {
  const { graph, mirror, first, fold } = await startReading();
  if (first === undefined) throw new Error('no message');
  mirror.put(pod(10, { labels: { changed: 'yes' } }));
  mirror.remove(pod(11));
  mirror.put(objectNamed('a-new-one', { namespace: 'shop' }));
  mirror.remove(pod(400));
  mirror.put(pod(401, { labels: { changed: 'yes' } }));
  mirror.put(pod(700));
  const read = await resume(graph, first, fold);
  expect(read.messages.slice(0, 1).map(printMessage)).toEqual([`INITIAL north +a-new-one ~${nameOf(10)} -${nameOf(11)}`]);
  expect(typesOf(read.messages)).toEqual(['INITIAL 1', 'INITIAL 250', 'INITIAL 100', 'SYNCED 0']);
  const fresh = await readEagerly(podsOf(graph));
  await turns();
  expect(read.fold.held('north Pod')).toEqual(fresh.fold.held('north Pod'));
});

test('every message of a resumed first state can be resumed again', async () => {
  const { graph, mirror, first, fold } = await startReading();
  if (first === undefined) throw new Error('no message');
  mirror.remove(pod(11));
  mirror.put(pod(11, { uid: 'made-anew' }));
  const once = await resume(graph, first, fold);
  mirror.put(pod(12, { labels: { changed: 'yes' } }));
  mirror.remove(pod(599));
  const fresh = await readEagerly(podsOf(graph));
  await turns();
  for (const [index, message] of once.messages.entries()) {
    const twice = await resume(graph, message, once.foldAt(index));
    expect(twice.fold.held('north Pod'), `after ${typesOf(once.messages)[index]}`).toEqual(fresh.fold.held('north Pod'));
  }
});

test('another history begins with RESET', async () => {
  const { graph, mirror, first, fold } = await startReading();
  if (first === undefined) throw new Error('no message');
  mirror.list(pod(1), pod(2));
  const read = await resume(graph, first, fold);
  expect(read.fold.held('north Pod')).toHaveLength(2);
});
