import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import type { DecisionCounts } from '../../access/decisions/decision-counts.ts';
import type { BailReason } from '../../execution/bail.ts';
import type { CredentialMethod, RefusalReason } from '../../identity/authenticator.ts';

/** The metrics of one cluster. */
export interface ClusterGauges {
  readonly cluster: string;
  readonly phase: string;
  /** Number of objects in all mirrors of the cluster. */
  readonly objects: number;
  /**
   * The largest age of the mirrors of the cluster: the seconds since a mirror was last known to be in sync. Undefined if no mirror runs.
   */
  readonly ageSeconds?: number;
}

export interface MetricsSources {
  /** Returns the metrics of all clusters. Called at each scrape. */
  readonly clusters: () => readonly ClusterGauges[];
  /** Returns the requests to API servers since the start. Called at each scrape. */
  readonly upstream: () => readonly { readonly cluster: string; readonly verb: string; readonly code: string; readonly count: number }[];
  /** Returns the anomalies of watches since the start, by a closed set of types. Called at each scrape. */
  readonly anomalies: () => readonly { readonly cluster: string; readonly type: string; readonly count: number }[];
  /** The leadership of the controller. Undefined without a hub. */
  readonly leadership?: { leadsHere(): boolean; leaderlessSeconds(): number } | undefined;
  /** The decisions about rights since the start. Read at each scrape. Undefined in local mode, which makes none. */
  readonly access?: Pick<DecisionCounts, 'decisions' | 'disagreements'> | undefined;
}

interface SeriesOptions<Series> {
  readonly name: string;
  readonly help: string;
  readonly labelNames: string[];
  readonly registers: Registry[];
  collect(this: Series): void;
}

/**
 * Maximum number of clusters with a label of their own. Further clusters have the label `other`, so that the number of series is bounded.
 */
const maxClusterLabels = 500;

/** Metrics of the process: event-loop lag, heap and garbage collection. Registered once, even if several gateways run in the process. */
let processRegistry: Registry | undefined;

/** The metrics of the gateway. Labels come only from closed sets, never from a user, a namespace, an object, a document or an address. */
export class Metrics {
  readonly contentType: string;
  readonly #registry = new Registry();
  readonly #clusterLabels = new Set<string>();
  readonly #readClusters: MetricsSources['clusters'];
  /** The metrics of all clusters, as the last scrape has read them. With 200 clusters, each reading takes milliseconds. */
  #clusters: readonly ClusterGauges[] = [];
  readonly #requests = new Counter({
    name: 'muster_requests_total',
    help: 'Operations answered, by transport, type and code of the first error.',
    labelNames: ['transport', 'operation_type', 'code'],
    registers: [this.#registry],
  });
  readonly #seconds = new Histogram({
    name: 'muster_request_seconds',
    help: 'Time from the parsed request to the answer.',
    buckets: [0.001, 0.005, 0.02, 0.1, 0.5, 2, 10, 30],
    registers: [this.#registry],
  });
  readonly #authFailures = new Counter({
    name: 'muster_auth_failures_total',
    help: 'Credentials that were not accepted, or could not be checked.',
    labelNames: ['method', 'reason'],
    registers: [this.#registry],
  });
  readonly #streamsClosed = new Counter({
    name: 'muster_stream_closed_total',
    help: 'Streams that ended, by reason: CLIENT, LIFETIME, or a code.',
    labelNames: ['reason'],
    registers: [this.#registry],
  });

  readonly #executionBails = new Counter({
    name: 'muster_execution_bails_total',
    help: 'Operations whose compiled code gave up, so that graphql-js ran them, by reason.',
    labelNames: ['reason'],
    registers: [this.#registry],
  });

  constructor({ clusters, upstream, anomalies, leadership, access }: MetricsSources) {
    this.contentType = this.#registry.contentType;
    this.#readClusters = clusters;
    if (processRegistry === undefined) {
      processRegistry = new Registry();
      collectDefaultMetrics({ register: processRegistry });
    }
    this.#countUpstream({ upstream, anomalies });
    this.#gaugeClusters();
    if (leadership !== undefined) {
      const gauge = this.#scraped(Gauge<string>);
      const help = 'Seconds since this gateway knew of a gateway that keeps Propagations in sync; 0 while there is one.';
      gauge('muster_controller_leaderless_seconds', help, [], (to) => to.set(leadership.leaderlessSeconds()));
      gauge('muster_leader', 'One while this gateway keeps Propagations in sync.', [], (to) => to.set(leadership.leadsHere() ? 1 : 0));
    }
    if (access !== undefined) this.#countDecisions(access);
  }

  /** Counts an operation that was answered, or refused before its type was known. */
  answered(operation: {
    readonly transport: string;
    readonly operationType: string | undefined;
    readonly code: string;
    readonly tookMs?: number;
  }): void {
    this.#requests.inc({ transport: operation.transport, operation_type: operation.operationType ?? 'none', code: operation.code });
    // The lifetime of a stream is not a response time.
    if (operation.tookMs !== undefined && operation.operationType !== 'subscription') this.#seconds.observe(operation.tookMs / 1000);
  }

  /** Counts a request whose credentials were not accepted, or could not be checked. Both labels come from closed sets. */
  authFailed(method: CredentialMethod, reason: RefusalReason | 'unavailable'): void {
    this.#authFailures.inc({ method, reason });
  }

  /** Counts a stream that has ended. `reason` is `CLIENT`, `LIFETIME`, or the code of the error that ended the stream. */
  streamClosed(reason: string): void {
    this.#streamsClosed.inc({ reason });
  }

  /** Counts an operation whose compiled code gave up. The reason is one of a closed set. */
  executionBailed(reason: BailReason): void {
    this.#executionBails.inc({ reason });
  }

  /** Registers a gauge that reads the number of open streams at each scrape. */
  gaugeStreams(count: (transport: 'websocket' | 'sse') => number): void {
    this.#scraped(Gauge<string>)('muster_streams', 'Streams that are open, by transport.', ['transport'], (to) => {
      for (const transport of ['websocket', 'sse'] as const) to.set({ transport }, count(transport));
    });
  }

  /** Returns all series as text in the format of Prometheus. */
  async text(): Promise<string> {
    this.#clusters = this.#readClusters();
    const present = new Set(this.#clusters.map(({ cluster }) => cluster));
    for (const label of this.#clusterLabels) if (!present.has(label)) this.#clusterLabels.delete(label);
    const texts = await Promise.all([this.#registry.metrics(), processRegistry?.metrics() ?? '']);
    return texts.join('\n');
  }

  /**
   * Returns a function that makes a series. The series is reset and filled at each scrape, so that it has no values of clusters that have
   * left.
   */
  #scraped<Series extends { reset(): void }>(Type: new (options: SeriesOptions<Series>) => Series) {
    return (name: string, help: string, labelNames: string[], fill: (to: Series) => void) =>
      new Type({
        name,
        help,
        labelNames,
        registers: [this.#registry],
        collect() {
          this.reset();
          fill(this);
        },
      });
  }

  #countUpstream({ upstream, anomalies }: Pick<MetricsSources, 'upstream' | 'anomalies'>): void {
    const count = this.#scraped(Counter<string>);
    count('muster_upstream_requests_total', 'Requests to API servers, by verb and outcome.', ['cluster', 'verb', 'code'], (to) => {
      for (const { cluster, verb, code, count } of upstream()) to.inc({ cluster: this.#clusterLabel(cluster), verb, code }, count);
    });
    count('muster_apply_total', 'Server-side applies that were sent, without dry runs, by outcome.', ['cluster', 'result'], (to) => {
      for (const { cluster, verb, code, count } of upstream())
        if (verb === 'apply') to.inc({ cluster: this.#clusterLabel(cluster), result: code }, count);
    });
    count('muster_watch_restarts_total', 'Watches that ended and were opened again, by reason of the end.', ['cluster', 'reason'], (to) => {
      for (const { cluster, verb, code, count } of upstream())
        if (verb === 'watch') to.inc({ cluster: this.#clusterLabel(cluster), reason: code === 'OK' ? 'ended' : code }, count);
    });
    count('muster_watch_anomalies_total', 'Unusual events of watches that were handled, by type.', ['cluster', 'type'], (to) => {
      for (const { cluster, type, count } of anomalies()) to.inc({ cluster: this.#clusterLabel(cluster), type }, count);
    });
  }

  #countDecisions(access: Pick<DecisionCounts, 'decisions' | 'disagreements'>): void {
    const count = this.#scraped(Counter<string>);
    count('muster_authz_decisions_total', 'Decisions about rights, by mode and result.', ['mode', 'result'], (to) => {
      for (const { mode, result, count } of access.decisions) to.inc({ mode, result }, count);
    });
    const help = 'API servers that decided differently from their RBAC objects. Reviews decide in these clusters from then on.';
    count('muster_authz_disagreements_total', help, ['cluster'], (to) => {
      for (const { cluster, count } of access.disagreements) to.inc({ cluster: this.#clusterLabel(cluster) }, count);
    });
  }

  #gaugeClusters(): void {
    const gauge = this.#scraped(Gauge<string>);
    gauge('muster_cluster_phase', 'One for the phase of a cluster.', ['cluster', 'phase'], (to) => {
      for (const { cluster, phase } of this.#clusters) to.inc({ cluster: this.#clusterLabel(cluster), phase });
    });
    gauge('muster_mirror_objects', 'Objects in the mirrors of a cluster.', ['cluster'], (to) => {
      for (const { cluster, objects } of this.#clusters) to.inc({ cluster: this.#clusterLabel(cluster) }, objects);
    });
    gauge('muster_mirror_age_seconds', 'Seconds since the oldest mirror of a cluster was known to be in sync.', ['cluster'], (to) => {
      for (const { cluster, ageSeconds } of this.#clusters)
        if (ageSeconds !== undefined) to.set({ cluster: this.#clusterLabel(cluster) }, ageSeconds);
    });
  }

  #clusterLabel(cluster: string): string {
    if (this.#clusterLabels.size < maxClusterLabels) this.#clusterLabels.add(cluster);
    return this.#clusterLabels.has(cluster) ? cluster : 'other';
  }
}
