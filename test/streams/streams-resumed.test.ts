import { expect, test } from 'vitest';
import type { ChangesMessage } from '../../src/streams/messages/changes-message.ts';
import type { StreamArguments } from '../../src/streams/messages/streams.ts';
import { type GraphOverMirrors, graphOverMirrors } from '../support/graph/graph-over-mirrors.ts';
import { callerNamed, type EagerReader, readEagerly } from '../support/graph/stream-fold.ts';
import { loadBaseline, objectNamed, servedAs } from '../support/kubernetes-objects.ts';
import { turns } from '../support/manual-clock.ts';

const model = loadBaseline();
const pods = servedAs(model, 'Pod');
const me = callerNamed('me');
const pod = (name: string) => objectNamed(name, { namespace: 'shop' });

function podsOf({ streams }: GraphOverMirrors, args: StreamArguments = {}) {
  const kind = model.kinds.get('Pod');
  if (kind === undefined) throw new Error('no Pods');
  return streams.changes(me, kind, args);
}

function join({ mirrors }: GraphOverMirrors, name: string) {
  const cluster = mirrors.join(name);
  cluster.discover(pods);
  return cluster;
}

/** Reads two clusters of a gateway that has ended, and returns the messages. */
async function readBefore() {
  const graph = graphOverMirrors({ model });
  for (const name of ['north', 'south']) join(graph, name).mirror(pods).list(pod(name));
  const read = await readEagerly(podsOf(graph));
  await turns();
  return { after: read.messages.at(-1)?.cursor ?? '', from: read.fold };
}

const lastOf = (readers: readonly EagerReader<ChangesMessage>[]) => new Set(readers.map(({ messages }) => messages.at(-1)));

/** Opens 50 streams that resume and 50 new ones, at a gateway for which `south` is down. */
async function comeBack() {
  const { after, from } = await readBefore();
  const graph = graphOverMirrors({ model });
  const north = join(graph, 'north');
  north.mirror(pods).list(pod('north'));
  const south = join(graph, 'south');
  south.mirror(pods).fail({ code: 'UNREACHABLE', cluster: south.name, message: 'silent', retry: 'LATER' });
  await turns();
  const resumed = await Promise.all(Array.from({ length: 50 }, () => readEagerly(podsOf(graph, { after }), { from })));
  const fresh = await Promise.all(Array.from({ length: 50 }, () => readEagerly(podsOf(graph))));
  await turns();
  await graph.clock.advance(10);
  north.mirror(pods).put(pod('one'));
  await graph.clock.advance(10);
  return { graph, north, south, resumed, fresh };
}

test('a client that resumes while a cluster is down shares its messages with all, once it has received the fault', async () => {
  const { resumed, fresh } = await comeBack();
  expect(resumed[0]?.lines().slice(-2)).toEqual(['FAILED south UNREACHABLE', 'LIVE north +one']);
  expect(fresh[0]?.lines().slice(-2)).toEqual(['FAILED south UNREACHABLE', 'LIVE north +one']);
  expect(lastOf([...resumed, ...fresh]).size).toBe(1);
});

test('when the cluster is back, the clients that knew it begin again together', async () => {
  const { graph, south, resumed, fresh } = await comeBack();
  const told = resumed[0]?.messages.length;
  south.mirror(pods).list(pod('back'));
  await graph.clock.advance(10);
  expect(resumed[0]?.lines(told)).toEqual(['RESET south', 'INITIAL south +back', 'SYNCED south']);
  expect(fresh[0]?.lines().slice(-2)).toEqual(['INITIAL south +back', 'SYNCED south']);
  expect([lastOf(resumed).size, lastOf(fresh).size]).toEqual([1, 1]);
  south.mirror(pods).put(pod('more'));
  await graph.clock.advance(10);
  expect(lastOf([...resumed, ...fresh]).size).toBe(1);
  for (const { fold } of [...resumed, ...fresh])
    expect([fold.held('north Pod'), fold.held('south Pod')]).toEqual([fresh[0]?.fold.held('north Pod'), fresh[0]?.fold.held('south Pod')]);
});

test('a message that is shared while the cluster is down can be resumed, by clients that knew the cluster and by others', async () => {
  const { graph, south, resumed, fresh } = await comeBack();
  const after = fresh.at(-1)?.messages.at(-1)?.cursor ?? '';
  const again = await Promise.all(
    [...resumed.slice(0, 1), ...fresh.slice(0, 1)].map(({ fold }) => readEagerly(podsOf(graph, { after }), { from: fold })),
  );
  south.mirror(pods).list(pod('back'));
  await graph.clock.advance(10);
  for (const { fold } of again) expect(fold.held('south Pod').map((at) => at.split('@')[0])).toEqual(['shop/back']);
});

test('a new fault of the cluster, and its leaving, are sent to all clients together', async () => {
  const { graph, south, resumed } = await comeBack();
  south.mirror(pods).fail({ code: 'TIMED_OUT', cluster: south.name, message: 'slow', retry: 'LATER' });
  await graph.clock.advance(10);
  south.leave();
  await graph.clock.advance(10);
  expect(resumed[0]?.lines().slice(-2)).toEqual(['FAILED south TIMED_OUT', 'FAILED south GONE']);
  expect(lastOf(resumed).size).toBe(1);
  expect(resumed[0]?.fold.whole()).toEqual(['north Pod']);
});

test('a cursor of a gateway with another key begins each cluster with RESET', async () => {
  const { after, from } = await readBefore();
  const graph = graphOverMirrors({ model, sealKey: new Uint8Array(32).fill(9) });
  for (const name of ['north', 'south']) join(graph, name).mirror(pods).list(pod('new'));
  const resumed = await readEagerly(podsOf(graph, { after }), { from });
  await turns();
  expect(resumed.lines()).toEqual(['north', 'south'].flatMap((name) => [`RESET ${name}`, `INITIAL ${name} +new`, `SYNCED ${name}`]));
  expect(() => podsOf(graph, { after, labels: 'app=web' })).toThrow(expect.objectContaining({ code: 'BAD_INPUT' }));
});
