import { createHash } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';
import { decodeEvent } from '../../../src/cluster/decoding/decode.ts';
import { systemClock } from '../../../src/core/clock.ts';
import { clusterName } from '../../../src/core/names.ts';
import type { KubernetesObject } from '../../../src/core/objects.ts';
import {
  configMapResource,
  connect,
  endpointFor,
  faultIn,
  gather,
  never,
  pageOf,
  podResource,
  startOf,
  until,
} from '../../support/cluster/transport.ts';
import { createManualClock } from '../../support/manual-clock.ts';
import type { SimCluster, SimClusterOptions } from '../../support/sim/sim-cluster.ts';
import { startSimCluster } from '../../support/sim/start-sim-cluster.ts';

const open: SimCluster[] = [];
afterEach(async () => {
  await Promise.all(open.splice(0).map((sim) => sim.stop()));
});

async function start(options: Partial<SimClusterOptions> = {}): Promise<SimCluster> {
  const sim = await startSimCluster({ name: 'south', ...options });
  open.push(sim);
  return sim;
}

const podNamed = (name: string, more: object = {}): KubernetesObject => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name, namespace: 'default' },
  ...more,
});
const namesIn = (texts: readonly string[]) => texts.map((text) => (JSON.parse(text) as KubernetesObject).metadata.name);
const namesOfEvents = (texts: readonly string[]) =>
  texts.map((text) => {
    const event = decodeEvent(Buffer.from(text), { cluster: clusterName('south'), resource: podResource });
    return event.type === 'applied' || event.type === 'deleted' ? `${event.type} ${event.object.metadata.name}` : event.type;
  });

describe.each(['h2', 'http1'] as const)('over %s', (protocols) => {
  test('lists page by page, with token and remaining count', async () => {
    const sim = await start({ protocols });
    sim.fill('Pod', 25, podNamed('web'));
    using south = connect(endpointFor(sim));
    const first = await gather(south.api.list(pageOf(podResource, { limit: 10 }), never));
    expect(first.texts).toHaveLength(10);
    expect(first.last).toMatchObject({ type: 'pageEnded', remaining: 15 });
    const token = first.last?.type === 'pageEnded' ? (first.last.continue ?? '') : '';
    const second = await gather(south.api.list({ resource: podResource, form: 'object', limit: 100, continue: token }, never));
    expect(second.texts).toHaveLength(15);
    expect(new Set(namesIn([...first.texts, ...second.texts])).size).toBe(25);
    expect(sim.requests.map(({ protocol }) => protocol)).toEqual([protocols, protocols]);
  });

  test('a page with a token carries no version, and a version asks for not older', async () => {
    const sim = await start({ protocols });
    sim.fill('Pod', 3, podNamed('web'));
    using south = connect(endpointFor(sim));
    const version = sim.list('Pod').version;
    await gather(south.api.list(pageOf(podResource, { version: version as never, namespace: 'default' }), never));
    await gather(south.api.list(pageOf(podResource, { version: '0', limit: 2 }), never));
    expect(sim.requests.map(({ path, query }) => ({ path, query }))).toEqual([
      { path: '/api/v1/namespaces/default/pods', query: { resourceVersion: version, resourceVersionMatch: 'NotOlderThan' } },
      { path: '/api/v1/pods', query: { resourceVersion: '0', limit: '2' } },
    ]);
  });

  test('asks for metadata only where only that is wanted', async () => {
    const sim = await start({ protocols });
    sim.put(podNamed('web', { spec: { nodeName: 'n' } }));
    using south = connect(endpointFor(sim));
    const { texts } = await gather(south.api.list(pageOf(podResource, { form: 'metadata' }), never));
    expect(JSON.parse(texts[0] ?? '')).not.toHaveProperty('spec');
  });

  test('lists are packed where that is on, and read the same', async () => {
    const sim = await start({ protocols });
    sim.fill('Pod', 300, podNamed('web', { spec: { note: 'x'.repeat(500) } }));
    using plain = connect(endpointFor(sim));
    using packed = connect(endpointFor(sim, { compression: 'on' }));
    const one = await gather(plain.api.list(pageOf(podResource), never));
    const other = await gather(packed.api.list(pageOf(podResource), never));
    expect(sim.requests.map(({ headers }) => headers['accept-encoding'])).toEqual([undefined, 'gzip']);
    expect(other.texts).toEqual(one.texts);
    expect(other.texts).toHaveLength(300);
  });

  test.each(['off', 'on'] as const)('a slow reader gets everything (compression %s)', async (compression) => {
    const sim = await start({ protocols });
    const noise = (index: number) => createHash('sha512').update(String(index)).digest('base64').repeat(100);
    sim.fill('Pod', 500, (index) => podNamed('web', { spec: { index, noise: noise(index) } }));
    using south = connect(endpointFor(sim, { compression }));
    let items = 0;
    let end: string | undefined;
    for await (const part of south.api.list(pageOf(podResource), never)) {
      if (part.type === 'items') items += part.items.length;
      else end = part.type;
      await new Promise((resolve) => setTimeout(resolve, items % 50 === 0 ? 20 : 0));
    }
    expect([items, end]).toEqual([500, 'pageEnded']);
  });

  test('a watch gives every event in order, and ends cleanly when the server ends it', async () => {
    const sim = await start({ protocols });
    const { version } = sim.list('Pod');
    using south = connect(endpointFor(sim));
    const watching = gather(south.api.watch(startOf(podResource, { version: version as never }), never));
    await until(() => sim.openWatches().length === 1);
    sim.put(podNamed('a'));
    sim.put(podNamed('b'));
    sim.remove('Pod', 'a', 'default');
    await until(() => sim.openWatches().length === 1);
    sim.close();
    const { texts, parts, last } = await watching;
    expect(parts[0]).toMatchObject({ type: 'opened' });
    expect(namesOfEvents(texts)).toEqual(['applied a', 'applied b', 'deleted a']);
    expect(last).toEqual({ type: 'closed' });
  });

  test('the same objects come in chunks of one byte', async () => {
    const sim = await start({ protocols });
    sim.fill('Pod', 3, podNamed('wéb'));
    using _ = sim.chunk();
    using south = connect(endpointFor(sim));
    const listed = await gather(south.api.list(pageOf(podResource), never));
    const watched = await gather(south.api.watch(startOf(podResource, { initialEvents: true }), never), ({ texts }) => texts.length >= 4);
    expect(namesIn(listed.texts)).toEqual(sim.objects('Pod').map(({ metadata }) => metadata.name));
    expect(namesOfEvents(watched.texts)).toEqual([...namesIn(listed.texts).map((name) => `applied ${name}`), 'bookmark']);
  });

  test.each(['line', 'character'] as const)('half a line is dropped when the stream is cut in mid-%s', async (where) => {
    const sim = await start({ protocols });
    const { version } = sim.list('Pod');
    using south = connect(endpointFor(sim));
    for (const end of ['reset', 'clean'] as const) {
      const watching = gather(south.api.watch(startOf(podResource, { version: version as never }), never));
      await until(() => sim.openWatches().length === 1);
      sim.put(podNamed(`whole-${end}`));
      sim.cut(where, { end });
      sim.put(podNamed(`half-${end}`, { spec: { note: 'éééé' } }));
      const { texts, last } = await watching;
      expect(namesOfEvents(texts).at(-1)).toBe(`applied whole-${end}`);
      expect(last).toMatchObject(
        end === 'clean' ? { type: 'closed' } : { type: 'failed', fault: { code: 'UNREACHABLE', kind: { kind: 'Pod' } } },
      );
      await until(() => sim.openWatches().length === 0);
    }
  });

  test.each(['reset', 'clean'] as const)('a packed list that is cut in its middle has failed (%s end)', async (end) => {
    const sim = await start({ protocols });
    sim.fill('Pod', 300, (index) =>
      podNamed('web', { spec: { note: createHash('sha512').update(String(index)).digest('hex').repeat(8) } }),
    );
    sim.cut('gzip', { end });
    using south = connect(endpointFor(sim, { compression: 'on' }));
    expect(faultIn(await gather(south.api.list(pageOf(podResource), never)))).toMatchObject({ code: 'UNREACHABLE' });
    expect((await gather(south.api.list(pageOf(podResource), never))).texts).toHaveLength(300);
  });

  test.each([
    [{ status: 403 }, { code: 'FORBIDDEN', retry: 'NEVER', status: { code: 403 } }],
    [{ status: 404 }, { code: 'NOT_SERVED', retry: 'NEVER' }],
    [{ status: 405 }, { code: 'NOT_SERVED', status: { code: 405 } }],
    [{ status: 410 }, { code: 'EXPIRED', retry: 'NOW' }],
    [{ status: 422 }, { code: 'INVALID' }],
    [
      { status: 429, headers: { 'retry-after': '7' } },
      { code: 'THROTTLED', retry: 'LATER', status: { retryAfterSeconds: 7 } },
    ],
    [{ status: 500 }, { code: 'SERVER_ERROR', retry: 'LATER' }],
    [
      { status: 503, headers: { 'retry-after': '7' } },
      { code: 'SERVER_ERROR', status: { retryAfterSeconds: 7 } },
    ],
    [{ status: 504 }, { code: 'TIMED_OUT' }],
    [{ status: 200, headers: { 'content-type': 'text/html' }, body: '<html>' }, { code: 'MALFORMED' }],
    [{ status: 302, headers: { location: 'http://127.0.0.1:1/secret' }, body: 'moved' }, { code: 'MALFORMED' }],
    [{ status: 502, headers: { 'content-type': 'text/html' }, body: 'x'.repeat(200_000) }, { code: 'SERVER_ERROR' }],
  ])('answered %o: one fault, for list, watch and live call alike', async (answer, fault) => {
    const sim = await start({ protocols });
    using _ = sim.answer({ ...answer, times: Number.POSITIVE_INFINITY });
    using south = connect(endpointFor(sim));
    const listed = faultIn(await gather(south.api.list(pageOf(podResource), never)));
    expect(listed).toMatchObject({ ...fault, cluster: 'south', kind: { group: '', kind: 'Pod' } });
    expect(faultIn(await gather(south.api.watch(startOf(podResource), never)))).toEqual(listed);
    expect(await south.api.send({ method: 'GET', path: ['api', 'v1', 'pods'] }, never)).toMatchObject({ type: 'failed', fault });
    expect(JSON.stringify(listed)).not.toMatch(/127\.0\.0\.1|secret|html>/);
    expect(sim.requests).toHaveLength(3);
  });

  test('a list in answer to a watch is malformed', async () => {
    const sim = await start({ protocols });
    using _ = sim.answer({ status: 200, body: { kind: 'PodList', apiVersion: 'v1', metadata: {}, items: [] } });
    using south = connect(endpointFor(sim));
    expect(faultIn(await gather(south.api.watch(startOf(podResource), never)))).toMatchObject({ code: 'MALFORMED' });
  });

  test('a Table, or half a list, is no list', async () => {
    const sim = await start({ protocols });
    using south = connect(endpointFor(sim));
    for (const body of ['{"kind":"Table","rows":[]}', '{"kind":"PodList","items":[{"metadata":{"name":"a"}}']) {
      using _ = sim.answer({ status: 200, headers: { 'content-type': 'application/json' }, body });
      expect(faultIn(await gather(south.api.list(pageOf(podResource), never)))).toMatchObject({ code: 'MALFORMED' });
    }
  });

  test('a line of 20 MiB is too large, and other requests continue', async () => {
    const sim = await start({ protocols });
    using south = connect(endpointFor(sim));
    const other = gather(
      south.api.watch(startOf(configMapResource, { version: sim.list('ConfigMap').version as never }), never),
      ({ texts }) => texts.length > 0,
    );
    const watching = gather(south.api.watch(startOf(podResource), never));
    await until(() => sim.openWatches().length === 2);
    sim.emit(`{"type":"ADDED","object":{"kind":"Pod","metadata":{"name":"${'x'.repeat(20 * 1024 * 1024)}`, { kind: 'Pod' });
    expect(faultIn(await watching)).toMatchObject({ code: 'TOO_LARGE' });
    sim.put({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'c', namespace: 'default' } });
    expect((await other).texts.join()).toContain('ConfigMap');
  });

  test('a server that stops responding is detected', async () => {
    const clock = createManualClock();
    const sim = await start({ protocols });
    using south = connect(endpointFor(sim), clock);
    const watching = gather(south.api.watch(startOf(podResource), never));
    await until(() => sim.openWatches().length === 1);
    using _ = sim.silence();
    const limitMs = protocols === 'h2' ? 25_000 : 40_000;
    let ended = false;
    void watching.then(() => {
      ended = true;
    });
    await clock.advance(limitMs - 100);
    expect(ended).toBe(false);
    await clock.advance(200);
    expect(faultIn(await watching)).toMatchObject({ code: 'UNREACHABLE', retry: 'LATER' });
    expect(clock.monotonic()).toBeLessThanOrEqual(limitMs + 100);
  });

  test('a quiet watch stays open while the server answers, and its age shows it', async () => {
    const clock = createManualClock();
    const sim = await start({ protocols });
    using south = connect(endpointFor(sim), clock);
    const watch = south.api.watch(startOf(podResource, { timeoutSeconds: 600 }), never)[Symbol.asyncIterator]();
    const opened = await watch.next();
    const lastReceivedMs = opened.value?.type === 'opened' ? opened.value.lastReceivedMs : () => -1;
    const stepMs = protocols === 'h2' ? 15_000 : 30_000;
    for (let step = 1; step <= 8; step++) {
      const beforeMs = lastReceivedMs();
      await clock.advance(stepMs);
      await until(() => lastReceivedMs() > beforeMs);
      expect(clock.monotonic() - lastReceivedMs()).toBeLessThanOrEqual(stepMs);
    }
    expect(sim.openWatches()).toHaveLength(1);
    await watch.return?.();
  });

  test('a silent stream next to active ones is ended five seconds after its time', async () => {
    const clock = createManualClock();
    const sim = await start({ protocols });
    using south = connect(endpointFor(sim), clock);
    const watching = gather(south.api.watch(startOf(podResource, { timeoutSeconds: 20 }), never));
    await until(() => sim.openWatches().length === 1);
    using _ = sim.stall({ verb: 'watch' });
    await clock.advance(15_000);
    await south.api.send({ method: 'GET', path: ['version'] }, never);
    await clock.advance(9_900);
    expect(sim.openWatches()).toHaveLength(1);
    await clock.advance(200);
    expect(faultIn(await watching)).toMatchObject({ code: 'TIMED_OUT', retry: 'NOW' });
  });

  test('each received byte restarts the time after which a silent watch is ended', async () => {
    const clock = createManualClock();
    const sim = await start({ protocols });
    using south = connect(endpointFor(sim), clock);
    let frames = 0;
    const { version } = sim.list('Pod');
    const watching = gather(
      south.api.watch(startOf(podResource, { version: version as never, timeoutSeconds: 20 }), never),
      ({ texts }) => {
        frames = texts.length;
        return false;
      },
    );
    await until(() => sim.openWatches().length === 1);
    await clock.advance(14_000);
    sim.put(podNamed('web'));
    await until(() => frames === 1);
    await clock.advance(14_000);
    expect(sim.openWatches()).toHaveLength(1);
    await south.api.send({ method: 'GET', path: ['version'] }, never);
    await clock.advance(11_000);
    expect(faultIn(await watching)).toMatchObject({ code: 'TIMED_OUT', retry: 'NOW' });
  });

  test('B3: a live call ends after 10 s, a list 60 s without its first byte', async () => {
    const clock = createManualClock();
    const sim = await start({ protocols });
    using _ = sim.delay(3_600_000, { kind: 'Pod' });
    using south = connect(endpointFor(sim), clock);
    const called = south.api.send({ method: 'GET', path: ['api', 'v1', 'pods'] }, never);
    const listed = gather(south.api.list(pageOf(podResource), never));
    await until(() => sim.requests.length === 2);
    await clock.advance(10_000);
    expect(await called).toMatchObject({ type: 'failed', fault: { code: 'TIMED_OUT' } });
    for (let second = 10; second < 60; second += 5) {
      await clock.advance(5_000);
      // The connection must show that it is alive.
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
    expect(faultIn(await listed)).toMatchObject({ code: 'TIMED_OUT' });
  });

  test('an abort ends the request upstream at once and without a further part', async () => {
    const sim = await start({ protocols });
    using south = connect(endpointFor(sim));
    const stop = new AbortController();
    const seen: string[] = [];
    const watching = gather(south.api.watch(startOf(podResource), stop.signal), ({ last }) => seen.push(last?.type ?? '') < 0);
    using _ = sim.delay(3_600_000, { verb: 'list' });
    const listing = gather(south.api.list(pageOf(podResource), stop.signal));
    await until(() => seen.length > 0 && sim.requests.length === 2);
    stop.abort();
    await watching;
    expect(seen).not.toContain('closed');
    expect(seen).not.toContain('failed');
    expect((await listing).parts).toEqual([]);
    await until(() => sim.openWatches().length === 0 && sim.requests.every(({ endedMs }) => endedMs !== undefined));
  });

  test('a reader that leaves ends the request upstream', async () => {
    const sim = await start({ protocols });
    using south = connect(endpointFor(sim));
    await gather(south.api.watch(startOf(podResource), never), () => true);
    await until(() => sim.openWatches().length === 0);
  });

  test('the end of the cluster leaves no socket, no timer and no further part', async () => {
    const clock = createManualClock();
    const sim = await start({ protocols });
    for (let round = 0; round < 10; round++) {
      const south = connect(endpointFor(sim), clock);
      const watching = gather(south.api.watch(startOf(podResource), never));
      await gather(south.api.list(pageOf(podResource), never));
      await until(() => sim.openWatches().length === 1);
      south.life.abort();
      expect(['opened', 'frames']).toContain((await watching).last?.type);
      await until(() => sim.connections() === 0);
      expect(clock.sleepers).toBe(0);
    }
  });

  test('a server that comes back is found again', async () => {
    const sim = await start({ protocols });
    using south = connect(endpointFor(sim));
    const watching = gather(south.api.watch(startOf(podResource), never));
    await until(() => sim.openWatches().length === 1);
    const down = sim.refuse();
    sim.disconnect();
    expect(faultIn(await watching)).toMatchObject({ code: 'UNREACHABLE' });
    expect(faultIn(await gather(south.api.list(pageOf(podResource), never)))).toMatchObject({
      code: 'UNREACHABLE',
      message: expect.not.stringContaining('127.0.0.1'),
    });
    down[Symbol.dispose]();
    expect((await gather(south.api.list(pageOf(podResource), never))).last).toMatchObject({ type: 'pageEnded' });
  });

  test('a 401 causes one refresh for all requests, and is reported if that did not help', async () => {
    const clock = createManualClock();
    const sim = await start({ protocols });
    using south = connect(endpointFor(sim), clock);
    sim.rotateToken();
    const answers = await Promise.all(
      Array.from({ length: 20 }, () => south.api.send({ method: 'GET', path: ['api', 'v1', 'pods'] }, never)),
    );
    expect(answers.map((answer) => (answer.type === 'failed' ? answer.fault.code : 'answered'))).toEqual(Array(20).fill('UNAUTHENTICATED'));
    const requests = sim.requests.length;
    expect(requests).toBeGreaterThan(20);
    await south.api.send({ method: 'GET', path: ['api', 'v1', 'pods'] }, never);
    expect(sim.requests).toHaveLength(requests + 1);
    await clock.advance(10_000);
    await south.api.send({ method: 'GET', path: ['api', 'v1', 'pods'] }, never);
    expect(sim.requests).toHaveLength(requests + 3);
  });

  test('writes carry their body and type, names stay one encoded segment', async () => {
    const sim = await start({ protocols });
    using south = connect(endpointFor(sim));
    const created = await south.api.send(
      {
        method: 'POST',
        path: ['api', 'v1', 'namespaces', 'default', 'configmaps'],
        body: { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'web' } },
      },
      never,
    );
    expect(created).toMatchObject({ type: 'answered', status: 201 });
    await south.api.send({ method: 'GET', path: ['api', 'v1', 'namespaces', 'a/../b', 'pods', '%2e?x=1#y\n'] }, never);
    expect(sim.requests.map(({ path }) => path).at(-1)).toBe('/api/v1/namespaces/a%2F..%2Fb/pods/%252e%3Fx%3D1%23y%0A');
    expect(await south.api.send({ method: 'GET', path: ['api', 'v1', 'namespaces', '..', 'pods'] }, never)).toMatchObject({
      type: 'failed',
      fault: { code: 'INVALID' },
    });
    expect(faultIn(await gather(south.api.list(pageOf(podResource, { namespace: '..' }), never)))).toMatchObject({ code: 'INVALID' });
    expect(sim.requests).toHaveLength(2);
  });
});

test.each(['h2', 'http1'] as const)(
  'B11: a new authority needs a new connection; requests on the old one over %s have 30 s to end',
  async (protocols) => {
    const clock = createManualClock();
    const sim = await start({ protocols });
    const folder = await mkdtemp(path.join(tmpdir(), 'muster-rotation-'));
    const file = path.join(folder, 'ca.crt');
    await writeFile(file, sim.caPem);
    using south = connect(endpointFor(sim, { trust: { type: 'authority', certificates: { type: 'file', path: file } } }), clock);
    const call = () => south.api.send({ method: 'GET', path: ['version'] }, never);
    const watching = gather(south.api.watch(startOf(podResource), never));
    await until(() => sim.openWatches().length === 1);
    await call();
    const before = sim.connections();
    const pass = async (ms: number) => {
      for (let passed = 0; passed < ms; passed += 5_000) {
        await clock.advance(5_000);
        // The old connection must show that it is alive.
        await call();
      }
    };
    await pass(60_000);
    expect(sim.connections()).toBe(before);
    await writeFile(file, `${sim.caPem}\n`);
    await pass(60_000);
    await until(() => sim.connections() > before || protocols === 'http1');
    await pass(25_000);
    expect(sim.openWatches()).toHaveLength(1);
    await pass(10_000);
    expect(faultIn(await watching)).toMatchObject({ code: 'UNREACHABLE', retry: 'NOW' });
    await until(() => sim.connections() === 1);
    await rm(folder, { recursive: true });
  },
);

test('HTTP/2 watches share few connections, and leave room for everything else', async () => {
  const sim = await start({ protocols: 'both', maxConcurrentStreams: 100 });
  using south = connect(endpointFor(sim));
  const stop = new AbortController();
  const watches = Array.from({ length: 200 }, () => gather(south.api.watch(startOf(podResource), stop.signal)));
  await until(() => sim.openWatches().length === 200);
  expect(sim.connections()).toBe(3);
  expect(await south.api.send({ method: 'GET', path: ['version'] }, never)).toMatchObject({ type: 'answered' });
  sim.put(podNamed('web'));
  stop.abort();
  await Promise.all(watches);
  await until(() => sim.openWatches().length === 0);
});

test('a server with a limit of ten streams blocks no request: further ones wait for room', async () => {
  const sim = await start({ protocols: 'h2', maxConcurrentStreams: 10 });
  using south = connect(endpointFor(sim));
  const stop = new AbortController();
  const watches = Array.from({ length: 40 }, () => gather(south.api.watch(startOf(podResource), stop.signal)));
  await until(() => sim.openWatches().length === 32);
  expect(sim.connections()).toBe(4);
  const calls = await Promise.all(Array.from({ length: 30 }, () => south.api.send({ method: 'GET', path: ['version'] }, never)));
  expect(calls.every(({ type }) => type === 'answered')).toBe(true);
  sim.close();
  await until(() => sim.openWatches().length === 8);
  stop.abort();
  await Promise.all(watches);
});

test('after GOAWAY new requests take a new connection, and open watches go on', async () => {
  const sim = await start({ protocols: 'h2' });
  using south = connect(endpointFor(sim));
  const watching = gather(
    south.api.watch(startOf(podResource, { version: sim.list('Pod').version as never }), never),
    ({ texts }) => texts.length === 1,
  );
  await until(() => sim.openWatches().length === 1);
  sim.goAway();
  const calls = await Promise.all(Array.from({ length: 10 }, () => south.api.send({ method: 'GET', path: ['version'] }, never)));
  expect(calls.map(({ type }) => type)).toEqual(Array(10).fill('answered'));
  sim.put(podNamed('web'));
  expect(namesOfEvents((await watching).texts)).toEqual(['applied web']);
  await until(() => sim.connections() === 1);
});

test('one connection is opened for many first requests', async () => {
  const sim = await start({ protocols: 'both' });
  using south = connect(endpointFor(sim));
  await Promise.all(Array.from({ length: 50 }, () => south.api.send({ method: 'GET', path: ['version'] }, never)));
  expect(sim.connections()).toBe(1);
  expect(new Set(sim.requests.map(({ protocol }) => protocol))).toEqual(new Set(['h2']));
});

test('a server that changes its protocol is followed', async () => {
  const sim = await start({ protocols: 'h2' });
  using south = connect(endpointFor(sim), systemClock);
  await south.api.send({ method: 'GET', path: ['version'] }, never);
  sim.speak('http1');
  sim.disconnect();
  await until(() => sim.connections() === 0);
  expect(await south.api.send({ method: 'GET', path: ['version'] }, never)).toMatchObject({ type: 'answered' });
  expect(sim.requests.map(({ protocol }) => protocol)).toEqual(['h2', 'http1']);
});
