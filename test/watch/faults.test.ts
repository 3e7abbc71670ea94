import { afterEach, describe, expect, test } from 'vitest';
import type { KubernetesObject } from '../../src/core/objects.ts';
import { seededRandom } from '../support/seeded-random.ts';
import type { SimCluster, SimClusterOptions } from '../support/sim/sim-cluster.ts';
import { type Held, type OverSocket, startOverSocket } from './over-socket.ts';

// Rows of docs/internals/mirror.md 8 over real sockets on loopback: transport, reflector and store together. The test owns the clock.

const ways: readonly (readonly [string, Partial<SimClusterOptions>])[] = [
  ['HTTP/2, WatchList', { protocols: 'h2', version: '1.36.3' }],
  ['HTTP/1.1, LIST', { protocols: 'http1', version: '1.33.13' }],
];

const definition: KubernetesObject = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: 'widgets.example.com' },
  spec: {
    group: 'example.com',
    scope: 'Namespaced',
    names: { plural: 'widgets', singular: 'widget', kind: 'Widget', listKind: 'WidgetList' },
    versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: { type: 'object' } } }],
  },
};

let running: OverSocket | undefined;

afterEach(async () => {
  await running?.[Symbol.asyncDispose]();
  running = undefined;
});

async function start(options: Partial<SimClusterOptions>, before?: (sim: SimCluster) => void): Promise<OverSocket> {
  running = await startOverSocket(options, before);
  return running;
}

/** Starts a cluster with three Pods, mirrored. */
async function startWithPods(options: Partial<SimClusterOptions>): Promise<OverSocket & { readonly held: Held }> {
  const started = await start(options, (sim) => {
    for (const name of ['web', 'api', 'job']) sim.put(pod(name));
  });
  const held = await started.hold('Pod');
  await held.settles();
  return { ...started, held };
}

function pod(name: string, value = '0', namespace = 'default'): KubernetesObject {
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, namespace, labels: { app: 'grüße' } },
    spec: { nodeName: value, containers: [] },
  };
}

describe.each(ways)('over %s', (_way, options) => {
  test('row 1: a list answered 500 three times is requested again by the backoff, then complete', async () => {
    const { sim, hold, mirrors, clock } = await start(options, (server) => {
      server.put(pod('web'));
      server.answer({ status: 500, times: 3 }, { resource: 'pods' });
    });
    const held = await hold('Pod');
    await running?.until(() => held.mirror.sync().fault?.code === 'SERVER_ERROR');
    expect(held.mirror.sync().phase).toBe('SYNCING');
    await held.converges();
    const begun = sim.requests.filter(({ resource }) => resource?.resource === 'pods').map(({ startedMs }) => startedMs);
    const waits = begun.slice(1, 4).map((ms, index) => ms - (begun[index] ?? 0));
    waits.forEach((ms, index) => {
      expect(ms).toBeGreaterThanOrEqual(800 * 2 ** index);
      expect(ms).toBeLessThan(1_600 * 2 ** index + 400);
    });
    expect(mirrors.clusters()[0]?.phase).toBe('SYNCED');
    expect(held.follower.events.filter(({ type }) => type === 'applied')).toHaveLength(1);
    expect(clock.monotonic()).toBeLessThan(20_000);
  });

  test('row 2: waits for a Retry-After of 429, in seconds or as a date, without another list', async () => {
    const { sim, held, clock, pass } = await startWithPods(options);
    const lists = held.asked('list');
    for (const retryAfterOf of [() => '7', () => new Date(clock.now() + 8_000).toUTCString()]) {
      const retryAfter = retryAfterOf();
      sim.answer({ status: 429, headers: { 'retry-after': retryAfter } }, { resource: 'pods', verb: 'watch' });
      sim.close({ resource: 'pods' });
      const sinceMs = clock.monotonic();
      await pass(9_000);
      const again = sim.requests.filter(({ resource, startedMs }) => resource?.resource === 'pods' && startedMs > sinceMs + 1_000);
      for (const { startedMs } of again) expect(startedMs - sinceMs).toBeGreaterThanOrEqual(6_900);
      sim.put(pod('web', retryAfter));
      await held.settles();
    }
    expect(held.asked('list')).toBe(lists);
  });

  test('row 3: a kind forbidden in all but two namespaces has two scopes, and one scope once it is granted', async () => {
    const { sim, hold, until } = await start(options, (server) => {
      for (const name of ['a', 'b', 'c']) {
        server.put({ apiVersion: 'v1', kind: 'Namespace', metadata: { name } });
        server.put(pod('web', '0', name));
      }
    });
    const forbidden = sim.forbid({ resource: 'pods', exceptNamespaces: ['a', 'b'] });
    const held = await hold('Pod');
    await until(() => held.mirror.sync().phase === 'SYNCED');
    expect(held.mirror.store.namespaces()).toEqual(['a', 'b']);
    expect(held.mirror.faults()).toMatchObject([{ code: 'FORBIDDEN' }]);
    sim.remove('Pod', 'web', 'b');
    await until(() => held.mirror.store.namespaces().length === 1);
    forbidden[Symbol.dispose]();
    await held.converges(61_000);
    expect(held.mirror.faults()).toEqual([]);
  });

  test('row 4: a right lost under an open watch is reported; its objects are dropped after a minute, without delete events', async () => {
    const { sim, held, until, clock } = await startWithPods(options);
    const sinceMs = clock.monotonic();
    sim.forbid({ resource: 'pods' });
    sim.close({ resource: 'pods' });
    await until(() => held.mirror.sync().phase === 'STALE');
    expect(held.mirror.sync().fault?.code).toBe('FORBIDDEN');
    expect(held.mirror.store.size).toBe(3);
    await until(() => held.mirror.store.size === 0, 61_000);
    expect(clock.monotonic() - sinceMs).toBeGreaterThan(58_000);
    expect(held.mirror.sync()).toMatchObject({ phase: 'MISSING', fault: { code: 'FORBIDDEN' } });
    expect(held.follower.events.map(({ type }) => type)).not.toContain('deleted');
  });

  test('row 5: an expired credential is a fault of the cluster, and the mirror is still served', async () => {
    const { sim, held, until, mirrors, clock } = await startWithPods(options);
    const { token } = sim;
    sim.rotateToken();
    sim.close();
    const fromMs = clock.monotonic();
    await until(() => held.mirror.sync().fault?.code === 'UNAUTHENTICATED', 20_000);
    expect(held.mirror.sync().phase).toBe('STALE');
    expect(mirrors.clusters()[0]).toMatchObject({ phase: 'DEGRADED' });
    expect(clock.monotonic() - fromMs).toBeLessThan(15_000);
    sim.rotateToken(token);
    sim.put(pod('late'));
    await held.converges();
  });

  test('row 8: a continue token that expires between pages, with churn, causes a whole list, and no part of it is visible before', async () => {
    const { sim, hold, until } = await start({ ...options, version: '1.36.3' }, (server) => {
      // Only the most recent list has pages. A list of any version comes in one answer, from the server's cache.
      server.streaming({ type: 'refused' }, { resource: 'pods' });
      server.answer({ status: 410 }, { resource: 'pods', verb: 'list' });
      server.fill('Pod', 1_200, pod('web'));
      server.delay(1_000, { resource: 'pods', verb: 'list' });
    });
    const held = await hold('Pod');
    await until(() => held.asked('list') === 3);
    sim.churn('Pod', { updates: 5, deletes: 5, creates: 5 });
    sim.expireContinue();
    expect(held.mirror.store.size).toBe(0);
    await held.converges();
    expect(sim.requests.filter(({ resource, status }) => resource?.resource === 'pods' && status === 410)).toHaveLength(2);
  });

  test.each(['status', 'event', 'now'] as const)(
    'row 9: 410 (%s) causes a list at v, in which vanished objects are deleted once',
    async (as) => {
      const { sim, held } = await startWithPods(options);
      sim.expire(as, { resource: 'pods' });
      sim.close({ resource: 'pods' });
      sim.remove('Pod', 'web', 'default');
      sim.compact();
      await held.converges();
    },
  );

  test('row 9: after a fail-over to a server that lags behind, no older object is held', async () => {
    const { sim, held, pass } = await startWithPods(options);
    sim.put(pod('web', 'new'));
    await held.converges();
    const failed = sim.failOver(2);
    await pass(10_000);
    expect(held.mirror.store.get('default', 'web')?.spec).toMatchObject({ nodeName: 'new' });
    failed[Symbol.dispose]();
    await held.converges();
  });

  test('B17: row 9: a restored etcd is another history', async () => {
    const { sim, held } = await startWithPods(options);
    const { epoch } = held.mirror.store;
    const backup = sim.backup();
    sim.put(pod('lost'));
    sim.put(pod('web', '1'));
    await held.converges();
    sim.restore(backup);
    await held.converges();
    expect(held.mirror.store.epoch).not.toBe(epoch);
  });

  test('row 10: ERROR keeps v, and the third 500 in a row causes a list', async () => {
    const { sim, held, pass, reports } = await startWithPods(options);
    const lists = held.asked('list');
    for (const code of [429, 418, 500]) {
      sim.error(code, { resource: 'pods' });
      await pass(7_000);
      sim.put(pod('web', String(code)));
      await held.settles();
      expect(held.asked('list')).toBe(lists);
    }
    sim.error(500, { resource: 'pods', times: 2 });
    await pass(120_000);
    expect(held.asked('list')).toBe(lists + 1);
    await held.converges();
    expect(reports.filter(({ what }) => what === 'errorEvent').length).toBeGreaterThanOrEqual(5);
  });

  test.each(['line', 'character'] as const)(
    'row 11: a stream cut in the middle of a %s resumes from v, and its effect appears once',
    async (where) => {
      const { sim, held } = await startWithPods(options);
      const lists = held.asked('list');
      for (const end of ['reset', 'clean'] as const) {
        sim.cut(where, { resource: 'pods', end });
        sim.put(pod('web', `${where} ${end}`));
        await held.converges();
      }
      expect(held.asked('list')).toBe(lists);
      expect(held.follower.events.filter(({ type }) => type === 'applied')).toHaveLength(2);
    },
  );

  test('row 11: chunks of one byte give the same store', async () => {
    const { sim, hold } = await start(options, (server) => {
      server.put(pod('web'));
      server.chunk({ resource: 'pods' });
    });
    const held = await hold('Pod');
    sim.put(pod('api'));
    await held.converges();
  });

  test.each([
    ['garbage', 'no json\n'],
    ['null', 'null\n'],
    ['an unknown type', '{"type":"PATCHED","object":{}}\n'],
    ['another kind', '{"type":"ADDED","object":{"kind":"Service","apiVersion":"v1","metadata":{"name":"x","resourceVersion":"9"}}}\n'],
    ['no name', '{"type":"ADDED","object":{"kind":"Pod","metadata":{}}}\n'],
    ['bytes that are no UTF-8', Uint8Array.of(0x7b, 0xff, 0xfe, 0x7d, 0x0a)],
  ] as const)('row 12: %s costs a list, and no event', async (_what, line) => {
    const { sim, held, reports } = await startWithPods(options);
    const lists = held.asked('list');
    sim.emit(line, { resource: 'pods' });
    sim.put(pod('web', 'after'));
    await held.converges();
    expect(held.asked('list')).toBe(lists + 1);
    expect(reports.map(({ what }) => what)).toContain('unreadable');
  });

  test('row 14: silence is noticed, the mirror is served with its age, and no event is lost', async () => {
    const { sim, held, until, mirrors, clock } = await startWithPods(options);
    const dark = sim.silence();
    const sinceMs = clock.monotonic();
    const wall = clock.now();
    sim.put(pod('web', 'in the dark'));
    await until(() => held.mirror.sync().phase === 'STALE', 50_000);
    expect(clock.monotonic() - sinceMs).toBeLessThan(options.protocols === 'h2' ? 26_000 : 56_000);
    await until(() => mirrors.clusters()[0]?.phase === 'UNREACHABLE', 15_000);
    expect(held.mirror.sync()).toMatchObject({ fault: { code: 'UNREACHABLE' } });
    expect(held.mirror.sync().asOfMs).toBeLessThanOrEqual(wall + 1_000);
    expect(held.mirror.store.size).toBe(3);
    dark[Symbol.dispose]();
    await held.converges(90_000);
    await until(() => mirrors.clusters()[0]?.phase === 'SYNCED');
  });

  test('row 15: a cluster that never answered is UNREACHABLE within 10 s, and recovers by itself', async () => {
    const { sim, until, mirrors, clock, hold } = await start(options, (server) => server.put(pod('web')));
    const refused = sim.refuse();
    sim.disconnect();
    await until(() => mirrors.clusters()[0]?.phase === 'UNREACHABLE', 10_000);
    expect(mirrors.ready()).toBe(true);
    expect(clock.monotonic()).toBeLessThan(10_000);
    refused[Symbol.dispose]();
    const held = await hold('Pod');
    await held.converges();
  });

  test('row 15: a cluster that fails after the sync is UNREACHABLE within 10 s, still served, and recovers without a list', async () => {
    const { sim, until, mirrors, held, pass } = await startWithPods(options);
    const lists = held.asked('list');
    const refused = sim.refuse();
    sim.disconnect();
    await until(() => mirrors.clusters()[0]?.phase === 'UNREACHABLE', 10_000);
    await until(() => held.mirror.sync().phase === 'STALE', 10_000);
    expect(held.mirror.store.size).toBe(3);
    sim.put(pod('web', 'meanwhile'));
    await pass(30_000);
    refused[Symbol.dispose]();
    await held.converges(70_000);
    expect(held.asked('list')).toBe(lists);
  });

  test('row 17: GOAWAY loses no event', async () => {
    const { sim, held } = await startWithPods(options);
    sim.goAway();
    sim.put(pod('web', 'after'));
    await held.converges();
    sim.close();
    sim.put(pod('web', 'later'));
    await held.converges();
  });

  test('row 18: headers that arrive with the first event count as an open watch', async () => {
    const { sim, hold, until, pass } = await start(options, (server) => {
      server.put(pod('web'));
      server.holdHeaders({ resource: 'pods', verb: 'watch' });
    });
    const held = await hold('Pod');
    await until(() => held.mirror.sync().phase === 'SYNCED');
    await pass(30_000);
    expect(held.mirror.sync().phase).toBe('SYNCED');
    sim.put(pod('api'));
    await held.converges();
  });

  test('P9: row 21: an object recreated in a gap is deleted as the old one, then applied as the new one', async () => {
    const { sim, held } = await startWithPods(options);
    const old = held.mirror.store.get('default', 'web')?.metadata.uid;
    const stalled = sim.stall({ resource: 'pods' });
    sim.recreate('Pod', 'web', 'default');
    sim.compact();
    sim.disconnect();
    stalled[Symbol.dispose]();
    await held.converges();
    const told = held.follower.events.flatMap((event) =>
      event.type === 'applied' || event.type === 'deleted' ? [[event.type, event.object.metadata.uid]] : [],
    );
    expect(told).toEqual([
      ['deleted', old],
      ['applied', held.mirror.store.get('default', 'web')?.metadata.uid],
    ]);
  });

  test('row 22: a list without a change sends no event', async () => {
    const { sim, held } = await startWithPods(options);
    const web = held.mirror.store.get('default', 'web');
    const lists = held.asked('list');
    sim.expire('now', { resource: 'pods' });
    await running?.until(() => held.asked('list') === lists + 1);
    await held.converges();
    expect(held.follower.events.filter(({ type }) => type !== 'confirmed')).toEqual([]);
    expect(held.mirror.store.get('default', 'web')).toBe(web);
  });

  test('row 22: a new default at the same version is applied once for each changed object', async () => {
    const { sim, held, mirrors } = await startWithPods(options);
    const version = `${options.version?.slice(0, 5)}99`;
    sim.upgrade(version, (object) =>
      object.metadata.name === 'web' ? { ...object, spec: { nodeName: '0', containers: [], defaulted: true } } : object,
    );
    await held.converges(400_000);
    expect(held.mirror.store.get('default', 'web')?.spec).toMatchObject({ defaulted: true });
    expect(held.follower.events.filter(({ type }) => type === 'applied')).toHaveLength(1);
    expect(mirrors.clusters()[0]?.version).toBe(`v${version}`);
  });

  test('row 23: a withdrawn definition is GONE; defined again it is a new mirror', async () => {
    const { sim, hold, until, mirrors } = await start(options, (server) => {
      server.define(definition);
      server.put({ apiVersion: 'example.com/v1', kind: 'Widget', metadata: { name: 'one', namespace: 'default' }, spec: {} });
    });
    const first = await hold('Widget.example.com');
    await first.settles();
    sim.withdraw('widgets.example.com');
    await until(() => first.mirror.sync().phase === 'MISSING', 2_000);
    expect(first.mirror.sync().fault?.code).toBe('GONE');
    await until(() => first.follower.events.at(-1)?.type === 'gone', 0);
    await until(() => mirrors.served(first.mirror.cluster, { group: 'example.com', kind: 'Widget' }) === undefined, 2_000);
    sim.define(definition);
    sim.put({ apiVersion: 'example.com/v1', kind: 'Widget', metadata: { name: 'two', namespace: 'default' }, spec: {} });
    const second = await hold('Widget.example.com');
    await second.converges();
    expect(second.mirror).not.toBe(first.mirror);
    expect(second.mirror.store.epoch).not.toBe(first.mirror.store.epoch);
  });

  test('B20: row 24: the kinds of an unavailable aggregated API are kept, and the fault names its group', async () => {
    const { sim, hold, until, mirrors } = await start(options, (server) => {
      server.aggregate({
        group: 'metrics.k8s.io',
        version: 'v1beta1',
        kinds: [{ kind: 'PodMetrics', resource: 'pods', namespaced: true, verbs: ['get', 'list'], anonymous: true }],
      });
      server.put({
        apiVersion: 'metrics.k8s.io/v1beta1',
        kind: 'PodMetrics',
        metadata: { name: 'web', namespace: 'default' },
        usage: '1m',
      });
    });
    const held = await hold('PodMetrics.metrics.k8s.io');
    await held.converges();
    const broken = sim.breakGroup('metrics.k8s.io');
    await until(() => mirrors.clusters()[0]?.phase === 'DEGRADED', 400_000);
    expect(mirrors.clusters()[0]?.faults.some(({ message }) => message.includes('metrics.k8s.io'))).toBe(true);
    expect(mirrors.peek(held.mirror.cluster, { group: 'metrics.k8s.io', kind: 'PodMetrics' })).toBe(held.mirror);
    expect(held.mirror.store.size).toBe(1);
    broken[Symbol.dispose]();
    sim.put({ apiVersion: 'metrics.k8s.io/v1beta1', kind: 'PodMetrics', metadata: { name: 'web', namespace: 'default' }, usage: '2m' });
    await until(() => held.mirror.store.get('default', 'web')?.usage === '2m', 200_000);
    await until(() => mirrors.clusters()[0]?.phase === 'SYNCED', 400_000);
  });

  test('row 25: a kind that cannot be watched is polled', async () => {
    const { sim, hold } = await start(options, (server) => {
      server.put(pod('web'));
      server.unwatchable({ resource: 'pods' });
    });
    const held = await hold('Pod');
    await held.converges();
    sim.put(pod('web', 'new'));
    await held.converges(80_000);
  });

  test('row 26: HTML and a redirect are MALFORMED: nothing is stored or followed, and the mirror stays', async () => {
    const { sim, held, until } = await startWithPods(options);
    const page = { status: 200, headers: { 'content-type': 'text/html' }, body: '<html></html>', times: Number.POSITIVE_INFINITY };
    const html = sim.answer(page, { resource: 'pods' });
    sim.close({ resource: 'pods' });
    await until(() => held.mirror.sync().fault?.code === 'MALFORMED', 12_000);
    expect(held.mirror.store.size).toBe(3);
    html[Symbol.dispose]();
    await held.settles();
    const moved = sim.redirect('https://127.0.0.1:1/', { resource: 'pods' });
    sim.close({ resource: 'pods' });
    await until(() => held.mirror.sync().fault?.code === 'MALFORMED', 12_000);
    expect(held.mirror.store.size).toBe(3);
    moved[Symbol.dispose]();
    await held.converges();
  });

  test('row 31: a mirror stopped while connecting, listing, watching or waiting leaves nothing open', async () => {
    for (const moment of ['connecting', 'listing', 'watching', 'waiting'] as const) {
      const { sim, hold, leave, until, mirrors } = await start(options, (server) => {
        server.fill('Pod', 1_200, pod('web'));
        if (moment === 'listing') server.drip({ resource: 'pods' });
        if (moment === 'waiting') server.answer({ status: 500, times: Number.POSITIVE_INFINITY }, { resource: 'pods' });
      });
      if (moment !== 'connecting') {
        const held = await hold('Pod');
        await until(() => (moment === 'watching' ? held.mirror.sync().phase === 'SYNCED' : held.asked('list') + held.asked('watch') > 0));
      }
      leave();
      await until(() => sim.connections() === 0, 100);
      const asked = sim.requests.length;
      await running?.pass(10_000);
      expect(mirrors.clusters()).toEqual([]);
      expect(sim.openWatches()).toEqual([]);
      expect(sim.requests.length).toBe(asked);
      await running?.[Symbol.asyncDispose]();
      running = undefined;
    }
  });

  test('rows 34, 35: values arrive as they were written', async () => {
    const { sim, hold } = await start(options);
    const base = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'odd', namespace: 'default' } } as const;
    sim.putRaw(
      base,
      '"data":{"__proto__":"own","ü":"grüße \\u0000","a":"first","a":"last","managedFields":"[]"},"big":9223372036854775807,"nothing":null,"nested":{"metadata":{"managedFields":[{"kept":true}]}}',
    );
    const held = await hold('ConfigMap');
    await held.converges();
    const odd = held.mirror.store.get('default', 'odd');
    const data: object = Object(odd?.data);
    expect(Object.getPrototypeOf(data)).toBe(Object.prototype);
    expect(Object.hasOwn(data, '__proto__')).toBe(true);
    expect(odd?.data).toMatchObject({ a: 'last', managedFields: '[]' });
    expect(JSON.stringify({ big: odd?.big })).toBe('{"big":9223372036854775807}');
    expect(odd?.nested).toEqual({ metadata: { managedFields: [{ kept: true }] } });
    expect(odd?.metadata).not.toHaveProperty('managedFields');
  });
});

describe('row 19: a WatchList', () => {
  const streaming = { protocols: 'h2', version: '1.36.3' } as const;

  test('that is refused becomes a list', async () => {
    const { sim, hold } = await start(streaming, (server) => server.put(pod('web')));
    sim.streaming({ type: 'refused' }, { resource: 'pods' });
    const held = await hold('Pod');
    await held.converges(1_000);
    expect(held.asked('list')).toBe(1);
  });

  test('without an end is not SYNCED, and becomes a list after 30 s', async () => {
    const { sim, hold, pass } = await start(streaming, (server) => server.put(pod('web')));
    sim.streaming({ type: 'endless' }, { resource: 'pods' });
    const held = await hold('Pod');
    await pass(25_000);
    expect(held.mirror.sync().phase).toBe('SYNCING');
    expect(held.mirror.store.size).toBe(0);
    await held.converges(7_000);
  });

  test('that breaks half-way begins again, with deletions that happened meanwhile', async () => {
    const { sim, hold } = await start(streaming, (server) => server.fill('Pod', 500, pod('web')));
    sim.streaming({ type: 'dying' }, { resource: 'pods' });
    const held = await hold('Pod');
    sim.churn('Pod', { deletes: 100, updates: 10 });
    await held.converges();
  });

  test('with a late end applies the events before it', async () => {
    const { sim, hold, pass } = await start(streaming, (server) => server.fill('Pod', 50, pod('web')));
    sim.streaming({ type: 'late', delayMs: 10_000 }, { resource: 'pods' });
    const held = await hold('Pod');
    await pass(5_000);
    sim.churn('Pod', { deletes: 10, updates: 10, creates: 3 });
    await pass(2_000);
    expect(held.mirror.sync().phase).toBe('SYNCING');
    await held.converges();
  });
});

const seed = Number(process.env.MUSTER_SEED ?? Date.now() % 0x7fffffff);

describe.each([
  ['HTTP/2, WatchList', { protocols: 'h2', version: '1.36.3' }],
  ['HTTP/2, LIST', { protocols: 'h2', version: '1.33.13' }],
  ['HTTP/1.1, WatchList', { protocols: 'http1', version: '1.36.3' }],
  ['HTTP/1.1, LIST', { protocols: 'http1', version: '1.33.13' }],
] as const)('over %s', (_way, options) => {
  test(`a random schedule of faults ends with a mirror equal to the server (MUSTER_SEED=${seed})`, async () => {
    const random = seededRandom(seed);
    const { sim, held, pass } = await startWithPods(options);
    const lasting: Disposable[] = [];
    const scope = { resource: 'pods' } as const;
    const faults: readonly (() => unknown)[] = [
      () => lasting.push(sim.answer({ status: 500, times: 2 }, scope)),
      () => lasting.push(sim.answer({ status: 429, times: 1, headers: { 'retry-after': '2' } }, scope)),
      () => lasting.push(sim.refuse()),
      () => lasting.push(sim.stall(scope)),
      () => lasting.push(sim.chunk(scope)),
      () => lasting.push(sim.streaming({ type: 'dying' }, scope)),
      () => {
        for (const fault of lasting.splice(0)) fault[Symbol.dispose]();
      },
      () => sim.disconnect(),
      () => sim.close(scope),
      () => sim.goAway(),
      () => sim.expire(random() < 0.5 ? 'status' : 'now', scope),
      () => sim.compact(),
      () => sim.error(random() < 0.5 ? 500 : 410, scope),
      () => sim.cut(random() < 0.5 ? 'line' : 'character', scope),
      () => sim.emit('null\n', scope),
      () => sim.bookmark(undefined, scope),
      () => sim.recreate('Pod', 'web', 'default'),
      () => sim.churn('Pod', { updates: 3, deletes: 1, creates: 2 }),
      () => sim.put(pod('web', String(random()))),
      () => sim.put(pod(`web-${Math.floor(random() * 20)}`)),
    ];
    for (let count = 0; count < 40; count++) {
      if (sim.get('Pod', 'web', 'default') === undefined) sim.put(pod('web'));
      faults[Math.floor(random() * faults.length)]?.();
      await pass(Math.floor(random() * 2_000));
    }
    for (const fault of lasting) fault[Symbol.dispose]();
    await held.converges(200_000);
  }, 60_000);
});
