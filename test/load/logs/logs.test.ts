import { describe, expect, test } from 'vitest';
import type { Access } from '../../../src/access/access.ts';
import { createLocalAccess } from '../../../src/access/local-access.ts';
import type { FaultCode } from '../../../src/core/faults.ts';
import { clusterName } from '../../../src/core/names.ts';
import type { LogExtent, LogSelection, Logs, PodLogView } from '../../../src/load/logs/logs.ts';
import type { Row } from '../../../src/load/reads/reads.ts';
import { createLogWorld, type LogWorld } from '../../support/graph/log-world.ts';
import { readContext } from '../../support/graph/read-context.ts';
import { loadBaseline, servedAs } from '../../support/kubernetes-objects.ts';
import { turns } from '../../support/manual-clock.ts';
import { createRestrictingAccess } from '../../support/restricting-access.ts';

const model = loadBaseline();
const pods = servedAs(model, 'Pod');

const read = (world: LogWorld, selection: LogSelection = {}, extent: LogExtent = {}) =>
  world.logs.read(readContext(world), selection, extent);

const placeOf = ({ cluster, namespace, pod, container }: PodLogView) => `${cluster.name}/${namespace}/${pod}/${container}`;
const textsOf = ({ lines }: Pick<PodLogView, 'lines'>) => lines.map(({ text }) => text);

const badInput = { code: 'BAD_INPUT' };

const refused: readonly [LogSelection, LogExtent, string][] = [
  [{}, { tailLines: -1 }, 'expected tailLines from 0 to 10000, got -1'],
  [{}, { tailLines: 10_001 }, 'expected tailLines from 0 to 10000, got 10001'],
  [{}, { limitBytes: 0 }, 'expected limitBytes from 1 to 10485760, got 0'],
  [{}, { limitBytes: 10_485_761 }, 'expected limitBytes from 1 to 10485760, got 10485761'],
  [{}, { sinceSeconds: 0 }, 'expected sinceSeconds from 1 to 9000000000, got 0'],
  [{}, { sinceTime: 'yesterday' }, 'expected sinceTime as RFC 3339, such as 2026-01-31T12:00:00Z, got "yesterday"'],
  [{}, { sinceTime: '2026-13-01T00:00:00Z' }, 'expected sinceTime as RFC 3339, such as 2026-01-31T12:00:00Z, got "2026-13-01T00:00:00Z"'],
  [{}, { sinceSeconds: 1, sinceTime: '2026-01-01T00:00:00Z' }, 'expected sinceSeconds or sinceTime, got both'],
  [{ clusters: ['nroth'] }, {}, 'no cluster named "nroth"; did you mean north?'],
  [{ labels: 'a in' }, {}, 'label selector: expected ( at character 5, got the end of the text'],
];

describe('read', () => {
  test('one log per container of every cluster, by cluster, namespace and Pod, then as the Pod has them', async () => {
    const world = createLogWorld();
    world.join('south', { name: 'b' }, { name: 'a' }, { name: 'c', namespace: 'apart' });
    world.join('north', { name: 'web', containers: ['main', 'also'], initContainers: ['first'] });
    const { items, faults } = await read(world);
    expect(items.map(placeOf)).toEqual([
      'north/default/web/first',
      'north/default/web/main',
      'north/default/web/also',
      'south/apart/c/main',
      'south/default/a/main',
      'south/default/b/main',
    ]);
    expect(faults).toEqual([]);
  });

  test('requests only what is selected', async () => {
    const world = createLogWorld();
    world.join('north', { name: 'a', labels: { app: 'x' } }, { name: 'b', labels: { app: 'y' } }, { name: 'c', namespace: 'apart' });
    world.join('south', { name: 'a', containers: ['main', 'also'] });
    const placesOf = async (selection: LogSelection) => (await read(world, selection)).items.map(placeOf);
    expect(await placesOf({ clusters: ['north'], namespaces: ['default'] })).toEqual(['north/default/a/main', 'north/default/b/main']);
    expect(await placesOf({ labels: 'app in (y)' })).toEqual(['north/default/b/main']);
    expect(await placesOf({ names: ['a', 'none'] })).toEqual(['north/default/a/main', 'south/default/a/main', 'south/default/a/also']);
    expect(await placesOf({ container: 'also' })).toEqual(['south/default/a/also']);
    expect(await placesOf({ namespaces: [] })).toEqual([]);
  });

  test('a line has its time and text, whatever its bytes are', async () => {
    const world = createLogWorld();
    world.join('north', {});
    const broken = Buffer.from([0x61, 0xff, 0x00, 0x62]);
    world.logsOf('north').of('default', 'web', 'main').write('one two', '', '  three\r', broken);
    const [log] = (await read(world)).items;
    const time = '2026-01-01T00:00:00.000000000Z';
    expect(log?.lines).toEqual([
      { time, text: 'one two' },
      { time, text: '' },
      { time, text: '  three' },
      { time, text: 'a\ufffd\u0000b' },
    ]);
    expect(log?.truncated).toBe(false);
  });

  test('requests the limit and one byte more', async () => {
    const world = createLogWorld();
    world.join('north', {});
    await read(world);
    await read(world, {}, { previous: true, tailLines: 3, limitBytes: 5, sinceSeconds: 9 });
    const asked = { namespace: 'default', pod: 'web', container: 'main', follow: false, timestamps: true };
    expect(world.logsOf('north').seen).toEqual([
      { ...asked, previous: false, tailLines: 200, limitBytes: 1_048_577 },
      { ...asked, previous: true, tailLines: 3, limitBytes: 6, sinceSeconds: 9 },
    ]);
  });

  test.each([
    // Each line is a time of 30 characters, a space, a letter or umlaut, and its end.
    { limitBytes: 66, texts: ['a', 'b'], truncated: false },
    { limitBytes: 65, texts: ['a', 'b'], truncated: true },
    { limitBytes: 64, texts: ['a', ''], truncated: true },
    { limitBytes: 63, texts: ['a', ''], truncated: true },
    { limitBytes: 50, texts: ['a'], truncated: true },
    { limitBytes: 34, texts: ['a'], truncated: true },
    { limitBytes: 33, texts: ['a'], truncated: true },
    { limitBytes: 1, texts: [], truncated: true },
  ])('reports whether there are more than $limitBytes bytes, and returns no more than those', async ({ limitBytes, texts, truncated }) => {
    const world = createLogWorld();
    world.join('north', {});
    world.logsOf('north').of('default', 'web', 'main').write('a', 'b');
    const [log] = (await read(world, {}, { limitBytes })).items;
    expect(log && [textsOf(log), log.truncated]).toEqual([texts, truncated]);
  });

  test('the part of a character that was cut by the limit is removed', async () => {
    const world = createLogWorld();
    world.join('north', {});
    world.logsOf('north').of('default', 'web', 'main').write('aü€😀');
    const textAt = async (limitBytes: number) => (await read(world, {}, { limitBytes })).items.flatMap(textsOf);
    const byBytes = await Promise.all([32, 33, 34, 35, 36, 37, 38, 39, 40, 41].map(textAt));
    expect(byBytes).toEqual([['a'], ['a'], ['aü'], ['aü'], ['aü'], ['aü€'], ['aü€'], ['aü€'], ['aü€'], ['aü€😀']]);
  });

  test('sinceTime holds to the nanosecond, though servers read it by the second', async () => {
    const world = createLogWorld();
    world.join('north', {});
    const log = world.logsOf('north').of('default', 'web', 'main');
    for (const text of ['a', 'b', 'c']) {
      log.write(text);
      await world.clock.advance(400);
    }
    const since = async (sinceTime: string) => (await read(world, {}, { sinceTime })).items.flatMap(textsOf);
    expect(await since('2026-01-01T00:00:00.4Z')).toEqual(['b', 'c']);
    expect(await since('2026-01-01T00:00:00.400000001Z')).toEqual(['c']);
    expect(await since('2026-01-01T01:00:00.8+01:00')).toEqual(['c']);
    expect(await since('2026-01-01T00:00:00.9Z')).toEqual([]);
  });

  test('a log that cannot be read is a fault next to the others', async () => {
    const world = createLogWorld();
    world.join('north', { name: 'a' }, { name: 'b' });
    world.logsOf('north').of('default', 'b', 'main').write('fine');
    const { items } = await read(world);
    expect(items.map(({ pod, fault, lines }) => [pod, fault?.code, lines.length])).toEqual([
      ['a', 'NOT_FOUND', 0],
      ['b', undefined, 1],
    ]);
  });

  test('reads all logs at the same time', async () => {
    const world = createLogWorld();
    world.join('north', { name: 'a' }, { name: 'b' });
    world.join('south', { name: 'c' });
    world.logsOf('north').silent = true;
    world.logsOf('south').silent = true;
    const leaving = new AbortController();
    const reading = world.logs.read(readContext(world, { signal: leaving.signal }), {}, {});
    await turns();
    expect([world.logsOf('north').open, world.logsOf('south').open]).toEqual([2, 1]);
    leaving.abort();
    await expect(reading).rejects.toBe(leaving.signal.reason);
    expect([world.logsOf('north').open, world.logsOf('south').open]).toEqual([0, 0]);
  });

  test('a cluster whose Pods are not known is a fault of its own, and the others answer', async () => {
    const world = createLogWorld();
    world.join('north', {});
    world.logsOf('north').of('default', 'web', 'main').write('fine');
    const south = world.mirrors.join('south');
    south.fail({ code: 'UNREACHABLE', cluster: south.name, message: 'gone', retry: 'LATER' });
    const { items, faults } = await read(world);
    expect(items.map(placeOf)).toEqual(['north/default/web/main']);
    expect(faults.map(({ code, cluster }) => [code, cluster])).toEqual([['UNREACHABLE', 'south']]);
    expect(south.leases).toBe(0);
  });

  test('waits for first lists, at most ten seconds', async () => {
    const world = createLogWorld();
    const north = world.mirrors.join('north');
    north.discover(pods);
    let faults: readonly FaultCode[] | undefined;
    const life = new AbortController();
    const context = readContext(world, { signal: life.signal });
    const reading = world.logs.read(context, {}, {}).then((gathered) => (faults = gathered.faults.map(({ code }) => code)));
    await world.clock.advance(9_999);
    expect(faults).toBeUndefined();
    await world.clock.advance(1);
    await reading;
    expect(faults).toEqual(['SYNCING']);
    expect([north.leases, world.clock.sleepers]).toEqual([1, 0]);
    life.abort();
    expect(north.leases, 'after the operation').toBe(0);
  });

  test('more than 20 containers are refused, with their number', async () => {
    const world = createLogWorld();
    world.join('north', ...Array.from({ length: 20 }, (_, index) => ({ name: `web-${index}` })));
    expect((await read(world)).items).toHaveLength(20);
    world.join('south', {});
    await expect(read(world)).rejects.toMatchObject({ code: 'TOO_COSTLY', message: expect.stringContaining('got 21') });
    expect(world.logsOf('south').seen).toEqual([]);
  });

  test('so are more bytes than one answer may have', async () => {
    const world = createLogWorld();
    world.join('north', ...Array.from({ length: 7 }, (_, index) => ({ name: `web-${index}` })));
    const limitBytes = 10 * 1024 * 1024;
    await expect(read(world, {}, { limitBytes })).rejects.toMatchObject({ code: 'TOO_COSTLY' });
    expect((await read(world, { names: ['web-1', 'web-2'] }, { limitBytes })).items).toHaveLength(2);
  });

  test.each(refused)('refuses %j %j', async (selection, extent, message) => {
    const world = createLogWorld();
    world.join('north', {});
    await expect(read(world, selection, extent)).rejects.toMatchObject({ ...badInput, message });
    expect(world.logsOf('north').seen).toEqual([]);
  });

  test.each(refused.filter(([, { limitBytes }]) => limitBytes === undefined))('refuses to follow %j %j', (selection, extent, message) => {
    const world = createLogWorld();
    world.join('north', {});
    expect(() => world.logs.follow(readContext(world), selection, extent)).toThrow(message);
  });
});

describe('rights', () => {
  test('each log needs its own right, apart from that to see the Pod', async () => {
    const everything = createRestrictingAccess({ me: { north: 'all' } });
    const access: Access = {
      ...everything,
      visibilityOf: async (question, signal) =>
        question.subresource === undefined
          ? everything.visibilityOf(question, signal)
          : { type: 'namespaces', namespaces: new Set(['mine']) },
    };
    const world = createLogWorld({ access });
    world.join('north', { namespace: 'mine' }, { namespace: 'other' });
    world.logsOf('north').of('mine', 'web', 'main').write('fine');
    const { items } = await read(world);
    expect(items.map(({ namespace, fault }) => [namespace, fault?.code])).toEqual([
      ['mine', undefined],
      ['other', 'FORBIDDEN'],
    ]);
    expect(world.logsOf('north').seen.map(({ namespace }) => namespace)).toEqual(['mine']);
  });

  test('asks for `get` on `pods/log`', async () => {
    const asked: unknown[] = [];
    const access: Access = {
      ...createLocalAccess(),
      visibilityOf: ({ caller, cluster, ...question }) => {
        asked.push(question);
        return { type: 'all' };
      },
    };
    const world = createLogWorld({ access });
    world.join('north', {});
    await read(world);
    expect(asked).toContainEqual({ kind: { group: '', kind: 'Pod' }, subresource: 'log', verb: 'get', namespaces: ['default'] });
  });

  test('hidden Pods are left out, and hidden clusters are unknown', async () => {
    const world = createLogWorld({ access: createRestrictingAccess({ me: { north: ['mine'] } }) });
    world.join('north', { namespace: 'mine' }, { namespace: 'other' });
    world.join('south', {});
    expect((await read(world)).items.map(({ namespace }) => namespace)).toEqual(['mine']);
    await expect(read(world, { clusters: ['south'] })).rejects.toMatchObject(badInput);
  });
});

describe('of one Pod', () => {
  const rowOf = (world: LogWorld, name: string): Row => {
    const view = world.reads.cluster(readContext(world), 'north');
    const object = world.mirrors.peek(clusterName('north'), pods)?.store.get('default', name);
    const kind = model.kinds.get('Pod');
    if (view === undefined || object === undefined || kind === undefined) throw new Error('expected the Pod to be there');
    return { cluster: view, kind, resource: pods, object, sync: { cluster: view, kind, phase: 'SYNCED' } };
  };
  const readOf = (world: LogWorld, name: string, extent: Parameters<Logs['readOfPod']>[2] = {}, context = readContext(world)) =>
    world.logs.readOfPod(context, rowOf(world, name), extent);

  test('the container is the named one, or the default of kubectl', async () => {
    const world = createLogWorld();
    const two = ['a', 'b'];
    const named = (container: string) => ({ 'kubectl.kubernetes.io/default-container': container });
    world.join('north', { containers: two, initContainers: ['i'] }, { name: 'said', containers: two, annotations: named('b') });
    world.mirrors.peek(clusterName('north'), pods);
    expect((await readOf(world, 'web')).container).toBe('a');
    expect((await readOf(world, 'said')).container).toBe('b');
    expect((await readOf(world, 'web', { container: 'i' })).container).toBe('i');
    const none = await readOf(world, 'web', { container: 'none' });
    expect([none.fault?.code, none.fault?.message]).toEqual(['NOT_FOUND', 'expected one of the Pod\'s containers (i, a, b), got "none"']);
    expect(world.logsOf('north').seen.map(({ container }) => container)).toEqual(['a', 'b', 'i']);
  });

  test('a log that an operation selects twice is requested once', async () => {
    const world = createLogWorld();
    world.join('north', {});
    const context = readContext(world);
    const [one, other] = await Promise.all([readOf(world, 'web', {}, context), readOf(world, 'web', { tailLines: 200 }, context)]);
    expect(one).toBe(other);
    await readOf(world, 'web', { tailLines: 1 }, context);
    await readOf(world, 'web');
    expect(world.logsOf('north').seen.map(({ tailLines }) => tailLines)).toEqual([200, 1, 200]);
  });

  test('of more than 20 Pods in one operation there is none', async () => {
    const world = createLogWorld();
    world.join('north', ...Array.from({ length: 21 }, (_, index) => ({ name: `web-${index}` })));
    const context = readContext(world);
    const all = Array.from({ length: 21 }, (_, index) => readOf(world, `web-${index}`, {}, context));
    for (const outcome of await Promise.allSettled(all)) {
      expect(outcome).toMatchObject({ status: 'rejected', reason: { code: 'TOO_COSTLY', message: expect.stringContaining('got 21') } });
    }
    expect(world.logsOf('north').seen).toEqual([]);
  });

  test('a cluster that has left is a fault', async () => {
    const world = createLogWorld();
    const north = world.join('north', {});
    const row = rowOf(world, 'web');
    north.leave();
    const other = { ...row, cluster: { ...row.cluster, name: clusterName('other') } };
    expect((await world.logs.readOfPod(readContext(world), other, {})).fault?.code).toBe('GONE');
  });
});
