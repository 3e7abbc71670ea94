import { expect, test } from 'vitest';
import type { Fault } from '../../src/core/faults.ts';
import type { KubernetesObject } from '../../src/core/objects.ts';
import { jobPhases, phaseOfJob } from '../../src/model/columns/job-phase.ts';
import type { ChangesMessage, JobStatusMessage } from '../../src/streams/messages/changes-message.ts';
import type { StreamArguments } from '../../src/streams/messages/streams.ts';
import type { StreamReader, StreamSource } from '../../src/streams/stream-source.ts';
import type { FakeCluster } from '../support/graph/fake-mirrors.ts';
import { type GraphOverMirrors, graphOverMirrors } from '../support/graph/graph-over-mirrors.ts';
import { callerNamed, createFold, type Fold, printMessage } from '../support/graph/stream-fold.ts';
import { loadBaseline, servedAs } from '../support/kubernetes-objects.ts';
import { turns } from '../support/manual-clock.ts';
import { seededRandom } from '../support/seeded-random.ts';

const model = loadBaseline();
const served = { Job: servedAs(model, 'Job.batch'), ConfigMap: servedAs(model, 'ConfigMap') };
const jobKind = kindOf('Job.batch');
const me = callerNamed('me');
const runs = 100;
const stepsPerRun = 60;

function kindOf(key: string) {
  const kind = model.kinds.get(key);
  if (kind === undefined) throw new Error(`no kind ${key}`);
  return kind;
}

/** The arguments of a stream, and a naive check of what matches. */
interface Question {
  readonly args: StreamArguments;
  /** @param phase The phase of the cluster now. */
  matches(object: KubernetesObject, cluster: FakeCluster, phase: string | undefined): boolean;
}

const questions: readonly Question[] = [
  { args: {}, matches: () => true },
  { args: { labels: 'app=web' }, matches: ({ metadata }) => metadata.labels?.app === 'web' },
  { args: { namespaces: ['shop'] }, matches: ({ metadata }) => metadata.namespace === 'shop' },
  { args: { where: { path: 'metadata.labels.app', ne: 'web' } }, matches: ({ metadata }) => metadata.labels?.app !== 'web' },
  {
    args: { clusters: ['a', 'b'], where: { path: 'metadata.name', startsWith: 'job-1' } },
    matches: ({ metadata }, { name }) => (name === 'a' || name === 'b') && metadata.name.startsWith('job-1'),
  },
  {
    args: {
      where: {
        or: [
          { path: 'cluster.phase', eq: 'SYNCED' },
          { path: 'metadata.labels.app', eq: 'web' },
        ],
      },
    },
    matches: ({ metadata }, _, phase) => phase === 'SYNCED' || metadata.labels?.app === 'web',
  },
];

/** One client: the messages it has received, and the state after each message at which it could resume. */
interface Client {
  readonly reader: StreamReader<ChangesMessage>;
  readonly fold: Fold;
  readonly lines: string[];
  readonly places: { readonly cursor: string; readonly fold: Fold }[];
  last: ChangesMessage | undefined;
  ready: boolean;
  ended: string | undefined;
}

class World {
  readonly random: () => number;
  readonly graph: GraphOverMirrors = graphOverMirrors({ model });
  readonly clusters = new Map<string, FakeCluster>();
  readonly question: Question;
  readonly tallied: boolean;
  readonly clients: Client[] = [];
  readonly log: string[] = [];
  #versions = 0;
  #uids = 0;

  constructor(seed: number) {
    this.random = seededRandom(seed);
    this.question = this.pick(questions);
    this.tallied = this.random() < 0.5;
    for (const name of ['a', 'b']) this.join(name);
  }

  pick<T>(from: readonly T[]): T {
    const one = from[Math.floor(this.random() * from.length)];
    if (one === undefined) throw new Error('nothing to pick from');
    return one;
  }

  join(name: string): void {
    const cluster = this.graph.mirrors.join(name);
    this.clusters.set(name, cluster);
    if (this.random() < 0.8) cluster.discover(served.Job, served.ConfigMap);
  }

  source(after?: string): StreamSource<ChangesMessage> {
    const args = { ...this.question.args, ...(after === undefined ? {} : { after }) };
    if (this.tallied) return this.graph.streams.jobStatus(me, jobKind, args);
    return this.graph.streams.changesOfKinds(me, { model, kinds: ['jobs', 'configmaps'] }, args);
  }

  object(name: string, namespace: string, uid?: string): KubernetesObject {
    this.#versions += 1;
    this.#uids += 1;
    const conditions = this.pick([[], [{ type: 'Complete', status: 'True' }], [{ type: 'Failed', status: 'True' }]]);
    const labels = this.random() < 0.5 ? { app: 'web' } : { app: 'api' };
    return {
      metadata: { name, namespace, uid: uid ?? `uid-${this.#uids}`, resourceVersion: `v${this.#versions}`, labels },
      status: { conditions },
    };
  }

  async open(from?: { readonly cursor: string; readonly fold: Fold }): Promise<void> {
    const client: { -readonly [K in keyof Client]?: Client[K] } = { lines: [], places: [], ready: false };
    client.fold = from?.fold.resumed() ?? createFold();
    const listener = {
      ready() {
        client.ready = true;
      },
      ended(reason: Error & { readonly code: string }) {
        client.ended = reason.code;
      },
    };
    client.reader = await this.source(from?.cursor).open(listener, new AbortController().signal);
    this.clients.push(client as Client);
  }

  take(client: Client): boolean {
    const message = client.reader.take();
    if (message === undefined) return false;
    client.lines.push(printMessage(message));
    client.last = message;
    try {
      client.fold.take(message);
    } catch (error) {
      throw new Error(`${String(error)} after ${client.lines.slice(-12).join(' | ')}`);
    }
    client.places.push({ cursor: message.cursor, fold: client.fold.copy() });
    return true;
  }

  fault({ name }: FakeCluster, code: Fault['code']): Fault {
    return { code, cluster: name, message: 'as the test says', retry: 'LATER' };
  }

  matches(object: KubernetesObject, cluster: FakeCluster): boolean {
    return this.question.matches(object, cluster, this.graph.mirrors.cluster(cluster.name)?.phase);
  }

  async step(): Promise<void> {
    const cluster = this.pick([...this.clusters.values()]);
    const kinds = this.graph.mirrors.cluster(cluster.name)?.resources ?? [];
    const dice = this.random();
    this.log.push(`${cluster.name} ${dice.toFixed(3)}`);
    if (dice < 0.5 && kinds.length > 0) this.change(cluster, this.pick(kinds));
    else if (dice < 0.62) await this.graph.clock.advance(this.pick([1, 5, 5, 20]));
    else if (dice < 0.63) await this.graph.clock.advance(this.pick([31_000, 61_000, 700_000]));
    else if (dice < 0.7) await turns(1);
    else if (dice < 0.73) cluster.discover(...this.pick([[served.Job, served.ConfigMap], [served.ConfigMap], [served.Job]]));
    else if (dice < 0.75 && kinds.length > 0) cluster.fail(this.fault(cluster, 'UNREACHABLE'));
    else if (dice < 0.765 && this.clusters.size > 1) {
      cluster.leave();
      this.clusters.delete(cluster.name);
    } else if (dice < 0.785) {
      const [absent] = ['a', 'b', 'c', 'd'].filter((name) => !this.clusters.has(name));
      if (absent !== undefined) this.join(absent);
    } else if (dice < 0.835) await this.openOne();
    else if (this.clients.length > 0) this.read(this.pick(this.clients));
  }

  async openOne(): Promise<void> {
    const places = this.clients.flatMap((client) => client.places);
    if (this.clients.length > 6) {
      const [gone] = this.clients.splice(Math.floor(this.random() * this.clients.length), 1);
      gone?.reader[Symbol.dispose]();
    }
    if (places.length > 0 && this.random() < 0.6) await this.open(this.pick(places));
    // A name that no cluster has is refused if the client has never seen that cluster.
    else if (this.question.args.clusters?.every((name) => this.clusters.has(name)) ?? true) await this.open();
  }

  read(client: Client): void {
    const dice = this.random();
    if (dice < 0.3) client.reader.pause();
    else if (dice < 0.6) this.take(client);
    else while (this.take(client));
  }

  change(cluster: FakeCluster, kind: (typeof served)['Job']): void {
    const mirror = cluster.mirror(kind);
    const held = [...mirror.store.objects()];
    const fault = (code: Fault['code']) => this.fault(cluster, code);
    const place = () => [`job-${Math.floor(this.random() * 14)}`, this.pick(['shop', 'bank'])] as const;
    const dice = this.random();
    if (mirror.sync().phase === 'SYNCING' || mirror.sync().phase === 'MISSING' || dice < 0.1) {
      if (dice > 0.8) mirror.fail(fault('TIMED_OUT'));
      else mirror.list(...held.filter(() => this.random() < 0.7), ...this.fresh(place));
    } else if (dice < 0.16) mirror.fail(fault(this.pick(['UNREACHABLE', 'TIMED_OUT'])));
    else if (dice < 0.18) {
      mirror.store.empty(fault('FORBIDDEN'));
      mirror.refuse(fault('FORBIDDEN'));
    } else if (dice < 0.182) for (let count = 0; count < 1_100; count++) mirror.put(this.object(`job-${count}`, 'many', `many-${count}`));
    else {
      for (let count = Math.floor(this.random() * 4); count >= 0; count--) {
        const one = this.random() < 0.3 && held.length > 0 ? this.pick(held) : undefined;
        if (one !== undefined && this.random() < 0.6)
          mirror.remove(this.object(one.metadata.name, one.metadata.namespace ?? '', one.metadata.uid));
        else {
          const [name, namespace] = place();
          const there = mirror.store.get(namespace, name);
          mirror.put(this.object(name, namespace, this.random() < 0.8 ? there?.metadata.uid : undefined));
        }
      }
    }
  }

  fresh(place: () => readonly [string, string]): readonly KubernetesObject[] {
    const places = new Map([place(), place(), place()].map((one) => [one.join('/'), one]));
    return [...places.values()].map(([name, namespace]) => this.object(name, namespace));
  }

  async settle(): Promise<void> {
    for (let round = 0; round < 4; round++) {
      await this.graph.clock.advance(6);
      for (const client of this.clients) while (this.take(client));
    }
  }

  /** Returns the objects that a client must hold, by source. */
  expected(): ReadonlyMap<string, readonly string[]> {
    const parts = new Map<string, readonly string[]>();
    for (const cluster of this.clusters.values()) {
      for (const kind of this.graph.mirrors.cluster(cluster.name)?.resources ?? []) {
        if (this.tallied && kind.kind !== 'Job') continue;
        const mirror = this.graph.mirrors.peek(cluster.name, kind);
        if (mirror === undefined || !['SYNCED', 'STALE'].includes(mirror.sync().phase)) continue;
        if (this.question.args.clusters != null && !this.question.args.clusters.includes(cluster.name)) continue;
        const matching = [...mirror.store.objects()].filter((object) => this.matches(object, cluster));
        parts.set(
          `${cluster.name} ${kind.group === '' ? kind.kind : `${kind.kind}.${kind.group}`}`,
          matching.map(({ metadata }) => `${metadata.namespace}/${metadata.name}@${metadata.resourceVersion}`).sort(),
        );
      }
    }
    return parts;
  }

  check(): void {
    const expected = this.expected();
    for (const client of this.clients) {
      if (client.ended !== undefined) continue;
      const said = client.lines.slice(-15).join(' | ');
      for (const [part, objects] of expected) expect({ part, held: client.fold.held(part), said }).toEqual({ part, held: objects, said });
      for (const part of client.fold.whole()) {
        const [cluster = '', kind = ''] = part.split(' ');
        const state = this.graph.mirrors.cluster(this.clusters.get(cluster)?.name ?? ('' as never));
        // If a cluster has not reported what it serves, clients keep what they know about it.
        if (state !== undefined && state.resources === undefined) continue;
        const resources = state?.resources ?? [];
        expect({ part, served: resources.some((resource) => kind.startsWith(resource.kind)), said }).toEqual({ part, served: true, said });
      }
      for (const [part] of expected) {
        const [cluster = '', kind = ''] = part.split(' ');
        const mirror = this.graph.mirrors.peek(
          this.clusters.get(cluster)?.name ?? ('' as never),
          kind.startsWith('Job') ? served.Job : served.ConfigMap,
        );
        expect({ part, fault: client.fold.fault(part), said }).toEqual({ part, fault: mirror?.sync().fault?.code, said });
      }
      if (this.tallied && client.last !== undefined) this.checkSummary(client.last as JobStatusMessage);
    }
  }

  checkSummary({ summary }: JobStatusMessage): void {
    const objects = [...this.clusters.values()].flatMap((cluster) => {
      const jobs = [...(this.graph.mirrors.peek(cluster.name, served.Job)?.store.objects() ?? [])];
      return jobs.filter((object) => this.matches(object, cluster));
    });
    const phases = jobPhases.map((phase) => ({ phase, count: objects.filter((object) => phaseOfJob(object) === phase).length }));
    expect({ total: summary.total, byPhase: summary.byPhase }).toEqual({ total: objects.length, byPhase: phases });
    expect(summary.byCluster.reduce((sum, { total }) => sum + total, 0)).toBe(summary.total);
  }
}

test(`after random events, the folded messages of clients equal the mirrors: ${runs} runs`, async () => {
  const first = Number(process.env.FIRST ?? 1);
  const seeds = process.env.SEED === undefined ? Array.from({ length: runs }, (_, index) => index + first) : [Number(process.env.SEED)];
  for (const seed of seeds) {
    const world = new World(seed);
    try {
      await world.open();
      for (let step = 0; step < stepsPerRun; step++) {
        await world.step();
        if (step % 20 === 19) {
          await world.settle();
          world.check();
        }
      }
      for (const client of world.clients) client.reader[Symbol.dispose]();
      expect(world.graph.streams.counts()).toEqual({ views: 0, readers: 0, queuedBytes: 0 });
      expect(world.graph.clock.sleepers).toBe(0);
      for (const cluster of world.clusters.values()) expect(cluster.leases).toBe(0);
    } catch (error) {
      throw new Error(`with SEED=${seed}`, { cause: error });
    }
  }
}, 60_000);
