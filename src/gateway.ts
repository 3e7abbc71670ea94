import { createLocalAccess } from './access/local-access.ts';
import type { StartProgress } from './cli/output/start-view.ts';
import { connectCluster } from './cluster/requests/connect-cluster.ts';
import type { Config } from './config/config.ts';
import { gatewayVersion } from './config/gateway-version.ts';
import { readOrCreateStateKey } from './config/state-key.ts';
import { readToken } from './config/token.ts';
import type { Clock } from './core/clock.ts';
import type { Log } from './core/log.ts';
import type { ClusterName } from './core/names.ts';
import { TimeSliceScheduler } from './core/scheduling/operation-scheduler.ts';
import { WorkScheduler } from './core/scheduling/work-scheduler.ts';
import { createFleet, type Fleet } from './fleet/fleet.ts';
import type { DuplicateName } from './fleet/roster.ts';
import { UpstreamCounts } from './fleet/upstream-counts.ts';
import { createBudget } from './graph/context/budget.ts';
import type { GatewayView, GraphContext } from './graph/context/context.ts';
import type { LiveSchema } from './graph/live-schema.ts';
import { readBaseline } from './load/catalog/baseline.ts';
import { type Catalog, createCatalog } from './load/catalog/catalog.ts';
import { defaultSchemaLock, openSchemaLock } from './load/catalog/schema-lock-file.ts';
import { createDocumentFetcher } from './load/catalog/unknown-kinds.ts';
import { createQueueBudget } from './load/queue-budget.ts';
import { createLoaderFactory } from './load/reads/operation-loaders.ts';
import { openClusters } from './open-clusters.ts';
import type { OperationScope } from './operations/operation.ts';
import type { ServedSchema } from './operations/served-schema.ts';
import { type HttpListener, listen } from './serve/http/listen.ts';
import type { GatewayHealth } from './serve/monitoring/health.ts';
import type { ClusterGauges } from './serve/monitoring/metrics.ts';
import { measureProcessHeap } from './serve/monitoring/process-heap.ts';
import type { Serving } from './serve/serve.ts';
import { AnomalyCounts } from './watch/clusters/anomaly-counts.ts';
import { type ClusterProgress, createMirrors, type MirrorRegistry } from './watch/clusters/registry.ts';
import { createWriteSide, type WriteSide } from './write-side.ts';

export interface GatewayOptions {
  readonly config: Config;
  readonly clock: Clock;
  readonly log: Log;
  /**
   * The open HTTP listener on the address of the config. The gateway owns it, and closes it even if the start fails. Default: the gateway
   * opens one before anything else.
   */
  readonly listening?: HttpListener;
  /** The bearer token that every request must show. Default: the token in the config's token file. */
  readonly token?: string;
  /**
   * The action if no cluster is named and no kubeconfig is found: `demo` serves the embedded fleet, `refuse` fails with `BAD_INPUT`.
   * Default: `demo`.
   */
  readonly withoutClusters?: 'demo' | 'refuse';
  /** Milliseconds before the controller sends its first request. Default: 0. */
  readonly controllerStartMs?: number;
  /** Called with the progress of each cluster until all are ready. The same step may be reported again. */
  readonly onProgress?: ((progress: StartProgress) => void) | undefined;
}

/** A running gateway. Disposing of it ends it at once, without waiting for requests. */
export interface Gateway extends AsyncDisposable {
  /** The URL of GraphQL. */
  readonly url: string;
  /** True if it serves the embedded fleet. */
  readonly demo: boolean;
  /** Example queries to show to a user. */
  readonly queries: readonly string[];
  /** Resolves when every cluster has synced, has failed or has had 60 s, or when the signal aborts. */
  whenReady(signal: AbortSignal): Promise<void>;
  /**
   * Ends the gateway in order: it reports "not ready", refuses new connections, waits for requests in flight, and leaves the clusters.
   * Further calls have no effect.
   */
  stop(): Promise<void>;
}

/** Milliseconds between checks of readiness during the start. */
const readyPollMs = 200;

/** Milliseconds that requests in flight have to end. */
const drainMs = 30_000;

/** The embedded cluster that keeps Propagations. */
const demoHub = 'eu-prod';

/** The caller in local mode: the person who runs the gateway. */
const localCaller = { key: 'local' };

/**
 * Starts a gateway: it listens, finds the clusters, mirrors them, builds the schema and serves. Resolves when it serves; clusters may
 * still be connecting.
 *
 * @throws {MusterError} `BAD_INPUT`, one line, if the config names something that is missing or broken, or the address is in use.
 */
export async function createGateway(options: GatewayOptions): Promise<Gateway> {
  const { config, clock, log } = options;
  await using stack = new AsyncDisposableStack();
  const listening = stack.use(options.listening ?? (await listen(config)));
  const ending = new AbortController();
  stack.defer(() => ending.abort());
  const counts = new UpstreamCounts();
  const anomalies = new AnomalyCounts();
  const [token, sealKey] = await Promise.all([
    options.token ?? (config.tokenFile === undefined ? undefined : readToken(config.tokenFile)),
    readOrCreateStateKey(config.stateDirectory),
  ]);
  const { source, demo } = stack.use(await openClusters(options));

  const { sensitiveKinds } = config;
  const scheduler = new WorkScheduler(clock);
  const timeSlices = new TimeSliceScheduler(clock);
  const heap = measureProcessHeap(ending.signal);
  const mirrors = stack.use(
    createMirrors({ clock, log, scheduler, heap, sensitiveKinds, onReport: (cluster, report) => anomalies.add(cluster, report) }),
  );
  const fleet = stack.use(
    await createFleet({
      sources: [source],
      connect: (endpoint, signal, current) => counts.counted(connectCluster(endpoint, { clock, log, signal, currentEndpoint: current })),
      log,
    }),
  );
  mirrorAll({ mirrors, fleet, onProgress: options.onProgress }, ending.signal);

  const parts = await prepare();
  const { baseline, createLiveSchema, serve, examples } = parts;
  const fetchDocument = createDocumentFetcher((name) => fleet.member(name)?.api);
  const lock = stack.use(await openSchemaLock({ file: lockFileOf(config, demo), clock, log }));
  const models = createCatalog({ mirrors, baseline, groups: config.kinds, fetchDocument, lock, clock, log }, ending.signal);
  const schema = createLiveSchema({ models, clock, log }, ending.signal);
  const health = healthOf({ mirrors, models, schema });
  const { relationsOf, ...readSide } = readSideOf(parts, { mirrors, fleet, schema, sealKey, scheduler, options }, ending.signal);
  const loadersOf = createLoaderFactory({ mirrors, clock });
  const model = () => schema.current().model;
  const hub = demo ? demoHub : config.hub;
  const writeSide = stack.use(
    createWriteSide(
      { mirrors, fleet, model, hub, sensitiveKinds, controllerStartMs: options.controllerStartMs, clock, log },
      ending.signal,
    ),
  );
  const contextOf = ({ servedSchema: served, resources: held, isMessage, throwIfOver, ...asked }: OperationScope): GraphContext => {
    const budget = createBudget(throwIfOver, config.limits.answerBytes);
    const throwIfDone = () => {
      throwIfOver();
      budget.throwIfSpent();
    };
    const loaders = held.use(loadersOf({ signal: asked.signal, isMessage }));
    const read = { ...asked, loaders, countReads: budget.countReads, timeSlices: timeSlices.createSlices(throwIfDone) };
    return {
      ...readSide,
      relations: relationsOf(read),
      ...writeSide.resolvers,
      read,
      gateway: gatewayView(served, { schema, demo, leadership: writeSide.leadership }),
      clock,
      budget,
    };
  };
  const serving = serve({
    config,
    listening,
    ...(token === undefined ? {} : { token }),
    served: schema.current,
    contextOf,
    caller: localCaller,
    health,
    observed: {
      clusters: () => gaugesOf(mirrors, clock),
      upstream: () => counts.all(),
      anomalies: () => anomalies.all(),
      leadership: writeSide.leadership,
    },
    examples: examples.all,
    heap,
    clock,
    log,
  });
  stack.use(serving);
  schema.onSwap(() => serving.schemaSwapped(), ending.signal);
  const queries = examples.pasted.map(({ query }) => query);
  return gatewayOf({ options, mirrors, schema, health, serving, demo, queries, rest: stack.move() });
}

interface ReadSide {
  readonly mirrors: MirrorRegistry;
  readonly fleet: Fleet;
  readonly schema: LiveSchema;
  readonly sealKey: Uint8Array;
  readonly scheduler: WorkScheduler;
  readonly options: GatewayOptions;
}

/** Creates the parts that resolvers read from. They share the mirrors, the rights, and one budget for the queues of streams and logs. */
function readSideOf(
  { createReads, createRelations, createStreams, createLogs }: Awaited<ReturnType<typeof prepare>>,
  { mirrors, fleet, schema, sealKey, scheduler, options }: ReadSide,
  signal: AbortSignal,
): Pick<GraphContext, 'reads' | 'streams' | 'logs'> & { readonly relationsOf: ReturnType<typeof createRelations> } {
  const { clock, log, config } = options;
  const { sensitiveKinds } = config;
  const shared = { mirrors, access: createLocalAccess(), model: () => schema.current().model, clock, log };
  const member = (name: ClusterName) => fleet.member(name);
  const budget = createQueueBudget();
  const settingsOf = (name: ClusterName) => member(name)?.settings;
  return {
    reads: createReads({ ...shared, member, sealKey, sensitiveKinds }),
    relationsOf: createRelations({ ...shared, sealKey, sensitiveKinds }),
    streams: createStreams({ ...shared, budget, scheduler, onModel: schema.onSwap, settingsOf, sealKey, sensitiveKinds }, signal),
    logs: createLogs({ ...shared, member, budget }),
  };
}

/** Returns the file that remembers kinds. The embedded fleet always serves the same kinds, so it has none unless the config names one. */
function lockFileOf({ schemaLock, stateDirectory }: Config, demo: boolean): string | undefined {
  return schemaLock ?? (demo ? undefined : defaultSchemaLock(stateDirectory));
}

/** Loads files and modules that take long. It runs while the first sockets open. */
async function prepare() {
  const baseline = readBaseline();
  const [{ createReads }, { createRelations }, { createStreams }, { createLogs }, { createLiveSchema }, { serve }, examples] =
    await Promise.all([
      import('./load/create-reads.ts'),
      import('./load/relations/create-relations.ts'),
      import('./streams/views/create-streams.ts'),
      import('./load/logs/create-logs.ts'),
      import('./graph/live-schema.ts'),
      import('./serve/serve.ts'),
      import('./serve/examples.ts').then(({ readExamples }) => readExamples()),
    ]);
  return { baseline: await baseline, createReads, createRelations, createStreams, createLogs, createLiveSchema, serve, examples };
}

interface Followed {
  readonly mirrors: MirrorRegistry;
  readonly fleet: Fleet;
  readonly onProgress: GatewayOptions['onProgress'];
}

/** Mirrors each cluster while it is in the fleet. Tells the fleet the uid of a cluster as soon as it is known, to find duplicates. */
function mirrorAll({ mirrors, fleet, onProgress }: Followed, signal: AbortSignal): void {
  const tell = ({ name, same }: DuplicateName) => onProgress?.({ cluster: name, step: 'duplicate', same });
  fleet.duplicates().forEach(tell);
  mirrors.onChange(({ type, cluster }) => {
    const uid = type === 'changed' ? mirrors.cluster(cluster)?.uid : undefined;
    if (uid !== undefined) fleet.identified(cluster, uid).forEach(tell);
  }, signal);
  fleet.onJoin(({ name, api, settings, signal: life }) => {
    const { namespaces, secrets } = settings;
    mirrors.engage({ name, api, namespaces, secrets }, life);
  }, signal);
  fleet.onRedescribed(({ name }) => mirrors.redescribed(name), signal);
}

interface Starting extends Pick<GatewayOptions, 'clock' | 'onProgress'> {
  readonly mirrors: MirrorRegistry;
  readonly schema: Pick<LiveSchema, 'onSwap'>;
  readonly health: GatewayHealth;
}

/** Resolves when all clusters are ready, and reports progress until then. */
async function untilReady({ mirrors, schema, health, clock, onProgress }: Starting, signal: AbortSignal): Promise<void> {
  const done = new AbortController();
  const either = AbortSignal.any([signal, done.signal]);
  let changed = Promise.withResolvers<void>();
  mirrors.onChange(() => changed.resolve(), either);
  schema.onSwap(() => changed.resolve(), either);
  for (let ready = false; !ready && !signal.aborted; ) {
    ready = health.isReady();
    for (const progress of mirrors.progress()) onProgress?.(startStepOf(progress));
    if (ready) break;
    // A cluster counts as ready after 60 s even if nothing has changed, so the time is checked too.
    await Promise.race([changed.promise, clock.sleep(readyPollMs, either)]);
    changed = Promise.withResolvers<void>();
  }
  done.abort();
}

function startStepOf({ cluster, phase, version, ready, objects, fault }: ClusterProgress): StartProgress {
  if (fault !== undefined && (version === undefined || phase === 'UNREACHABLE'))
    return { cluster, step: 'failed', code: fault.code, message: fault.message };
  if (version === undefined) return { cluster, step: 'connecting' };
  return { cluster, step: ready ? 'synced' : 'listing', version, objects, ...(fault === undefined ? {} : { fault }) };
}

interface ReadinessParts {
  readonly mirrors: MirrorRegistry;
  readonly models: Pick<Catalog, 'settle'>;
  readonly schema: Pick<LiveSchema, 'isBuilding'>;
}

/**
 * Reports readiness: all clusters are ready, and the schema has their custom kinds. Once ready it stays ready, even if a cluster joins or
 * fails.
 */
function healthOf({ mirrors, models, schema }: ReadinessParts): GatewayHealth {
  let settled = false;
  let ready = false;
  return {
    isReady: () => {
      if (ready || !mirrors.ready()) return ready;
      if (!settled) models.settle();
      settled = true;
      ready = !schema.isBuilding();
      return ready;
    },
    checks: () =>
      mirrors.progress().map(({ cluster, phase, ready: isGood, objects, fault }) => ({
        name: `cluster/${cluster}`,
        isGood,
        detail: `${phase}, ${objects} objects${fault === undefined ? '' : `, ${fault.code}`}`,
      })),
  };
}

function gaugesOf(mirrors: MirrorRegistry, clock: Clock): readonly ClusterGauges[] {
  const nowMs = clock.now();
  return mirrors.clusters().map(({ name, phase, resources = [] }) => {
    const running = resources.map((resource) => mirrors.peek(name, resource)).filter((mirror) => mirror !== undefined);
    const ages = running.map((mirror) => mirror.sync().asOfMs).filter((asOfMs) => asOfMs !== undefined);
    const objects = running.reduce((sum, { store }) => sum + store.size, 0);
    return { cluster: name, phase, objects, ...(ages.length === 0 ? {} : { ageSeconds: Math.max(0, nowMs - Math.min(...ages)) / 1000 }) };
  });
}

interface GatewayFacts {
  readonly schema: LiveSchema;
  readonly demo: boolean;
  readonly leadership: WriteSide['leadership'];
}

function gatewayView(served: ServedSchema, { schema, demo, leadership }: GatewayFacts): GatewayView {
  return {
    version: gatewayVersion,
    demo,
    // The hash needs a printed schema, and most operations do not select it.
    get schemaHash() {
      return served.hash;
    },
    schemaBuiltAtMs: schema.current().builtAtMs,
    schemaProblem: schema.problem(),
    controllerProblem: leadership?.problem(),
  };
}

interface GatewayParts {
  readonly options: GatewayOptions;
  readonly mirrors: MirrorRegistry;
  readonly schema: LiveSchema;
  readonly health: GatewayHealth;
  readonly serving: Serving;
  readonly demo: boolean;
  readonly queries: readonly string[];
  /** Resources to end, the last one first. */
  readonly rest: AsyncDisposableStack;
}

function gatewayOf({ options, mirrors, schema, health, serving, demo, queries, rest }: GatewayParts): Gateway {
  const { config, clock } = options;
  const host = config.host.includes(':') ? `[${config.host}]` : config.host;
  let stopped: Promise<void> | undefined;
  const stop = async () => {
    serving.retire();
    if (config.shutdownDelaySeconds > 0) await clock.sleep(config.shutdownDelaySeconds * 1000, new AbortController().signal);
    await serving.drain(drainMs);
    await rest.disposeAsync();
  };
  return {
    url: `http://${host}:${serving.port}/graphql`,
    demo,
    queries,
    whenReady: (signal) => untilReady({ mirrors, schema, health, clock, onProgress: options.onProgress }, signal),
    stop: () => {
      stopped ??= stop();
      return stopped;
    },
    [Symbol.asyncDispose]: () => stopped ?? rest.disposeAsync(),
  };
}
