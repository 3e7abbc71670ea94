import { createHash } from 'node:crypto';
import type { Caller } from '../access/access.ts';
import type { Audit } from '../audit/audit.ts';
import type { Config } from '../config/config.ts';
import type { Clock } from '../core/clock.ts';
import { MusterError } from '../core/errors.ts';
import { emptyHeapGauge, type HeapGauge } from '../core/heap-gauge.ts';
import type { Log } from '../core/log.ts';
import { loggableError } from '../core/loggable-error.ts';
import { OperationExecutor } from '../execution/operation-executor.ts';
import type { Authenticator } from '../identity/authenticator.ts';
import { OperationAdmission } from '../operations/admission.ts';
import { AnswerEncoder } from '../operations/answer-encoder.ts';
import { AnswerFactory } from '../operations/answers.ts';
import { Deadlines } from '../operations/deadlines.ts';
import { useCostLimit, useDocumentLimits, useReadOnly } from '../operations/document-limits.ts';
import { createEngine } from '../operations/engine.ts';
import { useDeadlines, useExecution } from '../operations/execution.ts';
import { type IntrospectionOptions, useIntrospectionCache } from '../operations/introspection-cache.ts';
import type { AnsweredOperation, OperationPlugin, OperationScope, PrepareCaller } from '../operations/operation.ts';
import { OutputBuffers } from '../operations/output-buffers.ts';
import { RequestScheduler } from '../operations/request-scheduler.ts';
import type { ServedSchema } from '../operations/served-schema.ts';
import { type OperationTraces, TracedOperations } from '../operations/traced-operations.ts';
import { UnsentBytes } from '../operations/unsent-bytes.ts';
import { Subscriptions, useSubscriptions } from '../streams/sending/subscriptions.ts';
import {
  type CountAuthFailure,
  createLocalAuthenticator,
  createRequestAuthenticator,
  type RequestAuthenticator,
  type RequestAuthenticatorOptions,
} from './callers/request-authenticator.ts';
import { createConsolePages } from './http/console-pages.ts';
import { createGraphiql, type ExampleQuery } from './http/graphiql.ts';
import { createGraphqlHandler, useAdmission, useAnswers } from './http/graphql-handler.ts';
import { corsOf, createGuard } from './http/guard.ts';
import { createIdentifiedHandler, useTokenCheck } from './http/identified-handler.ts';
import type { HttpListener } from './http/listen.ts';
import { useNegotiation } from './http/media-types.ts';
import { useExactJson } from './http/request-body.ts';
import { createMetricsHandler, Router } from './http/router.ts';
import type { GatewayHealth } from './monitoring/health.ts';
import { Metrics, type MetricsSources } from './monitoring/metrics.ts';
import { createCommentTimer } from './sse/event-stream.ts';
import { WebSockets } from './web-socket/web-sockets.ts';

export interface ServeOptions {
  readonly config: Pick<Config, 'host' | 'allowOrigins' | 'limits' | 'logLevel'> & Partial<Pick<Config, 'readOnly'>>;
  /**
   * A listener that serves /metrics only. Default: the main listener serves metrics in local mode. With authentication, metrics are then not
   * served.
   */
  readonly metricsListening?: HttpListener | undefined;
  /** The listener whose requests and upgrades are answered. `Serving.drain` closes the listener. */
  readonly listening: HttpListener;
  /** The bearer token that requests must carry in local mode. Default: no token is required. */
  readonly token?: string;
  /** Finds the callers of requests. Default: local mode. */
  readonly authenticator?: Authenticator | undefined;
  /** Records credentials that are not accepted. Default: they are not recorded. */
  readonly audit?: Pick<Audit, 'refusedLogin'> | undefined;
  readonly served: () => ServedSchema;
  /** Makes the context of the resolvers of one operation. */
  readonly contextOf: (scope: OperationScope) => object;
  /** Called before each operation and stream. Default: nothing has to be prepared. */
  readonly prepare?: PrepareCaller | undefined;
  /** The caller in local mode: the user who runs the gateway. */
  readonly caller: Caller;
  readonly health: GatewayHealth;
  readonly observed: MetricsSources;
  /** The examples with which GraphiQL opens. */
  readonly examples: readonly ExampleQuery[];
  /** Measures how full the heap is. Default: a heap that is always empty. */
  readonly heap?: HeapGauge;
  /** Spreads requests over event-loop turns. Shared with other work of callers. Default: a scheduler of its own. */
  readonly requestScheduler?: RequestScheduler;
  /** Traces operations. Undefined: there are no traces. */
  readonly traces?: OperationTraces | undefined;
  readonly clock: Clock;
  readonly log: Log;
}

/** A gateway that answers requests. Disposing it is `drain(0)`. */
export interface Serving extends AsyncDisposable {
  /** The port of the listener, also if the config has port 0. */
  readonly port: number;
  /** Replaces the bearer token of requests in local mode. */
  setToken(token: string): void;
  /** Makes the gateway unready, so that load balancers notice. Requests are still answered. */
  retire(): void;
  /** Ends streams whose schema is older than the newest three, with `GONE`. Call this method when another schema is served. */
  schemaSwapped(): void;
  /**
   * Accepts no more requests, and resolves when the last connection is gone. A stream of server-sent events ends with `complete`. A
   * WebSocket is closed with 1001, which ends its streams. Other operations have `patienceMs` to end. After that they end with
   * `SHUTTING_DOWN`.
   */
  drain(patienceMs: number): Promise<void>;
}

/** Time for clients to take their last answers, before their connections are cut. */
const lastAnswersMs = 1_000;

/** Pace at which streams and sockets are ended during `drain`, so that the next gateway is not flooded. */
const endedPerSecond = 250;

/** Maximum time over which `drain` spreads the ends of all streams and sockets. */
const maxSpreadMs = 20_000;

/**
 * Starts to answer requests on the listener. Wires plugins, streams, HTTP and WebSocket.
 *
 * Next: a request continues in `Router.handle` (http/router.ts), an upgrade in `WebSockets.upgrade` (web-socket/web-sockets.ts).
 */
export function serve(options: ServeOptions): Serving {
  const { config, listening, metricsListening, clock, log, caller, served } = options;
  const metrics = new Metrics(options.observed);
  const { guard, requestAuthenticator } = createGuards(options, metrics);
  const ending = new AbortController();
  let isRetired = false;
  const shared = {
    admission: new OperationAdmission(config.limits.requestsInFlight),
    unsent: new UnsentBytes(clock, config.limits.unsentBytes),
    buffers: new OutputBuffers(),
    ...{ guard, requestAuthenticator, metrics },
    onBug: (error: unknown) => log.error({ error: loggableError(error) }, 'a bug: a request failed with an unexpected error'),
    onRefused: countRefusals('http', metrics),
  };
  const operations = createOperations(options, { ...shared, ending: ending.signal });
  const { subscriptions, engine, inFlight } = operations;
  const graphql = createGraphqlHandler({
    ...{ ...shared, handle: engine.handle, load: requestAuthenticator.load },
    ...{ caller, comments: createCommentTimer(clock), inFlight, clock },
  });
  const handler = createIdentifiedHandler({ ...shared, handler: graphql });
  const health = { isReady: () => !isRetired && options.health.isReady(), checks: (caller: Caller) => options.health.checks(caller) };
  const servesMetrics = requestAuthenticator.isLocal && metricsListening === undefined;
  const router = new Router({ ...shared, health, handler, served, servesMetrics, consolePages: createConsolePages() });
  const onRefused = countRefusals('websocket', metrics);
  const sockets = new WebSockets({ ...shared, ...operations, onRefused, maxSockets: config.limits.streams, clock });
  listening.onRequest((request, response) => {
    // So a client opens its next connection to another gateway, before this one closes.
    if (isRetired) response.shouldKeepAlive = false;
    return router.handle(request, response);
  });
  metricsListening?.onRequest(createMetricsHandler(shared));
  listening.onUpgrade((request, socket, head) => sockets.upgrade(request, socket, head));

  let drained: Promise<void> | undefined;
  const drain = async (patienceMs: number) => {
    isRetired = true;
    const closed = listening.close();
    const gone = new AbortController();
    const idle = shared.admission.close();
    const spreadMs = Math.min(patienceMs, maxSpreadMs, ((subscriptions.count('sse') + sockets.size) * 1000) / endedPerSecond);
    const streamsEnded = Promise.all([subscriptions.drain(spreadMs, gone.signal), sockets.drain(spreadMs)]);
    await Promise.race([Promise.all([idle, streamsEnded]), clock.sleep(patienceMs, gone.signal)]);
    ending.abort();
    for (const operation of inFlight) operation.abort(new MusterError('SHUTTING_DOWN', 'the gateway is ending'));
    await Promise.race([Promise.all([idle, closed]), clock.sleep(lastAnswersMs, gone.signal)]);
    gone.abort();
    sockets[Symbol.dispose]();
    listening.destroy();
    await closed;
    log.debug({}, 'the HTTP edge is closed');
  };
  const drainOnce = (patienceMs: number) => {
    drained ??= drain(patienceMs);
    return drained;
  };
  return {
    port: listening.port,
    setToken: guard.setToken,
    retire: () => {
      isRetired = true;
    },
    schemaSwapped: () => subscriptions.schemaSwapped(),
    drain: drainOnce,
    [Symbol.asyncDispose]: () => drainOnce(0),
  };
}

/** Creates the two checks of each request: `guard` checks its origin, and `requestAuthenticator` finds its caller. */
function createGuards({ config, listening, token, authenticator, audit, caller, clock, log }: ServeOptions, metrics: Metrics) {
  const { host, allowOrigins } = config;
  const onFailure: CountAuthFailure = (method, reason) => metrics.authFailed(method, reason);
  const onIdentified: RequestAuthenticatorOptions['onIdentified'] = (socket, { key }) => listening.identified(socket, key);
  const guard = createGuard({ host: authenticator === undefined ? host : undefined, allowOrigins, token });
  const requestAuthenticator =
    authenticator === undefined
      ? createLocalAuthenticator({ checkToken: guard.checkToken, caller, onFailure })
      : createRequestAuthenticator({ authenticator, clock, log, onFailure, onIdentified, audit });
  return { guard, requestAuthenticator };
}

interface OperationParts {
  readonly admission: OperationAdmission;
  readonly unsent: UnsentBytes;
  readonly buffers: OutputBuffers;
  readonly requestAuthenticator: RequestAuthenticator;
  readonly metrics: Metrics;
  readonly onRefused: CountRefusal;
  readonly ending: AbortSignal;
}

/** Creates the parts that run operations of every transport. */
function createOperations(
  options: ServeOptions,
  { ending, metrics, unsent, buffers, requestAuthenticator, admission, onRefused }: OperationParts,
) {
  const { config, clock, log, served, contextOf, prepare, heap = emptyHeapGauge, requestScheduler = new RequestScheduler(clock) } = options;
  const { querySeconds, mutationSeconds, streams, answerBytes } = config.limits;
  const traced = options.traces === undefined ? undefined : new TracedOperations(options.traces);
  const onAnswered = (ended: AnsweredOperation) => {
    metrics.answered(ended);
    traced?.answered(ended);
    if (config.logLevel === 'debug') log.debug(requestLine(ended), 'answered');
  };
  const encoder = new AnswerEncoder({ clock, maxBytes: answerBytes, unsent: unsent.budget, buffers });
  const deadlines = new Deadlines({ clock, limitMs: querySeconds * 1000 }, ending);
  const mutations = new Deadlines({ clock, limitMs: mutationSeconds * 1000 }, ending);
  const onClosed = (reason: string) => metrics.streamClosed(reason);
  const common = { contextOf, prepare, deadlines, encoder, clock, log, onAnswered };
  const subscriptions = new Subscriptions({ ...common, served, maxStreams: streams, heap, onClosed });
  metrics.gaugeStreams((transport) => subscriptions.count(transport));
  const answers = new AnswerFactory({ ...common, onRefused });
  const inFlight = new Set<AbortController>();
  const executor = new OperationExecutor({ clock, onBail: (reason) => metrics.executionBailed(reason) });
  const graphiql = createGraphiql(options.examples);
  const plugins = [
    useNegotiation(),
    useTokenCheck(requestAuthenticator),
    useAdmission({ admission, requestScheduler }),
    useExactJson({ maxBytes: config.limits.bodyBytes, requestScheduler, clock }),
    ...operationPlugins({
      executor,
      contextOf,
      prepare,
      deadlines,
      mutations,
      answers,
      subscriptions,
      inFlight,
      readOnly: config.readOnly,
    }),
    ...(traced === undefined ? [] : [traced.plugin]),
    useAnswers(answers),
    graphiql.plugin,
  ];
  const engine = createEngine({ ...graphiql, served, clock, plugins, cors: corsOf(config.allowOrigins) });
  return { engine, answers, subscriptions, inFlight, requestScheduler };
}

export interface OperationPluginOptions extends IntrospectionOptions {
  readonly executor: OperationExecutor;
  readonly contextOf: ServeOptions['contextOf'];
  readonly prepare?: ServeOptions['prepare'];
  readonly deadlines: Deadlines;
  readonly mutations: Deadlines;
  readonly subscriptions: Subscriptions;
  /** True: mutations are refused. Default: false. */
  readonly readOnly?: boolean | undefined;
}

/** The plugins for operations of every transport, in the order in which Yoga runs their hooks. */
export function operationPlugins(options: OperationPluginOptions): readonly OperationPlugin[] {
  const { executor, contextOf, prepare, deadlines, mutations, subscriptions, readOnly = false } = options;
  return [
    useDocumentLimits(),
    ...(readOnly ? [useReadOnly()] : []),
    useCostLimit(),
    useExecution({ executor, contextOf, prepare }),
    useDeadlines({ queries: deadlines, mutations }),
    useIntrospectionCache(options),
    useSubscriptions(subscriptions, executor),
  ];
}

/** Returns the fields of the log line for one request. They have no document, no variables and no names of people. */
function requestLine({ requestId, transport, request, operationType, code, faults, tookMs }: AnsweredOperation) {
  const documentHash = createHash('sha256').update(request.query).digest('base64url').slice(0, 16);
  return { requestId, transport, operation: operationType ?? 'none', documentHash, code, faults, ms: Math.round(tookMs * 1000) / 1000 };
}

type CountRefusal = (refusal: { readonly code: string }) => void;

function countRefusals(transport: 'http' | 'websocket', metrics: Metrics): CountRefusal {
  return ({ code }) => metrics.answered({ transport, operationType: undefined, code });
}
