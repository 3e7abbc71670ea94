import { randomUUID } from 'node:crypto';
import { type DocumentNode, type ExecutionArgs, execute, type OperationDefinitionNode, type OperationTypeNode } from 'graphql';
import type { Plugin } from 'graphql-yoga';
import type { Caller } from '../access/access.ts';
import { invariant } from '../core/errors.ts';
import type { Fault } from '../core/faults.ts';
import type { Deadline } from './deadlines.ts';
import type { ServedSchema } from './engine.ts';
import { FaultReport } from './fault-report.ts';
import type { HttpOperation } from './front.ts';
import type { Outlet } from './outlet.ts';
import type { OperationRequest } from './request-body.ts';

/** What one operation needs to know of its caller. */
export interface OperationScope {
  readonly caller: Caller;
  readonly signal: AbortSignal;
  /** When waiting for clusters ends at the latest, in milliseconds of the monotonic clock. Default: no such time. */
  readonly waitUntilMs?: number;
  readonly served: ServedSchema;
  /** What ends when the operation is answered: of a subscription, the message. */
  readonly held: DisposableStack;
  /** True for a message of a subscription, behind which others stand. The signal is that of all of them. */
  readonly isMessage: boolean;
  /** Throws the signal's reason once the operation is over; if its time is, also where the loop had no turn to say so. */
  throwIfOver(): void;
  reportFault(fault: Fault, path: readonly (string | number)[]): void;
}

/** Who asks, over what, and until when. */
export interface Asking {
  readonly requestId: string;
  readonly caller: Caller;
  readonly transport: 'http' | 'websocket' | 'sse';
  /** The operation's own: aborted when the client has gone, when the gateway ends, or when its time is over. */
  readonly life: AbortController;
}

/** One operation that was answered, for metrics and log. */
export interface AnsweredOperation extends Pick<Asking, 'requestId' | 'caller' | 'transport'> {
  readonly request: Pick<OperationRequest, 'query'>;
  /** Undefined where the document could not be understood. */
  readonly operationType: OperationTypeNode | undefined;
  /** `OK`, or the code of its first error. */
  readonly code: string;
  readonly faults: number;
  /** Milliseconds it took, or lived. */
  readonly tookMs: number;
}

/**
 * One operation on its way through Yoga, whatever its transport: the context of every hook. Resolvers get another context, from `contextOf`.
 *
 * Disposing it ends its deadline. Yoga writes `params` and `request` for requests over HTTP.
 */
export class Operation implements Asking, Disposable {
  readonly requestId = randomUUID();
  readonly caller: Caller;
  readonly life = new AbortController();
  transport: Asking['transport'];
  params: OperationRequest | undefined;
  request: Request | undefined;
  /** When it was parsed, in milliseconds of the monotonic clock. */
  startedMs = 0;
  served: ServedSchema | undefined;
  document: DocumentNode | undefined;
  /** The operation of the document that runs. Undefined before parsing. */
  definition: OperationDefinitionNode | undefined;
  /** Undefined until the operation has been found valid and affordable. */
  type: OperationTypeNode | undefined;
  report: FaultReport | undefined;
  deadline: Deadline | undefined;
  /** When waiting for clusters ends at the latest, in milliseconds of the monotonic clock. */
  waitUntilMs: number | undefined;
  /** The outlet of its stream, if it is a subscription. Undefined if its client cannot take a stream. */
  readonly outlet: () => Outlet | undefined;

  constructor({ caller, transport, outlet }: Pick<Operation, 'caller' | 'transport' | 'outlet'>) {
    this.caller = caller;
    this.transport = transport;
    this.outlet = outlet;
  }

  [Symbol.dispose](): void {
    this.deadline?.end();
  }
}

/** A plugin of Yoga whose hooks see the operation. Those of HTTP alone (`onRequestParse`, `onResultProcess`) see its request and response too. */
export type ServePlugin = Plugin<Operation, HttpOperation, Operation>;

/** The operation that these arguments of `execute` or `subscribe` belong to. */
export function operationOf({ contextValue }: Pick<ExecutionArgs, 'contextValue'>): Operation {
  return contextValue as Operation;
}

/**
 * Executes queries and mutations by graphql-js itself, which is faster on lists than Yoga's executor and heeds `abortSignal`.
 *
 * An operation that was aborted fails with the reason of its life.
 *
 * @param contextOf What the resolvers get.
 */
export function useExecution(contextOf: (scope: OperationScope) => object): ServePlugin {
  return { onExecute: ({ setExecuteFn }) => setExecuteFn((args: ExecutionArgs) => run(args, contextOf)) };
}

async function run(args: ExecutionArgs, contextOf: (scope: OperationScope) => object) {
  const operation = operationOf(args);
  const { life, caller, served, deadline, waitUntilMs } = operation;
  const { signal } = life;
  const report = new FaultReport();
  operation.report = report;
  invariant(served !== undefined && waitUntilMs !== undefined, 'expected an operation with a schema and a deadline');
  using held = new DisposableStack();
  try {
    const throwIfOver = () => {
      deadline?.check();
      signal.throwIfAborted();
    };
    const reportFault = report.add.bind(report);
    const contextValue = contextOf({ caller, signal, waitUntilMs, served, held, isMessage: false, throwIfOver, reportFault });
    const result = await execute({ ...args, contextValue, abortSignal: signal });
    // What graphql-js had finished by then may hold the reason as an error of a field.
    if (deadline?.passed !== true) return result;
  } catch (error) {
    if (!signal.aborted) throw error;
  }
  throw signal.reason;
}
