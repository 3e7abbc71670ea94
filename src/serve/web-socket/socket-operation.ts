import { type ExecutionResult, type FormattedExecutionResult, GraphQLError, type GraphQLFormattedError, OperationTypeNode } from 'graphql';
import type { Caller } from '../../access/access.ts';
import type { OperationAdmission } from '../../operations/admission.ts';
import { type AnswerFactory, EncodedAnswer } from '../../operations/answers.ts';
import type { Engine, PreparedOperation } from '../../operations/engine.ts';
import { clientError } from '../../operations/masking.ts';
import { GraphqlOperation } from '../../operations/operation.ts';
import type { OperationRequest } from '../../operations/operation-request.ts';
import { StartedStream, type StreamHandle, type StreamOutlet } from '../../streams/outlet.ts';
import type { Subscriptions } from '../../streams/sending/subscriptions.ts';
import type { RequestAuthenticator } from '../callers/request-authenticator.ts';

export interface SocketOperationOptions {
  readonly engine: Pick<Engine, 'prepare'>;
  readonly answers: Pick<AnswerFactory, 'answerTo'>;
  readonly subscriptions: Pick<Subscriptions, 'lifetimeMs'>;
  readonly admission: OperationAdmission;
  readonly requestAuthenticator: Pick<RequestAuthenticator, 'load'>;
  readonly onBug: (error: unknown) => void;
}

/** The methods of a socket that its operations use. Implemented by `SocketConnection`. */
export interface OperationSocket {
  readonly caller: Caller;
  hasRoom(): boolean;
  /**
   * Writes a message of the operation: `head`, the result `json`, and a closing brace.
   *
   * @param next `more` if the operation writes another message in this event-loop turn, else `nothing`.
   * @returns Number of bytes that will be written only at the end of the turn.
   */
  write(head: Buffer, json: Uint8Array, next: 'more' | 'nothing'): number;
  /** Writes the answer of a query or mutation in the form of `write`. Resolves once the kernel has taken it, or the socket is gone. */
  writeAnswer(head: Buffer, json: readonly Uint8Array[]): Promise<void>;
  /**
   * Registers an operation. The socket then calls `resume` of the operation when there is room, and `close` when the socket ends. Call this
   * method once per operation, and `removeOperation` once at the end of the operation.
   */
  addOperation(operation: SocketOperation): void;
  removeOperation(operation: SocketOperation): void;
}

/** Carries masked errors through graphql-ws, which would replace other errors by its own. */
export class MaskedErrors extends GraphQLError {
  readonly errors: readonly GraphQLFormattedError[];

  constructor(errors: readonly GraphQLFormattedError[]) {
    super('errors of an operation');
    this.errors = errors;
  }
}

/** The abort reason if the client has ended its operation. Not logged and not sent. */
class ClientLeft extends Error {
  override readonly name = 'ClientLeft';
}

type Ending = { readonly result: FormattedExecutionResult | undefined } | { readonly error: MaskedErrors };

/**
 * One operation of a WebSocket. For graphql-ws it is an iterator that yields at most one result or error at its end. Messages of a stream
 * do not go through graphql-ws, where each would wait for the one before it and would be encoded again.
 *
 * graphql-ws calls `return` when the client has completed the operation or has gone. This ends the operation at once.
 *
 * Next: `#open` runs the subscription. The stream (streams/sending) then calls `send` for each message.
 */
export class SocketOperation implements AsyncGenerator<ExecutionResult, undefined>, StreamOutlet {
  readonly transport = 'websocket';
  readonly #socket: OperationSocket;
  readonly #head: Buffer;
  #abortController: AbortController | undefined;
  readonly #ended = Promise.withResolvers<Ending>();
  #isOver = false;
  #isRead = false;
  #finalResult: FormattedExecutionResult | undefined;
  #stream: StreamHandle | undefined;

  private constructor(socket: OperationSocket, id: string) {
    this.#socket = socket;
    this.#head = Buffer.from(`{"id":${JSON.stringify(id)},"type":"next","payload":`);
  }

  /** Parses and validates the operation, and starts it. Returns its errors if it is invalid. Never throws. */
  static start(
    options: SocketOperationOptions,
    socket: OperationSocket,
    requested: { readonly id: string; request(): OperationRequest },
  ): BegunOperation | MaskedErrors {
    const started = new SocketOperation(socket, requested.id);
    const operation = new GraphqlOperation({ caller: socket.caller, transport: 'websocket', openOutlet: () => started });
    started.#abortController = operation.abortController;
    try {
      operation.params = requested.request();
      const prepared = options.engine.prepare(operation);
      if ('errors' in prepared) return new MaskedErrors(errorsOf(options.answers.answerTo(operation, prepared as ExecutionResult)));
      socket.addOperation(started);
      void started.#run(options, operation, prepared);
      return { operation: started, prepared };
    } catch (error) {
      return new MaskedErrors([clientError(error, { requestId: operation.requestId, onBug: options.onBug })]);
    }
  }

  /** Lets a stream send further messages. The socket calls this method when it has room again. */
  resume(): void {
    this.#stream?.resume();
  }

  hasRoom(): boolean {
    return this.#socket.hasRoom();
  }

  send({ json }: { readonly json: Uint8Array }, next: 'more' | 'nothing'): number {
    return this.#isOver ? 0 : this.#socket.write(this.#head, json, next);
  }

  end(last: FormattedExecutionResult | undefined): void {
    this.#end({ result: last });
  }

  /**
   * The last result, as the client receives it. Undefined if the operation has ended without a result, or has not ended. The iterator only
   * signals that there is one, because graphql-ws would encode it without our masking.
   */
  get finalResult(): FormattedExecutionResult | undefined {
    return this.#finalResult;
  }

  async next(): Promise<IteratorResult<ExecutionResult, undefined>> {
    const ending = await this.#ended.promise;
    if (this.#isRead) return { done: true, value: undefined };
    this.#isRead = true;
    if ('error' in ending) throw ending.error;
    this.#finalResult = ending.result;
    return ending.result === undefined ? { done: true, value: undefined } : { done: false, value: {} };
  }

  async return(): Promise<IteratorResult<ExecutionResult, undefined>> {
    this.close();
    return { done: true, value: undefined };
  }

  async throw(): Promise<IteratorResult<ExecutionResult, undefined>> {
    return this.return();
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.close();
  }

  /** Ends the operation because the client has completed it or has gone. A second call does nothing. */
  close(): void {
    if (this.#isOver) return;
    this.#end({ result: undefined });
    // The abort also ends a stream that is still opening.
    this.#abortController?.abort(new ClientLeft());
  }

  async #run(options: SocketOperationOptions, operation: GraphqlOperation, prepared: PreparedOperation): Promise<void> {
    using _operation = operation;
    try {
      if (operation.definition?.operation === OperationTypeNode.SUBSCRIPTION) await this.#open(options, operation, prepared);
      else await this.#answer(options, operation, prepared);
    } catch (error) {
      if (!this.#isOver)
        this.#end({ error: new MaskedErrors([clientError(error, { requestId: operation.requestId, onBug: options.onBug })]) });
    }
  }

  /** Runs a query or mutation. It counts for its caller, and keeps its admission slot, until the client has taken the answer. */
  async #answer(
    { admission, answers, requestAuthenticator }: SocketOperationOptions,
    operation: GraphqlOperation,
    prepared: PreparedOperation,
  ): Promise<void> {
    using _own = requestAuthenticator.load.take('operations', this.#socket.caller.key);
    using _place = admission.takeSlot();
    const result = await prepared.run().catch((error: unknown) => ({ errors: [error as GraphQLError] }));
    if (this.#isOver || result instanceof StartedStream) return;
    const { json } = await answers.answerTo(operation, result);
    if (this.#isOver) return;
    await this.#socket.writeAnswer(this.#head, json);
    this.#end({ result: undefined });
  }

  async #open({ answers }: SocketOperationOptions, operation: GraphqlOperation, prepared: PreparedOperation): Promise<void> {
    const result = await prepared.run();
    if (!(result instanceof StartedStream)) {
      const { body } = await answers.answerTo(operation, result);
      this.#end({ error: new MaskedErrors(body.errors ?? []) });
      return;
    }
    this.#stream = result.stream;
    // The socket may have got room before the stream was stored, so the stream has not been resumed yet.
    if (this.#socket.hasRoom()) result.stream.resume();
  }

  #end(ending: Ending): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#ended.resolve(ending);
    this.#socket.removeOperation(this);
  }
}

interface BegunOperation {
  readonly operation: SocketOperation;
  readonly prepared: PreparedOperation;
}

/** Returns the errors of an answer that has no data. An answer with only errors is small and encoded at once, so it is never a promise. */
function errorsOf(answer: EncodedAnswer | Promise<EncodedAnswer>): readonly GraphQLFormattedError[] {
  return answer instanceof EncodedAnswer ? (answer.body.errors ?? []) : [];
}
