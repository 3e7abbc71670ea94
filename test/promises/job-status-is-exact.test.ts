import { describe, expect, test } from 'vitest';
import { type JobPhase, jobPhases } from '../../src/model/columns/job-phase.ts';
import { type LiveStream, transports } from '../support/clients/live-socket.ts';
import { startGateway, type TestGateway } from '../support/gateway/start-gateway.ts';
import { seededRandom } from '../support/seeded-random.ts';
import type { SimCluster } from '../support/sim/sim-cluster.ts';

// "The summary is exact in every message": all phases, all clusters, and the number of Jobs that are only last known.

interface Summary {
  readonly total: number;
  readonly stale: number;
  readonly byPhase: readonly { readonly phase: JobPhase; readonly count: number }[];
  readonly byCluster: readonly {
    readonly cluster: { readonly name: string };
    readonly total: number;
    readonly byPhase: Summary['byPhase'];
    readonly sync: { readonly phase: string };
  }[];
}

interface JobState {
  readonly id: string;
  readonly name: string;
  readonly phase: JobPhase;
}

interface Message {
  readonly type: string;
  readonly cluster: { readonly name: string };
  readonly fault: { readonly code: string } | null;
  readonly added: readonly JobState[];
  readonly modified: readonly JobState[];
  readonly deleted: readonly JobState[];
  readonly summary: Summary;
}

const query = `subscription ($labels: String, $clusters: [String!]) {
  jobStatus(labels: $labels, clusters: $clusters) {
    type cluster { name } fault { code }
    added { id name phase } modified { id name phase } deleted { id name phase }
    summary { total stale byPhase { phase count } byCluster { cluster { name } total byPhase { phase count } sync { phase } } }
  }
}`;

const messagesOf = ({ seen }: LiveStream): readonly Message[] => seen.map(({ data }) => data?.jobStatus as Message);

const condition = (type: string) => ({ type, status: 'True', reason: 'Test', message: '', lastTransitionTime: '2026-01-01T00:00:00Z' });

const conditionsOf: Readonly<Record<JobPhase, readonly string[]>> = {
  COMPLETE: ['SuccessCriteriaMet', 'Complete'],
  FAILED: ['FailureTarget', 'Failed'],
  TERMINATING: [],
  SUSPENDED: ['Suspended'],
  FAILURE_TARGET: ['FailureTarget'],
  RUNNING: [],
};

/** Makes a Job in this phase. */
function job(name: string, phase: JobPhase, batch = 'nightly') {
  return {
    apiVersion: 'batch/v1',
    kind: 'Job',
    metadata: {
      name,
      namespace: 'default',
      labels: { batch },
      ...(phase === 'TERMINATING' ? { deletionTimestamp: '2026-01-01T00:00:00Z', finalizers: ['test/wait'] } : {}),
    },
    spec: { template: { spec: { containers: [{ name: 'run', image: 'run' }] } } },
    status: { conditions: conditionsOf[phase].map(condition) },
  };
}

const names = ['east', 'north', 'south'];

/** Counts the Jobs of the API server by phase. */
function scan(cluster: SimCluster, batch?: string): Readonly<Record<JobPhase, number>> {
  const counts: Record<JobPhase, number> = { COMPLETE: 0, FAILED: 0, TERMINATING: 0, SUSPENDED: 0, FAILURE_TARGET: 0, RUNNING: 0 };
  for (const { metadata, status } of cluster.objects('Job')) {
    if (batch !== undefined && metadata.labels?.batch !== batch) continue;
    const { conditions = [] } = (status ?? {}) as { readonly conditions?: readonly { readonly type: string }[] };
    const types = new Set(conditions.map(({ type }) => type));
    // A finished Job that is being deleted counts as finished. Any other Job that is being deleted counts as such.
    if (types.has('Complete')) counts.COMPLETE++;
    else if (types.has('Failed')) counts.FAILED++;
    else if (metadata.deletionTimestamp !== undefined) counts.TERMINATING++;
    else if (types.has('Suspended')) counts.SUSPENDED++;
    else if (types.has('FailureTarget')) counts.FAILURE_TARGET++;
    else counts.RUNNING++;
  }
  return counts;
}

const asRecord = (byPhase: Summary['byPhase']) => Object.fromEntries(byPhase.map(({ phase, count }) => [phase, count]));
const sum = (counts: Iterable<number>) => [...counts].reduce((total, count) => total + count, 0);

/** A client that counts the Jobs itself and compares the summary of every message. */
class Counter {
  readonly #stream: LiveStream;
  readonly #clusters = new Map<string, Map<string, JobPhase>>();
  readonly #synced = new Set<string>();
  readonly #halves = new Set<string>();
  #taken = 0;

  constructor(stream: LiveStream) {
    this.#stream = stream;
  }

  get latest(): Summary | undefined {
    this.#catchUp();
    return messagesOf(this.#stream).at(-1)?.summary;
  }

  /** True if every cluster has sent its whole state, and the latest summary equals a count of the clusters' Jobs. */
  equals(gateway: TestGateway, clusters: readonly string[], batch?: string): boolean {
    const summary = this.latest;
    if (summary === undefined || this.#synced.size < clusters.length) return false;
    return clusters.every((name) => {
      const told = summary.byCluster.find(({ cluster }) => cluster.name === name);
      return told !== undefined && JSON.stringify(asRecord(told.byPhase)) === JSON.stringify(scan(gateway.cluster(name), batch));
    });
  }

  #catchUp(): void {
    const messages = messagesOf(this.#stream);
    for (const message of messages.slice(this.#taken)) this.#take(message);
    this.#taken = messages.length;
  }

  #take({ type, cluster: { name }, added, modified, deleted, summary }: Message): void {
    const jobs = this.#clusters.get(name) ?? new Map<string, JobPhase>();
    this.#clusters.set(name, jobs);
    if (type === 'RESET') {
      jobs.clear();
      this.#synced.delete(name);
    }
    for (const { id } of deleted) expect(jobs.delete(id)).toBe(true);
    for (const { id, phase } of [...added, ...modified]) jobs.set(id, phase);
    if (type === 'SYNCED') this.#synced.add(name);
    this.#checkSums(summary);
    if (!this.#synced.has(name)) return;
    const told = summary.byCluster.find(({ cluster }) => cluster.name === name);
    const counted = jobPhases.map((phase) => ({ phase, count: [...jobs.values()].filter((one) => one === phase).length }));
    // An object that was deleted and created again comes in two messages, the deletion first. Both have the summary after the second one.
    const isExact = JSON.stringify(told?.byPhase) === JSON.stringify(counted);
    const isHalf = !isExact && deleted.length > 0 && !this.#halves.has(name);
    if (isHalf) this.#halves.add(name);
    else this.#halves.delete(name);
    if (!isHalf) expect(told?.byPhase).toEqual(counted);
  }

  #checkSums({ total, stale, byPhase, byCluster }: Summary): void {
    expect(byPhase.map(({ phase }) => phase)).toEqual([...jobPhases]);
    expect(sum(byPhase.map(({ count }) => count))).toBe(total);
    expect(sum(byCluster.map((cluster) => cluster.total))).toBe(total);
    expect(byCluster.map(({ cluster }) => cluster.name)).toEqual(byCluster.map(({ cluster }) => cluster.name).toSorted());
    for (const { phase, count } of byPhase) expect(sum(byCluster.map((one) => Number(asRecord(one.byPhase)[phase])))).toBe(count);
    expect(sum(byCluster.filter(({ sync }) => sync.phase !== 'SYNCED').map((one) => one.total))).toBe(stale);
  }
}

describe('jobStatus', () => {
  const seed = Number(process.env.MUSTER_TEST_SEED ?? Date.now() % 1_000_000);

  test.each(transports)(
    `over %s counts every phase of every cluster, whatever happens to the Jobs (MUSTER_TEST_SEED=${seed})`,
    async (transport) => {
      const random = seededRandom(seed);
      const somePhase = () => jobPhases[Math.floor(random() * jobPhases.length)] ?? 'RUNNING';
      const first = jobPhases.map((phase) => job(phase.toLowerCase().replace('_', '-'), phase));
      await using gateway = await startGateway({ north: first, south: first, east: [] });
      const counter = new Counter(await gateway.subscribe(query, {}, transport));
      await gateway.until(() => counter.equals(gateway, names));
      expect(counter.latest?.byPhase).toEqual(jobPhases.map((phase) => ({ phase, count: 2 })));
      for (let n = 0; n < 60; n++) {
        const cluster = gateway.cluster(names[Math.floor(random() * names.length)] ?? 'north');
        const name = `job-${Math.floor(random() * 10)}`;
        if (random() < 0.75) cluster.put(job(name, somePhase()));
        else if (random() < 0.5) cluster.remove('Job', name, 'default');
        else if (cluster.get('Job', name, 'default') !== undefined) cluster.recreate('Job', name, 'default');
        if (random() < 0.05) cluster.compact();
        if (random() < 0.05) cluster.expire('now', { resource: 'jobs' });
        if (random() < 0.6) await gateway.pass(random() * 300);
        // Checked all the time, because a check at the end would miss intermediate errors.
        expect(counter.latest).toBeDefined();
      }
      await gateway.until(() => counter.equals(gateway, names));
    },
  );

  test('reports how many Jobs belong to a stale cluster, until it is back', async () => {
    await using gateway = await startGateway({
      north: [job('one', 'RUNNING'), job('two', 'RUNNING')],
      south: [job('three', 'COMPLETE')],
      east: [],
    });
    const stream = await gateway.subscribe(query);
    const counter = new Counter(stream);
    await gateway.until(() => counter.equals(gateway, names));
    expect(counter.latest?.stale).toBe(0);
    const north = gateway.cluster('north');
    {
      using _down = north.refuse();
      north.disconnect();
      await gateway.until(() => messagesOf(stream).at(-1)?.fault?.code === 'UNREACHABLE');
      expect(counter.latest).toMatchObject({ total: 3, stale: 2 });
      // The other clusters continue, and the summary says which cluster does not.
      gateway.cluster('south').put(job('four', 'FAILED'));
      north.put(job('one', 'COMPLETE'));
      await gateway.until(() => counter.latest?.total === 4);
      expect(counter.latest).toMatchObject({ total: 4, stale: 2 });
      expect(asRecord(counter.latest?.byPhase ?? [])).toMatchObject({ RUNNING: 2, COMPLETE: 1, FAILED: 1 });
    }
    await gateway.until(() => counter.equals(gateway, names) && counter.latest?.stale === 0);
    expect(asRecord(counter.latest?.byPhase ?? [])).toMatchObject({ RUNNING: 1, COMPLETE: 2, FAILED: 1 });
  });

  test('counts the selected Jobs in every selected cluster', async () => {
    const jobs = [job('one', 'RUNNING'), job('two', 'COMPLETE'), job('else', 'FAILED', 'daily')];
    await using gateway = await startGateway({ north: jobs, south: jobs, east: [] });
    const chosen = new Counter(await gateway.subscribe(query, { labels: 'batch=nightly', clusters: ['south', 'east'] }));
    await gateway.until(() => chosen.equals(gateway, ['south', 'east'], 'nightly'));
    expect(chosen.latest).toMatchObject({ total: 2 });
    expect(chosen.latest?.byCluster.map(({ cluster, total }) => [cluster.name, total])).toEqual([
      ['east', 0],
      ['south', 2],
    ]);
    gateway.cluster('south').put(job('else', 'FAILED', 'nightly'));
    gateway.cluster('south').put(job('one', 'RUNNING', 'daily'));
    await gateway.until(() => chosen.latest?.byPhase.find(({ phase }) => phase === 'FAILED')?.count === 1);
    await gateway.until(() => chosen.equals(gateway, ['south', 'east'], 'nightly'));
    expect(chosen.latest).toMatchObject({ total: 2 });
  });
});
