import { describe, expect, test } from 'vitest';
import { createWireClient, type WireProtocol } from '../support/clients/wire-client.ts';
import { createManualClock } from '../support/manual-clock.ts';
import type { SimCluster, SimClusterOptions } from '../support/sim/sim-cluster.ts';
import { startSimCluster } from '../support/sim/start-sim-cluster.ts';

const start = (options: Partial<SimClusterOptions> = {}) => startSimCluster({ name: 'south', ...options });
const protocols: readonly WireProtocol[] = ['h2', 'http1'];
const path = '/api/v1/configmaps';
const bookmarks = 'allowWatchBookmarks=true';
const initialEvents = `watch=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&${bookmarks}`;
const putMap = (cluster: SimCluster, name: string, data: Readonly<Record<string, string>> = {}) =>
  cluster.put({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name }, data });
const versionOf = (cluster: SimCluster) => cluster.list('ConfigMap').version;

describe.each(protocols)('over %s', (protocol) => {
  test('cuts the next event inside a line or character, resets or ends, and sends the rest after a resume', async () => {
    await using south = await start();
    await using client = createWireClient(south, protocol);
    const after = `${path}?watch=1&resourceVersion=${versionOf(south)}`;
    using line = await client.open(after);
    south.cut('line');
    putMap(south, 'a', { text: 'größer' });
    const half = await line.rest();
    expect([half.end, half.text.includes('\n'), half.bytes.length > 50]).toEqual(['reset', false, true]);

    using character = await client.open(after);
    expect(await character.take(1)).toEqual(['ADDED a']);
    south.cut('character', { end: 'clean' });
    putMap(south, 'b', { text: 'größer' });
    const broken = await character.rest();
    expect(broken.end).toBe('clean');
    expect(broken.bytes.at(-1)).toBeGreaterThanOrEqual(0xc0);

    using whole = await client.open(after);
    expect(await whole.take(2)).toEqual(['ADDED a', 'ADDED b']);
  });

  test('sends text, bytes and events unchanged', async () => {
    await using south = await start();
    await using client = createWireClient(south, protocol);
    using watch = await client.open(`${path}?watch=1&resourceVersion=0`);
    using other = await client.open('/api/v1/secrets?watch=1&resourceVersion=0');
    expect(south.emit({ type: 'ODD', object: { metadata: { name: 'x' } } }, { kind: 'ConfigMap' })).toBe(1);
    south.emit('null\n', { kind: 'ConfigMap' });
    south.emit(new Uint8Array([0xff, 0x0a]), { kind: 'ConfigMap' });
    south.close();
    expect((await watch.rest()).bytes).toEqual(
      Buffer.concat([Buffer.from('{"type":"ODD","object":{"metadata":{"name":"x"}}}\nnull\n'), Buffer.from([0xff, 0x0a])]),
    );
    expect((await other.rest()).text).toBe('');
  });

  test('ends open or later watches with ERROR', async () => {
    await using south = await start();
    await using client = createWireClient(south, protocol);
    using open = await client.open(`${path}?watch=1&resourceVersion=0`);
    expect(south.error({ code: 429, retryAfterSeconds: 3 }, { kind: 'ConfigMap' })).toBe(1);
    expect(await open.next()).toMatchObject({
      type: 'ERROR',
      object: { code: 429, reason: 'TooManyRequests', details: { retryAfterSeconds: 3 } },
    });
    expect((await open.rest()).end).toBe('clean');
    expect(south.error(500, { times: 2 })).toBe(0);
    for (const told of ['ERROR 500', 'ERROR 500']) {
      using next = await client.open(`${path}?watch=1&resourceVersion=0`);
      expect([next.status, await next.take(1)]).toEqual([200, [told]]);
    }
    using last = await client.open(`${path}?watch=1&resourceVersion=0`);
    putMap(south, 'a');
    expect(await last.take(1)).toEqual(['ADDED a']);
  });

  test('expires a watch as a status, as an event, or at once', async () => {
    await using south = await start();
    await using client = createWireClient(south, protocol);
    const after = `${path}?watch=1&resourceVersion=${versionOf(south)}`;
    south.expire('status', { kind: 'ConfigMap' });
    expect(await client.read(after)).toMatchObject({ code: 410, reason: 'Expired' });
    south.expire('event');
    using event = await client.open(after);
    expect([event.status, await event.take(1), (await event.rest()).end]).toEqual([200, ['ERROR 410'], 'clean']);
    using open = await client.open(after);
    south.expire('now');
    expect(await open.take(1)).toEqual(['ERROR 410']);
    using fresh = await client.open(after);
    putMap(south, 'a');
    expect(await fresh.take(1)).toEqual(['ADDED a']);
  });

  test('closes at once, and delays headers until the first event', async () => {
    await using south = await start();
    await using client = createWireClient(south, protocol);
    {
      using _always = south.closeAtOnce({ kind: 'ConfigMap' });
      const answer = await client.ask(`${path}?watch=1&resourceVersion=0`);
      expect([answer.status, answer.text, answer.end]).toEqual([200, '', 'clean']);
    }
    using _held = south.holdHeaders();
    let status = 0;
    const opening = client.open(`${path}?watch=1&resourceVersion=0`).then((stream) => {
      status = stream.status;
      return stream;
    });
    await expect.poll(() => south.openWatches().length).toBe(1);
    expect([status, south.openWatches()[0]?.request.status]).toEqual([0, undefined]);
    putMap(south, 'a');
    using stream = await opening;
    expect([stream.status, await stream.take(1)]).toEqual([200, ['ADDED a']]);
  });
});

test('sends bookmarks about every minute if allowed, and ends each watch at its timeout', async () => {
  const clock = createManualClock();
  await using south = await start({ clock });
  await using client = createWireClient(south, 'h2');
  using quiet = await client.open(`${path}?watch=1&resourceVersion=0&timeoutSeconds=150`);
  using told = await client.open(`${path}?watch=1&resourceVersion=0&timeoutSeconds=150&${bookmarks}`);
  const version = versionOf(south);
  expect(await told.take(1)).toEqual([`BOOKMARK ${version}`]);
  await clock.advance(60_000);
  expect(await told.take(1)).toEqual([`BOOKMARK ${version}`]);
  south.put({ apiVersion: 'v1', kind: 'Secret', metadata: { name: 's' } });
  await clock.advance(60_000);
  expect(await told.take(1)).toEqual([`BOOKMARK ${Number(version) + 1}`]);
  await clock.advance(30_000);
  for (const stream of [quiet, told]) expect((await stream.rest()).end).toBe('clean');
  expect((await quiet.rest()).text).toBe('');
  expect(clock.sleepers).toBe(0);
});

test('sends a bookmark on demand, with the current, another or no version', async () => {
  await using south = await start();
  await using client = createWireClient(south, 'h2');
  using watch = await client.open(`${path}?watch=1&resourceVersion=${versionOf(south)}&${bookmarks}`);
  using _withoutBookmarks = await client.open(`${path}?watch=1&resourceVersion=${versionOf(south)}`);
  expect([south.bookmark(), south.bookmark('3'), south.bookmark('', { kind: 'ConfigMap' })]).toEqual([1, 1, 1]);
  expect(await watch.take(3)).toEqual([`BOOKMARK ${versionOf(south)}`, 'BOOKMARK 3', 'BOOKMARK undefined']);
});

test('keeps the configured number of changes, and no older ones', async () => {
  await using south = await start({ historyLength: 8 });
  await using client = createWireClient(south, 'h2');
  const old = versionOf(south);
  for (let n = 0; n < 12; n++) putMap(south, `c${n}`);
  const { version } = south.list('ConfigMap');
  using gone = await client.open(`${path}?watch=1&resourceVersion=${old}`);
  expect([gone.status, await gone.take(1), (await gone.rest()).end]).toEqual([200, ['ERROR 410'], 'clean']);
  using kept = await client.open(`${path}?watch=1&resourceVersion=${Number(version) - 4}`);
  expect(await kept.take(4)).toEqual(['ADDED c8', 'ADDED c9', 'ADDED c10', 'ADDED c11']);
  south.compact();
  using compacted = await client.open(`${path}?watch=1&resourceVersion=${version}`);
  expect(await compacted.take(1)).toEqual(['ERROR 410']);
  using now = await client.open(`${path}?watch=1&resourceVersion=${versionOf(south)}`);
  putMap(south, 'new');
  expect(await now.take(1)).toEqual(['ADDED new']);
});

test('streams initial events wrongly: refused, without an end, broken, late', async () => {
  const clock = createManualClock();
  await using south = await start({ clock });
  await using client = createWireClient(south, 'h2');
  for (const name of ['a', 'b', 'c', 'd']) putMap(south, name);
  const end = `BOOKMARK ${versionOf(south)}`;
  const all = ['ADDED a', 'ADDED b', 'ADDED c', 'ADDED d'];
  {
    using _refused = south.streaming({ type: 'refused' }, { kind: 'ConfigMap' });
    expect(await client.read(`${path}?${initialEvents}`)).toMatchObject({ code: 422, reason: 'Invalid' });
    using plain = await client.open(`${path}?watch=1&resourceVersion=0&${bookmarks}`);
    expect(await plain.take(4)).toEqual(all);
  }
  {
    using _endless = south.streaming({ type: 'endless' });
    using watch = await client.open(`${path}?${initialEvents}`);
    expect(await watch.take(4)).toEqual(all);
    putMap(south, 'a', { k: '1' });
    expect(await watch.take(1)).toEqual(['MODIFIED a']);
  }
  south.streaming({ type: 'dying' });
  using dying = await client.open(`${path}?${initialEvents}`);
  expect([await dying.take(2), (await dying.rest()).end]).toEqual([['ADDED a', 'ADDED b'], 'reset']);
  using whole = await client.open(`${path}?${initialEvents}`);
  expect(await whole.take(5)).toEqual([...all, `BOOKMARK ${versionOf(south)}`]);
  expect(`BOOKMARK ${versionOf(south)}`).not.toBe(end);

  using _late = south.streaming({ type: 'late', delayMs: 20_000 });
  using late = await client.open(`${path}?${initialEvents}&timeoutSeconds=600`);
  expect(await late.take(4)).toEqual(all);
  south.remove('ConfigMap', 'b');
  expect(await late.take(1)).toEqual(['DELETED b']);
  await clock.advance(20_000);
  expect(await late.take(1)).toEqual([`BOOKMARK ${versionOf(south)}`]);
});

test('lags after a fail-over, until it has caught up', async () => {
  const clock = createManualClock();
  await using south = await start({ clock });
  const before = versionOf(south);
  for (const name of ['a', 'b', 'c']) putMap(south, name);
  const version = versionOf(south);
  const lagging = south.failOver(2);
  await using client = createWireClient(south, 'h2');
  const names = async (query: string) => (await client.read(`${path}?${query}`)).items.map(({ metadata }) => metadata.name);
  expect(await names('resourceVersion=0')).toEqual(['a']);
  expect(await names('')).toEqual(['a', 'b', 'c']);
  const future = client.read(`${path}?resourceVersion=${version}&resourceVersionMatch=NotOlderThan`);
  await expect.poll(() => clock.sleepers).toBe(1);
  await clock.advance(3_000);
  expect(await future).toMatchObject({ code: 504, details: { causes: [{ reason: 'ResourceVersionTooLarge' }] } });

  using watch = await client.open(`${path}?watch=1&resourceVersion=${before}`);
  expect(await watch.take(1)).toEqual(['ADDED a']);
  putMap(south, 'd');
  expect(await watch.take(1)).toEqual(['ADDED b']);
  using ahead = await client.open(`${path}?watch=1&resourceVersion=${version}`);
  lagging[Symbol.dispose]();
  expect(await watch.take(2)).toEqual(['ADDED c', 'ADDED d']);
  expect(await ahead.take(1)).toEqual(['ADDED d']);
  expect(await names('resourceVersion=0')).toEqual(['a', 'b', 'c', 'd']);
});

test('restores a backup: objects, version and history', async () => {
  await using south = await start();
  putMap(south, 'a', { k: 'old' });
  const backup = south.backup();
  putMap(south, 'a', { k: 'new' });
  putMap(south, 'b');
  const later = versionOf(south);
  await using first = createWireClient(south, 'h2');
  using open = await first.open(`${path}?watch=1&resourceVersion=${later}`);
  south.restore(backup);
  expect((await open.rest()).end).toBe('reset');
  expect([versionOf(south), south.objects('ConfigMap').map(({ metadata, data }) => [metadata.name, data])]).toEqual([
    backup.version,
    [['a', { k: 'old' }]],
  ]);
  await using client = createWireClient(south, 'h2');
  using old = await client.open(`${path}?watch=1&resourceVersion=${Number(backup.version) - 1}`);
  expect(await old.take(1)).toEqual(['ERROR 410']);
  using silent = await client.open(`${path}?watch=1&resourceVersion=${later}`);
  using resumed = await client.open(`${path}?watch=1&resourceVersion=${backup.version}`);
  putMap(south, 'c');
  expect(await resumed.take(1)).toEqual(['ADDED c']);
  south.close();
  expect((await silent.rest()).text).toBe('');
});

test('recreates an object in one turn: deletes the old one, then has a new uid', async () => {
  await using south = await start();
  await using client = createWireClient(south, 'h2');
  const old = putMap(south, 'a', { k: 'v' });
  using watch = await client.open(`${path}?watch=1&resourceVersion=${versionOf(south)}`);
  const fresh = south.recreate('ConfigMap', 'a');
  const [deleted, added] = [await watch.next(), await watch.next()];
  expect([deleted?.type, deleted?.object.metadata.uid, added?.type, added?.object.metadata.uid]).toEqual([
    'DELETED',
    old.metadata.uid,
    'ADDED',
    fresh.metadata.uid,
  ]);
  expect([fresh.data, fresh.metadata.uid === old.metadata.uid]).toEqual([{ k: 'v' }, false]);
});

test('streams the initial events of a large kind, and later changes after them', async () => {
  await using south = await start();
  await using client = createWireClient(south, 'h2');
  south.fill('ConfigMap', 3_000, { data: { text: 'x'.repeat(1_000) } });
  using watch = await client.open(`${path}?${initialEvents}`);
  putMap(south, 'later');
  let events = 0;
  for (let event = await watch.next(); event?.type !== 'BOOKMARK'; event = await watch.next()) {
    expect(event?.object.metadata.name).not.toBe('later');
    events += 1;
  }
  expect(events).toBe(3_000);
  expect(await watch.take(1)).toEqual(['ADDED later']);
});
