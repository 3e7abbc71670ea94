import { expect, test } from 'vitest';
import type { MemberSettings } from '../../src/fleet/member.ts';
import type { StreamArguments } from '../../src/streams/messages/streams.ts';
import type { FakeCluster } from '../support/graph/fake-mirrors.ts';
import { type GraphOverMirrors, graphOverMirrors } from '../support/graph/graph-over-mirrors.ts';
import { callerNamed, readEagerly } from '../support/graph/stream-fold.ts';
import { loadBaseline, objectNamed, servedAs } from '../support/kubernetes-objects.ts';
import { turns } from '../support/manual-clock.ts';

const model = loadBaseline();
const pods = servedAs(model, 'Pod');
const me = callerNamed('me');
const pod = (name: string) => objectNamed(name, { namespace: 'shop' });
const ofPhase: StreamArguments = { where: { path: 'cluster.phase', eq: 'SYNCED' } };

function podsOf({ streams }: GraphOverMirrors, args: StreamArguments) {
  const kind = model.kinds.get('Pod');
  if (kind === undefined) throw new Error('no Pods');
  return streams.changes(me, kind, args);
}

function joinNorth({ mirrors }: GraphOverMirrors): FakeCluster {
  const north = mirrors.join('north');
  north.discover(pods);
  north.mirror(pods).list(pod('a'), pod('b'));
  return north;
}

const silence = ({ name }: FakeCluster) => ({ code: 'UNREACHABLE', cluster: name, message: 'silent', retry: 'LATER' }) as const;

async function read(graph: GraphOverMirrors, args: StreamArguments) {
  const eager = await readEagerly(podsOf(graph, args));
  await turns();
  return eager;
}

/** Resumes after the last message of a reader that has gone. */
async function goOn(graph: GraphOverMirrors, args: StreamArguments, gone: Awaited<ReturnType<typeof read>>) {
  gone.reader[Symbol.dispose]();
  const eager = await readEagerly(podsOf(graph, { ...args, after: gone.messages.at(-1)?.cursor ?? '' }), { from: gone.fold });
  await turns();
  await graph.clock.advance(10);
  return eager;
}

test.each(['somebody stays', 'nobody stays'])(
  'a property of the cluster that the filter names has changed meanwhile: RESET (%s)',
  async (who) => {
    const graph = graphOverMirrors({ model });
    const north = joinNorth(graph);
    const stays = who === 'somebody stays' ? await read(graph, ofPhase) : undefined;
    const away = await read(graph, ofPhase);
    expect(away.fold.held('north Pod').length).toBe(2);
    away.reader[Symbol.dispose]();
    north.fail(silence(north));
    await turns();
    await graph.clock.advance(10);
    const back = await goOn(graph, ofPhase, away);
    expect(back.lines()).toEqual(['RESET north', 'SYNCED north']);
    expect(stays?.lines(2) ?? back.lines()).toEqual(back.lines());
  },
);

test.each(['somebody stays', 'nobody stays'])('the served version of the kind has changed meanwhile: RESET (%s)', async (who) => {
  const graph = graphOverMirrors({ model });
  const north = joinNorth(graph);
  const stays = who === 'somebody stays' ? await read(graph, {}) : undefined;
  const away = await read(graph, {});
  away.reader[Symbol.dispose]();
  north.discover({ ...pods, version: 'v2' });
  await turns();
  await graph.clock.advance(10);
  const back = await goOn(graph, {}, away);
  expect(back.lines()).toEqual(['RESET north', 'INITIAL north +a +b', 'SYNCED north']);
  expect(stays?.lines(2) ?? back.lines()).toEqual(back.lines());
  for (const { messages } of stays === undefined ? [back] : [stays, back])
    expect(
      messages
        .flatMap(({ added }) => added)
        .slice(-2)
        .map(({ resource }) => resource.version),
    ).toEqual(['v2', 'v2']);
});

test('its properties are as they were, whatever came between: only the missed changes', async () => {
  const graph = graphOverMirrors({ model });
  const north = joinNorth(graph);
  await read(graph, ofPhase);
  const away = await read(graph, ofPhase);
  away.reader[Symbol.dispose]();
  north.fail(silence(north));
  await graph.clock.advance(10);
  north.discover(pods);
  await graph.clock.advance(10);
  north.mirror(pods).put(pod('c'));
  await graph.clock.advance(10);
  expect((await goOn(graph, ofPhase, away)).lines()).toEqual(['LIVE north +c']);
});

test.each([
  ['cluster.name', { path: 'cluster.name', eq: 'north' }],
  ['a label', { not: { path: 'cluster.labels.tier', eq: 'test' } }],
  [
    'cluster.version within or',
    {
      or: [
        { path: 'cluster.version', exists: true },
        { path: 'metadata.name', eq: 'a' },
      ],
    },
  ],
])('a property that the filter does not name has no effect: %s', async (_, where) => {
  const graph = graphOverMirrors({ model });
  const north = joinNorth(graph);
  const stays = await read(graph, { where });
  const away = await read(graph, { where });
  const told = stays.messages.length;
  north.fail(silence(north));
  await turns();
  await graph.clock.advance(10);
  expect(stays.lines(told)).toEqual([]);
  expect((await goOn(graph, { where }, away)).lines()).toEqual([]);
});

test.each([
  ['env', ['RESET north', 'SYNCED north']],
  ['other', []],
])('after a restart with another label %s', async (label, told) => {
  const where = { path: 'cluster.labels.env', eq: 'prod' };
  const withLabels = (labels: Readonly<Record<string, string>>) => {
    const settings: MemberSettings = { labels, taints: [], namespaces: [], secrets: 'live', authorization: 'sar' };
    return graphOverMirrors({ model, mirrors, member: (name) => ({ settings, api: { cluster: name } as never }) });
  };
  const { mirrors } = graphOverMirrors({ model });
  const before = withLabels({ env: 'prod', other: 'a' });
  joinNorth(before);
  const away = await read(before, { where });
  expect(away.lines()).toEqual(['INITIAL north +a +b', 'SYNCED north']);
  const after = withLabels({ env: 'prod', other: 'a', [label]: 'changed' });
  expect((await goOn(after, { where }, away)).lines()).toEqual(told);
});
