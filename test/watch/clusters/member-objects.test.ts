import { expect, test } from 'vitest';
import type { Fault } from '../../../src/core/faults.ts';
import { silentLog } from '../../../src/core/log.ts';
import { clusterName } from '../../../src/core/names.ts';
import type { MemberChange } from '../../../src/store/member-objects.ts';
import { createMemberObjects } from '../../../src/watch/clusters/member-objects.ts';
import { servedKind } from '../../support/cluster/fake-discovery.ts';
import { createFakeMirrors } from '../../support/graph/fake-mirrors.ts';
import { createManualClock, turns } from '../../support/manual-clock.ts';
import { objectOf } from '../../support/store/store-objects.ts';

const north = clusterName('north');
const deployments = servedKind({ group: 'apps', kind: 'Deployment', version: 'v1', resource: 'deployments' });
const kind = { group: 'apps', kind: 'Deployment' };
const place = { namespace: 'default', name: 'web' };
const web = objectOf({ name: 'web', namespace: 'default' });
const broken: Fault = { code: 'UNREACHABLE', cluster: north, message: 'away', retry: 'LATER' };

function world() {
  const clock = createManualClock();
  const mirrors = createFakeMirrors(clock);
  const life = new AbortController();
  const errors: string[] = [];
  const log = { ...silentLog, error: (_fields: object, message: string) => errors.push(message) };
  const objects = createMemberObjects({ mirrors, clock, log }, life.signal);
  const heard: MemberChange[] = [];
  const names = () =>
    heard
      .splice(0)
      .map((change) =>
        change.type === 'object' ? `object ${change.objectName.name}` : change.type === 'mirror' ? `mirror ${change.kind.kind}` : 'cluster',
      );
  objects.onChange((changes) => heard.push(...changes), life.signal);
  return { clock, mirrors, objects, life, names, errors };
}

test('reports an object as the mirror has it, and how current that is', async () => {
  const { mirrors, objects, clock } = world();
  expect(objects.read(north, kind, place)).toMatchObject({ result: 'unread', fault: { code: 'GONE' } });
  const cluster = mirrors.join('north');
  expect(objects.read(north, kind, place)).toMatchObject({ result: 'unread', fault: { code: 'SYNCING' } });
  cluster.discover();
  expect(objects.read(north, kind, place)).toMatchObject({ result: 'unread', fault: { code: 'NOT_SERVED' } });
  cluster.discover(deployments);
  expect(objects.read(north, kind, place)).toMatchObject({ result: 'unread', fault: { code: 'SYNCING' } });
  expect(objects.all(north, kind)).toBeUndefined();
  const mirror = cluster.mirror(kind);
  mirror.list();
  expect(objects.read(north, kind, place)).toEqual({ result: 'absent', version: '101', asOfMs: clock.now() });
  expect(objects.all(north, kind)).toEqual([]);
  mirror.put(web);
  expect(objects.read(north, kind, place)).toMatchObject({ result: 'held', object: { metadata: { name: 'web' } } });
  mirror.fail(broken);
  expect(objects.read(north, kind, place)).toMatchObject({ result: 'held', fault: broken, asOfMs: clock.now() });
  mirror.refuse(broken);
  expect(objects.read(north, kind, place)).toEqual({ result: 'unread', fault: broken });
  expect(cluster.leases).toBe(0);
});

test('reports objects outside mirrored namespaces as unread, never as absent', () => {
  const { mirrors, objects } = world();
  const cluster = mirrors.join('north');
  cluster.discover(deployments);
  cluster.mirror(kind).list(web);
  cluster.mirror(kind).confine('other');
  expect(objects.read(north, kind, place)).toMatchObject({ result: 'unread', fault: { code: 'FORBIDDEN' } });
});

test('distinguishes served kinds by version: a version that is not served is absent', () => {
  const { mirrors, objects } = world();
  const ask = (apiVersion: string) => objects.served(north, { apiVersion, kind: 'Deployment' });
  expect(ask('apps/v1')).toBeUndefined();
  const cluster = mirrors.join('north');
  expect(ask('apps/v1')).toBeUndefined();
  cluster.discover({ ...deployments, version: 'v2', versions: ['v2', 'v1'] });
  expect(ask('apps/v1')).toMatchObject({ version: 'v1', resource: 'deployments' });
  expect(ask('apps/v3')).toBe('absent');
  expect(ask('v1')).toBe('absent');
});

test('holds a mirror while its cluster leaves and returns, and reports changes once in a turn', async () => {
  const { mirrors, objects, names } = world();
  const hold = new AbortController();
  objects.hold(north, kind, hold.signal);
  const cluster = mirrors.join('north');
  cluster.discover(deployments);
  await turns();
  expect(new Set(names())).toEqual(new Set(['cluster', 'mirror Deployment']));
  expect(cluster.leases).toBe(1);
  const mirror = cluster.mirror(kind);
  mirror.list();
  await turns();
  names();
  mirror.put(web);
  mirror.put({ ...web, metadata: { ...web.metadata, labels: { a: '1' } } });
  await turns();
  const told = names();
  expect(told.filter((name) => name === 'object web')).toHaveLength(1);
  mirror.remove(web);
  await turns();
  expect(names()).toContain('object web');

  cluster.leave();
  await turns();
  expect(names()).toContain('mirror Deployment');
  const again = mirrors.join('north');
  again.discover(deployments);
  await turns();
  expect(again.leases).toBe(1);
  again.mirror(kind).list(web);
  await turns();
  expect(names()).toContain('mirror Deployment');
  hold.abort();
  expect(again.leases).toBe(0);
});

test('keeps a mirror until the last holder releases it', () => {
  const { mirrors, objects, life } = world();
  const [one, two] = [new AbortController(), new AbortController()];
  const cluster = mirrors.join('north');
  cluster.discover(deployments);
  objects.hold(north, kind, one.signal);
  objects.hold(north, kind, two.signal);
  expect(cluster.leases).toBe(1);
  one.abort();
  expect(cluster.leases).toBe(1);
  two.abort();
  expect(cluster.leases).toBe(0);
  objects.hold(north, kind, new AbortController().signal);
  expect(cluster.leases).toBe(1);
  life.abort();
  expect(cluster.leases).toBe(0);
  expect(mirrors.followers).toBe(0);
});

test('waits for first lists no longer than requested, and releases its leases', async () => {
  const { mirrors, objects, clock } = world();
  const cluster = mirrors.join('north');
  const wanted = [{ cluster: north, kind }];
  let done = false;
  const signal = new AbortController().signal;
  const waiting = objects.whenRead(wanted, 1_000, signal).then(() => {
    done = true;
  });
  await turns();
  cluster.discover(deployments);
  await turns();
  expect(done).toBe(false);
  cluster.mirror(kind).list();
  await turns();
  expect(done).toBe(true);
  await waiting;
  expect(cluster.leases).toBe(0);

  mirrors.join('south');
  const late = objects.whenRead([{ cluster: clusterName('south'), kind }], 1_000, signal);
  await clock.advance(1_000);
  await late;
});

test('waits until a mirror is in sync, if its cluster answers again and the caller needs it in sync', async () => {
  const { mirrors, objects, clock } = world();
  const cluster = mirrors.join('north');
  cluster.discover(deployments);
  const mirror = cluster.mirror(kind);
  mirror.list();
  mirror.fail(broken);
  const { signal } = new AbortController();
  const waits = async (inSync: boolean) => {
    let isDone = false;
    const waiting = objects.whenRead([{ cluster: north, kind, inSync }], 1_000, signal).then(() => {
      isDone = true;
    });
    await turns();
    return { isDone: () => isDone, waiting };
  };
  expect((await waits(false)).isDone()).toBe(true);

  const caughtUp = await waits(true);
  expect(caughtUp.isDone()).toBe(false);
  mirror.list();
  await turns();
  expect(caughtUp.isDone()).toBe(false);
  await clock.advance(250);
  expect(caughtUp.isDone()).toBe(true);

  mirror.fail(broken);
  const refused = await waits(true);
  mirror.fail({ ...broken, code: 'SERVER_ERROR' });
  await turns();
  expect(refused.isDone()).toBe(true);

  mirror.fail(broken);
  const cutOff = await waits(true);
  cluster.fail(broken);
  await turns();
  expect(cutOff.isDone()).toBe(true);
  expect((await waits(true)).isDone()).toBe(true);

  cluster.discover(deployments);
  const bounded = await waits(true);
  expect(bounded.isDone()).toBe(false);
  await clock.advance(1_000);
  await bounded.waiting;
  expect([cluster.leases, mirrors.followers]).toEqual([0, 1]);
});

test('B10: logs a subscriber that throws, and still calls the others', async () => {
  const { mirrors, objects, life, names, errors } = world();
  objects.onChange(() => {
    throw new Error('mine');
  }, life.signal);
  mirrors.join('north');
  await turns();
  expect(names()).toContain('cluster');
  expect(errors).toEqual(['a subscriber of changes of members threw']);
});
