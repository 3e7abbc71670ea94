import type { Writable } from 'node:stream';
import type { Access, Caller } from './access/access.ts';
import type { OwnRights } from './access/rights/own-rights.ts';
import type { Audit } from './audit/audit.ts';
import { openAudit } from './audit/open-audit.ts';
import { authenticatorOf, createAccess, followTokenFile, type OpenListener, openListener } from './caller-side.ts';
import type { StartProgress } from './cli/output/start-view.ts';
import type { Config } from './config/config.ts';
import { demoHub } from './config/demo-outages.ts';
import { gatewayVersion } from './config/gateway-version.ts';
import { readSealKey } from './config/state-key.ts';
import { readToken } from './config/token.ts';
import type { Clock } from './core/clock.ts';
import type { HeapGauge } from './core/heap-gauge.ts';
import type { Log } from './core/log.ts';
import { type ClusterName, clusterName } from './core/names.ts';
import { TimeSliceScheduler } from './core/scheduling/operation-scheduler.ts';
import type { WorkScheduler } from './core/scheduling/work-scheduler.ts';
import type { Fleet } from './fleet/fleet.ts';
import { createBudget } from './graph/context/budget.ts';
import type { GatewayView, GraphContext } from './graph/context/context.ts';
import type { LiveSchema } from './graph/live-schema.ts';
import { readBaseline } from './load/catalog/baseline.ts';
import { createCatalog } from './load/catalog/catalog.ts';
import { defaultSchemaLock, openSchemaLock } from './load/catalog/schema-lock-file.ts';
import { createDocumentFetcher } from './load/catalog/unknown-kinds.ts';
import { createQueueBudget } from './load/queue-budget.ts';
import { createLiveListFactory } from './load/reads/live-lists.ts';
import { createLoaderFactory } from './load/reads/operation-loaders.ts';
import { openClusters } from './open-clusters.ts';
import { openFleet } from './open-fleet.ts';
import type { OperationScope } from './operations/operation.ts';
import { RequestScheduler } from './operations/request-scheduler.ts';
import type { ServedSchema } from './operations/served-schema.ts';
import { type Readiness, readinessOf, untilStarted } from './readiness.ts';
import type { ClusterGauges } from './serve/monitoring/metrics.ts';
import type { Serving } from './serve/serve.ts';
import type { Traces } from './traces/open-traces.ts';
import type { MirrorRegistry } from './watch/clusters/registry.ts';
import { createWriteSide, type WriteSide } from './write-side.ts';

export interface GatewayOptions {
  readonly config: Config;
  readonly clock: Clock;
  readonly log: Log;
  /**
   * The open listener on the address of the config. The gateway owns it, and closes it even if the start fails. Default: the gateway
   * opens one before anything else.
   */
  readonly listening?: OpenListener;
  /** The bearer token that every request must show. Default: the token in the config's token file. */
  readonly token?: string;
  /** The stream of the audit, if the config has an audit without a file. Default: the standard output. */
  readonly auditOutput?: Writable;
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
  /** Resolves when every cluster and every inventory has been read, has failed or has had 60 s, or when the signal aborts. */
  whenStarted(signal: AbortSignal): Promise<void>;
  /**
   * Ends the gateway in order: it reports "not ready", refuses new connections, waits for requests in flight, and leaves the clusters.
   * Further calls have no effect.
   */
  stop(): Promise<void>;
}

/** At a stop, requests in flight may take this many milliseconds to end. */
const drainMs = 30_000;

/** The caller in local mode: the person who runs the gateway. */
const localCaller = { key: 'local' };

/**
 * Starts a gateway: it listens, finds the clusters, mirrors them, builds the schema and serves. Resolves when it serves; clusters may
 * still be connecting.
 *
 * @throws {MusterError} `BAD_INPUT`, one line, if the config names something that is missing or broken, or the address is in use.
 */
export async function createGateway(options: GatewayOptions): Promise<Gateway> {
  const { config, clock, log, controllerStartMs } = options;
  await using stack = new AsyncDisposableStack();
  const audit = stack.use(await auditOf(options));
  const listening = stack.use(options.listening ?? (await openListener(config)));
  const ending = new AbortController();
  stack.defer(() => ending.abort());
  const [token, sealKey] = await Promise.all([
    options.token ?? (config.tokenFile === undefined ? undefined : readToken(config.tokenFile)),
    readSealKey(config, log),
  ]);
  const traces = stack.use(await tracesOf(options));
  const clusters = stack.use(await openClusters(options));
  const { demo } = clusters;
  const hub = demo ? demoHub : (config.hub ?? clusters.ownCluster);
  const opened = await openFleet(options, { clusters, hub, traces, stack }, ending.signal);
  const { mirrors, fleet, found, heap, counts, anomalies } = opened;

  const parts = await loadParts();
  const { baseline, createLiveSchema, serve, examples } = parts;
  const fetchDocument = createDocumentFetcher((name) => fleet.member(name)?.api);
  const lock = stack.use(await openSchemaLock({ file: lockFileOf(config, demo), clock, log }));
  const models = createCatalog({ mirrors: mirrors.own, baseline, groups: config.kinds, fetchDocument, lock, clock, log }, ending.signal);
  const schema = createLiveSchema({ models, graph: { federation: config.federation }, clock, log }, ending.signal);
  const { access, rights, decisions } = createAccess(options, { mirrors, fleet }, ending.signal);
  const hubName = hub === undefined ? undefined : clusterName(hub);
  const readiness = readinessOf({ mirrors, found, hub: hubName, models, schema, access, clock }, ending.signal);
  const requestScheduler = new RequestScheduler(clock);
  const readSide = readSideOf(parts, { ...opened, access, audit, schema, sealKey, requestScheduler, options }, ending.signal);
  const accounts = config.authentication === undefined ? 'one' : 'many';
  const authenticator = await authenticatorOf({ config, clock, log }, { listening, fleet, hub }, ending.signal);
  const model = () => schema.current().model;
  traces?.nameKinds(model);
  const writeSide = stack.use(
    createWriteSide({ mirrors, fleet, found, access, accounts, audit, model, hub, config, controllerStartMs, clock, log }, ending.signal),
  );
  const maySeeHub = (caller: Caller) => hubName !== undefined && access.maySeeCluster(caller, hubName);
  const serving = serve({
    config,
    listening: listening.main,
    metricsListening: listening.metrics,
    ...(token === undefined ? {} : { token }),
    ...{ authenticator, audit, requestScheduler },
    served: schema.current,
    contextOf: createContexts({ options, mirrors, schema, demo, readSide, writeSide, rights, maySeeHub }),
    prepare: (caller, signal) => access.prepare(caller, signal),
    caller: localCaller,
    health: readiness,
    observed: {
      clusters: () => gaugesOf(mirrors, clock),
      upstream: () => counts.all(),
      anomalies: () => anomalies.all(),
      leadership: writeSide.leadership,
      access: decisions,
    },
    examples: examples.all,
    ...{ heap, traces, clock, log },
  });
  stack.use(serving);
  if (options.token === undefined) followTokenFile(options, serving, ending.signal);
  schema.onSwap(() => serving.schemaSwapped(), ending.signal);
  const queries = examples.forTerminal.map(({ query }) => query);
  return gatewayOf({ options, mirrors, schema, readiness, serving, demo, queries, rest: stack.move() });
}

function auditOf({ config: { audit, configFile }, auditOutput = process.stdout, clock, log }: GatewayOptions) {
  return openAudit({ audit, configFile, output: auditOutput, clock, log });
}

/** Opens the traces of the gateway. Undefined without a collector. The packages of OpenTelemetry are loaded only if there is one. */
async function tracesOf({ config, clock, log }: GatewayOptions): Promise<Traces | undefined> {
  if (config.traces === undefined) return undefined;
  const { openTraces } = await import('./traces/open-traces.ts');
  return openTraces({ settings: config.traces, version: gatewayVersion, clock, log });
}

interface ContextParts {
  readonly options: GatewayOptions;
  readonly mirrors: MirrorRegistry;
  readonly schema: LiveSchema;
  readonly demo: boolean;
  readonly readSide: ReturnType<typeof readSideOf>;
  readonly writeSide: WriteSide;
  readonly rights: OwnRights;
  readonly maySeeHub: (caller: Caller) => boolean;
}

/** Returns a function that creates the context of one operation: the parts that resolvers use, with the limits of that operation. */
function createContexts({
  options,
  mirrors,
  schema,
  demo,
  readSide,
  writeSide,
  rights,
  maySeeHub,
}: ContextParts): (scope: OperationScope) => GraphContext {
  const { config, clock } = options;
  const { relationsOf, listsOf, ...readers } = readSide;
  const loadersOf = createLoaderFactory({ mirrors, listsOf, clock });
  const timeSlices = new TimeSliceScheduler(clock);
  return ({ servedSchema: served, resources: held, isMessage, throwIfOver, ...asked }: OperationScope) => {
    const budget = createBudget(throwIfOver, config.limits.answerBytes);
    const throwIfDone = () => {
      throwIfOver();
      budget.throwIfSpent();
    };
    const loaders = held.use(loadersOf({ ...asked, isMessage }));
    const leadership = maySeeHub(asked.caller) ? writeSide.leadership : undefined;
    const read = { ...asked, loaders, countReads: budget.countReads, timeSlices: timeSlices.createSlices(throwIfDone) };
    return {
      ...readers,
      relations: relationsOf(read),
      ...writeSide.resolvers,
      rights,
      read,
      gateway: gatewayView(served, { schema, demo, readOnly: config.readOnly, leadership }),
      clock,
      budget,
    };
  };
}

interface ReadSide {
  readonly mirrors: MirrorRegistry;
  readonly fleet: Fleet;
  readonly access: Access;
  readonly audit: Audit;
  readonly schema: LiveSchema;
  readonly sealKey: Uint8Array;
  readonly scheduler: WorkScheduler;
  readonly heap: HeapGauge;
  readonly requestScheduler: RequestScheduler;
  readonly options: GatewayOptions;
}

/** Creates the parts that resolvers read from. They share the mirrors, the rights, and one budget for the queues of streams and logs. */
function readSideOf(
  { createReads, createRelations, createStreams, createLogs }: Awaited<ReturnType<typeof loadParts>>,
  { mirrors, fleet, access, audit, schema, sealKey, scheduler, heap, requestScheduler, options }: ReadSide,
  signal: AbortSignal,
): Pick<GraphContext, 'reads' | 'streams' | 'logs'> & {
  readonly relationsOf: ReturnType<typeof createRelations>;
  readonly listsOf: ReturnType<typeof createLiveListFactory>;
} {
  const { clock, log, config } = options;
  const { sensitiveKinds } = config;
  const shared = { mirrors, access, model: () => schema.current().model, clock, log };
  const member = (name: ClusterName) => fleet.member(name);
  const budget = createQueueBudget();
  const settingsOf = (name: ClusterName) => member(name)?.settings;
  return {
    reads: createReads({ ...shared, member, sealKey, sensitiveKinds, audit }),
    relationsOf: createRelations({ ...shared, member, sealKey, sensitiveKinds }),
    listsOf: createLiveListFactory({ mirrors, member, sensitiveKinds, heap, requestScheduler, clock }),
    streams: createStreams({ ...shared, budget, scheduler, onModel: schema.onSwap, settingsOf, sealKey, sensitiveKinds }, signal),
    logs: createLogs({ ...shared, member, budget }),
  };
}

/**
 * Returns the file that remembers kinds. The embedded fleet always serves the same kinds, so the result is undefined for it, unless the
 * config names a file.
 */
function lockFileOf({ schemaLock, stateDirectory }: Config, demo: boolean): string | undefined {
  return schemaLock ?? (demo ? undefined : defaultSchemaLock(stateDirectory));
}

/** Loads files and modules that take long. It runs while the first sockets open. */
async function loadParts() {
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
  readonly readOnly: boolean;
  readonly leadership: WriteSide['leadership'];
}

function gatewayView(served: ServedSchema, { schema, demo, readOnly, leadership }: GatewayFacts): GatewayView {
  return {
    version: gatewayVersion,
    demo,
    readOnly,
    // A getter, because the hash needs a printed schema and most operations do not select it.
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
  readonly readiness: Readiness;
  readonly serving: Serving;
  readonly demo: boolean;
  readonly queries: readonly string[];
  /** Resources to end, the last one first. */
  readonly rest: AsyncDisposableStack;
}

function gatewayOf({ options, mirrors, schema, readiness, serving, demo, queries, rest }: GatewayParts): Gateway {
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
    url: `${config.tls === undefined ? 'http' : 'https'}://${host}:${serving.port}/graphql`,
    demo,
    queries,
    whenStarted: (signal) => untilStarted({ mirrors, schema, readiness, clock, onProgress: options.onProgress }, signal),
    stop: () => {
      stopped ??= stop();
      return stopped;
    },
    [Symbol.asyncDispose]: () => stopped ?? rest.disposeAsync(),
  };
}
