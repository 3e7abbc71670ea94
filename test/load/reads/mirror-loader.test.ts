import { expect, test, vi } from 'vitest';
import { clusterName } from '../../../src/core/names.ts';
import { MirrorLoader } from '../../../src/load/reads/mirror-loader.ts';
import { createLoaderFactory } from '../../../src/load/reads/operation-loaders.ts';
import { createFakeMirrors } from '../../support/graph/fake-mirrors.ts';
import { served } from '../../support/graph/related-world.ts';
import { createManualClock } from '../../support/manual-clock.ts';

function clusterWithPods() {
  const clock = createManualClock();
  const mirrors = createFakeMirrors(clock);
  const north = mirrors.join('north');
  north.discover(served('Pod'), served('Node'));
  const acquired = vi.spyOn(mirrors, 'acquire');
  const keyOf = (kind: string, ...namespaces: readonly string[]) => ({
    cluster: { name: clusterName('north') },
    kind: served(kind),
    namespaces,
  });
  return { mirrors, clock, north, acquired, keyOf };
}

test('holds a mirror once, for all namespaces of one batch together', async () => {
  const { mirrors, clock, north, acquired, keyOf } = clusterWithPods();
  const loader = new MirrorLoader({ mirrors, clock });
  const loaded = await loader.loadAll([keyOf('Pod', 'shop'), keyOf('Node'), keyOf('Pod', 'bank', 'shop')]);
  expect(loaded).toEqual(['Pod', 'Node', 'Pod'].map((kind) => north.mirror(served(kind))));
  expect(acquired.mock.calls.map(([, kind, options]) => [kind.kind, options?.namespaces])).toEqual([
    ['Pod', ['shop', 'bank']],
    ['Node', []],
  ]);
  expect(loader.load(keyOf('Pod', 'bank')), 'at once').toBe(north.mirror(served('Pod')));
  expect(loader.load(keyOf('Pod', 'new')), 'at once, because the mirror runs').toBe(north.mirror(served('Pod')));
  expect(acquired.mock.lastCall?.[2]).toEqual({ namespaces: ['new'] });
  expect(north.leases).toBe(2);
  loader.release(keyOf('Node'));
  expect(north.leases).toBe(1);
  loader[Symbol.dispose]();
  expect([north.leases, loader.load(keyOf('Pod'))]).toEqual([0, undefined]);
});

test('holds the mirror that replaces an ended one', async () => {
  const { mirrors, clock, north, keyOf } = clusterWithPods();
  using loader = new MirrorLoader({ mirrors, clock });
  const before = await loader.load(keyOf('Pod'));
  north.discover(served('Node'));
  expect(loader.load(keyOf('Pod')), 'not served').toBeUndefined();
  north.discover(served('Pod'), served('Node'));
  const after = await loader.load(keyOf('Pod'));
  expect(after).toBe(north.mirror(served('Pod')));
  expect(after).not.toBe(before);
});

test('holds a running mirror at once, and requests the namespaces again from a mirror that replaces it', async () => {
  const { mirrors, clock, north, acquired, keyOf } = clusterWithPods();
  using other = new MirrorLoader({ mirrors, clock });
  await other.load(keyOf('Pod'));
  using loader = new MirrorLoader({ mirrors, clock });
  expect(loader.load(keyOf('Pod', 'shop'))).toBe(north.mirror(served('Pod')));
  expect(loader.load(keyOf('Pod', 'bank'))).toBe(north.mirror(served('Pod')));
  expect(acquired.mock.lastCall?.[2]).toEqual({ namespaces: ['bank'] });
  north.discover(served('Node'));
  north.discover(served('Pod'), served('Node'));
  await other.load(keyOf('Pod'));
  expect(loader.load(keyOf('Pod', 'shop'))).toBe(north.mirror(served('Pod')));
  expect(acquired.mock.lastCall?.[2]).toEqual({ namespaces: ['shop', 'bank'] });
});

test('holds at most 256 running mirrors at once, and further ones in batches', async () => {
  const { mirrors, clock, north } = clusterWithPods();
  const kinds = Array.from({ length: 258 }, (_, index) => ({ ...served('Pod'), kind: `Kind${index}` }));
  north.discover(...kinds);
  using other = new MirrorLoader({ mirrors, clock });
  const keys = kinds.map((kind) => ({ cluster: { name: clusterName('north') }, kind }));
  await other.loadAll(keys);
  using loader = new MirrorLoader({ mirrors, clock });
  const loaded = keys.map((key) => loader.load(key));
  expect(loaded.filter((mirror) => mirror instanceof Promise)).toHaveLength(2);
  expect(await Promise.all(loaded)).toEqual(kinds.map((kind) => north.mirror(kind)));
});

test('returns the mirrors at the end of the batch, although one has ended while others started', async () => {
  const { mirrors, clock, north, keyOf } = clusterWithPods();
  // Each mirror takes longer than one event-loop turn may.
  let nowMs = 0;
  using loader = new MirrorLoader({ mirrors, clock: { ...clock, monotonic: () => (nowMs += 10) } });
  const loading = loader.loadAll([keyOf('Pod'), keyOf('Node')]);
  await Promise.resolve();
  const before = await new Promise((resolve) => process.nextTick(() => resolve(north.mirror(served('Pod')))));
  north.discover(served('Node'));
  north.discover(served('Pod'), served('Node'));
  const loaded = await loading;
  expect(loaded).toEqual([north.mirror(served('Pod')), north.mirror(served('Node'))]);
  expect(loaded[0]).not.toBe(before);
});

test('the messages of a subscription share their mirrors until it ends, other operations share none', async () => {
  const { mirrors, clock, north, keyOf } = clusterWithPods();
  const loadersOf = createLoaderFactory({ mirrors, clock });
  const life = new AbortController();
  const caller = { key: 'me' };
  for (const kind of ['Pod', 'Node', 'Pod']) {
    using message = loadersOf({ caller, signal: life.signal, isMessage: true });
    await message.mirrors.load(keyOf(kind));
  }
  expect(north.leases).toBe(2);
  const query = loadersOf({ caller, signal: life.signal, isMessage: false });
  await query.mirrors.load(keyOf('Pod'));
  expect(north.leases).toBe(3);
  query[Symbol.dispose]();
  expect(north.leases).toBe(2);
  life.abort();
  expect(north.leases).toBe(0);
  await loadersOf({ caller, signal: life.signal, isMessage: true }).mirrors.load(keyOf('Pod'));
  expect(north.leases, 'of a message after the end').toBe(0);
});

test('counts the waiting time of relations from the first wait', async () => {
  const { mirrors, clock } = clusterWithPods();
  using loader = new MirrorLoader({ mirrors, clock, waitMs: 2_000 });
  await clock.advance(500);
  expect(loader.remainingWaitMs()).toBe(2_000);
  await clock.advance(1_500);
  expect(loader.remainingWaitMs()).toBe(500);
  await clock.advance(1_000);
  expect(loader.remainingWaitMs()).toBe(0);
});
