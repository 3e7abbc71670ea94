import { expect, test } from 'vitest';
import type { StoreEvent } from '../../src/store/mirror-store.ts';
import { servedKind } from '../support/cluster/fake-discovery.ts';
import { turns } from '../support/manual-clock.ts';
import {
  contentOf,
  definitionFor,
  definitionsKey,
  followStore,
  pod,
  pods,
  secrets,
  startWatching,
  usualKinds,
  widgets,
} from './watching.ts';

// Rows of docs/internals/mirror.md 8 at the port `ClusterApi`: no sockets, a clock of the test's own, and random numbers that are always 0.
const signal = new AbortController().signal;

async function startWithPods(...names: readonly string[]) {
  const watching = startWatching();
  const north = watching.fake('north');
  for (const name of names) north.put('Pod', pod(name));
  const member = watching.engage(north);
  await turns(10);
  const lease = watching.hold(north, pods);
  const { mirror } = lease;
  return { ...watching, north, member, lease, mirror, started: watching };
}

test('row 1: a list that answers 500 three times is requested by the backoff, then complete', async () => {
  await using watching = startWatching();
  const north = watching.fake('north');
  north.put('Pod', pod('web'));
  watching.engage(north);
  await turns(10);
  north.gitVersion = 'v1.31.0';
  north.fail({ of: 'Pod', times: 3, fault: north.fault('SERVER_ERROR', { code: 500 }) });
  const { mirror } = watching.hold(north, pods);
  await turns();
  expect(mirror.sync()).toMatchObject({ phase: 'SYNCING', fault: { code: 'SERVER_ERROR' } });
  expect(mirror.settled()).toBe(true);
  await watching.clock.advance(20_000);
  const begunMs = watching.mirrors.progress().length > 0 ? north.seen.filter(({ of }) => of === 'Pod').map(({ atMs }) => atMs) : [];
  expect(begunMs).toEqual([0, 800, 800 + 1_600, 800 + 1_600 + 3_200].concat(begunMs.slice(4)));
  expect(mirror.sync().phase).toBe('SYNCED');
  expect(contentOf(mirror.store.objects())).toEqual(contentOf(north.objects('Pod')));
});

test('row 2: waits for 429 with Retry-After 7 without a list, while other kinds continue', async () => {
  const { north, clock, mirror, started } = await startWithPods('web');
  await using _ = started;
  await turns();
  const lists = north.requests('list', 'Pod').length;
  north.fail({ of: 'Pod', verb: 'watch', times: 1, fault: north.fault('THROTTLED', { code: 429, retryAfterSeconds: 7 }) });
  north.closeWatches('Pod');
  await turns();
  const before = north.requests('watch', 'Pod').length;
  north.put('Pod', pod('api'));
  north.put('Namespace', { metadata: { name: 'meanwhile' } });
  await clock.advance(6_999);
  expect(north.requests('watch', 'Pod')).toHaveLength(before);
  expect(started.mirrors.peek(north.name, { group: '', kind: 'Namespace' })?.store.get('', 'meanwhile')).toBeDefined();
  await clock.advance(1);
  expect(north.requests('watch', 'Pod')).toHaveLength(before + 1);
  expect(mirror.store.get('default', 'api')).toBeDefined();
  expect(north.requests('list', 'Pod')).toHaveLength(lists);
});

test('row 3: a forbidden kind affects no other kind, and is complete once it is granted', async () => {
  await using watching = startWatching();
  const north = watching.fake('north');
  north.put('Pod', pod('web'));
  north.permitted = new Set();
  watching.engage(north);
  await turns(10);
  const { mirror } = watching.hold(north, pods);
  await turns(10);
  expect(mirror.sync()).toMatchObject({ phase: 'MISSING', fault: { code: 'FORBIDDEN' } });
  expect(mirror.settled()).toBe(true);
  expect(watching.mirrors.cluster(north.name)?.phase).toBe('SYNCED');
  north.permitted = undefined;
  await watching.clock.advance(60_000);
  expect(mirror.sync().phase).toBe('SYNCED');
  expect(contentOf(mirror.store.objects())).toEqual(contentOf(north.objects('Pod')));
});

test('row 3: two readable namespaces are two scopes with disjoint keys, and later one scope', async () => {
  await using watching = startWatching();
  const north = watching.fake('north');
  for (const name of ['a', 'b', 'c']) {
    north.put('Namespace', { metadata: { name } });
    north.put('Pod', pod('web', '0', name));
  }
  north.permitted = new Set(['a', 'b']);
  watching.engage(north, { namespaces: ['b'] });
  await turns(10);
  const { mirror } = watching.hold(north, pods);
  await turns(20);
  expect(mirror.sync()).toMatchObject({ phase: 'SYNCED' });
  expect(mirror.faults()).toMatchObject([{ code: 'FORBIDDEN' }]);
  expect(mirror.store.namespaces()).toEqual(['a', 'b']);
  expect(watching.mirrors.cluster(north.name)?.faults.map(({ code }) => code)).toEqual(['FORBIDDEN']);
  north.put('Pod', pod('api', '0', 'a'));
  north.remove('Pod', 'b', 'web');
  await turns();
  expect(mirror.store.namespaces()).toEqual(['a']);
  expect(mirror.store.inNamespace('a').map(({ metadata }) => metadata.name)).toEqual(['api', 'web']);

  const follower = followStore(mirror.store, signal);
  north.permitted = undefined;
  await watching.clock.advance(60_000);
  expect(mirror.faults()).toEqual([]);
  // The single namespaces may be newer than a list of any version.
  expect(north.requests('watch', 'Pod').at(-1)?.start).toMatchObject({ version: '', initialEvents: true });
  expect(contentOf(mirror.store.objects())).toEqual(contentOf(north.objects('Pod')));
  expect(follower.content()).toEqual(contentOf(north.objects('Pod')));
  expect(follower.events.filter(({ type }) => type === 'deleted')).toEqual([]);
  expect(north.openWatches.filter(({ resource }) => resource.kind === 'Pod').map(({ namespace }) => namespace)).toEqual([undefined]);
});

test('row 3: reviews a namespace at once that a query names', async () => {
  await using watching = startWatching();
  const north = watching.fake('north');
  north.put('Pod', pod('web', '0', 'hidden'));
  north.permitted = new Set(['hidden']);
  watching.engage(north);
  await turns(10);
  using first = watching.hold(north, pods);
  await turns(10);
  expect(first.mirror.sync().phase).toBe('MISSING');
  using second = watching.hold(north, pods, ['hidden']);
  expect(second.mirror.sync().phase).toBe('SYNCING');
  await second.mirror.whenSettled(signal);
  expect(second.mirror.store.size).toBe(1);
});

test('row 4: a right lost under an open watch is reported, then its objects are dropped without delete events', async () => {
  const { north, clock, mirror, started } = await startWithPods('web', 'api');
  await using _ = started;
  await turns();
  const follower = followStore(mirror.store, signal);
  using _lost = north.fail({ of: 'Pod', fault: north.fault('FORBIDDEN', { code: 403 }) });
  north.closeWatches('Pod');
  await turns();
  expect(mirror.sync()).toMatchObject({ phase: 'STALE', fault: { code: 'FORBIDDEN' } });
  expect(mirror.store.size).toBe(2);
  const sinceMs = clock.monotonic();
  await clock.advance(59_999);
  const asked = north.seen.filter(({ of, atMs }) => of === 'Pod' && atMs > sinceMs).map(({ atMs }) => atMs - sinceMs);
  expect(asked).toEqual([5_000, 30_000]);
  expect(mirror.store.size).toBe(2);
  await clock.advance(1);
  expect(mirror.store.size).toBe(0);
  expect(mirror.sync()).toMatchObject({ phase: 'MISSING', fault: { code: 'FORBIDDEN' } });
  expect(mirror.sync().asOfMs).toBeUndefined();
  expect(follower.events.map(({ type }) => type)).not.toContain('deleted');
  expect(follower.events.filter(({ type }) => type === 'failed').length).toBeGreaterThan(0);
  expect(started.mirrors.peek(north.name, { group: '', kind: 'Node' })?.sync().phase).toBe('SYNCED');
});

test('row 4: a right that returns within the minute costs nothing', async () => {
  const { north, clock, mirror, started } = await startWithPods('web');
  await using _ = started;
  await turns();
  const lists = north.requests('list', 'Pod').length;
  const lost = north.fail({ of: 'Pod', fault: north.fault('FORBIDDEN', { code: 403 }) });
  north.closeWatches('Pod');
  await clock.advance(20_000);
  lost[Symbol.dispose]();
  north.put('Pod', pod('api'));
  await clock.advance(10_000);
  expect(mirror.sync().phase).toBe('SYNCED');
  expect(mirror.store.size).toBe(2);
  expect(north.requests('list', 'Pod')).toHaveLength(lists);
});

test('row 4: a namespace that may no longer be read does not affect the others', async () => {
  await using watching = startWatching();
  const north = watching.fake('north');
  for (const name of ['a', 'b']) {
    north.put('Namespace', { metadata: { name } });
    north.put('Pod', pod('web', '0', name));
  }
  north.permitted = new Set(['a', 'b']);
  watching.engage(north);
  await turns(10);
  const { mirror } = watching.hold(north, pods);
  await turns(20);
  const follower = followStore(mirror.store, signal);
  north.permitted = new Set(['a']);
  north.closeWatches('Pod');
  await watching.clock.advance(60_000);
  expect(mirror.store.namespaces()).toEqual(['a']);
  expect(mirror.sync().phase).toBe('SYNCED');
  expect(follower.content()).toEqual(contentOf(mirror.store.objects()));
  expect(follower.events.map(({ type }) => type)).not.toContain('deleted');
});

test('B12: row 5: resumes from v after a 401 that a retry solves, and reports repeated ones', async () => {
  const { north, clock, mirror, started } = await startWithPods('web');
  await using _ = started;
  await turns();
  const lists = north.requests('list', 'Pod').length;
  north.fail({ of: 'Pod', times: 1, fault: north.fault('UNAUTHENTICATED', { code: 401 }) });
  north.closeWatches('Pod');
  north.put('Pod', pod('api'));
  await turns();
  expect(mirror.sync().phase).toBe('SYNCED');
  expect(mirror.store.size).toBe(2);
  expect(north.requests('list', 'Pod')).toHaveLength(lists);
  using _storm = north.fail({ fault: north.fault('UNAUTHENTICATED', { code: 401 }) });
  north.closeWatches();
  await clock.advance(10_000);
  expect(mirror.sync()).toMatchObject({ phase: 'STALE', fault: { code: 'UNAUTHENTICATED' } });
  expect(started.mirrors.cluster(north.name)).toMatchObject({ phase: 'DEGRADED' });
});

test('row 8: a continue token that expires on a later page begins the whole list again, and no part of it is stored before', async () => {
  await using watching = startWatching();
  const north = watching.fake('north');
  for (let index = 0; index < 1_200; index++) north.put('Pod', pod(`web-${index}`));
  north.gitVersion = 'v1.31.0';
  watching.engage(north);
  await turns(10);
  north.fail({ of: 'Pod', skip: 2, times: 1, fault: north.fault('EXPIRED', { code: 410 }) });
  const { mirror } = watching.hold(north, pods);
  const follower = followStore(mirror.store, signal);
  await turns(20);
  const asked = north.requests('list', 'Pod').map(({ page }) => [page?.version ?? 'continue', page?.limit ?? 'whole']);
  expect(asked).toEqual([
    ['0', 500],
    ['continue', 500],
    ['continue', 500],
    ['0', 'whole'],
  ]);
  expect(contentOf(mirror.store.objects())).toEqual(contentOf(north.objects('Pod')));
  expect(follower.events.filter(({ type }) => type === 'applied')).toHaveLength(1_200);
});

test('row 8: drops a first page if the list breaks after it', async () => {
  await using watching = startWatching();
  const north = watching.fake('north');
  for (const name of ['web', 'api']) north.put('Pod', pod(name));
  north.gitVersion = 'v1.31.0';
  watching.engage(north);
  await turns(10);
  north.fail({ of: 'Pod', times: 1, midway: true, fault: north.fault('UNREACHABLE') });
  const { mirror } = watching.hold(north, pods);
  await turns();
  north.remove('Pod', 'default', 'web');
  await watching.clock.advance(800);
  expect(contentOf(mirror.store.objects())).toEqual(contentOf(north.objects('Pod')));
});

test('row 8: churn between pages is corrected by the watch', async () => {
  await using watching = startWatching();
  const north = watching.fake('north');
  for (let index = 0; index < 1_200; index++) north.put('Pod', pod(`web-${index}`));
  north.gitVersion = 'v1.31.0';
  watching.engage(north);
  await turns(10);
  north.fail({ of: 'Pod', skip: 1, times: 1, fault: north.fault('SERVER_ERROR', { code: 503 }) });
  const { mirror } = watching.hold(north, pods);
  await turns(20);
  expect(mirror.store.size).toBe(0);
  north.remove('Pod', 'default', 'web-7');
  north.put('Pod', pod('late'));
  await watching.clock.advance(800);
  expect(contentOf(mirror.store.objects())).toEqual(contentOf(north.objects('Pod')));
});

test.each(['as status', 'as ERROR'])('row 9: 410 %s causes a list, in which vanished objects are deleted once', async (how) => {
  const { north, mirror, started } = await startWithPods('web', 'api');
  await using _ = started;
  await turns();
  const follower = followStore(mirror.store, signal);
  const breaks = north.fail({ of: 'Pod', verb: 'watch', times: 1, fault: north.fault('EXPIRED', { code: 410 }) });
  if (how === 'as ERROR') {
    breaks[Symbol.dispose]();
    north.error('Pod', 410);
    north.remove('Pod', 'default', 'web');
  } else {
    north.closeWatches('Pod');
    north.remove('Pod', 'default', 'web');
  }
  await turns();
  expect(contentOf(mirror.store.objects())).toEqual(contentOf(north.objects('Pod')));
  expect(follower.events.filter(({ type }) => type === 'deleted')).toMatchObject([
    { proof: 'absence', object: { metadata: { name: 'web' } } },
  ]);
  expect(follower.content()).toEqual(contentOf(north.objects('Pod')));
});

test('B17: row 9: a restored etcd is another history: all objects are held, and cursors are void', async () => {
  const { north, clock, mirror, started } = await startWithPods('web');
  await using _ = started;
  await turns();
  const { epoch } = mirror.store;
  const backup = north.backup();
  north.put('Pod', pod('web', '1'));
  north.put('Pod', pod('lost'));
  await turns();
  north.restore(backup);
  await clock.advance(10_000);
  expect(contentOf(mirror.store.objects())).toEqual(contentOf(north.objects('Pod')));
  expect(mirror.store.epoch).not.toBe(epoch);
});

test('row 10: ERROR 500 keeps v, and the third in a row causes a list', async () => {
  const { north, clock, mirror, started } = await startWithPods('web');
  await using _ = started;
  await turns();
  const lists = () => north.requests('list', 'Pod').length;
  const before = lists();
  for (const delayMs of [800, 1_600]) {
    north.error('Pod', 500);
    await clock.advance(delayMs);
    expect(lists()).toBe(before);
  }
  north.error('Pod', 500);
  await clock.advance(3_200);
  expect(lists()).toBe(before + 1);
  expect(mirror.sync().phase).toBe('SYNCED');
  expect(started.reports.filter(({ what }) => what === 'errorEvent')).toHaveLength(3);
});

test('row 11: a broken stream resumes from v, and its effect appears exactly once', async () => {
  const { north, clock, mirror, started } = await startWithPods('web');
  await using _ = started;
  await turns();
  const follower = followStore(mirror.store, signal);
  north.put('Pod', pod('web', '1'));
  north.breakWatches({ kind: 'Pod', fault: north.fault('UNREACHABLE') });
  north.put('Pod', pod('web', '2'));
  await clock.advance(2_000);
  expect(follower.events.flatMap((event) => (event.type === 'applied' ? [event.object.spec] : []))).toEqual([
    { value: '1' },
    { value: '2' },
  ]);
  expect(contentOf(mirror.store.objects())).toEqual(contentOf(north.objects('Pod')));
});

test.each([
  ['garbage', '{"type":"MODI'],
  ['null', 'null'],
  ['an unknown type', '{"type":"PATCHED","object":{}}'],
  ['another kind', '{"type":"ADDED","object":{"kind":"Service","metadata":{"name":"web","resourceVersion":"7"}}}'],
  ['no name', '{"type":"ADDED","object":{"kind":"Pod","metadata":{"resourceVersion":"7"}}}'],
])('row 12: %s loses no event: it is MALFORMED, and causes a list', async (_what, line) => {
  const { north, clock, mirror, started } = await startWithPods('web');
  await using _ = started;
  await turns();
  north.emit('Pod', line);
  north.put('Pod', pod('web', '1'));
  await turns();
  expect(mirror.sync().phase).toBe('SYNCED');
  await clock.advance(800);
  expect(contentOf(mirror.store.objects())).toEqual(contentOf(north.objects('Pod')));
  expect(started.reports.map(({ what }) => what)).toEqual(['unreadable']);
});

test('row 12: lists within 30 s if it always happens, and serves the mirror', async () => {
  const { north, clock, mirror, started } = await startWithPods('web');
  await using _ = started;
  await clock.advance(200_000);
  const from = north.requests('list', 'Pod').length;
  const told = new Set<string>();
  for (let second = 0; second < 600; second++) {
    north.emit('Pod', 'null');
    await clock.advance(1_000);
    const { phase, fault } = mirror.sync();
    told.add(`${phase} ${fault?.code}`);
  }
  expect(north.requests('list', 'Pod').length - from).toBeLessThan(27);
  expect(mirror.store.size).toBe(1);
  expect([...told].toSorted()).toEqual(['STALE MALFORMED', 'SYNCED undefined']);
});

test('row 14: serves the mirror of a silent server with its age, and loses nothing', async () => {
  const { north, clock, mirror, started } = await startWithPods('web');
  await using _ = started;
  await clock.advance(5_000);
  const nowMs = clock.now();
  north.freeze();
  north.put('Pod', pod('api'));
  await clock.advance(25_000);
  expect(mirror.sync().phase).toBe('SYNCED');
  const refused = north.die();
  await turns();
  expect(mirror.sync()).toMatchObject({ phase: 'STALE', asOfMs: nowMs, fault: { code: 'UNREACHABLE' } });
  expect(started.mirrors.cluster(north.name)).toMatchObject({ phase: 'UNREACHABLE', faults: [{ code: 'UNREACHABLE' }] });
  expect(mirror.store.size).toBe(1);
  await clock.advance(60_000);
  const probes = north.requests('send', 'version').length;
  expect(probes).toBeLessThan(12);
  refused[Symbol.dispose]();
  north.thaw();
  await clock.advance(60_000);
  expect(mirror.sync()).toMatchObject({ phase: 'SYNCED' });
  expect(mirror.store.size).toBe(2);
  expect(started.mirrors.cluster(north.name)?.phase).toBe('SYNCED');
});

test('P13: row 15: a cluster that never answered is UNREACHABLE within 10 s, delays no readiness, and recovers by itself', async () => {
  await using watching = startWatching();
  const north = watching.fake('north');
  const south = watching.fake('south');
  const refused = south.fail({ fault: south.fault('UNREACHABLE') });
  watching.engage(north);
  watching.engage(south);
  await watching.clock.advance(10_000);
  expect(watching.mirrors.clusters().map(({ name, phase }) => [name, phase])).toEqual([
    ['north', 'SYNCED'],
    ['south', 'UNREACHABLE'],
  ]);
  expect(watching.mirrors.ready()).toBe(true);
  await watching.mirrors.whenDiscovered(south.name, signal);
  expect(watching.mirrors.served(south.name, pods)).toBeUndefined();
  refused[Symbol.dispose]();
  await watching.clock.advance(61_000);
  expect(watching.mirrors.cluster(south.name)).toMatchObject({ phase: 'SYNCED', version: 'v1.36.3' });
  expect(watching.mirrors.acquire(south.name, pods)).toBeDefined();
});

test('row 15: an answer to another part of the gateway ends the wait for the next probe', async () => {
  const { north, clock, mirror, started } = await startWithPods('web');
  await using _ = started;
  const refused = north.die();
  await clock.advance(180_000);
  refused[Symbol.dispose]();
  expect(started.mirrors.cluster(north.name)?.phase).toBe('UNREACHABLE');
  const probes = north.requests('send', 'version').length;
  started.mirrors.answered(north.name);
  await clock.advance(1_000);
  expect(started.mirrors.cluster(north.name)?.phase).toBe('SYNCED');
  expect(mirror.sync().phase).toBe('SYNCED');
  // The discovery after the outage reads the version. No probe does.
  expect(north.requests('send', 'version')).toHaveLength(probes + 1);
});

test('row 15: a cluster that fails after the sync is UNREACHABLE within 10 s, and recovers by itself', async () => {
  const { north, clock, mirror, started } = await startWithPods('web');
  await using _ = started;
  await turns();
  const refused = north.die();
  await clock.advance(10_000);
  expect(started.mirrors.cluster(north.name)?.phase).toBe('UNREACHABLE');
  expect(mirror.sync()).toMatchObject({ phase: 'STALE', fault: { code: 'UNREACHABLE' } });
  const lists = north.requests('list', 'Pod').length;
  north.put('Pod', pod('api'));
  refused[Symbol.dispose]();
  const follower = followStore(mirror.store, signal);
  await clock.advance(40_000);
  expect(mirror.sync().phase).toBe('SYNCED');
  expect(follower.events.map(({ type }) => type)).toContain('synced');
  expect(mirror.store.size).toBe(2);
  expect(north.requests('list', 'Pod')).toHaveLength(lists);
});

test('row 18: a watch that is always closed at once costs at most four requests a minute in the long run', async () => {
  const { north, clock, mirror, started } = await startWithPods('web');
  await using _ = started;
  await clock.advance(1_000);
  for (let step = 0; step < 3_000; step++) {
    north.closeWatches('Pod');
    await clock.advance(100);
  }
  const from = north.seen.filter(({ of }) => of === 'Pod').length;
  for (let step = 0; step < 1_200; step++) {
    north.closeWatches('Pod');
    await clock.advance(100);
  }
  expect(north.seen.filter(({ of }) => of === 'Pod').length - from).toBeLessThanOrEqual(8);
  expect(mirror.store.size).toBe(1);
}, 60_000);

test('row 19: 422 to a WatchList causes a list, and so does a WatchList without an end, after 30 s', async () => {
  await using watching = startWatching();
  const north = watching.fake('north');
  north.put('Pod', pod('web'));
  north.endless.add('Pod');
  watching.engage(north);
  await turns(10);
  north.fail({ of: 'Secret', verb: 'watch', times: 1, fault: north.fault('INVALID', { code: 422 }) });
  using refused = watching.hold(north, secrets);
  await turns();
  expect(refused.mirror.sync().phase).toBe('SYNCED');
  using silent = watching.hold(north, pods);
  await watching.clock.advance(29_999);
  expect(silent.mirror.sync().phase).toBe('SYNCING');
  expect(silent.mirror.store.size).toBe(0);
  await watching.clock.advance(1);
  expect(silent.mirror.sync().phase).toBe('SYNCED');
  expect(silent.mirror.store.size).toBe(1);
});

test('row 19: a WatchList that breaks half-way begins again, and deletes objects that vanished meanwhile', async () => {
  await using watching = startWatching();
  const north = watching.fake('north');
  north.put('Pod', pod('web'));
  north.put('Pod', pod('api'));
  north.endless.add('Pod');
  watching.engage(north);
  await turns(10);
  const { mirror } = watching.hold(north, pods);
  await turns();
  north.breakWatches({ kind: 'Pod', fault: north.fault('UNREACHABLE') });
  north.remove('Pod', 'default', 'web');
  north.endless.clear();
  await watching.clock.advance(800);
  expect(mirror.sync().phase).toBe('SYNCED');
  expect(contentOf(mirror.store.objects())).toEqual(contentOf(north.objects('Pod')));
});

test('row 19: after one kind has waited in vain for the end of a WatchList, no other kind requests one', async () => {
  await using watching = startWatching();
  const many = Array.from({ length: 20 }, (_, index) =>
    servedKind({ group: 'apps', kind: `Kind${index}`, version: 'v1', resource: `kinds${index}` }),
  );
  const north = watching.fake('north', [...usualKinds, ...many]);
  for (const { kind } of many) north.endless.add(`${kind}.apps`);
  watching.engage(north);
  await turns(10);
  const leases = many.map((kind) => watching.hold(north, kind));
  await watching.clock.advance(30_000);
  expect(leases.map(({ mirror }) => mirror.sync().phase)).toEqual(many.map(() => 'SYNCED'));
});

test('row 20: after an hour of bookmarks a restart resumes from the last bookmark', async () => {
  const { north, clock, mirror, started } = await startWithPods('web');
  await using _ = started;
  await turns();
  for (let minute = 0; minute < 60; minute++) {
    north.put('Node', { metadata: { name: `node-${minute}` } });
    north.bookmark('Pod');
    await clock.advance(60_000);
  }
  north.bookmark('Pod', '5');
  north.compact();
  const lists = north.requests('list', 'Pod').length;
  north.closeWatches('Pod');
  await turns();
  expect(north.requests('list', 'Pod')).toHaveLength(lists);
  expect(mirror.sync()).toMatchObject({ phase: 'SYNCED', version: `${north.version}` });
  expect(started.reports).toContainEqual(expect.objectContaining({ what: 'bookmarkIgnored' }));
});

test('row 21: an object recreated in a gap is deleted as the old one, then applied as the new one; repeated events count once', async () => {
  const { north, clock, mirror, started } = await startWithPods('web');
  await using _ = started;
  await turns();
  const follower = followStore(mirror.store, signal);
  const old = mirror.store.get('default', 'web')?.metadata.uid;
  north.breakWatches({ kind: 'Pod', fault: north.fault('UNREACHABLE') });
  north.put('Pod', pod('web', '1'), 'recreate');
  north.compact();
  await clock.advance(1_000);
  const told = follower.events.filter(({ type }) => type === 'applied' || type === 'deleted') as Extract<StoreEvent, { object: unknown }>[];
  expect(told.map(({ type, object }) => [type, object.metadata.uid])).toEqual([
    ['deleted', old],
    ['applied', mirror.store.get('default', 'web')?.metadata.uid],
  ]);
  const again = JSON.stringify({ type: 'MODIFIED', object: { kind: 'Pod', ...north.objects('Pod')[0] } });
  const unknown = JSON.stringify({
    type: 'DELETED',
    object: { kind: 'Pod', metadata: { name: 'nobody', namespace: 'default', uid: 'x', resourceVersion: `${north.version}` } },
  });
  for (const line of [again, again, unknown]) north.emit('Pod', line);
  await turns();
  expect(follower.events.filter(({ type }) => type === 'applied' || type === 'deleted')).toHaveLength(2);
});

test('row 22: a relist without a change sends no event', async () => {
  const { north, mirror, started } = await startWithPods('web', 'api');
  await using _ = started;
  await turns();
  const follower = followStore(mirror.store, signal);
  const held = mirror.store.get('default', 'web');
  north.error('Pod', 410);
  await turns();
  expect(north.requests('list', 'Pod')).toHaveLength(1);
  expect(follower.events.filter(({ type }) => type !== 'confirmed')).toEqual([]);
  expect(mirror.store.get('default', 'web')).toBe(held);
});

test('row 22: another version of the server causes a list compared by content, and each changed object is applied once', async () => {
  const { north, clock, mirror, started } = await startWithPods('web', 'api');
  await using _ = started;
  await turns();
  const follower = followStore(mirror.store, signal);
  north.rewrite('Pod', (object) => (object.metadata.name === 'web' ? { ...object, spec: { value: '0', defaulted: true } } : object));
  north.gitVersion = 'v1.37.0';
  await clock.advance(300_000);
  expect(follower.events.flatMap((event) => (event.type === 'applied' ? [event.object.metadata.name] : []))).toEqual(['web']);
  expect(mirror.store.get('default', 'web')?.spec).toEqual({ value: '0', defaulted: true });
  expect(started.mirrors.cluster(north.name)?.version).toBe('v1.37.0');
});

test('row 22: an upgrade that begins with an outage sends the changes, and no reset', async () => {
  const { north, clock, mirror, started } = await startWithPods('web', 'api');
  await using _ = started;
  await turns();
  const follower = followStore(mirror.store, signal);
  north.rewrite('Pod', (object) => ({ ...object, spec: { value: '0', defaulted: true } }));
  north.gitVersion = 'v1.37.0';
  north.die()[Symbol.dispose]();
  await clock.advance(10_000);
  const told = follower.events.filter(({ type }) => type === 'applied' || type === 'deleted' || type === 'reset');
  expect(told.map(({ type }) => type)).toEqual(['applied', 'applied']);
});

test('row 23: a withdrawn kind is GONE; when it returns it is a new mirror with a new epoch', async () => {
  await using watching = startWatching();
  const north = watching.fake('north', [...usualKinds, widgets]);
  north.put(definitionsKey, definitionFor(widgets));
  north.put('Widget.example.com', { metadata: { name: 'one', namespace: 'default' } });
  watching.engage(north);
  await turns(20);
  const first = watching.hold(north, widgets);
  await first.mirror.whenSettled(signal);
  const follower = followStore(first.mirror.store, signal);
  north.withdraw('Widget.example.com');
  north.remove(definitionsKey, '', 'widgets.example.com');
  await watching.clock.advance(500);
  expect(follower.events.map(({ type }) => type)).toEqual(['deleted', 'gone']);
  expect(follower.events[0]).toMatchObject({ proof: 'event' });
  expect(first.mirror.sync()).toMatchObject({ phase: 'MISSING', fault: { code: 'GONE' } });
  expect(watching.mirrors.acquire(north.name, widgets)).toBeUndefined();
  expect(watching.changes.filter((change) => change.type === 'mirrored' && change.sync.fault?.code === 'GONE')).toHaveLength(1);

  const anew = servedKind({ group: 'example.com', kind: 'Widget', version: 'v2', resource: 'widgets' });
  north.serve(anew);
  north.put(definitionsKey, definitionFor(anew));
  north.put('Widget.example.com', { metadata: { name: 'two', namespace: 'default' } });
  await watching.clock.advance(500);
  const second = watching.hold(north, widgets);
  await second.mirror.whenSettled(signal);
  expect(second.mirror).not.toBe(first.mirror);
  expect(second.mirror.resource.version).toBe('v2');
  expect(second.mirror.store.epoch).not.toBe(first.mirror.store.epoch);
  expect([...second.mirror.store.objects()].map(({ metadata }) => metadata.name)).toEqual(['two']);
});

test('row 25: polls a kind that cannot be watched, and its changes are the new objects', async () => {
  const { north, clock, mirror, started } = await startWithPods('web');
  await using _ = started;
  await turns();
  using _never = north.fail({ of: 'Pod', verb: 'watch', fault: north.fault('NOT_SERVED', { code: 405 }) });
  north.closeWatches('Pod');
  await turns();
  expect(mirror.sync().phase).toBe('SYNCED');
  const follower = followStore(mirror.store, signal);
  north.put('Pod', pod('web', '1'));
  await clock.advance(60_000);
  expect(follower.events).toContainEqual(
    expect.objectContaining({ type: 'applied', object: expect.objectContaining({ spec: { value: '1' } }) }),
  );
  expect(mirror.sync().phase).toBe('SYNCED');
  using _down = north.fail({ of: 'Pod', fault: north.fault('SERVER_ERROR', { code: 500 }) });
  await clock.advance(121_000);
  expect(mirror.sync()).toMatchObject({ phase: 'STALE', fault: { code: 'SERVER_ERROR' } });
});

test('B10: row 29: an object that the store cannot take costs a list, and the store is complete', async () => {
  const { north, clock, mirror, started } = await startWithPods('web');
  await using _ = started;
  await turns();
  const store = mirror.store as unknown as { applied: (...given: readonly unknown[]) => void };
  const { applied } = store;
  store.applied = () => {
    throw new Error('a bug');
  };
  north.put('Pod', pod('api'));
  await turns();
  store.applied = applied;
  north.put('Pod', pod('late'));
  await clock.advance(1_000);
  expect(started.reports.map(({ what }) => what)).toEqual(['invariant']);
  expect(started.errors).toHaveLength(1);
  expect(contentOf(mirror.store.objects())).toEqual(contentOf(north.objects('Pod')));
});

test.each(['version', 'apis'])('is in sync again within seconds after one request for /%s failed', async (path) => {
  const { north, clock, started } = await startWithPods('web');
  await using _ = started;
  const phase = () => started.mirrors.cluster(north.name)?.phase;
  north.fail({ of: path, times: 1, fault: north.fault('SERVER_ERROR', { code: 503 }) });
  for (let passedMs = 0; phase() === 'SYNCED' && passedMs < 360_000; passedMs += 500) await clock.advance(500);
  expect(phase()).toBe('DEGRADED');
  await clock.advance(5_000);
  expect(phase()).toBe('SYNCED');
});
