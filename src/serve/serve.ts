import { createHash } from 'node:crypto';
import type { Caller } from '../access/access.ts';
import type { Config } from '../config/config.ts';
import type { Clock } from '../core/clock.ts';
import { MusterError } from '../core/errors.ts';
import { emptyHeapGauge, type HeapGauge } from '../core/heap-gauge.ts';
import type { Log } from '../core/log.ts';
import { loggableError } from '../core/loggable-error.ts';
import { OperationAdmission } from '../operations/admission.ts';
import { AnswerEncoder } from '../operations/answer-encoder.ts';
import { AnswerFactory } from '../operations/answers.ts';
import { Deadlines } from '../operations/deadlines.ts';
import { useCostLimit, useDocumentLimits } from '../operations/document-limits.ts';
import { createEngine, type Engine } from '../operations/engine.ts';
import { useDeadlines, useExecution } from '../operations/execution.ts';
import { useIntrospectionCache } from '../operations/introspection-cache.ts';
import type { AnsweredOperation, OperationPlugin, OperationScope } from '../operations/operation.ts';
import type { ServedSchema } from '../operations/served-schema.ts';
import { TurnGate } from '../operations/turn-gate.ts';
import { UnsentBytes } from '../operations/unsent-bytes.ts';
import { Subscriptions, useSubscriptions } from '../streams/sending/subscriptions.ts';
import { createGraphiql, type ExampleQuery } from './http/graphiql.ts';
import { createGraphqlHandler, useAdmission, useAnswers } from './http/graphql-handler.ts';
import { corsOf, createGuard, type Guard, useTokenCheck } from './http/guard.ts';
import type { HttpListener } from './http/listen.ts';
import { useNegotiation } from './http/media-types.ts';
import { useExactJson } from './http/request-body.ts';
import { Router } from './http/router.ts';
import type { GatewayHealth } from './monitoring/health.ts';
import { Metrics, type MetricsSources } from './monitoring/metrics.ts';
import { EventStreams } from './sse/event-stream.ts';
import { WebSockets } from './web-socket/web-sockets.ts';

export interface ServeOptions {
  readonly config: Pick<Config, 'host' | 'allowOrigins' | 'limits' | 'logLevel'>;
  /** The server to answer on. `Serving` owns it from then on. */
  readonly listening: HttpListener;
  /** The bearer token that requests must carry. Default: no token is required. */
  readonly token?: string;
  readonly served: () => ServedSchema;
  /** Makes the context of the resolvers of one operation. */
  readonly contextOf: (scope: OperationScope) => object;
  /** The caller in local mode: the user who runs the gateway. */
  readonly caller: Caller;
  readonly health: GatewayHealth;
  readonly observed: MetricsSources;
  /** The examples with which GraphiQL opens. */
  readonly examples: readonly ExampleQuery[];
  /** Measures how full the heap is. Default: a heap that is always empty. */
  readonly heap?: HeapGauge;
  readonly clock: Clock;
  readonly log: Log;
}

/** A gateway that answers requests. Disposing it is `drain(0)`. */
export interface Serving extends AsyncDisposable {
  /** The port of the listener, also if the config has port 0. */
  readonly port: number;
  /** Makes the gateway unready, so that load balancers notice. Requests are still answered. */
  retire(): void;
  /** Call it when another schema is served. Streams whose schema is too old are ended. */
  schemaSwapped(): void;
  /**
   * Accepts no more requests, and resolves when the last connection is gone. Streams end with `complete`, or with their WebSocket by 1001.
   * Other operations have `patienceMs` to end. After that they end with `SHUTTING_DOWN`.
   */
  drain(patienceMs: number): Promise<void>;
}

/** Time for clients to take their last answers, before their connections are cut. */
const lastWordsMs = 1_000;

/** Pace at which streams and sockets are ended during `drain`, so that the next gateway is not flooded. */
const endedPerSecond = 250;

/** Maximum time for ending all of them. */
const maxSpreadMs = 20_000;

/** Starts to answer requests on the listener. Wires plugins, streams, HTTP and WebSocket. */
export function serve(options: ServeOptions): Serving {
  const { config, listening, clock, log } = options;
  const admission = new OperationAdmission(config.limits.requestsInFlight);
  const ending = new AbortController();
  let retired = false;
  const unsent = new UnsentBytes(clock, config.limits.unsentBytes);
  const parts = partsOf(options, { admission, unsent, ending: ending.signal }, () => retired);
  const running = runningOf(options, parts);
  const { subscriptions, engine, lives } = running;
  const front = createGraphqlHandler({
    handle: engine.handle,
    caller: options.caller,
    streams: new EventStreams(clock, unsent),
    unsent,
    inFlight: lives,
    admission,
  });
  const router = new Router({ ...parts, front, served: options.served });
  const sockets = new WebSockets({
    ...parts,
    ...running,
    onRefused: refusedOver('websocket', parts.metrics),
    caller: options.caller,
    maxSockets: config.limits.streams,
    clock,
  });
  listening.onRequest((request, response) => router.handle(request, response));
  listening.onUpgrade((request, socket, head) => sockets.upgrade(request, socket, head));

  let drained: Promise<void> | undefined;
  const drain = async (patienceMs: number) => {
    retired = true;
    const closed = listening.close();
    const gone = new AbortController();
    const idle = admission.close();
    const spreadMs = Math.min(patienceMs, maxSpreadMs, ((subscriptions.count('sse') + sockets.size) * 1000) / endedPerSecond);
    const streamsEnded = Promise.all([subscriptions.drain(spreadMs, gone.signal), sockets.drain(spreadMs)]);
    await Promise.race([Promise.all([idle, streamsEnded]), clock.sleep(patienceMs, gone.signal)]);
    ending.abort();
    for (const life of lives) life.abort(new MusterError('SHUTTING_DOWN', 'the gateway is ending'));
    await Promise.race([Promise.all([idle, closed]), clock.sleep(lastWordsMs, gone.signal)]);
    gone.abort();
    sockets[Symbol.dispose]();
    listening.destroy();
    await closed;
    log.debug({}, 'the HTTP edge is closed');
  };
  return {
    port: listening.port,
    retire: () => {
      retired = true;
    },
    schemaSwapped: () => subscriptions.schemaSwapped(),
    drain: (patienceMs) => {
      drained ??= drain(patienceMs);
      return drained;
    },
    [Symbol.asyncDispose]: () => {
      drained ??= drain(0);
      return drained;
    },
  };
}

interface Parts {
  readonly admission: OperationAdmission;
  readonly unsent: UnsentBytes;
  readonly ending: AbortSignal;
  readonly metrics: Metrics;
  readonly health: GatewayHealth;
  readonly guard: Guard;
  readonly onBug: (error: unknown) => void;
  readonly onRefused: (refusal: { readonly code: string; readonly message: string }) => void;
}

interface Running {
  readonly engine: Engine;
  readonly answers: AnswerFactory;
  readonly subscriptions: Subscriptions;
  /** Operations in flight over HTTP. They are aborted when the gateway ends. */
  readonly lives: Set<AbortController>;
}

/** Creates the parts that run operations of every transport. */
function runningOf(options: ServeOptions, { ending, metrics, unsent, guard, admission, onRefused }: Parts): Running {
  const { config, clock, log, served, contextOf, heap = emptyHeapGauge } = options;
  const { querySeconds, mutationSeconds, streams, answerBytes } = config.limits;
  const onAnswered = (ended: AnsweredOperation) => {
    metrics.answered(ended);
    if (config.logLevel === 'debug') log.debug(requestLine(ended), 'answered');
  };
  const encoder = new AnswerEncoder({ clock, maxBytes: answerBytes, unsent: unsent.budget });
  const deadlines = new Deadlines({ clock, limitMs: querySeconds * 1000 }, ending);
  const mutations = new Deadlines({ clock, limitMs: mutationSeconds * 1000 }, ending);
  const onClosed = (reason: string) => metrics.streamClosed(reason);
  const common = { contextOf, deadlines, encoder, clock, log, onAnswered };
  const subscriptions = new Subscriptions({ ...common, served, maxStreams: streams, heap, onClosed });
  metrics.gaugeStreams((transport) => subscriptions.count(transport));
  const answers = new AnswerFactory({ encoder, clock, log, onAnswered, onRefused });
  const lives = new Set<AbortController>();
  const graphiql = createGraphiql(options.examples);
  const plugins = [
    useNegotiation(),
    useTokenCheck(guard),
    useAdmission({ admission, gate: new TurnGate(clock) }),
    useExactJson(config.limits.bodyBytes),
    ...operationPlugins({ contextOf, deadlines, mutations, answers, subscriptions, lives }),
    useAnswers(answers),
    graphiql.plugin,
  ];
  const engine = createEngine({ ...graphiql, served, clock, plugins, cors: corsOf(config.allowOrigins) });
  return { engine, answers, subscriptions, lives };
}

interface OperationParts extends Pick<Running, 'answers' | 'subscriptions' | 'lives'>, Pick<ServeOptions, 'contextOf'> {
  readonly deadlines: Deadlines;
  readonly mutations: Deadlines;
}

/** The plugins for operations of every transport, in the order in which Yoga runs their hooks. */
export function operationPlugins({ contextOf, deadlines, mutations, subscriptions, ...parts }: OperationParts): readonly OperationPlugin[] {
  return [
    useDocumentLimits(),
    useCostLimit(),
    useExecution(contextOf),
    useDeadlines({ queries: deadlines, mutations }),
    useIntrospectionCache(parts),
    useSubscriptions(subscriptions),
  ];
}

/** The fields of the log line for one request. They have no document, no variables and no names of people. */
function requestLine({ requestId, transport, request, operationType, code, faults, tookMs }: AnsweredOperation) {
  const documentHash = createHash('sha256').update(request.query).digest('base64url').slice(0, 16);
  return { requestId, transport, operation: operationType ?? 'none', documentHash, code, faults, ms: Math.round(tookMs * 1000) / 1000 };
}

function partsOf(
  options: ServeOptions,
  { admission, unsent, ending }: Pick<Parts, 'admission' | 'unsent' | 'ending'>,
  isRetired: () => boolean,
): Parts {
  const { config, log, health, token } = options;
  const metrics = new Metrics(options.observed);
  return {
    admission,
    unsent,
    ending,
    metrics,
    health: { isReady: () => !isRetired() && health.isReady(), checks: () => health.checks() },
    guard: createGuard({ host: config.host, allowOrigins: config.allowOrigins, ...(token === undefined ? {} : { token }) }),
    onBug: (error) => log.error({ error: loggableError(error) }, 'a bug: a request met an error nobody expects'),
    onRefused: refusedOver('http', metrics),
  };
}

function refusedOver(transport: 'http' | 'websocket', metrics: Metrics): Parts['onRefused'] {
  return ({ code, message }) => {
    metrics.answered({ transport, operationType: undefined, code });
    if (code === 'UNAUTHENTICATED') metrics.authFailed(message.startsWith('expected') ? 'missing' : 'wrong');
  };
}
