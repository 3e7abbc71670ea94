import { getEventListeners } from 'node:events';
import { describe, expect, test } from 'vitest';
import type { Access } from '../../../src/access/access.ts';
import { callerOf } from '../../../src/access/caller-of-user.ts';
import type { Fault } from '../../../src/core/faults.ts';
import { clusterName } from '../../../src/core/names.ts';
import type { FakeLog } from '../../support/cluster/fake-logs.ts';
import { followLogs, textsOf } from '../../support/graph/log-probe.ts';
import { createLogWorld, type LogWorld } from '../../support/graph/log-world.ts';
import { loadBaseline, servedAs } from '../../support/kubernetes-objects.ts';
import { turns } from '../../support/manual-clock.ts';
import { createRestrictingAccess } from '../../support/restricting-access.ts';
import { seededRandom } from '../../support/seeded-random.ts';
import { type SpeakingPod, speakingPod } from '../../support/speaking-pods.ts';

const pods = servedAs(loadBaseline(), 'Pod');
const web = 'north/default/web/main';

function northOf(world: LogWorld, ...speaking: readonly SpeakingPod[]) {
  const cluster = world.join('north', ...speaking);
  const put = (pod: SpeakingPod) => cluster.mirror(pods).put(speakingPod(pod));
  const log = (pod = 'web', container = 'main'): FakeLog => world.logsOf('north').of('default', pod, container);
  // A container that has written nothing also has a log.
  for (const { name, containers = ['main'] } of speaking) for (const container of containers) log(name, container);
  const remove = (name = 'web') => cluster.mirror(pods).remove(speakingPod({ name }));
  return { cluster, put, log, remove, logs: world.logsOf('north') };
}

const faultOf = (code: Fault['code'], more: Partial<Fault> = {}): Fault => ({
  code,
  cluster: clusterName('north'),
  message: 'as the test says',
  retry: 'LATER',
  ...more,
});

describe('a followed log', () => {
  test('starts with the last lines, and continues with new ones', async () => {
    const world = createLogWorld();
    const { log, logs } = northOf(world, {});
    log().write('a', 'b', 'c');
    using probe = await followLogs(world, { extent: { tailLines: 2 } });
    expect(await probe.news()).toEqual([`${web}: b`, `${web}: c`]);
    log().write('d');
    await world.clock.advance(50);
    expect(await probe.news()).toEqual([`${web}: d`]);
    expect(probe.batches[0]?.lines[0]?.time).toBe('2026-01-01T00:00:00.000000000Z');
    expect(logs.seen).toEqual([
      { namespace: 'default', pod: 'web', container: 'main', follow: true, previous: false, timestamps: true, tailLines: 2 },
    ]);
  });

  test('starts with ten lines of each selected container by default, including init containers', async () => {
    const world = createLogWorld();
    const { logs } = northOf(world, { containers: ['a', 'b'], initContainers: ['i'] }, { name: 'other', labels: { app: 'x' } });
    using _all = await followLogs(world);
    await turns();
    expect(logs.seen.map(({ pod, container, tailLines }) => [pod, container, tailLines])).toEqual([
      ['other', 'main', 10],
      ['web', 'i', 10],
      ['web', 'a', 10],
      ['web', 'b', 10],
    ]);
    logs.seen.length = 0;
    using _some = await followLogs(world, { selection: { labels: 'app=x' }, extent: { sinceTime: '2026-01-01T00:00:00.5Z' } });
    await turns();
    expect(logs.seen).toMatchObject([{ pod: 'other', tailLines: 10, sinceTime: '2026-01-01T00:00:00.5Z' }]);
  });

  test('sinceTime holds to the nanosecond', async () => {
    const world = createLogWorld();
    const { log } = northOf(world, {});
    log().write('a');
    await world.clock.advance(400);
    log().write('b');
    using probe = await followLogs(world, { extent: { sinceTime: '2026-01-01T00:00:00.2Z' } });
    expect(await probe.news()).toEqual([`${web}: b`]);
  });

  test('a Pod that appears later is followed from its first line', async () => {
    const world = createLogWorld();
    const { put, log, logs } = northOf(world);
    using probe = await followLogs(world, { extent: { tailLines: 1, sinceSeconds: 1 } });
    put({ name: 'late', states: { main: 'waiting' } });
    await turns();
    expect(logs.seen).toEqual([]);
    log('late').write('first', 'second');
    await world.clock.advance(5_000);
    put({ name: 'late' });
    expect(await probe.news()).toEqual(['north/default/late/main: first', 'north/default/late/main: second']);
    expect(logs.seen).toHaveLength(1);
    expect(logs.seen[0]?.tailLines).toBeUndefined();
    expect(logs.seen[0]?.sinceSeconds).toBeUndefined();
  });

  test('a Pod that starts to match later begins where one that matched from the start does, each time', async () => {
    const world = createLogWorld();
    const { put, logs, log } = northOf(world, { labels: { app: 'x' } });
    log().write('a', 'b', 'c');
    const sinceTime = '2026-01-01T00:00:00Z';
    using probe = await followLogs(world, { selection: { labels: 'app=y' }, extent: { tailLines: 1, sinceTime } });
    put({ labels: { app: 'y' } });
    await world.clock.advance(50);
    expect(await probe.news()).toEqual([`${web}: c`]);
    put({ labels: { app: 'x' } });
    await world.clock.advance(50);
    log().write('d', 'e');
    put({ labels: { app: 'y' } });
    await world.clock.advance(50);
    expect(await probe.news()).toEqual([`${web}: e`]);
    expect(logs.seen.map((request) => [request.tailLines, request.sinceTime])).toEqual([
      [1, sinceTime],
      [1, sinceTime],
    ]);
  });

  test('a container that had not run yet is followed from its first line', async () => {
    const world = createLogWorld();
    const { put, log } = northOf(world, { states: { main: 'waiting' } });
    using probe = await followLogs(world, { extent: { tailLines: 1 } });
    log().write('first', 'second');
    put({});
    expect(await probe.news()).toEqual([`${web}: first`, `${web}: second`]);
  });

  test('a container that is started again has ENDED, then the lines of its new run', async () => {
    const world = createLogWorld();
    const { put, log } = northOf(world, {});
    log().write('old');
    using probe = await followLogs(world);
    await turns();
    log().write('last');
    log().restart();
    log().write('new', 'newer');
    put({ states: { main: { restarts: 1 } } });
    await world.clock.advance(100);
    expect(await probe.news()).toEqual([`${web}: old`, `${web}: last`, `${web}: ENDED`, `${web}: new`, `${web}: newer`]);
  });

  test('the rest of a run whose stream was cut is requested with previous', async () => {
    const world = createLogWorld();
    const { put, log, logs } = northOf(world, {});
    log().write('a');
    using probe = await followLogs(world);
    await turns();
    log().cut();
    log().write('b', 'c');
    log().restart();
    log().write('new');
    put({ states: { main: { restarts: 1 } } });
    await world.clock.advance(2_000);
    expect(await probe.news()).toEqual([
      `${web}: a`,
      `${web}: FAILED UNREACHABLE`,
      `${web}: b`,
      `${web}: c`,
      `${web}: ENDED`,
      `${web}: new`,
    ]);
    expect(logs.seen.map(({ previous, follow }) => [previous, follow])).toEqual([
      [false, true],
      [true, false],
      [false, true],
    ]);
  });

  test('a container that has ended is read to its end, and not followed', async () => {
    const world = createLogWorld();
    const { log, logs, put } = northOf(world, { states: { main: 'ended' } });
    log().write('a', 'b');
    log().end();
    using probe = await followLogs(world, { extent: { tailLines: 1 } });
    expect(await probe.news()).toEqual([`${web}: b`, `${web}: ENDED`]);
    expect(logs.seen).toMatchObject([{ follow: false, tailLines: 1 }]);
    put({ states: { main: 'ended' }, labels: { changed: 'yes' } });
    await world.clock.advance(60_000);
    expect(await probe.news()).toEqual([]);
    expect(logs.seen).toHaveLength(1);
  });

  test('a stream that does not end with its container is ended after five seconds, and its rest is read', async () => {
    const world = createLogWorld();
    const { log, logs, put } = northOf(world, {});
    log().write('a');
    using probe = await followLogs(world);
    await turns();
    put({ states: { main: 'ended' } });
    await world.clock.advance(4_999);
    expect([logs.open, await probe.news()]).toEqual([1, [`${web}: a`]]);
    await world.clock.advance(1);
    expect([logs.open, await probe.news()]).toEqual([0, [`${web}: ENDED`]]);
    expect(logs.seen.map(({ follow }) => follow)).toEqual([true, false]);
  });

  test('a Pod that is gone has ended', async () => {
    const world = createLogWorld();
    const { log, logs, remove } = northOf(world, {});
    log().write('a');
    using probe = await followLogs(world);
    await turns();
    remove();
    await turns();
    log().write('b');
    log().end();
    await world.clock.advance(100);
    expect(await probe.news()).toEqual([`${web}: a`, `${web}: b`, `${web}: ENDED`]);
    expect(logs.open).toBe(0);
  });

  test('another Pod of the same name is another one', async () => {
    const world = createLogWorld();
    const { log, put, remove } = northOf(world, { uid: 'one' });
    log().write('old');
    using probe = await followLogs(world);
    await turns();
    remove();
    log().restart();
    log().write('new');
    put({ uid: 'two' });
    await world.clock.advance(100);
    expect((await probe.news()).toSorted()).toEqual([`${web}: ENDED`, `${web}: new`, `${web}: old`]);
  });

  test('a Pod that is no longer selected is dropped without a message', async () => {
    const world = createLogWorld();
    const { log, logs, put } = northOf(world, { labels: { app: 'x' } });
    log().write('a');
    using probe = await followLogs(world, { selection: { labels: 'app=x' } });
    await turns();
    put({ labels: { app: 'y' } });
    await turns();
    log().write('b');
    expect([await probe.news(), logs.open]).toEqual([[`${web}: a`], 0]);
  });
});

describe('trouble', () => {
  test('a stream that is cut is reported once, and continues where it was', async () => {
    const world = createLogWorld();
    const { log, logs } = northOf(world, {});
    log().write('a', 'b');
    using probe = await followLogs(world);
    await turns();
    log().cut();
    log().write('c');
    logs.failing.push(faultOf('UNREACHABLE', { message: 'UNREACHABLE' }));
    await world.clock.advance(10_000);
    expect(await probe.news()).toEqual([`${web}: a`, `${web}: b`, `${web}: FAILED UNREACHABLE`, `${web}: c`]);
    expect(logs.seen.at(-1)).toMatchObject({ sinceTime: '2026-01-01T00:00:00.000000000Z' });
    expect(logs.seen.at(-1)).not.toHaveProperty('tailLines');
  });

  test('a clean end of the stream of a running container is not reported', async () => {
    const world = createLogWorld();
    const { log } = northOf(world, {});
    log().write('a');
    using probe = await followLogs(world);
    await turns();
    log().close();
    log().write('b');
    await world.clock.advance(2_000);
    log().write('c');
    await world.clock.advance(100);
    expect(await probe.news()).toEqual([`${web}: a`, `${web}: b`, `${web}: c`]);
  });

  test('a cut before the first line loses no later lines', async () => {
    const world = createLogWorld();
    const { log } = northOf(world, {});
    log().write('old');
    await world.clock.advance(60_000);
    using probe = await followLogs(world, { extent: { tailLines: 0 } });
    await world.clock.advance(1_000);
    log().cut();
    log().write('a', 'b');
    await world.clock.advance(10_000);
    expect(await probe.news()).toEqual([`${web}: FAILED UNREACHABLE`, `${web}: a`, `${web}: b`]);
  });

  test('after random cuts and ends each line is sent once, in order', async () => {
    for (let seed = 1; seed <= 40; seed++) {
      const random = seededRandom(seed);
      const world = createLogWorld();
      const { log } = northOf(world, {});
      const written: string[] = [];
      const write = () => {
        const lines = Array.from({ length: 1 + Math.floor(random() * 4) }, () => `${written.push(`${web}: ${written.length}`) - 1}`);
        log().write(...lines);
      };
      write();
      using probe = await followLogs(world, { extent: { tailLines: 1_000 } });
      for (let step = 0; step < 30; step++) {
        const chance = random();
        if (chance < 0.5) write();
        else if (chance < 0.65) log().cut();
        else if (chance < 0.8) log().close();
        else await world.clock.advance(random() * 3_000);
        if (random() < 0.3) await turns(1);
      }
      await world.clock.advance(120_000);
      const lines = probe.batches.filter(({ type }) => type === 'LINES').flatMap(textsOf);
      expect(lines, `seed ${seed}`).toEqual(written);
    }
  });

  test('a long line that was cut inside comes once, piece by piece', async () => {
    const world = createLogWorld();
    const { log } = northOf(world, {});
    using probe = await followLogs(world);
    await turns();
    const time = '2026-01-01T00:00:00.000000000Z';
    log().write('before');
    log().pieces(`${time} first `, 'second ');
    await turns();
    log().cut();
    log().pieces('third');
    log().write('after');
    await world.clock.advance(5_000);
    expect((await probe.news()).filter((text) => !text.endsWith('UNREACHABLE'))).toEqual(
      ['before', 'first ', 'second ', 'third', 'after'].map((text) => `${web}: ${text}`),
    );
  });

  test('a log that cannot be followed is tried again when its Pod has changed', async () => {
    const world = createLogWorld();
    const { log, logs, put } = northOf(world, {});
    log().write('a');
    logs.failing.push(faultOf('INVALID', { retry: 'NEVER' }));
    using probe = await followLogs(world);
    await world.clock.advance(600_000);
    expect([await probe.news(), logs.seen.length]).toEqual([[`${web}: FAILED INVALID`], 1]);
    put({ labels: { changed: 'yes' } });
    expect(await probe.news()).toEqual([`${web}: a`]);
  });

  test('a request is repeated if the server does not know the container yet, at first without a message', async () => {
    const world = createLogWorld();
    const { log, logs } = northOf(world, {});
    logs.failing.push(faultOf('NOT_FOUND'));
    using probe = await followLogs(world);
    log().write('a');
    await world.clock.advance(3_000);
    expect(await probe.news()).toEqual([`${web}: a`]);
  });

  test('an unreadable log of a container that has ended is given up after five attempts', async () => {
    const world = createLogWorld();
    const { logs } = northOf(world, { states: { main: 'ended' } });
    logs.failing.push(...Array.from({ length: 9 }, () => faultOf('SERVER_ERROR')));
    using probe = await followLogs(world);
    await world.clock.advance(600_000);
    expect([await probe.news(), logs.seen.length]).toEqual([[`${web}: FAILED SERVER_ERROR`], 6]);
  });

  test('the reason why a container does not start is reported, except that it is being created', async () => {
    const world = createLogWorld();
    const { put, log } = northOf(world, { states: { main: 'waiting' } });
    using probe = await followLogs(world);
    put({ states: { main: { waiting: 'PodInitializing' } } });
    expect(await probe.news()).toEqual([]);
    put({ states: { main: { waiting: 'ImagePullBackOff' } } });
    expect(await probe.news()).toEqual([`${web}: FAILED NOT_FOUND`]);
    expect(probe.batches.at(-1)?.fault).toMatchObject({ message: 'the container is waiting to start: ImagePullBackOff', retry: 'LATER' });
    put({ states: { main: { waiting: 'ImagePullBackOff' } }, labels: { changed: 'yes' } });
    expect(await probe.news()).toEqual([]);
    log().write('a');
    put({});
    await world.clock.advance(50);
    expect(await probe.news()).toEqual([`${web}: a`]);
  });
});

describe('clusters', () => {
  test('unknown Pods of a cluster are reported without Pod and container, and followed later', async () => {
    const world = createLogWorld();
    const { cluster, log } = northOf(world, {});
    const south = world.mirrors.join('south');
    south.fail(faultOf('UNREACHABLE', { cluster: south.name }));
    log().write('a');
    using probe = await followLogs(world);
    expect((await probe.news()).toSorted()).toEqual([`${web}: a`, 'south///: FAILED UNREACHABLE']);
    cluster.mirror(pods).fail(faultOf('UNREACHABLE'));
    await world.clock.advance(50);
    log().write('b');
    await world.clock.advance(50);
    expect(await probe.news()).toEqual(['north///: FAILED UNREACHABLE', `${web}: b`]);
  });

  test('a cluster that joins later is followed, and one that leaves is dropped', async () => {
    const world = createLogWorld();
    const { cluster, log, logs } = northOf(world, {});
    log().write('a');
    using probe = await followLogs(world);
    await turns();
    world.join('south', { name: 'api' });
    world.logsOf('south').of('default', 'api', 'main').write('s');
    await world.clock.advance(50);
    expect(await probe.news()).toEqual([`${web}: a`, 'south/default/api/main: s']);
    cluster.leave();
    await world.clock.advance(50);
    expect([await probe.news(), logs.open, cluster.leases]).toEqual([['north///: FAILED GONE'], 0, 0]);
    const again = world.join('north', { name: 'back' });
    world.logsOf('north').of('default', 'back', 'main').write('back');
    await world.clock.advance(50);
    expect([await probe.news(), again.leases]).toEqual([['north/default/back/main: back'], 1]);
  });

  test('an incomplete first list is not reported', async () => {
    const world = createLogWorld();
    const { cluster, log } = northOf(world);
    cluster.mirror(pods).fail(faultOf('SYNCING'));
    world.mirrors.join('south');
    using probe = await followLogs(world);
    await world.clock.advance(1_000);
    expect(await probe.news()).toEqual([]);
    log().write('a');
    cluster.mirror(pods).put(speakingPod());
    await world.clock.advance(50);
    expect(await probe.news()).toEqual([`${web}: a`]);
  });

  test('only named clusters are followed', async () => {
    const world = createLogWorld();
    northOf(world, {});
    using probe = await followLogs(world, { selection: { clusters: ['north'] } });
    const south = world.join('south', { name: 'api' });
    await turns();
    expect([await probe.news(), south.leases]).toEqual([[], 0]);
  });
});

describe('bounds', () => {
  test('at most 20 containers are followed at a time; the next one as soon as another has ended', async () => {
    const world = createLogWorld();
    const names = Array.from({ length: 22 }, (_, index) => `web-${String(index).padStart(2, '0')}`);
    const { log, logs, put } = northOf(world, ...names.map((name) => ({ name })));
    for (const name of names) log(name).write(name);
    using probe = await followLogs(world);
    expect(await probe.news()).toHaveLength(22);
    expect(probe.batches.filter(({ type }) => type === 'FAILED').map(({ pod, fault }) => [pod, fault?.code])).toEqual([
      ['web-20', 'TOO_LARGE'],
      ['web-21', 'TOO_LARGE'],
    ]);
    expect(logs.open).toBe(20);
    log('web-03').end();
    put({ name: 'web-03', states: { main: 'ended' } });
    await world.clock.advance(100);
    expect(await probe.news()).toEqual(['north/default/web-03/main: ENDED', 'north/default/web-20/main: web-20']);
    expect(logs.open).toBe(20);
  });

  test('containers that have ended are read one after the other, however many they are', async () => {
    const world = createLogWorld();
    const names = Array.from({ length: 60 }, (_, index) => `web-${index}`);
    const { log } = northOf(world, ...names.map((name) => ({ name, states: { main: 'ended' as const } })));
    for (const name of names) log(name).write(name);
    for (const name of names) log(name).end();
    using probe = await followLogs(world);
    await world.clock.advance(1_000);
    expect(await probe.news()).toHaveLength(120);
    expect(probe.batches.some(({ type }) => type === 'FAILED')).toBe(false);
  });

  test('at most 100 logs of one cluster are followed by all readers together', async () => {
    const world = createLogWorld();
    const { logs } = northOf(world, ...Array.from({ length: 20 }, (_, index) => ({ name: `web-${index}` })));
    const probes = [];
    for (let reader = 0; reader < 6; reader++) probes.push(await followLogs(world));
    await turns();
    expect(logs.open).toBe(100);
    expect(new Set(await probes[5]?.news()).size).toBe(20);
    expect(probes[5]?.batches.every(({ fault }) => fault?.code === 'THROTTLED')).toBe(true);
    probes[0]?.[Symbol.dispose]();
    await world.clock.advance(60_000);
    expect(logs.open).toBe(100);
    for (const probe of probes) probe[Symbol.dispose]();
    await turns();
    expect([logs.open, world.clock.sleepers]).toEqual([0, 0]);
  });

  test('one caller follows at most 40 logs of one cluster, so that others can follow theirs', async () => {
    const world = createLogWorld();
    const { logs } = northOf(world, ...Array.from({ length: 20 }, (_, index) => ({ name: `web-${index}` })));
    const eve = callerOf({ user: 'eve', groups: [], extra: {}, issuer: 'test' });
    using _first = await followLogs(world, { caller: eve });
    using _second = await followLogs(world, { caller: eve });
    using third = await followLogs(world, { caller: eve });
    await turns();
    expect(logs.open).toBe(40);
    await third.news();
    expect(third.batches.map(({ fault }) => fault?.message)).toContain('this caller follows 40 logs of this cluster already');
    using _other = await followLogs(world, { caller: callerOf({ user: 'ann', groups: [], extra: {}, issuer: 'test' }) });
    await turns();
    expect(logs.open).toBe(60);
  });

  test('a reader that is too slow loses the oldest lines of the largest log, with their number', async () => {
    const world = createLogWorld();
    const { log } = northOf(world, { name: 'loud' }, { name: 'quiet' });
    using probe = await followLogs(world, { isSlow: true });
    await turns();
    log('quiet').write('one');
    for (let n = 0; n < 40; n++) log('loud').write(...Array.from({ length: 100 }, (_, index) => `${n * 100 + index}`.padEnd(900, '.')));
    await turns();
    const batches = [];
    for (let batch = probe.reader.take(); batch !== undefined; batch = probe.reader.take()) batches.push(batch);
    const loud = batches.filter(({ pod }) => pod === 'loud');
    const texts = loud.flatMap(({ lines }) => lines.map(({ text }) => Number.parseInt(text, 10)));
    const dropped = loud.reduce((sum, batch) => sum + batch.dropped, 0);
    expect(batches.filter(({ pod }) => pod === 'quiet').flatMap(textsOf)).toEqual(['north/default/quiet/main: one']);
    expect(texts.length * 1_000).toBeLessThanOrEqual(1024 * 1024);
    expect(texts.length * 1_000).toBeGreaterThan(1_000_000);
    expect(texts).toEqual(Array.from({ length: texts.length }, (_, index) => 4_000 - texts.length + index));
    expect([dropped, loud[0]?.dropped]).toEqual([4_000 - texts.length, dropped]);
    expect(batches.every(({ lines }) => lines.length <= 500)).toBe(true);
    expect(probe.reason).toBeUndefined();
  });

  test('lines of one container that come quickly are sent together', async () => {
    const world = createLogWorld();
    const { log } = northOf(world, {});
    using probe = await followLogs(world);
    await turns();
    log().write('a');
    await turns();
    expect([probe.told, probe.batches.length]).toEqual([1, 1]);
    for (const text of ['b', 'c', 'd']) {
      log().write(text);
      await world.clock.advance(10);
    }
    expect(probe.told).toBe(1);
    await world.clock.advance(50);
    expect([probe.told, probe.batches.length]).toEqual([2, 2]);
    expect(probe.batches[1]?.lines.map(({ text }) => text)).toEqual(['b', 'c', 'd']);
  });

  test('a reader that has paused is notified when there are more lines', async () => {
    const world = createLogWorld();
    const { log } = northOf(world, {});
    using probe = await followLogs(world, { isSlow: true });
    await turns();
    log().write('a');
    await turns();
    expect(probe.told).toBe(1);
    log().write('b');
    await world.clock.advance(100);
    expect(probe.told).toBe(1);
    probe.reader.pause();
    log().write('c');
    await world.clock.advance(100);
    expect(probe.told).toBe(2);
    expect(probe.reader.take()?.lines.map(({ text }) => text)).toEqual(['a', 'b', 'c']);
    expect(probe.reader.take()).toBeUndefined();
  });
});

describe('rights', () => {
  test('following is refused if the caller may read no log', async () => {
    const world = createLogWorld({ access: createRestrictingAccess({ me: { north: [] } }) });
    northOf(world, {});
    await expect(followLogs(world)).rejects.toMatchObject({ code: 'FORBIDDEN' });
    expect(world.clock.sleepers).toBe(0);
  });

  test('logs that may not be read are reported, and hidden Pods are not', async () => {
    const all = createRestrictingAccess({ me: { north: ['default', 'other'] } });
    const access: Access = {
      ...all,
      visibilityOf: async (question, signal) =>
        question.subresource === 'log' ? { type: 'namespaces', namespaces: new Set(['default']) } : all.visibilityOf(question, signal),
    };
    const world = createLogWorld({ access });
    const { log, logs } = northOf(world, {}, { name: 'b', namespace: 'other' }, { name: 'c', namespace: 'hidden' });
    log().write('a');
    using probe = await followLogs(world);
    expect((await probe.news()).toSorted()).toEqual([`${web}: a`, 'north/other/b/main: FAILED FORBIDDEN']);
    expect(logs.seen.map(({ namespace }) => namespace)).toEqual(['default']);
  });

  test('a right that is lost ends the stream within a minute; one that is gained is used', async () => {
    const rights = { me: { north: ['default'] } };
    const world = createLogWorld({ access: createRestrictingAccess(rights) });
    const { cluster, log, logs } = northOf(world, {});
    log().write('a');
    using probe = await followLogs(world);
    await world.clock.advance(60_000);
    expect([await probe.news(), probe.reason]).toEqual([[`${web}: a`], undefined]);
    rights.me.north = [];
    await world.clock.advance(60_000);
    expect(probe.reason).toMatchObject({ code: 'FORBIDDEN' });
    expect([logs.open, world.clock.sleepers, cluster.leases]).toEqual([0, 0, 0]);
    expect(probe.reader.take()).toBeUndefined();
  });
});

describe('clusters that a caller gains', () => {
  test('are followed within a minute, and the stream of the others continues', async () => {
    const rights: Record<string, Record<string, readonly string[]>> = { me: { north: ['default'] } };
    const world = createLogWorld({ access: createRestrictingAccess(rights) });
    const { log } = northOf(world, {});
    world.join('south', { name: 'api' }, { name: 'hidden', namespace: 'other' });
    for (const namespace of ['default', 'other']) world.logsOf('south').of(namespace, 'api', 'main').write('s');
    log().write('a');
    using probe = await followLogs(world);
    await world.clock.advance(60_000);
    expect(await probe.news()).toEqual([`${web}: a`]);
    rights.me = { north: ['default'], south: ['default'] };
    await world.clock.advance(60_000);
    log().write('b');
    await world.clock.advance(50);
    expect([await probe.news(), probe.reason]).toEqual([['south/default/api/main: s', `${web}: b`], undefined]);
  });

  test('are followed by a stream that was opened without a visible cluster', async () => {
    const rights: Record<string, Record<string, readonly string[]>> = { me: {} };
    const world = createLogWorld({ access: createRestrictingAccess(rights) });
    const { log } = northOf(world, {});
    log().write('a');
    using probe = await followLogs(world);
    rights.me = { north: ['default'] };
    await world.clock.advance(60_000);
    expect(await probe.news()).toEqual([`${web}: a`]);
  });
});

describe('the end of a reader', () => {
  test('releases everything, whatever its reason', async () => {
    const world = createLogWorld();
    const { cluster, log, logs } = northOf(world, {}, { name: 'cut' }, { name: 'waits', states: { main: 'waiting' } });
    for (let round = 0; round < 50; round++) {
      const leaving = new AbortController();
      const probe = await followLogs(world, { signal: leaving.signal });
      if (round % 3 === 0) await turns(1);
      log('cut').cut();
      if (round % 2 === 0) await world.clock.advance(round);
      if (round % 5 === 0) leaving.abort();
      else probe[Symbol.dispose]();
      probe[Symbol.dispose]();
      expect(getEventListeners(leaving.signal, 'abort')).toEqual([]);
    }
    await turns();
    expect([logs.open, world.clock.sleepers, cluster.leases]).toEqual([0, 0, 0]);
    expect([log().followers, log('cut').followers]).toEqual([0, 0]);
  });

  test('sends no more messages', async () => {
    const world = createLogWorld();
    const { log } = northOf(world, {});
    const probe = await followLogs(world);
    await turns();
    log().write('a');
    probe[Symbol.dispose]();
    log().write('b');
    await world.clock.advance(1_000);
    expect([probe.told, probe.reason, probe.reader.take()]).toEqual([0, undefined, undefined]);
  });

  test('also works while the reader is opened', async () => {
    const world = createLogWorld({ access: createRestrictingAccess({ me: { north: 'all' } }) });
    const { cluster, logs } = northOf(world, {});
    const leaving = new AbortController();
    const opening = followLogs(world, { signal: leaving.signal });
    leaving.abort();
    await expect(opening).rejects.toBe(leaving.signal.reason);
    await turns();
    expect([logs.open, world.clock.sleepers, cluster.leases]).toEqual([0, 0, 0]);
  });
});
