import { describe, expect, test } from 'vitest';
import { codesOf, LiveSocket, type Transport, transports } from '../../support/clients/live-socket.ts';
import { PodReader, untilAllHold } from '../../support/gateway/pod-reader.ts';
import { startGateway, type TestGateway } from '../../support/gateway/start-gateway.ts';
import { seededRandom } from '../../support/seeded-random.ts';
import type { SimCluster } from '../../support/sim/sim-cluster.ts';
import { pod, widgetDefinition } from '../../support/workloads.ts';

// "Any message resumes everything": a client that resumes after any message ends with the same objects as the list, and receives each
// deletion once.

type Random = () => number;

const pick = <T>(random: Random, among: readonly T[]): T => {
  const one = among[Math.floor(random() * among.length)];
  if (one === undefined) throw new Error('expected something to pick from');
  return one;
};

const somePod = (random: Random) => `p${Math.floor(random() * 12)}`;

/** Changes of a cluster. */
const changes: readonly ((cluster: SimCluster, random: Random) => unknown)[] = [
  (cluster, random) => cluster.put(pod(somePod(random), { annotations: { at: String(random()) }, labels: { app: 'web' } })),
  (cluster, random) => cluster.put(pod(somePod(random), { labels: { app: pick(random, ['web', 'api']) } })),
  (cluster, random) => cluster.remove('Pod', somePod(random), 'default'),
  (cluster, random) => {
    const name = somePod(random);
    if (cluster.get('Pod', name, 'default') !== undefined) cluster.recreate('Pod', name, 'default');
  },
  (cluster, random) => {
    for (let n = 0; n < 20; n++) cluster.put(pod(somePod(random), { annotations: { at: String(random()) } }));
  },
  // So much data that a few rounds fill the socket and the queue of a reader that does not read.
  (cluster, random) => {
    for (let n = 0; n < 24; n++) cluster.put(pod(`big${n}`, { annotations: { at: String(random()).padEnd(60_000) } }));
  },
];

/** Failures that happen once. */
const mishaps: readonly ((cluster: SimCluster) => unknown)[] = [
  (cluster) => cluster.disconnect(),
  (cluster) => cluster.close({ resource: 'pods' }),
  (cluster) => cluster.compact(),
  (cluster) => cluster.expire('now', { resource: 'pods' }),
  (cluster) => cluster.cut('line', { resource: 'pods' }),
  (cluster) => cluster.emit('garbage\n', { resource: 'pods' }),
  (cluster) => cluster.bookmark(undefined, { resource: 'pods' }),
];

/** Failures that last for a while. */
const illnesses: readonly ((cluster: SimCluster) => Disposable)[] = [
  (cluster) => cluster.silence(),
  (cluster) => cluster.refuse(),
  (cluster) => cluster.stall({ resource: 'pods' }),
  (cluster) => cluster.answer({ status: 503 }, { resource: 'pods' }),
];

/** Codes with which a stream may end by itself. Its reader resumes after the last message. */
const tolerableEnds = new Set(['SLOW_CONSUMER', 'GONE', 'UNAVAILABLE']);

/** Readers on all transports, alone and together. Some stop reading for a while; they leave and come back. */
class Crowd {
  readonly #gateway: TestGateway;
  readonly #random: Random;
  /** All streams so far. Tests resume from each of their messages. */
  readonly past: PodReader[] = [];
  readonly #paused: Disposable[] = [];
  #present: PodReader[] = [];
  #shared: LiveSocket | undefined;

  constructor(gateway: TestGateway, random: Random) {
    this.#gateway = gateway;
    this.#random = random;
  }

  async join(): Promise<void> {
    const chosen = {
      variables: { labels: 'app=web' },
      chooses: ({ metadata }: { readonly metadata: { readonly labels?: unknown } }) => isWeb(metadata.labels),
    };
    const over = await this.#somewhere();
    this.#add(await PodReader.open(this.#gateway, { over, ...(this.#random() < 0.4 ? chosen : {}) }));
  }

  /** A reader leaves, except the last one. */
  leave(): void {
    if (this.#present.length < 2) return;
    const [leaving] = this.#present.splice(Math.floor(this.#random() * this.#present.length), 1);
    leaving?.stream.stop();
  }

  /** An earlier reader comes back, after only some of its messages. */
  async comeBack(): Promise<void> {
    const before = pick(this.#random, this.past);
    const count = Math.floor(this.#random() * (before.messages.length + 1));
    this.#add(await before.resumed(this.#gateway, { count, over: await this.#somewhere() }));
  }

  stall(): void {
    this.#paused.push(pick(this.#random, this.#present).stream.pauseReading());
  }

  drain(): void {
    for (const paused of this.#paused.splice(0)) paused[Symbol.dispose]();
  }

  /** Readers whose stream has ended resume it. */
  async revive(): Promise<void> {
    for (const reader of this.#present) {
      const { stream } = reader;
      if (!stream.completed && stream.closed === undefined) continue;
      expect(codesOf(stream).filter((code) => !tolerableEnds.has(code))).toEqual([]);
      this.#present = this.#present.filter((one) => one !== reader);
      this.#add(await reader.resumed(this.#gateway, { over: await this.#somewhere() }));
    }
  }

  async untilAllHold(clusters: readonly string[]): Promise<void> {
    await this.#gateway.until(async () => {
      await this.revive();
      return this.#present.every((reader) => reader.holds(this.#gateway, clusters));
    }, 15 * 60_000);
  }

  #add(reader: PodReader): void {
    this.past.push(reader);
    this.#present.push(reader);
  }

  async #somewhere(): Promise<Transport | LiveSocket> {
    const where = pick(this.#random, ['websocket', 'sse', 'shared'] as const);
    if (where !== 'shared') return where;
    if (this.#shared === undefined || this.#shared.closed !== undefined) this.#shared = await LiveSocket.open(this.#gateway.url);
    return this.#shared;
  }
}

function isWeb(labels: unknown): boolean {
  return typeof labels === 'object' && labels !== null && Reflect.get(labels, 'app') === 'web';
}

const all = ['north', 'south', 'west'];

/** The random events of one run. */
async function live(gateway: TestGateway, crowd: Crowd, random: Random): Promise<void> {
  const lasting: Disposable[] = [];
  const fields = ['size', 'colour', 'weight', 'shape'];
  for (let n = 0; n < 40; n++) {
    const cluster = gateway.cluster(pick(random, all));
    const chance = random();
    if (chance < 0.45) pick(random, changes)(cluster, random);
    else if (chance < 0.53) pick(random, mishaps)(cluster);
    else if (chance < 0.62) lasting.push(pick(random, illnesses)(cluster));
    else if (chance < 0.72) crowd.stall();
    else if (chance < 0.77) crowd.drain();
    else if (chance < 0.82) await crowd.join();
    else if (chance < 0.88) await crowd.comeBack();
    else if (chance < 0.91) crowd.leave();
    else if (chance < 0.95) gateway.cluster('north').define(widgetDefinition({ [pick(random, fields)]: { type: 'string' } }));
    else await gateway.setMembers(random() < 0.5 ? all : ['north', 'south']);
    await gateway.pass(random() * 2_000);
    await crowd.revive();
    if (random() < 0.5) lasting.shift()?.[Symbol.dispose]();
  }
  for (const fault of lasting) fault[Symbol.dispose]();
  crowd.drain();
  await gateway.setMembers(all);
}

describe('after changes, stalls, joins, swaps and frozen API servers', () => {
  const seed = Number(process.env.MUSTER_TEST_SEED ?? Date.now() % 1_000_000);

  test.each([0, 1, 2])(
    `every stream adds up to the list, resumed from any of its messages (run %i of MUSTER_TEST_SEED=${seed})`,
    async (run) => {
      const random = seededRandom(seed + run);
      const pods = Array.from({ length: 8 }, (_, n) => pod(`p${n}`, { labels: { app: n % 2 === 0 ? 'web' : 'api' } }));
      await using gateway = await startGateway({ north: pods, south: pods, west: pods });
      const crowd = new Crowd(gateway, random);
      for (let n = 0; n < 4; n++) await crowd.join();
      await crowd.untilAllHold(all);
      await live(gateway, crowd, random);
      await crowd.untilAllHold(all);

      const samples: PodReader[] = [];
      for (let n = 0; n < 30; n++) {
        const before = pick(random, crowd.past);
        const count = Math.floor(random() * (before.messages.length + 1));
        samples.push(await before.resumed(gateway, { count, over: n % 2 === 0 ? 'websocket' : 'sse' }));
      }
      await untilAllHold(gateway, samples, { clusters: all });
      for (const name of all) gateway.cluster(name).put(pod('last', { labels: { app: 'web' } }));
      await untilAllHold(gateway, samples, { clusters: all });
    },
    60_000,
  );
});

describe('simultaneous changes come in several messages, and can be resumed from each of them', () => {
  test.each(transports)('over %s: 700 changes, and objects that are created again under their names', async (over) => {
    const names = Array.from({ length: 700 }, (_, n) => `p${n}`);
    await using gateway = await startGateway({ north: names.map((name) => pod(name)), south: [pod('api')] });
    const clusters = ['north', 'south'];
    const first = await PodReader.open(gateway, { over });
    await untilAllHold(gateway, [first], { clusters });
    const north = gateway.cluster('north');
    const states: (() => unknown)[] = [
      () => names.map((name) => north.put(pod(name, { annotations: { at: 'noon' } }))),
      () => names.slice(0, 20).map((name) => north.recreate('Pod', name, 'default')),
      () =>
        names
          .slice(10, 600)
          .map((name) => (name.endsWith('7') ? north.recreate('Pod', name, 'default') : north.remove('Pod', name, 'default'))),
    ];
    for (const change of states) {
      // All changes come at once, from a list. No reader has received them one by one.
      const down = north.refuse();
      north.disconnect();
      change();
      north.compact();
      down[Symbol.dispose]();
      await untilAllHold(gateway, [first], { clusters });
    }
    first.stream.stop();
    gateway.cluster('south').put(pod('later'));
    const counts = first.messages.flatMap(({ type }, place) => (type === 'LIVE' ? [place + 1] : []));
    expect(counts.length).toBeGreaterThanOrEqual(6);
    const resumed = await Promise.all(counts.map((count) => first.resumed(gateway, { count, over })));
    await untilAllHold(gateway, resumed, { clusters });
    // After the last message, only later changes follow.
    expect(resumed.at(-1)?.messages.map(({ type }) => type)).toEqual(['LIVE']);
  });

  test.each([1, 2, 3, 4])('a first state, left after %i of its messages', async (count) => {
    await using gateway = await startGateway({ north: [], south: [pod('api')] });
    gateway.cluster('north').fill('Pod', 800, pod('many'));
    const first = await PodReader.open(gateway);
    await untilAllHold(gateway, [first], { clusters: ['north', 'south'] });
    gateway.cluster('north').churn('Pod', { deletes: 50, updates: 50, creates: 10 });
    const second = await first.resumed(gateway, { count });
    await untilAllHold(gateway, [second], { clusters: ['north', 'south'] });
  });
});

describe('a cursor', () => {
  test('that is in the history gives all later changes, and none twice', async () => {
    await using gateway = await startGateway({ north: [pod('web'), pod('old')], south: [pod('api')] });
    const first = await PodReader.open(gateway);
    await untilAllHold(gateway, [first], { clusters: ['north', 'south'] });
    first.stream.stop();
    gateway.cluster('north').put(pod('new'));
    gateway.cluster('north').remove('Pod', 'old', 'default');
    gateway.cluster('south').put(pod('api', { annotations: { at: 'noon' } }));
    await gateway.pass(1_000);
    for (const over of ['websocket', 'sse'] as const) {
      const second = await first.resumed(gateway, { over });
      await untilAllHold(gateway, [second], { clusters: ['north', 'south'] });
      expect(new Set(second.messages.map(({ type }) => type))).toEqual(new Set(['LIVE']));
    }
  });

  test('of the latest message is followed by new changes only', async () => {
    await using gateway = await startGateway({ north: [pod('web')] });
    const first = await PodReader.open(gateway);
    await untilAllHold(gateway, [first], { clusters: ['north'] });
    const second = await first.resumed(gateway);
    await gateway.pass(2_000);
    expect(second.messages.filter(({ type }) => type !== 'BOOKMARK')).toEqual([]);
    gateway.cluster('north').put(pod('next'));
    await untilAllHold(gateway, [first, second], { clusters: ['north'] });
    expect(second.messages.flatMap(({ added }) => added).map(({ metadata }) => metadata.name)).toEqual(['next']);
  });

  test('that is older than the history gives RESET for that cluster only', async () => {
    await using gateway = await startGateway({ north: [pod('web')], south: [pod('api')] });
    const first = await PodReader.open(gateway);
    await untilAllHold(gateway, [first], { clusters: ['north', 'south'] });
    first.stream.stop();
    const north = gateway.cluster('north');
    for (let n = 0; n < 4_200; n++) {
      north.put(pod('web', { annotations: { at: String(n) } }));
      // In steps, because one list would deliver all changes at once, without a history.
      if (n % 200 === 0) await gateway.pass(100);
    }
    gateway.cluster('south').put(pod('later'));
    await gateway.pass(1_000);
    const second = await first.resumed(gateway);
    await untilAllHold(gateway, [second], { clusters: ['north', 'south'] });
    const of = (cluster: string) => second.messages.filter((message) => message.cluster.name === cluster).map(({ type }) => type);
    expect(of('north')).toEqual(['RESET', 'INITIAL', 'SYNCED']);
    expect(of('south')).toEqual(['LIVE']);
  });

  test('of a history that was undone, an etcd that was restored, gives RESET', async () => {
    await using gateway = await startGateway({ north: [pod('web')] });
    const north = gateway.cluster('north');
    const backup = north.backup();
    north.put(pod('never'));
    const first = await PodReader.open(gateway);
    await untilAllHold(gateway, [first], { clusters: ['north'] });
    const before = first.messages.length;
    north.restore(backup);
    await untilAllHold(gateway, [first], { clusters: ['north'] });
    // Readers receive the deletions.
    expect(first.messages.flatMap(({ deleted }) => deleted).map(({ metadata }) => metadata.name)).toEqual(['never']);
    const third = await first.resumed(gateway, { count: before });
    await untilAllHold(gateway, [third], { clusters: ['north'] });
    expect(third.messages.map(({ type }) => type)).toContain('RESET');
  });
});
