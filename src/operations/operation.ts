import { randomUUID } from 'node:crypto';
import type { DocumentNode, ExecutionArgs, OperationDefinitionNode, OperationTypeNode } from 'graphql';
import type { Plugin } from 'graphql-yoga';
import type { Caller } from '../access/access.ts';
import type { Fault } from '../core/faults.ts';
import type { StreamOutlet } from '../streams/outlet.ts';
import type { Deadline } from './deadlines.ts';
import type { OperationFaults } from './fault-report.ts';
import type { OperationRequest } from './operation-request.ts';
import type { ServedSchema } from './served-schema.ts';

/** The operation as resolvers see it: caller, limits, schema and resources. */
export interface OperationScope {
  readonly caller: Caller;
  /** The id that the answer shows as `x-request-id`. Undefined for the messages of a subscription: several streams may share a message. */
  readonly requestId?: string | undefined;
  readonly signal: AbortSignal;
  /** The latest time to wait for clusters, in milliseconds of the monotonic clock. Default: no limit. */
  readonly waitUntilMs?: number;
  readonly servedSchema: ServedSchema;
  /** Resources that are disposed of once the operation is answered. In a subscription: once the message is made. */
  readonly resources: DisposableStack;
  /** True for one message of a subscription. `signal` then ends the whole subscription, not only this message. */
  readonly isMessage: boolean;
  /** Throws the reason of `signal` once the operation is over. Checks the deadline too, as its timer cannot fire while code blocks the event loop. */
  throwIfOver(): void;
  reportFault(fault: Fault, path: readonly (string | number)[]): void;
}

/**
 * Finds out which clusters the caller may see, before an operation begins: during the operation, this is looked up without waiting. Undefined if it
 * is known for all clusters. See `Access.prepare`.
 */
export type PrepareCaller = (caller: Caller, signal: AbortSignal) => Promise<void> | undefined;

/** The request behind an operation: its caller, its transport and its lifetime. */
export interface RequestOrigin {
  readonly requestId: string;
  readonly caller: Caller;
  readonly transport: 'http' | 'websocket' | 'sse';
  /** Belongs to this operation alone. Aborted when the client has gone, when the gateway ends, or when the operation exceeds its time limit. */
  readonly abortController: AbortController;
}

/** One operation that was answered, for metrics and log. */
export interface AnsweredOperation extends Pick<RequestOrigin, 'requestId' | 'caller' | 'transport'> {
  readonly request: Pick<OperationRequest, 'query'>;
  /**
   * The type of the operation: query, mutation or subscription. Undefined if the document could not be parsed, is invalid or is too costly.
   */
  readonly operationType: OperationTypeNode | undefined;
  /** `OK`, or the code of the first error. */
  readonly code: string;
  readonly faults: number;
  /** Duration in milliseconds. For a subscription: the lifetime of its stream. */
  readonly tookMs: number;
}

/**
 * One operation of any transport while Yoga handles it. Yoga passes it to every hook as context. Resolvers get another context, from `contextOf`.
 *
 * Disposing it stops the timer of its deadline. Yoga sets `params` and `request` for requests over HTTP.
 */
export class GraphqlOperation implements RequestOrigin, Disposable {
  readonly requestId = randomUUID();
  readonly caller: Caller;
  readonly abortController = new AbortController();
  transport: RequestOrigin['transport'];
  params: OperationRequest | undefined;
  request: Request | undefined;
  /** The time at which Yoga began to handle the operation, just before parsing, in milliseconds of the monotonic clock. */
  startedMs = 0;
  servedSchema: ServedSchema | undefined;
  document: DocumentNode | undefined;
  /** The part of the document that runs: one query, mutation or subscription. Undefined before parsing. */
  definition: OperationDefinitionNode | undefined;
  /** Query, mutation or subscription. Undefined until the operation has passed validation and the cost limit. */
  type: OperationTypeNode | undefined;
  faults: OperationFaults | undefined;
  deadline: Deadline | undefined;
  /** The latest time to wait for clusters, in milliseconds of the monotonic clock. Undefined until the deadline is set. */
  waitUntilMs: number | undefined;
  /** Opens the outlet for the stream of a subscription. Returns undefined if the client cannot take a stream. */
  readonly openOutlet: () => StreamOutlet | undefined;

  constructor({ caller, transport, openOutlet }: Pick<GraphqlOperation, 'caller' | 'transport' | 'openOutlet'>) {
    this.caller = caller;
    this.transport = transport;
    this.openOutlet = openOutlet;
  }

  [Symbol.dispose](): void {
    this.deadline?.end();
  }
}

/** A plugin of Yoga that sees the operations of every transport. */
export type OperationPlugin = Plugin<GraphqlOperation, GraphqlOperation, GraphqlOperation>;

/** Returns the operation that these arguments of `execute` or `subscribe` belong to. */
export function operationOf({ contextValue }: Pick<ExecutionArgs, 'contextValue'>): GraphqlOperation {
  return contextValue as GraphqlOperation;
}
