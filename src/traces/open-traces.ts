import { AsyncLocalStorage } from 'node:async_hooks';
import { type Context, ROOT_CONTEXT, type Span, SpanKind, SpanStatusCode, type Tracer, trace } from '@opentelemetry/api';
import { parseKeyPairsIntoRecord, W3CTraceContextPropagator } from '@opentelemetry/core';
import { resourceFromAttributes } from '@opentelemetry/resources';
import { BatchSpanProcessor, TracerProvider } from '@opentelemetry/sdk-trace';
import type { ClusterApi } from '../cluster/cluster-api.ts';
import { forwardingApi } from '../cluster/forwarding-api.ts';
import type { TraceSettings } from '../config/trace-settings.ts';
import type { Clock } from '../core/clock.ts';
import type { Log } from '../core/log.ts';
import type { Model } from '../model/model.ts';
import type { BegunOperation, OperationTrace, OperationTraces } from '../operations/traced-operations.ts';
import { exporterFor, samplerFor } from './trace-export.ts';
import { callOfLog, callOfRequest, kindFinder, type UpstreamCall } from './upstream-call.ts';

/** The traces of a gateway: a span for each operation, and a span for each call to a cluster that an operation makes. */
export interface Traces extends OperationTraces, AsyncDisposable {
  /**
   * Returns an API that makes a span for each live request and each log. Lists and watches get none, because they belong to mirrors and not to an
   * operation.
   */
  traced(api: ClusterApi): ClusterApi;
  /** Sets the model that gives the names of kinds in spans. Spans that begin before this call have no kind. */
  nameKinds(model: () => Model): void;
}

interface TracesOptions {
  readonly settings: TraceSettings;
  /** The version of the gateway. */
  readonly version: string;
  readonly clock: Clock;
  readonly log: Log;
}

/** The longest time that the end of the gateway waits for the last spans to be sent. */
const flushMs = 5_000;

const propagator = new W3CTraceContextPropagator();

/**
 * Opens the traces of a gateway. Spans wait in a queue of 2,048 and are sent in batches. If the queue is full, new spans are dropped. If a batch
 * cannot be sent, its spans are lost, and the log warns at most once a minute. Disposing sends the spans of the queue, for at most 5 s.
 *
 * Spans hold no documents, variables, names of objects or tokens.
 */
export async function openTraces(options: TracesOptions): Promise<Traces> {
  const { settings, version } = options;
  let kindOf = kindFinder(() => undefined);
  const exporter = await exporterFor(options);
  const provider = new TracerProvider({
    resource: resourceFromAttributes({ ...parseKeyPairsIntoRecord(settings.resource), 'service.name': settings.serviceName }),
    sampler: samplerFor(settings),
    spanProcessors: [new BatchSpanProcessor({ exporter, scheduledDelayMillis: settings.delayMs })],
  });
  const tracer = provider.getTracer('muster', version);
  const running = new AsyncLocalStorage<RunningOperation>();
  return {
    begin: (operation) => beginOperation(operation, { tracer, running }),
    traced: (api) => tracedApi(api, (call) => running.getStore()?.call(api.cluster, call, kindOf(call.group, call.plural))),
    nameKinds: (model) => {
      kindOf = kindFinder(model);
    },
    [Symbol.asyncDispose]: () => shutDown(provider, options.clock),
  };
}

async function shutDown(provider: TracerProvider, clock: Clock): Promise<void> {
  const ending = new AbortController();
  await Promise.race([provider.shutdown(), clock.sleep(flushMs, ending.signal)]);
  ending.abort();
}

/** Begins the span of an operation. Undefined if it is not sampled: then its calls to clusters are not sampled either. */
function beginOperation(
  { type, name, requestId, transport, header }: BegunOperation,
  { tracer, running }: { readonly tracer: Tracer; readonly running: AsyncLocalStorage<RunningOperation> },
): OperationTrace | undefined {
  const parent = propagator.extract(ROOT_CONTEXT, header, { get: (of, key) => of(key), keys: () => [] });
  const span = tracer.startSpan(type, { kind: SpanKind.SERVER }, parent);
  if (!span.isRecording()) return undefined;
  // No sampler reads attributes, and only spans that are sampled need them.
  if (name !== undefined) span.setAttribute('graphql.operation.name', name);
  span.setAttribute('muster.request_id', requestId).setAttribute('muster.transport', transport);
  const operation = new RunningOperation(tracer, parent, span);
  return { run: (part) => running.run(operation, part), end: (result) => operation.end(result) };
}

/**
 * One operation with its span. A call that begins after the end of the operation has no span, even if the operation started the work that makes the
 * call.
 */
class RunningOperation {
  readonly #tracer: Tracer;
  readonly #parent: Context;
  readonly #span: Span;
  /** The context of the children. Undefined before the first child: most operations read mirrors and have none. */
  #context: Context | undefined;
  #hasEnded = false;

  constructor(tracer: Tracer, parent: Context, span: Span) {
    this.#tracer = tracer;
    this.#parent = parent;
    this.#span = span;
  }

  /** Begins the span of a call to a cluster, as a child of the operation's span. Undefined after the end of the operation. */
  call(cluster: string, { verb }: UpstreamCall, kind: string | undefined): Span | undefined {
    if (this.#hasEnded) return undefined;
    const attributes = { 'k8s.cluster.name': cluster, ...(kind === undefined ? {} : { 'muster.kind': kind }) };
    this.#context ??= trace.setSpan(this.#parent, this.#span);
    return this.#tracer.startSpan(verb, { kind: SpanKind.CLIENT, attributes }, this.#context);
  }

  end({ isFailed, faults }: { readonly isFailed: boolean; readonly faults: number }): void {
    this.#hasEnded = true;
    this.#span.setAttribute('muster.faults', faults);
    if (isFailed) this.#span.setStatus({ code: SpanStatusCode.ERROR });
    this.#span.end();
  }
}

function tracedApi(api: ClusterApi, begin: (call: UpstreamCall) => Span | undefined): ClusterApi {
  return forwardingApi(api, {
    async *logs(request, signal) {
      const span = begin(callOfLog);
      let status: number | undefined;
      let isFailed = false;
      try {
        for await (const part of api.logs(request, signal)) {
          if (part.type === 'opened') status = 200;
          if (part.type === 'failed') [status, isFailed] = [part.fault.status?.code ?? status, true];
          yield part;
        }
      } finally {
        endCall(span, status, isFailed);
      }
    },
    async send(request, signal) {
      const span = begin(callOfRequest(request));
      const answer = await api.send(request, signal);
      if (answer.type === 'answered') endCall(span, answer.status, false);
      else endCall(span, answer.fault.status?.code, true);
      return answer;
    },
  });
}

function endCall(span: Span | undefined, status: number | undefined, isFailed: boolean): void {
  if (status !== undefined) span?.setAttribute('http.response.status_code', status);
  if (isFailed) span?.setStatus({ code: SpanStatusCode.ERROR });
  span?.end();
}
