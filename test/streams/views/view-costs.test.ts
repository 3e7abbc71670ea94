import { describe, expect, test, vi } from 'vitest';
import type { Access, Visibility } from '../../../src/access/access.ts';
import { createLocalAccess } from '../../../src/access/local-access.ts';
import type { Clock } from '../../../src/core/clock.ts';
import { silentLog } from '../../../src/core/log.ts';
import type { ChangesMessage } from '../../../src/streams/messages/changes-message.ts';
import type { StreamArguments } from '../../../src/streams/messages/streams.ts';
import type { StreamSource } from '../../../src/streams/stream-source.ts';
import { createStreams, type OwnedStreams, type StreamsOptions } from '../../../src/streams/views/create-streams.ts';
import { createSourceBudget } from '../../../src/streams/views/source-budget.ts';
import { createFakeMirrors, type FakeCluster, type FakeMirrors } from '../../support/graph/fake-mirrors.ts';
import { callerNamed, readByHand, readEagerly } from '../../support/graph/stream-fold.ts';
import { loadBaseline, objectNamed, servedAs } from '../../support/kubernetes-objects.ts';
import { createManualClock, type ManualClock, turns } from '../../support/manual-clock.ts';

const model = loadBaseline();
const pods = servedAs(model, 'Pod');
const pod = (name: string) => objectNamed(name, { namespace: 'shop' });

interface World {
  readonly clock: ManualClock;
  readonly mirrors: FakeMirrors;
  readonly streams: OwnedStreams;
  readonly clusters: readonly FakeCluster[];
  of(args?: StreamArguments, caller?: string): StreamSource<ChangesMessage>;
}

/** @param options.tickMs Time that each reading of the clock takes, so that little work is done in each turn. */
async function worldOf(
  count: number,
  { tickMs = 0, ...changes }: Partial<StreamsOptions> & { readonly tickMs?: number } = {},
): Promise<World> {
  const clock = createManualClock();
  let passedMs = 0;
  const monotonic = () => {
    passedMs += tickMs;
    return clock.monotonic() + passedMs;
  };
  const slow: Clock = { ...clock, monotonic };
  const mirrors = createFakeMirrors(slow);
  const clusters = Array.from({ length: count }, (_, index) => join(mirrors, `c${String(index).padStart(2, '0')}`));
  const streams = createStreams(
    {
      mirrors,
      access: createLocalAccess(),
      model: () => model,
      settingsOf: () => undefined,
      sealKey: new Uint8Array(32),
      clock: slow,
      log: silentLog,
      ...changes,
    },
    new AbortController().signal,
  );
  await turns();
  const kind = model.kinds.get('Pod');
  if (kind === undefined) throw new Error('no Pods');
  return { clock, mirrors, streams, clusters, of: (args = {}, caller = 'me') => streams.changes(callerNamed(caller), kind, args) };
}

function join(mirrors: FakeMirrors, name: string): FakeCluster {
  const cluster = mirrors.join(name);
  cluster.discover(pods);
  cluster.mirror(pods).list(pod(`${name}-a`));
  return cluster;
}

/** Counts how often the mirrors are pulled from now on. */
function countPulls(clusters: readonly FakeCluster[]): { count: number } {
  const pulls = { count: 0 };
  for (const cluster of clusters) {
    const { store } = cluster.mirror(pods);
    const { followChanges: attend } = store;
    vi.spyOn(store, 'followChanges').mockImplementation((reader, signal) => {
      const pull = attend(reader, signal);
      return () => {
        pulls.count += 1;
        pull();
      };
    });
  }
  return pulls;
}

test('an event pulls its own mirror, whatever others the view reads', async () => {
  const { clusters, of, clock } = await worldOf(40);
  const pulls = countPulls(clusters);
  const read = await readEagerly(of());
  await turns();
  await clock.advance(5);
  const [before, told] = [pulls.count, read.messages.length];
  clusters[7]?.mirror(pods).put(pod('new'));
  await turns();
  expect(read.lines(told)).toEqual(['LIVE c07 +new']);
  expect(pulls.count - before).toBeLessThan(5);
});

test('a cursor loses nothing of sources whose changes had not been sent', async () => {
  const { clusters, of, clock } = await worldOf(3);
  const read = await readEagerly(of());
  await turns();
  for (let round = 0; round < 20; round++) {
    for (const [index, cluster] of clusters.entries()) {
      cluster.mirror(pods).put(pod(`p${round}-${index}`));
      if (round % 3 === index) await turns(1);
    }
    await clock.advance(5);
  }
  for (const [index, { cursor }] of read.messages.entries()) {
    const again = await readEagerly(of({ after: cursor }), { from: read.foldAt(index) });
    await turns();
    for (const { name } of clusters) expect(again.fold.held(`${name} Pod`)).toEqual(read.fold.held(`${name} Pod`));
    again.reader[Symbol.dispose]();
  }
});

test('a reader that joins an existing view needs no state of any cluster', async () => {
  const { mirrors, of } = await worldOf(20);
  await readEagerly(of());
  await turns();
  const [all, one] = [vi.spyOn(mirrors, 'clusters'), vi.spyOn(mirrors, 'cluster')];
  const joined = await readEagerly(of());
  await turns();
  expect(joined.messages).toHaveLength(40);
  expect([all.mock.calls.length, one.mock.calls.length]).toEqual([0, 0]);
});

test('a view follows its mirrors without a copy of their objects', async () => {
  const { clusters, of } = await worldOf(2);
  const follows = clusters.map((cluster) => vi.spyOn(cluster.mirror(pods).store, 'follow'));
  const read = await readEagerly(of());
  await turns();
  expect(read.messages).toHaveLength(4);
  expect(follows.map(({ mock }) => mock.calls.length)).toEqual([0, 0]);
});

describe('work for many views', () => {
  test('takes several turns, and reaches all of them', async () => {
    const { clusters, of } = await worldOf(1, { tickMs: 1 });
    const reads = await Promise.all(Array.from({ length: 30 }, (_, index) => readEagerly(of({ labels: `v${index}!=1` }))));
    await turns(200);
    const told = () => reads.filter(({ messages }) => messages.at(-1)?.type === 'LIVE').length;
    expect([told(), reads.filter(({ messages }) => messages.length === 2).length]).toEqual([0, 30]);
    clusters[0]?.mirror(pods).put(pod('new'));
    await turns(3);
    expect(told()).toBeLessThan(30);
    await turns(200);
    expect(told()).toBe(30);
  });

  test('for one view with hundreds of clusters is done in pieces, and sent as one', async () => {
    const { mirrors, of } = await worldOf(400, { tickMs: 1 });
    // Mirrors that run are held at once, up to a bound. The others follow in later turns.
    const acquired = vi.spyOn(mirrors, 'acquire');
    const read = await readEagerly(of());
    await turns(1);
    expect([acquired.mock.calls.length > 0, acquired.mock.calls.length < 400, read.messages.length]).toEqual([true, true, 0]);
    await turns(400);
    expect(read.messages.filter(({ type }) => type === 'SYNCED')).toHaveLength(400);
  });
});

describe('readers whose rights have grown', () => {
  function growing(): { readonly access: Access; seen: readonly string[] } {
    const rights = { seen: ['shop'] as readonly string[] };
    const visibilityOf = (): Visibility => ({ type: 'namespaces', namespaces: new Set(rights.seen) });
    return Object.assign(rights, { access: { ...createLocalAccess(), visibilityOf } });
  }

  test('move over several event-loop turns, each as if it were alone', async () => {
    const rights = growing();
    const { clusters, of, clock, streams } = await worldOf(1, { tickMs: 1, access: rights.access });
    const reads = await Promise.all(Array.from({ length: 30 }, () => readEagerly(of())));
    await turns(100);
    rights.seen = ['shop', 'bank'];
    void clock.advance(60_000);
    await turns(3);
    expect(reads.filter(({ messages }) => messages.some(({ type }) => type === 'RESET')).length).toBeLessThan(30);
    await turns(300);
    clusters[0]?.mirror(pods).put(pod('new'));
    await turns(300);
    await clock.advance(10);
    await turns(300);
    for (const read of reads) {
      expect(read.messages.filter(({ type }) => type === 'RESET')).toHaveLength(1);
      expect(read.fold.held('c00 Pod')).toEqual(reads[0]?.fold.held('c00 Pod'));
      expect(read.fold.held('c00 Pod')).toHaveLength(2);
    }
    expect(streams.counts()).toMatchObject({ views: 1, readers: 30 });
  });

  test('leave no empty view behind if they end before they have moved', async () => {
    const rights = growing();
    const { clusters, mirrors, of, clock, streams } = await worldOf(1, { access: rights.access });
    const [north] = clusters;
    const slow = await readByHand(of());
    await turns();
    slow.take();
    slow.reader.pause();
    for (let round = 0; round < 9; round++) {
      for (let index = 0; index < 110; index++) north?.mirror(pods).put(pod(`n${round}-${index}`));
      await turns();
      await clock.advance(10);
    }
    expect([slow.ended, streams.counts().readers]).toEqual([undefined, 1]);
    rights.seen = ['shop', 'bank'];
    // In the turn in which the reader moves, it gets more changes than its backlog may hold.
    for (let index = 0; index < 100; index++) north?.mirror(pods).put(pod(`m${index}`));
    mirrors.join('south');
    await turns();
    expect(slow.ended?.code).toBe('SLOW_CONSUMER');
    expect(streams.counts()).toEqual({ views: 0, readers: 0, queuedBytes: 0 });
    expect([north?.leases, mirrors.followers, clock.sleepers]).toEqual([0, 0, 0]);
  });
});

describe('the sources of all views', () => {
  test('are bounded: new views beyond the bound are refused, readers of existing views are not, and ended views free their sources', async () => {
    const sources = createSourceBudget(5);
    const { mirrors, of, clock } = await worldOf(2, { sources });
    const [first] = [await readEagerly(of({ labels: 'a!=1' })), await readEagerly(of({ labels: 'b!=1' }))];
    await expect(readEagerly(of({ labels: 'c!=1' }))).rejects.toThrow(expect.objectContaining({ code: 'OVERLOADED' }));
    await readEagerly(of({ labels: 'b!=1' }));
    await turns();
    expect(sources.taken).toBe(4);
    // Existing views also read clusters that join.
    const left = join(mirrors, 'c90');
    await turns();
    expect(sources.taken).toBe(6);
    left.leave();
    await turns();
    await clock.advance(10);
    expect(sources.taken).toBe(4);
    first?.reader[Symbol.dispose]();
    await readEagerly(of({ labels: 'c!=1' }));
    await turns();
    expect(sources.taken).toBe(4);
  });

  test('are bounded for one view too, without ending another one', async () => {
    const { of } = await worldOf(3, { sources: createSourceBudget(2) });
    await expect(readEagerly(of())).rejects.toThrow(expect.objectContaining({ code: 'TOO_COSTLY' }));
    await expect(readEagerly(of({ clusters: ['c00', 'c01'] }))).resolves.toBeDefined();
  });
});
