import type { AnsweredOperation, GraphqlOperation, OperationPlugin } from './operation.ts';
import { operationOf } from './operation.ts';

/** The facts that are known when an operation begins to run. */
export interface BegunOperation {
  readonly type: 'query' | 'mutation' | 'subscription';
  /** The name of the operation in its document. Undefined: it has none. */
  readonly name: string | undefined;
  readonly requestId: string;
  readonly transport: GraphqlOperation['transport'];
  /** Returns a header of the request. Undefined if there is none, and for operations of WebSockets. */
  header(name: string): string | undefined;
}

/** The trace of one operation while it runs. */
export interface OperationTrace {
  /** Runs a part of the operation. Calls to clusters during it, and in promises and timers that it starts, belong to the trace. */
  run<T>(part: () => T): T;
  /** Ends the trace. Later calls to clusters do not belong to it. */
  end(result: { readonly isFailed: boolean; readonly faults: number }): void;
}

/** Begins the traces of operations. */
export interface OperationTraces {
  /** Undefined: the sampler leaves this operation out. */
  begin(operation: BegunOperation): OperationTrace | undefined;
}

/** Traces each operation from its execution to its answer, or to the end of its stream. */
export class TracedOperations {
  readonly #traces: OperationTraces;
  readonly #open = new Map<string, OperationTrace>();

  constructor(traces: OperationTraces) {
    this.#traces = traces;
  }

  /**
   * The plugin that begins the traces. It must be the last one that replaces `execute` and `subscribe`, so that a trace contains the work of the
   * others.
   */
  readonly plugin: OperationPlugin = {
    onExecute: ({ executeFn, setExecuteFn }) => setExecuteFn((args) => this.#run(operationOf(args), () => executeFn(args))),
    onSubscribe: ({ subscribeFn, setSubscribeFn }) => setSubscribeFn((args) => this.#run(operationOf(args), () => subscribeFn(args))),
  };

  /** Ends the trace of an operation. To be called for each operation that was answered. */
  answered({ requestId, code, faults }: Pick<AnsweredOperation, 'requestId' | 'code' | 'faults'>): void {
    this.#open.get(requestId)?.end({ isFailed: code !== 'OK', faults });
    this.#open.delete(requestId);
  }

  #run<T>({ requestId, definition, type, transport, request, abortController: { signal } }: GraphqlOperation, part: () => T): T {
    const header = (name: string) => request?.headers.get(name) ?? undefined;
    const trace = this.#traces.begin({ type: type ?? 'query', name: definition?.name?.value, requestId, transport, header });
    if (trace === undefined) return part();
    this.#open.set(requestId, trace);
    // If the client has gone, `answered` may never be called for its operation.
    signal.addEventListener('abort', () => setImmediate(() => this.answered({ requestId, code: 'OK', faults: 0 })), { once: true });
    return trace.run(part);
  }
}
