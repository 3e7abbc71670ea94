import type { ExecutionArgs, FormattedExecutionResult, GraphQLSchema, OperationDefinitionNode } from 'graphql';
import type { Clock } from '../../core/clock.ts';
import { invariant, MusterError } from '../../core/errors.ts';
import { type HeapGauge, maxHeapForStreams } from '../../core/heap-gauge.ts';
import type { Log } from '../../core/log.ts';
import { WorkScheduler } from '../../core/scheduling/work-scheduler.ts';
import type { OperationExecutor } from '../../execution/operation-executor.ts';
import { type OpenedSubscription, subscribeTo } from '../../graph/context/subscribe.ts';
import type { AnswerEncoder } from '../../operations/answer-encoder.ts';
import { EncodedAnswer, maskOptionsFor, resultCode } from '../../operations/answers.ts';
import type { Deadlines } from '../../operations/deadlines.ts';
import { IntervalTimer } from '../../operations/interval-timer.ts';
import { clientError, type MaskOptions } from '../../operations/masking.ts';
import {
  type AnsweredOperation,
  type OperationPlugin,
  type OperationScope,
  operationOf,
  type PrepareCaller,
  type RequestOrigin,
} from '../../operations/operation.ts';
import type { OperationRequest } from '../../operations/operation-request.ts';
import { RequestScheduler } from '../../operations/request-scheduler.ts';
import type { ServedSchema } from '../../operations/served-schema.ts';
import { StartedStream, type StreamHandle, type StreamOutlet } from '../outlet.ts';
import { cursorVariableOf, StreamGroups, type StreamRequest } from './stream-groups.ts';
import { type StreamEnd, StreamSender } from './stream-sender.ts';

export interface SubscriptionsOptions {
  /** Makes the context of the resolvers. */
  readonly contextOf: (scope: OperationScope) => object;
  /** Called before each stream begins. Default: nothing has to be prepared. */
  readonly prepare?: PrepareCaller | undefined;
  /** Bounds the time to begin a stream, and to make a message. */
  readonly deadlines: Deadlines;
  readonly encoder: AnswerEncoder;
  readonly clock: Clock;
  readonly log: Log;
  /** Called for each stream that has ended or could not begin. */
  readonly onAnswered: (ended: AnsweredOperation) => void;
  readonly served: () => ServedSchema;
  /** Maximum number of streams in the process, over all transports. */
  readonly maxStreams: number;
  /** Measures how full the heap is. From `maxHeapForStreams` on, no new stream begins. Running streams continue. */
  readonly heap: HeapGauge;
  /** Called with the reason when a stream that had begun has ended: `CLIENT`, `LIFETIME`, or the code of an error. */
  readonly onClosed: (reason: string) => void;
}

/** Lifetime of a stream or a socket. Each lives up to 10 % shorter or longer, so that clients do not all come back at once. */
const lifetimeMs = 3_600_000;

/** Interval in which lifetimes are checked. */
const lifetimeCheckMs = 12_000;

/** Number of schemas that streams may keep alive. */
const maxSchemas = 3;

/**
 * Maximum characters of the document and the variables of one stream. Bounds the memory of a stream. The cursor variable does not count: it
 * grows with the fleet, and it is released once the stream has begun.
 */
const maxRequestLength = 64 << 10;

/** Interval in which streams are ended while the gateway drains. */
const sliceMs = 100;

/** HTTP status of a refused stream, by error code, if it may begin a little later or on another gateway. */
const unavailableStatuses: ReadonlyMap<string, number> = new Map([
  ['OVERLOADED', 429],
  ['SHUTTING_DOWN', 503],
]);

/** The abort reason after a stream has ended. Not an error. */
const streamEnded = new Error('the stream has ended');

/** The parts of a request that are kept while its stream lives. Variables are not kept, because they may contain a large cursor. */
interface KeptRequest {
  readonly subscription: { readonly servedSchema: ServedSchema; readonly operation: OperationDefinitionNode };
  readonly request: Pick<OperationRequest, 'query'>;
  readonly origin: RequestOrigin;
}

interface RunningStream {
  readonly requested: KeptRequest;
  readonly startedMs: number;
  readonly dueMs: number;
  readonly onAbort: () => void;
  readonly membership: Disposable;
}

type Membership = ReturnType<StreamGroups['join']>;

interface StreamStart {
  readonly outlet: StreamOutlet;
  readonly startedMs: number;
  readonly membership: Membership;
}

/**
 * All streams of all transports. They count to the same limits, and end for the same reasons. Streams with the same document, variables and
 * rights share one execution of each message, if no field of the document depends on the caller. A slow stream never delays another one.
 */
export class Subscriptions {
  readonly #options: SubscriptionsOptions;
  readonly #scheduler: WorkScheduler;
  readonly #requestScheduler: RequestScheduler;
  readonly #groups = new StreamGroups();
  readonly #openings = new Set<AbortController>();
  readonly #streams = new Map<StreamSender, RunningStream>();
  readonly #lifetimes: IntervalTimer<StreamSender>;
  /**
   * Sequence number of each schema: schemas are numbered in the order in which they were served. Weak: only streams keep old schemas alive.
   */
  readonly #generations = new WeakMap<GraphQLSchema, number>();
  #generation = 0;
  #isClosed = false;

  constructor(options: SubscriptionsOptions) {
    this.#options = options;
    this.#scheduler = new WorkScheduler(options.clock);
    this.#requestScheduler = new RequestScheduler(options.clock);
    this.#lifetimes = new IntervalTimer({ clock: options.clock, everyMs: lifetimeCheckMs, onInterval: (stream) => this.#expire(stream) });
  }

  /** Returns the number of open streams of a transport. */
  count(transport: StreamOutlet['transport']): number {
    return this.#streams.keys().reduce((sum, { outlet }) => (outlet.transport === transport ? sum + 1 : sum), 0);
  }

  /** Number of groups with streams. */
  get groups(): number {
    return this.#groups.size;
  }

  /**
   * Returns the lifetime of a stream or a WebSocket: an hour, up to 10 % shorter or longer. Streams of server-sent events are ended here. A
   * WebSocket ends itself.
   */
  lifetimeMs(): number {
    return lifetimeMs * (0.9 + 0.2 * this.#options.clock.random());
  }

  /**
   * Begins a stream. Its messages, and its end, may reach the outlet before the promise resolves. The abort controller of the origin
   * belongs to the stream: aborting it closes the stream, and it is aborted when the stream has ended.
   *
   * @returns The stream. Or the answer that says why it did not begin, such as `OVERLOADED` or `SHUTTING_DOWN`: the outlet then got
   * nothing.
   * @throws The abort reason, if the origin was aborted with another error than a MusterError before the stream began.
   */
  async open(requested: StreamRequest, outlet: StreamOutlet): Promise<StreamHandle | EncodedAnswer> {
    const { contextOf, prepare, clock, deadlines } = this.#options;
    const { subscription, origin } = requested;
    const { caller, requestId, abortController } = origin;
    const { signal } = abortController;
    const startedMs = clock.monotonic();
    this.schemaSwapped();
    const refusal = this.#refusalOf(requested);
    if (refusal !== undefined) return this.#answer(requested, [refusal], startedMs);
    this.#openings.add(abortController);
    const deadline = deadlines.start(() =>
      abortController.abort(new MusterError('TOO_COSTLY', `expected to begin within ${deadlines.seconds} s`)),
    );
    using resources = new DisposableStack();
    try {
      await this.#requestScheduler.waitForTurn();
      await prepare?.(caller, signal);
      signal.throwIfAborted();
      // `reportFault` does nothing here, because no field of a message has been resolved yet.
      const scope = {
        caller,
        requestId,
        signal,
        servedSchema: subscription.servedSchema,
        resources,
        isMessage: false,
        throwIfOver: () => signal.throwIfAborted(),
        reportFault: () => undefined,
      };
      const subscribed = await subscription.openSource(contextOf(scope));
      signal.throwIfAborted();
      if ('errors' in subscribed) return this.#answer(requested, subscribed.errors, startedMs);
      return await this.#start(keptRequestOf(requested), subscribed.source, {
        outlet,
        startedMs,
        membership: this.#join(requested, subscribed),
      });
    } catch (error) {
      const reason: unknown = signal.aborted ? signal.reason : error;
      if (signal.aborted && !(reason instanceof MusterError)) throw reason;
      return this.#answer(requested, [reason], startedMs);
    } finally {
      deadline.end();
      this.#openings.delete(abortController);
    }
  }

  /** Ends streams whose schema is older than the newest three, with `GONE`. Call this method when another schema is served. */
  schemaSwapped(): void {
    const { schema } = this.#options.served();
    if (this.#generation > 0 && this.#generations.get(schema) === this.#generation) return;
    this.#generation++;
    this.#generations.set(schema, this.#generation);
    const ending = this.#streams.entries().filter(([, { requested }]) => this.#isOutdated(requested));
    this.#endOneByOne([...ending].reverse());
  }

  /**
   * Stops beginning streams. Ends the streams of server-sent events with `complete`, spread evenly over this time, and resolves when they have
   * ended. After an abort, the remaining ones end at once. Streams of a WebSocket end with the socket.
   */
  async drain(spreadMs: number, signal: AbortSignal): Promise<void> {
    const { clock } = this.#options;
    this.#isClosed = true;
    for (const abortController of this.#openings) abortController.abort(shuttingDown());
    const ending = [...this.#streams.keys()].filter(({ outlet }) => outlet.transport === 'sse');
    const startMs = clock.monotonic();
    for (let next = 0; next < ending.length; ) {
      const share = spreadMs < sliceMs || signal.aborted ? 1 : (clock.monotonic() - startMs) / spreadMs;
      const due = Math.floor(share * ending.length) + 1;
      for (const stream of ending.slice(next, due)) stream.end({ reason: 'SHUTTING_DOWN' });
      next = due;
      if (next < ending.length) await clock.sleep(sliceMs, signal);
    }
  }

  /** Ends the streams one by one, so that other work can run between them. */
  #endOneByOne(ending: (readonly [StreamSender, RunningStream])[]): void {
    if (ending.length === 0) return;
    const work = (): boolean => {
      const [stream, entry] = ending.pop() ?? [];
      if (entry !== undefined) stream?.end({ reason: 'GONE', last: this.#maskedErrors(entry.requested, [outdatedSchema()]) });
      return ending.length > 0;
    };
    this.#scheduler.schedule({ work });
  }

  #refusalOf({ subscription, request }: StreamRequest): MusterError | undefined {
    const { maxStreams, heap } = this.#options;
    if (this.#isClosed) return shuttingDown();
    if (heap.used() >= maxHeapForStreams)
      return new MusterError('OVERLOADED', 'the gateway is short of memory and begins no new streams: try again later');
    if (this.#streams.size + this.#openings.size >= maxStreams)
      return new MusterError('OVERLOADED', `expected at most ${maxStreams} streams in the gateway: try again later`);
    const length = heldLength(subscription, request);
    if (length > maxRequestLength)
      return new MusterError(
        'TOO_COSTLY',
        `expected a subscription of at most ${maxRequestLength} characters with its variables, except the one for after, got ${length}`,
      );
    return this.#isOutdated({ subscription }) ? outdatedSchema() : undefined;
  }

  #join(requested: StreamRequest, { execute }: OpenedSubscription): Membership {
    const { servedSchema } = requested.subscription;
    const { contextOf, encoder, deadlines } = this.#options;
    const { caller } = requested.origin;
    const shared = { execute, caller, contextOf, encoder, deadlines };
    return this.#groups.join(requested, { ...shared, served: servedSchema, masking: this.#masking(requested) });
  }

  async #start(
    requested: KeptRequest,
    source: OpenedSubscription['source'],
    { outlet, startedMs, membership }: StreamStart,
  ): Promise<StreamSender> {
    const { signal } = requested.origin.abortController;
    const onAbort = () => stream.aborted(signal.reason);
    const entry: RunningStream = { requested, startedMs, dueMs: startedMs + this.lifetimeMs(), membership, onAbort };
    const stream: StreamSender = new StreamSender({
      outlet,
      scheduler: this.#scheduler,
      group: membership.group,
      masking: this.#masking(requested),
      onClosed: (why) => this.#closed(stream, entry, why),
    });
    try {
      const reader = await source.open(stream, signal);
      if (signal.aborted && !stream.isEnded) {
        reader[Symbol.dispose]();
        throw signal.reason;
      }
      if (!stream.isEnded) this.#register(stream, entry);
      stream.start(reader);
      return stream;
    } catch (error) {
      membership[Symbol.dispose]();
      throw error;
    }
  }

  #register(stream: StreamSender, entry: RunningStream): void {
    this.#openings.delete(entry.requested.origin.abortController);
    this.#streams.set(stream, entry);
    entry.requested.origin.abortController.signal.addEventListener('abort', entry.onAbort);
    if (stream.outlet.transport === 'sse') this.#lifetimes.add(stream);
  }

  #closed(stream: StreamSender, { requested, startedMs, onAbort, membership }: RunningStream, { reason, last }: StreamEnd): void {
    const { abortController } = requested.origin;
    this.#streams.delete(stream);
    this.#lifetimes.delete(stream);
    abortController.signal.removeEventListener('abort', onAbort);
    abortController.abort(streamEnded);
    membership[Symbol.dispose]();
    this.#options.onClosed(reason);
    this.#answered(requested, startedMs, last === undefined ? 'OK' : resultCode(last));
  }

  #expire(stream: StreamSender): void {
    const entry = this.#streams.get(stream);
    if (entry === undefined || this.#options.clock.monotonic() < entry.dueMs) return;
    const error = new MusterError('UNAVAILABLE', 'this stream has lived for an hour: resume with `after`');
    stream.end({ reason: 'LIFETIME', last: this.#maskedErrors(entry.requested, [error]) });
  }

  #isOutdated({ subscription }: Pick<KeptRequest, 'subscription'>): boolean {
    return (this.#generations.get(subscription.servedSchema.schema) ?? 0) <= this.#generation - maxSchemas;
  }

  #answer(requested: StreamRequest, errors: readonly unknown[], startedMs: number): EncodedAnswer {
    const body = this.#maskedErrors(requested, errors);
    const code = resultCode(body);
    this.#answered(requested, startedMs, code);
    const status = unavailableStatuses.get(code);
    if (status === undefined) return new EncodedAnswer(body);
    // A random delay, so that refused clients do not all come back at once.
    const retryAfter = String(1 + Math.floor(this.#options.clock.random() * 10));
    return new EncodedAnswer(body, { http: { status, headers: { 'retry-after': retryAfter } } });
  }

  #answered({ subscription, request, origin }: KeptRequest, startedMs: number, code: string): void {
    const { requestId, caller, transport } = origin;
    const tookMs = this.#options.clock.monotonic() - startedMs;
    this.#options.onAnswered({
      requestId,
      caller,
      transport,
      request,
      operationType: subscription.operation.operation,
      code,
      faults: 0,
      tookMs,
    });
  }

  #maskedErrors(requested: Pick<KeptRequest, 'origin'>, errors: readonly unknown[]): FormattedExecutionResult {
    const masking = this.#masking(requested);
    return { errors: errors.map((error) => clientError(error, masking)) };
  }

  #masking({ origin }: Pick<KeptRequest, 'origin'>): MaskOptions {
    return maskOptionsFor(origin.requestId, this.#options.log);
  }
}

/** Returns a plugin that hands subscriptions to `Subscriptions.open`. The stream sends its messages without Yoga. */
export function useSubscriptions(subscriptions: Pick<Subscriptions, 'open'>, executor: OperationExecutor): OperationPlugin {
  return {
    onSubscribe: ({ setSubscribeFn }) =>
      setSubscribeFn(async (args: ExecutionArgs) => {
        const { requestId, caller, abortController, servedSchema, definition, params, openOutlet: outletOf } = operationOf(args);
        invariant(
          servedSchema !== undefined && definition !== undefined && params !== undefined,
          'expected a subscription that was validated',
        );
        const outlet = outletOf();
        if (outlet === undefined)
          throw new MusterError('BAD_INPUT', 'expected a query, got a subscription: use WebSocket, or Accept: text/event-stream');
        const openSource = (contextValue: object) => subscribeTo({ ...args, contextValue }, executor);
        const subscription = { servedSchema, document: args.document, operation: definition, openSource };
        const origin = { requestId, caller, transport: outlet.transport, abortController };
        const opened = await subscriptions.open({ subscription, request: params, origin }, outlet);
        return opened instanceof EncodedAnswer ? opened : new StartedStream(opened);
      }),
  };
}

/** Returns the parts of a request that are kept. A separate function, so that no closure keeps the rest of the request in memory. */
function keptRequestOf({ subscription, request, origin }: StreamRequest): KeptRequest {
  const { servedSchema, operation } = subscription;
  return { subscription: { servedSchema, operation }, request: { query: request.query }, origin };
}

function heldLength({ document, operation }: StreamRequest['subscription'], { query, variables = {} }: OperationRequest): number {
  const cursor = cursorVariableOf(document, operation);
  const held = Object.entries(variables).filter(([name]) => name !== cursor);
  return query.length + (held.length === 0 ? 0 : JSON.stringify(Object.fromEntries(held)).length);
}

function shuttingDown(): MusterError {
  return new MusterError('SHUTTING_DOWN', 'the gateway is ending');
}

function outdatedSchema(): MusterError {
  return new MusterError('GONE', 'the schema of this stream is too old: resume with `after` on the current one');
}
