import { expect, test } from 'vitest';
import type { ClusterApi } from '../../src/cluster/cluster-api.ts';
import type { FakeCluster } from '../support/cluster/fake-cluster.ts';
import { servedKind } from '../support/cluster/fake-discovery.ts';
import { turns } from '../support/manual-clock.ts';
import { contentOf, followStore, pod, pods, startWatching, usualKinds } from './watching.ts';

// docs/internals/mirror.md 3.4: a kind that may be read in some namespaces only is never reported as complete before every requested
// namespace was reviewed.
const signal = new AbortController().signal;
const reviews = 'apis/authorization.k8s.io/v1/selfsubjectaccessreviews';

/** Mirrors Pods of `shop` and `web` for a query that named `shop`. Namespaces may not be listed. */
async function startInShop(permitted: readonly string[], apiOf = (fake: FakeCluster) => fake.api) {
  const watching = startWatching();
  const north = watching.fake('north');
  for (const namespace of ['shop', 'web']) north.put('Pod', pod('one', '0', namespace));
  north.permitted = new Set(permitted);
  using _unlisted = north.fail({ of: 'Namespace', fault: north.fault('FORBIDDEN', { code: 403 }) });
  watching.engage(north, { api: apiOf(north) });
  await turns(10);
  const { mirror } = watching.hold(north, pods, ['shop']);
  await turns(20);
  return { watching, north, mirror, clock: watching.clock, name: (...names: string[]) => watching.hold(north, pods, names) };
}

test('a requested namespace is unknown before its right was reviewed, even if others are complete', async () => {
  const { watching, mirror, name } = await startInShop(['shop', 'web']);
  await using _ = watching;
  expect(mirror.sync().phase).toBe('SYNCED');
  expect(mirror.store.namespaces()).toEqual(['shop']);
  name('web');
  expect(mirror.settled()).toBe(false);
  expect(mirror.sync()).toMatchObject({ phase: 'SYNCING', fault: { code: 'SYNCING' } });
  await mirror.whenSettled(signal);
  expect(mirror.sync().phase).toBe('SYNCED');
  expect(mirror.store.namespaces()).toEqual(['shop', 'web']);
});

test('a namespace that is not granted leaves the others complete', async () => {
  const { watching, mirror, name } = await startInShop(['shop']);
  await using _ = watching;
  name('web');
  expect(mirror.settled()).toBe(false);
  await mirror.whenSettled(signal);
  expect(mirror.sync()).toMatchObject({ phase: 'SYNCED' });
  expect(mirror.sync().fault).toBeUndefined();
  expect(mirror.store.namespaces()).toEqual(['shop']);
});

test('a failed review is a fault, not a refusal: no read waits for it, and it is repeated', async () => {
  const { watching, mirror, name, north, clock } = await startInShop(['shop', 'web']);
  await using _ = watching;
  north.fail({ of: reviews, times: 2, fault: north.fault('SERVER_ERROR', { code: 500 }) });
  name('web');
  await mirror.whenSettled(signal);
  expect(mirror.sync()).toMatchObject({ phase: 'SYNCING', fault: { code: 'SERVER_ERROR', kind: { kind: 'Pod' } } });
  expect(mirror.store.namespaces()).toEqual(['shop']);
  await clock.advance(799);
  expect(north.requests('send', reviews).length).toBe(3);
  await clock.advance(1);
  expect(mirror.sync()).toMatchObject({ phase: 'SYNCING', fault: { code: 'SERVER_ERROR' } });
  await clock.advance(1_600);
  expect(mirror.sync().phase).toBe('SYNCED');
  expect(mirror.store.namespaces()).toEqual(['shop', 'web']);
});

test('does not repeat reviews on a server that forbids them', async () => {
  const { watching, mirror, name, north, clock } = await startInShop(['shop']);
  await using _ = watching;
  using _refused = north.fail({ of: reviews, fault: north.fault('FORBIDDEN', { code: 403 }) });
  const before = north.requests('send', reviews).length;
  name('web');
  await mirror.whenSettled(signal);
  await clock.advance(50_000);
  expect(mirror.sync().phase).toBe('SYNCED');
  expect(north.requests('send', reviews).length).toBe(before + 1);
});

test('finds a right granted since by the next query for the namespace, with at most one review per 10 s', async () => {
  const { watching, mirror, name, north, clock } = await startInShop(['shop']);
  await using _ = watching;
  name('web');
  await mirror.whenSettled(signal);
  north.permitted = new Set(['shop', 'web']);
  const before = north.requests('send', reviews).length;
  await clock.advance(9_999);
  name('web');
  expect(mirror.settled()).toBe(true);
  expect(north.requests('send', reviews)).toHaveLength(before);
  await clock.advance(1);
  name('web');
  expect(mirror.settled()).toBe(false);
  await mirror.whenSettled(signal);
  expect(mirror.store.namespaces()).toEqual(['shop', 'web']);
});

test('finds a right granted since by the next query, even if nothing was granted before', async () => {
  const { watching, mirror, name, north, clock } = await startInShop([]);
  await using _ = watching;
  expect(mirror.sync()).toMatchObject({ phase: 'MISSING', fault: { code: 'FORBIDDEN' } });
  north.permitted = new Set(['web']);
  await clock.advance(20_000);
  name('web');
  await mirror.whenSettled(signal);
  expect(mirror.sync().phase).toBe('SYNCED');
  expect(mirror.store.namespaces()).toEqual(['web']);
});

test.each([
  ['before it was made', 0],
  ['a moment after', 3_000],
  ['half a minute after', 29_000],
])('reads a namespace that was created later if the right was given %s, even if no query names it', async (_when, ms) => {
  await using watching = startWatching();
  const north = watching.fake('north');
  north.put('Namespace', { metadata: { name: 'shop' } });
  north.permitted = new Set(['shop']);
  watching.engage(north);
  await turns(10);
  const { mirror } = watching.hold(north, pods);
  await turns(10);
  expect(mirror.sync().phase).toBe('SYNCED');
  if (ms === 0) north.permitted = new Set(['shop', 'web']);
  north.put('Namespace', { metadata: { name: 'web' } });
  north.put('Pod', pod('one', '0', 'web'));
  await watching.clock.advance(ms);
  north.permitted = new Set(['shop', 'web']);
  await watching.clock.advance(ms === 29_000 ? 1_000 : 2_000);
  expect(mirror.store.namespaces()).toEqual(['web']);
  expect(mirror.sync().phase).toBe('SYNCED');
});

test('does not know which namespaces may be read before the namespaces are known', async () => {
  await using watching = startWatching();
  const north = watching.fake('north');
  north.endless.add('Namespace');
  for (const name of ['shop', 'web']) {
    north.put('Namespace', { metadata: { name } });
    north.put('Pod', pod('one', '0', name));
  }
  north.permitted = new Set(['shop', 'web']);
  watching.engage(north, { namespaces: ['shop'] });
  await turns(10);
  const { mirror } = watching.hold(north, pods);
  await turns(10);
  expect(mirror.store.namespaces()).toEqual(['shop']);
  expect(mirror.settled()).toBe(false);
  expect(mirror.sync()).toMatchObject({ phase: 'SYNCING', fault: { code: 'SYNCING' } });
  // The list of namespaces never ends, and is given up after 30 s.
  await watching.clock.advance(30_000);
  expect(mirror.settled()).toBe(true);
  expect(mirror.sync().phase).toBe('SYNCED');
  expect(mirror.store.namespaces()).toEqual(['shop', 'web']);
});

test('uses one complete scope if all namespaces are granted during a review', async () => {
  let answer: () => void = () => undefined;
  const answered = new Promise<void>((resolve) => (answer = resolve));
  let slow = false;
  const slowReviews = ({ api }: FakeCluster): ClusterApi => ({
    ...api,
    async send(request, aborted) {
      if (slow && request.path.at(-1) === 'selfsubjectaccessreviews') await answered;
      return api.send(request, aborted);
    },
  });
  const { watching, mirror, name, north, clock } = await startInShop(['shop', 'web'], slowReviews);
  await using _ = watching;
  const follower = followStore(mirror.store, signal);
  slow = true;
  name('web');
  north.permitted = undefined;
  await clock.advance(60_000);
  expect(mirror.sync().phase).toBe('SYNCED');
  expect(mirror.settled()).toBe(true);
  answer();
  await turns(10);
  expect(mirror.sync().phase).toBe('SYNCED');
  expect(mirror.faults()).toEqual([]);
  expect(contentOf(mirror.store.objects())).toEqual(contentOf(north.objects('Pod')));
  expect(follower.content()).toEqual(contentOf(north.objects('Pod')));
  expect(north.openWatches.filter(({ resource }) => resource.kind === 'Pod').map(({ namespace }) => namespace)).toEqual([undefined]);
});

test('reviews again after all namespaces were granted and lost: earlier grants no longer count', async () => {
  const { watching, mirror, name, north, clock } = await startInShop(['shop', 'web']);
  await using _ = watching;
  name('web');
  north.permitted = undefined;
  await clock.advance(60_000);
  expect(mirror.faults()).toEqual([]);
  north.permitted = new Set(['web']);
  north.closeWatches('Pod');
  await clock.advance(60_000);
  await mirror.whenSettled(signal);
  expect(mirror.sync().phase).toBe('SYNCED');
  expect(mirror.store.namespaces()).toEqual(['web']);
});

test('reviews only the right to list for a kind that cannot be watched', async () => {
  const metrics = servedKind({ group: 'metrics.k8s.io', kind: 'PodMetrics', version: 'v1beta1', resource: 'pods', verbs: ['get', 'list'] });
  await using watching = startWatching();
  const north = watching.fake('north', [...usualKinds, metrics]);
  north.put('PodMetrics.metrics.k8s.io', pod('one', '0', 'shop'));
  north.permitted = new Set(['shop']);
  watching.engage(north);
  await turns(10);
  const { mirror } = watching.hold(north, metrics, ['shop']);
  await mirror.whenSettled(signal);
  expect(mirror.store.size).toBe(1);
  expect(north.requests('send', reviews).filter(({ of }) => of === reviews).length).toBe(2);
});

test('sends synced to followers once, when the first lists of single namespaces are complete', async () => {
  await using watching = startWatching();
  const north = watching.fake('north');
  north.put('Pod', pod('one', '0', 'shop'));
  north.permitted = new Set(['shop']);
  watching.engage(north);
  await turns(10);
  const { mirror } = watching.hold(north, pods, ['shop']);
  const follower = followStore(mirror.store, signal);
  await mirror.whenSettled(signal);
  await turns();
  expect(follower.events.map(({ type }) => type)).toEqual(['applied', 'synced']);
});

test('sends synced to followers again after a right was lost in one of two namespaces', async () => {
  const { watching, mirror, name, north, clock } = await startInShop(['shop', 'web']);
  await using _ = watching;
  name('web');
  await mirror.whenSettled(signal);
  const follower = followStore(mirror.store, signal);
  north.permitted = new Set(['shop']);
  north.closeWatches('Pod');
  await clock.advance(60_000);
  expect(mirror.store.namespaces()).toEqual(['shop']);
  expect(follower.content()).toEqual(contentOf(mirror.store.objects()));
  expect(follower.events.map(({ type }) => type).at(-1)).toBe('synced');
  expect(mirror.unmirroredFault(['web'])?.code).toBe('FORBIDDEN');
});

test.each([
  ['in one of two namespaces', new Set(['shop', 'web'])],
  ['to list all namespaces', undefined],
])('after a right was lost %s, a new list is current, and no older than reported changes', async (_what, permitted) => {
  await using watching = startWatching();
  const north = watching.fake('north');
  // A version without WatchList. Its list "of any version" is as old as the server's cache.
  north.gitVersion = 'v1.31.0';
  for (const namespace of ['shop', 'web']) north.put('Pod', pod('one', 'old', namespace));
  north.permitted = permitted;
  watching.engage(north);
  await turns(10);
  const { mirror } = watching.hold(north, pods, ['shop', 'web']);
  await turns(20);
  expect(mirror.store.size).toBe(2);
  await watching.clock.advance(2_000);
  const before = north.requests('list', 'Pod').length;
  north.permitted = new Set(['shop']);
  north.closeWatches('Pod');
  await watching.clock.advance(60_000);
  expect(mirror.store.namespaces()).toEqual(['shop']);
  const again = north
    .requests('list', 'Pod')
    .slice(before)
    .flatMap(({ page }) => (page?.namespace === 'shop' ? [page.version] : []));
  expect(again).toEqual(['']);
});

const numbered = (count: number) => Array.from({ length: count }, (_, index) => `team-${index}`);

test('reports a fault for a namespace without room until all may be listed, and for no other', async () => {
  const teams = numbered(401);
  const { watching, mirror, name, north, clock } = await startInShop(['shop', ...teams]);
  await using _ = watching;
  name(...teams);
  await mirror.whenSettled(signal);
  expect(mirror.sync()).toMatchObject({ phase: 'SYNCED' });
  expect(north.openWatches.filter(({ resource }) => resource.kind === 'Pod')).toHaveLength(400);
  expect(mirror.unmirroredFault(['shop', ...teams.slice(0, 399)])).toBeUndefined();
  expect(mirror.unmirroredFault(teams)).toMatchObject({
    code: 'TOO_LARGE',
    cluster: 'north',
    kind: { group: '', kind: 'Pod' },
    message:
      'pods may not be listed in all namespaces, and at most 400 are mirrored one by one, without team-399 and 1 more: name fewer, or let the gateway list the kind in all',
    retry: 'LATER',
  });
  expect(mirror.unmirroredFault(['team-400'])?.message).toContain('without team-400:');
  const told = watching.changes.length;
  north.permitted = undefined;
  await clock.advance(60_000);
  expect(mirror.unmirroredFault(teams)).toBeUndefined();
  expect(watching.changes.slice(told)).toContainEqual(expect.objectContaining({ type: 'mirrored', kind: { group: '', kind: 'Pod' } }));
});

test('reports a denied namespace at once for 10 s, and another fault if there is no room for another review', async () => {
  const teams = numbered(399);
  const { watching, mirror, name, north, clock } = await startInShop(['shop', ...teams]);
  await using _ = watching;
  name('web');
  await mirror.whenSettled(signal);
  name(...teams);
  await mirror.whenSettled(signal);
  north.permitted = new Set([...(north.permitted ?? []), 'web']);
  await clock.advance(9_999);
  name('web');
  expect(mirror.settled()).toBe(true);
  expect(mirror.unmirroredFault(['shop', 'web'])).toEqual({
    code: 'FORBIDDEN',
    cluster: 'north',
    kind: { group: '', kind: 'Pod' },
    message: 'pods may not be listed in web',
    retry: 'NEVER',
  });
  const told = watching.changes.length;
  await clock.advance(1);
  name('web');
  expect(mirror.unmirroredFault(['web'])?.code).toBe('TOO_LARGE');
  await turns();
  expect(watching.changes.slice(told).map(({ type }) => type)).toContain('mirrored');
});

test('reviews a namespace without room as soon as there is room, and reports the result', async () => {
  const teams = numbered(399);
  const { watching, mirror, name, north, clock } = await startInShop(['shop', ...teams]);
  await using _ = watching;
  name(...teams);
  await mirror.whenSettled(signal);
  name('web', 'none');
  expect(mirror.unmirroredFault(['web'])?.code).toBe('TOO_LARGE');
  const told = watching.changes.length;
  north.permitted = new Set(['shop', 'web', ...teams.slice(2)]);
  north.closeWatches('Pod');
  await clock.advance(60_000);
  await mirror.whenSettled(signal);
  expect(mirror.sync().phase).toBe('SYNCED');
  expect(mirror.unmirroredFault(['web'])).toBeUndefined();
  expect(mirror.unmirroredFault(['team-0', 'none'])).toMatchObject({
    code: 'FORBIDDEN',
    message: 'pods may not be listed in team-0 and 1 more',
  });
  expect(mirror.store.namespaces()).toEqual(['shop', 'web']);
  expect(watching.changes.slice(told).map(({ type }) => type)).toContain('mirrored');
});

test('reports a denied namespace that had no room as soon as the denial is known', async () => {
  let held = false;
  let answer: () => void = () => undefined;
  const answered = new Promise<void>((resolve) => (answer = resolve));
  const slowReviews = ({ api }: FakeCluster): ClusterApi => ({
    ...api,
    async send(request, aborted) {
      if (held && request.path.at(-1) === 'selfsubjectaccessreviews') await answered;
      return api.send(request, aborted);
    },
  });
  const teams = numbered(399);
  const { watching, mirror, name, north, clock } = await startInShop(['shop', ...teams], slowReviews);
  await using _ = watching;
  name(...teams);
  await mirror.whenSettled(signal);
  name('none');
  held = true;
  north.permitted = new Set(['shop', ...teams.slice(1)]);
  north.closeWatches('Pod');
  await clock.advance(60_000);
  expect(mirror.sync().phase).toBe('SYNCED');
  expect(mirror.unmirroredFault(['none'])?.code).toBe('TOO_LARGE');
  const told = watching.changes.length;
  answer();
  await turns(10);
  expect(mirror.unmirroredFault(['none'])?.code).toBe('FORBIDDEN');
  expect(watching.changes.slice(told).map(({ type }) => type)).toContain('mirrored');
});

test.each([
  ['few are read', 0],
  ['more are read than are tried for nobody', 300],
])('finds a denied namespace by itself when the right is given, even if no query names it: %s', async (_what, count) => {
  const teams = numbered(count);
  const { watching, mirror, name, north, clock } = await startInShop(['shop', ...teams]);
  await using _ = watching;
  name('web', ...teams);
  await mirror.whenSettled(signal);
  expect(mirror.unmirroredFault(['web'])?.code).toBe('FORBIDDEN');
  north.permitted = new Set(['shop', 'web', ...teams]);
  await clock.advance(60_000);
  await mirror.whenSettled(signal);
  expect(mirror.unmirroredFault(['web'])).toBeUndefined();
  expect(mirror.store.namespaces()).toEqual(['shop', 'web']);
});

test('is SYNCING while a namespace is being reviewed, without an unmirrored fault', async () => {
  const { watching, mirror, name } = await startInShop(['shop']);
  await using _ = watching;
  name('web');
  expect(mirror.unmirroredFault(['web'])).toBeUndefined();
  expect(mirror.sync().phase).toBe('SYNCING');
  await mirror.whenSettled(signal);
  expect(mirror.unmirroredFault(['web'])?.code).toBe('FORBIDDEN');
  expect(mirror.sync().phase).toBe('SYNCED');
});

test('names the mirrored namespaces, as far as they are visible, if not all are listed', async () => {
  const { watching, mirror, name, north, clock } = await startInShop(['shop', 'web', ...numbered(5)]);
  await using _ = watching;
  name('web');
  await mirror.whenSettled(signal);
  const whatIsShown = (visibility: 'all' | ReadonlySet<string>) => mirror.partialListFault(visibility)?.message.split(': ')[1];
  expect(mirror.partialListFault('all')).toMatchObject({
    code: 'FORBIDDEN',
    message: 'pods may not be listed in all namespaces: only objects in shop, web are shown',
  });
  expect(whatIsShown(new Set(['web', 'other']))).toBe('only objects in web are shown');
  expect(whatIsShown(new Set(['other']))).toBe('nothing is shown');
  expect(mirror.partialListFault(new Set(['shop', 'web']))).toBeUndefined();
  name(...numbered(5));
  await mirror.whenSettled(signal);
  expect(whatIsShown('all')).toBe('only objects in shop, team-0, team-1, team-2, team-3 and 2 more are shown');
  north.permitted = undefined;
  await clock.advance(60_000);
  expect(mirror.partialListFault('all')).toBeUndefined();
});

test('reviews all namespaces that a query names, even beyond the number that is tried without one', async () => {
  await using watching = startWatching();
  const north = watching.fake('north');
  const teams = numbered(300);
  for (const namespace of teams) north.put('Pod', pod('one', '0', namespace));
  north.permitted = new Set(teams);
  watching.engage(north);
  await turns(10);
  const { mirror } = watching.hold(north, pods, teams);
  await mirror.whenSettled(signal);
  expect(mirror.unmirroredFault(teams)).toBeUndefined();
  expect(mirror.store.size).toBe(300);
});

test('limits unanswered reviews to 50, and reports namespaces beyond 400 at once', async () => {
  let inFlight = 0;
  let most = 0;
  let asked = 0;
  let answers: 'at once' | 'at the end' = 'at once';
  let end: () => void = () => undefined;
  const ended = new Promise<void>((resolve) => (end = resolve));
  const slowReviews = ({ api }: FakeCluster): ClusterApi => ({
    ...api,
    async send(request, aborted) {
      if (request.path.at(-1) !== 'selfsubjectaccessreviews') return api.send(request, aborted);
      inFlight++;
      asked++;
      most = Math.max(most, inFlight);
      if (answers === 'at the end') await ended;
      inFlight--;
      return api.send(request, aborted);
    },
  });
  const teams = numbered(450);
  const { watching, mirror, name } = await startInShop(['shop', ...teams], slowReviews);
  await using _ = watching;
  answers = 'at the end';
  for (let start = 0; start < 450; start += 15) name(...teams.slice(start, start + 15));
  await turns(20);
  expect(inFlight).toBe(50);
  expect(mirror.settled()).toBe(false);
  expect(mirror.unmirroredFault(teams.slice(0, 399))).toBeUndefined();
  expect(mirror.unmirroredFault(teams.slice(399))?.message).toContain('team-399 and 50 more');
  asked = 0;
  end();
  await mirror.whenSettled(signal);
  expect(most).toBe(50);
  expect(asked).toBe(2 * 399 - 50);
  expect(mirror.sync().phase).toBe('SYNCED');
  expect(mirror.unmirroredFault(teams.slice(0, 399))).toBeUndefined();
});
