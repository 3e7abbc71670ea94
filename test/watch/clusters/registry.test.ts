import { expect, test } from 'vitest';
import { fault } from '../../../src/core/faults.ts';
import { type ClusterName, clusterName } from '../../../src/core/names.ts';
import type { MirrorsChange } from '../../../src/watch/mirrors.ts';
import { servedKind } from '../../support/cluster/fake-discovery.ts';
import { turns } from '../../support/manual-clock.ts';
import { definitionFor, definitionsKey, followStore, pod, pods, secrets, startWatching, usualKinds, widgets } from '../watching.ts';

const signal = new AbortController().signal;
const podKind = { group: '', kind: 'Pod' };
const nodeKind = { group: '', kind: 'Node' };

test('starts a mirror with the first lease of its kind, and serves all leases by one watch', async () => {
  await using watching = startWatching();
  const north = watching.fake('north');
  watching.engage(north);
  await turns(20);
  expect(watching.mirrors.peek(north.name, podKind)).toBeUndefined();
  expect(north.seen.filter(({ of }) => of === 'Pod')).toEqual([]);
  const leases = Array.from({ length: 1_000 }, () => watching.hold(north, pods));
  await turns();
  expect(new Set(leases.map(({ mirror }) => mirror)).size).toBe(1);
  expect(north.openWatches.filter(({ resource }) => resource.kind === 'Pod')).toHaveLength(1);
});

test('the list of served kinds stays the same until they change', async () => {
  await using watching = startWatching();
  const north = watching.fake('north');
  expect(watching.mirrors.servedKinds(north.name)).toBeUndefined();
  watching.engage(north);
  await turns(20);
  const kinds = watching.mirrors.servedKinds(north.name);
  watching.mirrors.redescribed(north.name);
  expect(kinds?.length).toBeGreaterThan(0);
  expect(watching.mirrors.servedKinds(north.name)).toBe(kinds);
  expect(watching.mirrors.cluster(north.name)?.resources).toBe(kinds);
});

test('a fault of the description that every request fails with is reported once', async () => {
  await using watching = startWatching();
  const cluster = clusterName('north');
  const broken = fault('INVALID', 'kubeconfig: expected YAML or JSON', { cluster, retry: 'NEVER' });
  const failed = { type: 'failed', fault: broken } as const;
  async function* fail() {
    yield failed;
  }
  const api = { cluster, list: fail, watch: fail, logs: fail, send: async () => failed, connectionFaults: [broken] };
  watching.mirrors.engage({ name: cluster, api, namespaces: [], secrets: 'none' }, signal);
  await turns(20);
  expect(watching.mirrors.cluster(cluster)).toMatchObject({ phase: 'CONNECTING', faults: [broken] });
});

test('warm kinds are mirrored from the start and never evicted', async () => {
  await using watching = startWatching();
  const north = watching.fake('north');
  watching.engage(north);
  await turns(20);
  watching.hold(north, servedKind({ ...nodeKind, version: 'v1', resource: 'nodes' }))[Symbol.dispose]();
  await watching.clock.advance(1_000_000);
  expect(north.openWatches.map(({ resource }) => resource.kind).toSorted()).toEqual(['CustomResourceDefinition', 'Namespace', 'Node']);
});

test('P7: an idle mirror ends after 5 minutes, and not while it has a lease', async () => {
  await using watching = startWatching();
  const north = watching.fake('north');
  watching.engage(north);
  await turns(20);
  const first = watching.hold(north, pods);
  const second = watching.hold(north, pods);
  first[Symbol.dispose]();
  first[Symbol.dispose]();
  await watching.clock.advance(1_000_000);
  expect(watching.mirrors.peek(north.name, podKind)).toBe(second.mirror);
  second[Symbol.dispose]();
  await watching.clock.advance(290_000);
  const third = watching.hold(north, pods);
  expect(third.mirror).toBe(second.mirror);
  await watching.clock.advance(1_000_000);
  expect(watching.mirrors.peek(north.name, podKind)).toBe(second.mirror);
  third[Symbol.dispose]();
  const follower = followStore(third.mirror.store, signal);
  await watching.clock.advance(331_000);
  expect(watching.mirrors.peek(north.name, podKind)).toBeUndefined();
  expect(follower.events.at(-1)?.type).toBe('gone');
  expect(north.openWatches.map(({ resource }) => resource.kind)).not.toContain('Pod');
  expect(watching.hold(north, pods).mirror).not.toBe(third.mirror);
});

test('idle mirrors are limited by bytes: the one idle for longest ends first, even if it grew while idle', async () => {
  await using watching = startWatching({ maxIdleBytes: 20_000 });
  const north = watching.fake('north');
  for (let index = 0; index < 5; index++) north.put('Pod', pod(`web-${index}`));
  watching.engage(north);
  await turns(20);
  const ofPods = watching.hold(north, pods);
  const ofSecrets = watching.hold(north, secrets);
  await turns(10);
  ofPods[Symbol.dispose]();
  ofSecrets[Symbol.dispose]();
  expect(watching.mirrors.peek(north.name, podKind)).toBeDefined();
  for (let index = 0; index < 200; index++) north.put('Pod', pod(`late-${index}`));
  await watching.clock.advance(30_000);
  expect(watching.mirrors.peek(north.name, podKind)).toBeUndefined();
  expect(watching.mirrors.peek(north.name, { group: '', kind: 'Secret' })).toBe(ofSecrets.mirror);
  const anew = watching.hold(north, pods);
  await turns(10);
  anew[Symbol.dispose]();
  expect(watching.mirrors.peek(north.name, podKind)).toBeUndefined();
});

test('row 31: 100 starts and stops leave nothing behind, and nothing is requested or reported after a stop', async () => {
  await using watching = startWatching();
  const idleSleepers = watching.clock.sleepers;
  const north = watching.fake('north');
  for (let index = 0; index < 600; index++) north.put('Pod', pod(`web-${index}`));
  for (let round = 0; round < 100; round++) {
    north.gitVersion = round % 2 === 0 ? 'v1.36.3' : 'v1.31.0';
    if (round % 3 === 0) north.fail({ of: 'Pod', times: 1, midway: round % 2 === 0, fault: north.fault('SERVER_ERROR', { code: 500 }) });
    const member = watching.engage(north);
    await turns(round % 12);
    watching.mirrors.acquire(north.name, podKind);
    await turns(round % 5);
    member.abort();
    const asked = north.seen.length;
    const told = watching.changes.length;
    await turns();
    expect(north.seen.length).toBe(asked);
    expect(watching.changes.slice(told).map(({ type }) => type)).toEqual(['left']);
    expect(north.openWatches).toEqual([]);
    expect(watching.clock.sleepers).toBe(idleSleepers);
  }
  expect(watching.mirrors.clusters()).toEqual([]);
});

test('a cluster that leaves sends GONE to its readers, and frees its objects', async () => {
  await using watching = startWatching();
  const north = watching.fake('north');
  north.put('Pod', pod('web'));
  const member = watching.engage(north);
  await turns(20);
  const { mirror } = watching.hold(north, pods);
  await turns();
  const follower = followStore(mirror.store, signal);
  member.abort();
  await turns();
  expect(follower.events.at(-1)).toMatchObject({ type: 'gone', fault: { code: 'GONE' } });
  expect(mirror.store.size).toBe(0);
  expect(mirror.sync()).toMatchObject({ phase: 'MISSING', fault: { code: 'GONE' } });
  expect(watching.mirrors.cluster(north.name)).toBeUndefined();
  expect(watching.mirrors.acquire(north.name, podKind)).toBeUndefined();
  await watching.mirrors.whenDiscovered(north.name, signal);
});

test('row 32: a cluster that leaves while listing and joins at once is written to by its new mirrors only', async () => {
  await using watching = startWatching();
  const north = watching.fake('north');
  north.endless.add('Pod');
  north.put('Pod', pod('old'));
  const member = watching.engage(north);
  await turns(20);
  const old = watching.hold(north, pods).mirror;
  await turns();
  member.abort();
  north.endless.clear();
  watching.engage(north);
  await turns(20);
  const { mirror } = watching.hold(north, pods);
  await turns();
  expect(mirror).not.toBe(old);
  expect(old.store.size).toBe(0);
  expect(mirror.store.size).toBe(1);
});

test('a cluster that is engaged again under its name replaces the earlier one', async () => {
  await using watching = startWatching();
  const [north, other] = [watching.fake('north'), watching.fake('north')];
  other.gitVersion = 'v1.35.0';
  const first = watching.engage(north);
  await turns(20);
  watching.engage(other);
  await turns(20);
  expect(north.openWatches).toEqual([]);
  expect(watching.mirrors.cluster(north.name)?.version).toBe('v1.35.0');
  first.abort();
  expect(watching.mirrors.cluster(north.name)?.version).toBe('v1.35.0');
});

test('reports the facts of a cluster as soon as they are known', async () => {
  await using watching = startWatching();
  const north = watching.fake('north');
  watching.engage(north);
  expect(watching.mirrors.clusters()).toEqual([{ name: 'north', phase: 'CONNECTING', faults: [] }]);
  await watching.mirrors.whenDiscovered(north.name, signal);
  const state = watching.mirrors.cluster(north.name);
  expect(state).toMatchObject({ phase: 'SYNCED', version: 'v1.36.3', uid: 'uid-1', faults: [], asOfMs: watching.clock.now() });
  expect(state?.resources?.map(({ kind }) => kind).toSorted()).toEqual(usualKinds.map(({ kind }) => kind).toSorted());
  expect(watching.mirrors.served(north.name, podKind)?.resource).toBe('pods');
  expect(watching.mirrors.served(north.name, { group: 'example.com', kind: 'Widget' })).toBeUndefined();
  expect(watching.changes.map(({ type }) => type).slice(0, 2)).toEqual(['joined', 'changed']);
});

test('the age of a healthy cluster stays small without an event', async () => {
  await using watching = startWatching();
  const north = watching.fake('north');
  watching.engage(north);
  await turns(20);
  const { mirror } = watching.hold(north, pods);
  await watching.clock.advance(3_000_000);
  expect(mirror.sync()).toMatchObject({ phase: 'SYNCED', asOfMs: watching.clock.now() });
  expect(watching.mirrors.cluster(north.name)?.asOfMs).toBe(watching.clock.now());
  watching.clock.jump(-3_600_000);
  expect(mirror.sync()).toMatchObject({ phase: 'SYNCED', asOfMs: watching.clock.now() });
});

test('a kind defined while running is served within half a second, by a WatchList', async () => {
  await using watching = startWatching();
  const north = watching.fake('north');
  watching.engage(north);
  await turns(20);
  north.serve(widgets);
  north.put('Widget.example.com', { metadata: { name: 'one', namespace: 'default' } });
  north.put(definitionsKey, definitionFor(widgets));
  await watching.clock.advance(500);
  const { mirror } = watching.hold(north, widgets);
  await mirror.whenSettled(signal);
  expect(mirror.store.size).toBe(1);
  expect(north.requests('watch', 'Widget.example.com')[0]?.start?.initialEvents).toBe(true);
});

test('discovers again if discovery follows a definition late', async () => {
  await using watching = startWatching();
  const north = watching.fake('north');
  watching.engage(north);
  await turns(20);
  north.put(definitionsKey, definitionFor(widgets));
  await watching.clock.advance(3_000);
  north.serve(widgets);
  await watching.clock.advance(5_000);
  expect(watching.mirrors.served(north.name, widgets)).toBeDefined();
});

test('row 24: 1,000 new definitions cause a few discoveries, and start no mirror', async () => {
  await using watching = startWatching();
  const north = watching.fake('north');
  watching.engage(north);
  await turns(20);
  const before = north.requests('send', 'apis').length;
  for (let index = 0; index < 1_000; index++) {
    const kind = servedKind({ group: 'example.com', kind: `Kind${index}`, version: 'v1', resource: `kinds${index}` });
    north.serve(kind);
    north.put(definitionsKey, definitionFor(kind));
    if (index % 50 === 0) await watching.clock.advance(100);
  }
  await watching.clock.advance(3_000);
  expect(north.requests('send', 'apis').length - before).toBeLessThanOrEqual(6);
  expect(watching.mirrors.cluster(north.name)?.resources).toHaveLength(usualKinds.length + 1_000);
  expect(watching.mirrors.progress()[0]).toMatchObject({ listing: 0 });
  expect(north.openWatches).toHaveLength(3);
});

test('a changed definition causes a fresh list of its kind, compared by content', async () => {
  await using watching = startWatching();
  const north = watching.fake('north', [...usualKinds, widgets]);
  north.put(definitionsKey, definitionFor(widgets));
  north.put('Widget.example.com', { metadata: { name: 'one', namespace: 'default' }, spec: {} });
  watching.engage(north);
  await turns(20);
  const { mirror } = watching.hold(north, widgets);
  await turns(10);
  const follower = followStore(mirror.store, signal);
  north.rewrite('Widget.example.com', (object) => ({ ...object, spec: { size: 1 } }));
  north.put(definitionsKey, definitionFor(widgets, 2));
  await watching.clock.advance(500);
  expect(follower.events.filter(({ type }) => type === 'applied')).toMatchObject([{ object: { spec: { size: 1 } } }]);
  expect(mirror.sync().phase).toBe('SYNCED');
});

test('mirrors Secrets as metadata, or not at all', async () => {
  await using watching = startWatching();
  const [north, south] = [watching.fake('north'), watching.fake('south')];
  const lastApplied = { 'kubectl.kubernetes.io/last-applied-configuration': 'with data', kept: 'yes' };
  for (const fake of [north, south]) {
    fake.put('Secret', { metadata: { name: 'key', namespace: 'default', annotations: lastApplied }, data: { password: 'c2VjcmV0' } });
  }
  watching.engage(north);
  watching.engage(south, { secrets: 'none' });
  await turns(30);
  const metadata = watching.hold(north, secrets);
  const withheld = watching.hold(south, secrets);
  await turns(10);
  const held = metadata.mirror.store.get('default', 'key');
  expect(held).not.toHaveProperty('data');
  expect(held?.metadata.annotations).toEqual({ kept: 'yes' });
  expect(withheld.mirror.sync()).toMatchObject({ phase: 'MISSING', fault: { code: 'FORBIDDEN' } });
  expect(withheld.mirror.settled()).toBe(true);
  expect(south.seen.filter(({ of }) => of === 'Secret')).toEqual([]);
  const asked = [
    ...north.requests('list', 'Secret').map(({ page }) => page?.form),
    ...north.requests('watch', 'Secret').map(({ start }) => start?.form),
  ];
  expect(new Set(asked)).toEqual(new Set(['metadata']));
});

test('mirrors other sensitive kinds as metadata too', async () => {
  await using watching = startWatching({ sensitiveKinds: ['Pod'] });
  const north = watching.fake('north');
  north.put('Pod', pod('web'));
  watching.engage(north);
  await turns(20);
  const { mirror } = watching.hold(north, pods);
  await turns(10);
  expect(mirror.store.get('default', 'web')).not.toHaveProperty('spec');
});

test('of clusters that join together, one starts in each event-loop turn', async () => {
  await using watching = startWatching();
  const fakes = ['a', 'b', 'c'].map((name) => watching.fake(name));
  for (const fake of fakes) watching.engage(fake);
  const started = () => fakes.filter(({ seen }) => seen.length > 0).length;
  const counts: number[] = [];
  for (let turn = 0; turn < 4; turn++) {
    await new Promise((resolve) => setImmediate(resolve));
    counts.push(started());
  }
  expect(counts.slice(0, 3).every((count, at) => count <= at + 1)).toBe(true);
  expect(counts.at(-1)).toBe(3);
});

test('lists the first kinds of a cluster two at a time', async () => {
  await using watching = startWatching();
  const many = Array.from({ length: 30 }, (_, index) =>
    servedKind({ group: 'apps', kind: `Kind${index}`, version: 'v1', resource: `kinds${index}` }),
  );
  const north = watching.fake('north', [...usualKinds, ...many]);
  for (const { kind } of many) north.endless.add(`${kind}.apps`);
  watching.engage(north);
  await turns(20);
  for (const kind of many) watching.hold(north, kind);
  await turns(10);
  expect(north.openWatches.filter(({ initialEvents, resource }) => initialEvents && resource.group === 'apps')).toHaveLength(2);
});

test('is ready when warm kinds are listed, when a cluster has a fault, or after a minute', async () => {
  await using watching = startWatching();
  expect(watching.mirrors.ready()).toBe(true);
  const [whole, faulty, slow] = [watching.fake('whole'), watching.fake('faulty'), watching.fake('slow')];
  faulty.fail({ of: 'apis', fault: faulty.fault('SERVER_ERROR', { code: 503 }) });
  slow.freeze();
  for (const fake of [whole, faulty, slow]) watching.engage(fake);
  const readyOf = () => Object.fromEntries(watching.mirrors.progress().map(({ cluster, ready }) => [cluster, ready]));
  expect(readyOf()).toEqual({ whole: false, faulty: false, slow: false });
  await turns(30);
  expect(readyOf()).toEqual({ whole: true, faulty: true, slow: false });
  expect(watching.mirrors.progress().find(({ cluster }) => cluster === 'faulty')).toMatchObject({
    phase: 'DEGRADED',
    fault: { code: 'SERVER_ERROR' },
  });
  await watching.clock.advance(59_999);
  expect(watching.mirrors.ready()).toBe(false);
  await watching.clock.advance(1);
  expect(watching.mirrors.ready()).toBe(true);
});

test('reports the progress of a first list', async () => {
  await using watching = startWatching();
  const north = watching.fake('north');
  for (let index = 0; index < 700; index++) north.put('Pod', pod(`web-${index}`));
  north.endless.add('Pod');
  watching.engage(north);
  await turns(20);
  watching.hold(north, pods);
  await turns(10);
  expect(watching.mirrors.progress()).toMatchObject([{ cluster: 'north', phase: 'SYNCED', listing: 1, objects: 701, version: 'v1.36.3' }]);
});

test('sends the changes of one turn once, at its end, even if a follower throws', async () => {
  await using watching = startWatching();
  const seen: MirrorsChange[] = [];
  const life = new AbortController();
  watching.mirrors.onChange(() => {
    throw new Error('a bug of a follower');
  }, life.signal);
  watching.mirrors.onChange((change) => seen.push(change), life.signal);
  const north = watching.fake('north');
  const member = watching.engage(north);
  expect(seen).toEqual([]);
  await Promise.resolve();
  expect(seen).toEqual([{ type: 'joined', cluster: 'north' }]);
  await turns(20);
  life.abort();
  const count = seen.length;
  member.abort();
  await turns();
  expect(seen).toHaveLength(count);
  const phases = seen.flatMap((change) => (change.type === 'mirrored' && change.kind.kind === 'Node' ? [change.sync.phase] : []));
  expect(phases).toEqual(['SYNCING', 'SYNCED']);
});

test('sorts clusters by name', async () => {
  await using watching = startWatching();
  for (const name of ['b', 'a', 'B', 'é']) watching.engage(watching.fake(name));
  const names: readonly ClusterName[] = ['B', 'a', 'b', 'é'].map(clusterName);
  expect(watching.mirrors.clusters().map(({ name }) => name)).toEqual(names);
  expect(watching.mirrors.progress().map(({ cluster }) => cluster)).toEqual(names);
});

test('another uid of kube-system ends all mirrors with GONE, and lists again in another epoch', async () => {
  await using watching = startWatching();
  const north = watching.fake('north');
  north.put('Pod', pod('web'));
  watching.engage(north);
  await turns(20);
  const before = watching.hold(north, pods);
  await turns(10);
  const follower = followStore(before.mirror.store, signal);
  const { epoch } = before.mirror.store;
  north.put('Namespace', { metadata: { name: 'kube-system', uid: 'another' } });
  await watching.clock.advance(40_000);
  expect(follower.events.at(-1)).toMatchObject({
    type: 'gone',
    fault: { code: 'GONE', message: expect.stringContaining('another cluster') },
  });
  const after = watching.hold(north, pods);
  await turns(10);
  expect(after.mirror).not.toBe(before.mirror);
  expect(after.mirror.store.epoch).not.toBe(epoch);
  expect(watching.mirrors.cluster(north.name)?.uid).toBe('another');
});

test('gives no two gateways the same epoch if the uid of kube-system cannot be read', async () => {
  const epochs: string[] = [];
  for (let run = 0; run < 2; run++) {
    await using watching = startWatching();
    const north = watching.fake('north');
    north.fail({ verb: 'send', of: 'api/v1/namespaces', fault: north.fault('FORBIDDEN', { code: 403 }) });
    north.fail({ verb: 'send', of: 'api/v1/namespaces/kube-system', fault: north.fault('FORBIDDEN', { code: 403 }) });
    watching.engage(north);
    await turns(20);
    epochs.push(watching.hold(north, pods).mirror.store.epoch);
  }
  expect(epochs[0]).not.toBe(epochs[1]);
});

test('lists again when a uid becomes readable after kinds were mirrored without it', async () => {
  await using watching = startWatching();
  const north = watching.fake('north');
  const unreadable = north.fail({ verb: 'send', of: 'api/v1/namespaces', fault: north.fault('SERVER_ERROR', { code: 500 }) });
  watching.engage(north);
  await turns(20);
  const { mirror } = watching.hold(north, pods);
  await turns(10);
  const lists = north.requests('list', 'Pod').length + north.requests('watch', 'Pod').length;
  unreadable[Symbol.dispose]();
  await watching.clock.advance(40_000);
  expect(north.requests('list', 'Pod').length + north.requests('watch', 'Pod').length).toBeGreaterThan(lists);
  expect(watching.mirrors.peek(north.name, podKind)).toBe(mirror);
});

test('waits for a first list that is refused with 429, unless it is refused for longer', async () => {
  await using watching = startWatching();
  const north = watching.fake('north');
  north.put('Pod', pod('web'));
  watching.engage(north);
  await turns(20);
  const busy = north.fault('THROTTLED', { code: 429, retryAfterSeconds: 1 });
  north.fail({ of: 'Pod', times: 1, fault: busy });
  const { mirror } = watching.hold(north, pods);
  await turns(10);
  expect(mirror.sync()).toMatchObject({ phase: 'SYNCING', fault: { code: 'THROTTLED' } });
  expect(mirror.settled()).toBe(false);
  let isSettled = false;
  void mirror.whenSettled(signal).then(() => {
    isSettled = true;
  });
  await watching.clock.advance(3_000);
  expect([isSettled, mirror.sync().phase, mirror.store.size]).toEqual([true, 'SYNCED', 1]);

  north.fail({ of: 'Secret', fault: north.fault('THROTTLED', { code: 429, retryAfterSeconds: 30 }) });
  const overloaded = watching.hold(north, secrets).mirror;
  await turns(10);
  expect(overloaded.settled()).toBe(true);
});

test('follows another Secrets policy, and lists nothing else again', async () => {
  await using watching = startWatching();
  const north = watching.fake('north');
  north.put('Secret', { metadata: { name: 'key', namespace: 'default' } });
  const settings: { secrets: 'none' | 'metadata' | 'live' } = { secrets: 'none' };
  watching.engage(north, settings);
  await turns(30);
  const before = watching.hold(north, secrets);
  const podsBefore = watching.hold(north, pods);
  await turns(10);
  const listed = north.requests('list', 'Pod').length + north.requests('watch', 'Pod').length;
  const change = async (policy: 'none' | 'metadata' | 'live') => {
    settings.secrets = policy;
    watching.mirrors.redescribed(north.name);
    await turns(20);
    return watching.hold(north, secrets).mirror;
  };

  const mirrored = await change('metadata');
  await turns(10);
  expect(before.mirror.sync()).toMatchObject({ phase: 'MISSING', fault: { code: 'GONE', retry: 'NOW' } });
  expect(mirrored.store.get('default', 'key')).toBeDefined();
  expect(await change('live')).toBe(mirrored);
  const withheld = await change('none');
  expect(withheld.sync()).toMatchObject({ phase: 'MISSING', fault: { code: 'FORBIDDEN' } });
  expect(mirrored.store.size).toBe(0);
  expect(watching.hold(north, pods).mirror).toBe(podsBefore.mirror);
  expect(north.requests('list', 'Pod').length + north.requests('watch', 'Pod').length).toBe(listed);
});

test('follows Secrets for the gateway itself, whatever the policy, and in one namespace only', async () => {
  await using watching = startWatching();
  const north = watching.fake('north');
  for (const namespace of ['system', 'other']) north.put('Secret', { metadata: { name: 'key', namespace }, data: { a: 'c2VjcmV0' } });
  const member = watching.engage(north, { secrets: 'none' });
  await turns(30);
  let changes = 0;
  const own = watching.mirrors.followSecrets(north.name, 'system', () => (changes += 1), signal);
  await turns(20);
  expect(own?.all()?.map(({ metadata }) => metadata.namespace)).toEqual(['system']);
  expect(own?.all()?.[0]).not.toHaveProperty('data');
  const before = changes;
  north.put('Secret', { metadata: { name: 'second', namespace: 'system' } });
  await turns(20);
  expect(changes).toBeGreaterThan(before);
  expect(own?.all()).toHaveLength(2);
  member.abort();
  await turns();
  expect([own?.isEnded(), own?.all()?.length]).toEqual([true, 2]);
});
