import type { FormattedExecutionResult, GraphQLSchema } from 'graphql';
import { emptyHeapGauge, type HeapGauge } from '../../../src/core/heap-gauge.ts';
import type { JsonObject } from '../../../src/core/json.ts';
import { type Log, silentLog } from '../../../src/core/log.ts';
import { subscribeTo } from '../../../src/graph/context/subscribe.ts';
import { AnswerEncoder } from '../../../src/operations/answer-encoder.ts';
import { EncodedAnswer } from '../../../src/operations/answers.ts';
import { Deadlines } from '../../../src/operations/deadlines.ts';
import { useDocumentLimits } from '../../../src/operations/document-limits.ts';
import { createEngine } from '../../../src/operations/engine.ts';
import { type AnsweredOperation, GraphqlOperation, type RequestOrigin } from '../../../src/operations/operation.ts';
import type { MessageBytes, StreamHandle, StreamOutlet } from '../../../src/streams/outlet.ts';
import type { ValidatedSubscription } from '../../../src/streams/sending/stream-groups.ts';
import { Subscriptions } from '../../../src/streams/sending/subscriptions.ts';
import { testExecutor } from '../graph/executor.ts';
import { createManualClock, turns } from '../manual-clock.ts';
import { fedSchema, HandFedSource } from './hand-fed-streams.ts';
import { servedOf } from './start-serving.ts';

/** The outlet of a stream in a test. The test decides how much room it has. */
class FakeOutlet implements StreamOutlet {
  readonly transport: StreamOutlet['transport'];
  room = Number.POSITIVE_INFINITY;
  readonly payloads: MessageBytes[] = [];
  /** The end of the stream. Undefined before the end. */
  ending: { readonly last: FormattedExecutionResult | undefined } | undefined;

  constructor(transport: StreamOutlet['transport'] = 'sse') {
    this.transport = transport;
  }

  hasRoom(): boolean {
    return this.room > 0;
  }

  send(payload: MessageBytes, _next: 'more' | 'nothing'): number {
    this.room--;
    this.payloads.push(payload);
    return payload.json.length;
  }

  end(last: FormattedExecutionResult | undefined): void {
    if (this.ending !== undefined) throw new Error('expected to be ended once');
    this.ending = { last };
  }

  /** The messages so far. */
  get seen(): readonly FormattedExecutionResult[] {
    return this.payloads.map(({ json }) => JSON.parse(json.toString()) as FormattedExecutionResult);
  }

  /** The code of the final error. */
  get code(): unknown {
    return this.ending?.last?.errors?.[0]?.extensions?.code;
  }
}

/** One stream that a test has requested. */
export interface TestStream {
  readonly outlet: FakeOutlet;
  readonly life: AbortController;
  readonly opened: StreamHandle | EncodedAnswer;
}

/** Options of a stream that a test may change, besides its document. */
export interface StreamChanges {
  readonly variables?: JsonObject;
  readonly operationName?: string;
  readonly caller?: string;
  readonly requestId?: string;
  readonly transport?: StreamOutlet['transport'];
  readonly life?: AbortController;
}

/** Creates `Subscriptions` over a hand-fed source, with outlets of the test. */
export function createStreamHarness({
  maxStreams = 100,
  heap = emptyHeapGauge,
  log = silentLog,
}: {
  readonly maxStreams?: number;
  readonly heap?: HeapGauge;
  readonly log?: Log;
} = {}) {
  const source = new HandFedSource();
  const { schema, fields } = fedSchema(source);
  let served = servedOf(schema);
  const clock = createManualClock({ random: () => 0.5 });
  const answered: AnsweredOperation[] = [];
  const closed: string[] = [];
  const engine = createEngine({ served: () => served, clock, plugins: [useDocumentLimits()] });
  const subscriptions = new Subscriptions({
    contextOf: (scope) => scope,
    served: () => served,
    deadlines: new Deadlines({ clock, limitMs: 30_000 }, new AbortController().signal),
    encoder: new AnswerEncoder({ clock }),
    maxStreams,
    heap,
    clock,
    log,
    onAnswered: (ended) => answered.push(ended),
    onClosed: (reason) => closed.push(reason),
  });
  const prepare = (query: string, { operationName, variables }: StreamChanges = {}) => {
    const request = { query, ...(operationName === undefined ? {} : { operationName }), ...(variables === undefined ? {} : { variables }) };
    const operation = new GraphqlOperation({ caller: { key: 'local' }, transport: 'sse', openOutlet: () => undefined });
    operation.params = request;
    const prepared = engine.prepare(operation);
    const { definition } = operation;
    if ('errors' in prepared || definition?.operation !== 'subscription') throw new Error(`expected a subscription: ${query}`);
    const { schema, document } = prepared;
    const args = { schema, document, variableValues: variables ?? {}, operationName: operationName ?? null };
    const ready: ValidatedSubscription = {
      servedSchema: served,
      document,
      operation: definition,
      openSource: (contextValue) => subscribeTo({ ...args, contextValue }, testExecutor()),
    };
    return { subscription: ready, request };
  };
  return {
    source,
    fields,
    clock,
    answered,
    closed,
    subscriptions,
    prepare,
    /** Replaces the served schema. */
    swap: (next: GraphQLSchema) => {
      served = servedOf(next);
      subscriptions.schemaSwapped();
    },
    async open(query: string, changes: StreamChanges = {}): Promise<TestStream> {
      const { caller = 'local', requestId = 'request-1', transport = 'sse', life = new AbortController() } = changes;
      const outlet = new FakeOutlet(transport);
      const asking: RequestOrigin = { requestId, caller: { key: caller }, transport, abortController: life };
      const opened = await subscriptions.open({ ...prepare(query, changes), origin: asking }, outlet);
      return { outlet, life, opened };
    },
    /** Lets everything be sent that can be sent now. */
    settle: () => turns(),
  };
}

/**
 * Returns the handle of the stream.
 *
 * @throws {Error} if the stream did not begin.
 */
export function begun({ opened }: TestStream): StreamHandle {
  if (opened instanceof EncodedAnswer) throw new Error(`expected a stream, got ${JSON.stringify(opened.body)}`);
  return opened;
}
