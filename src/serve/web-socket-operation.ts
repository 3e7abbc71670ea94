import { randomUUID } from 'node:crypto';
import { type ExecutionResult, type FormattedExecutionResult, GraphQLError, type GraphQLFormattedError } from 'graphql';
import type { Caller } from '../access/access.ts';
import type { Admission } from './admission.ts';
import type { ReadyExecution, ReadyOperation, ReadySubscription } from './engine.ts';
import { type Introspections, isIntrospection } from './introspection.ts';
import { clientError, type MaskOptions } from './masking.ts';
import type { Answer, Asking, Operations } from './operations.ts';
import type { OpenStream, Outlet } from './outlet.ts';
import type { OperationRequest } from './request-body.ts';
import type { Subscriptions } from './subscriptions.ts';

export interface SocketOperationOptions {
  readonly operations: Pick<Operations, 'prepare' | 'run'>;
  readonly introspections: Pick<Introspections, 'answer'>;
  readonly subscriptions: Pick<Subscriptions, 'open' | 'lifetimeMs'>;
  readonly admission: Admission;
  readonly onBug: (error: unknown) => void;
}

/** What an operation needs of its socket. */
export interface OperationSocket {
  readonly caller: Caller;
  hasRoom(): boolean;
  /**
   * A message of the operation: these bytes, a result as JSON, and a closing brace. `more`: another one follows in this turn.
   *
   * @returns How many bytes are written at the end of the turn only.
   */
  write(head: Buffer, json: Uint8Array, next: 'more' | 'nothing'): number;
  /** Sends an answer, the only message of its operation, in the same form. Resolves once the kernel has taken it, or the socket is gone. */
  writeAnswer(head: Buffer, json: readonly Uint8Array[]): Promise<void>;
  /** An operation begins, and is to be told of room and of the socket's end, until it says that nothing more comes of it. Each once. */
  joined(operation: SocketOperation): void;
  left(operation: SocketOperation): void;
}

/** Errors as the client is to get them, on their way through graphql-ws, which knows no others than its own. */
export class ToldErrors extends GraphQLError {
  readonly told: readonly GraphQLFormattedError[];

  constructor(told: readonly GraphQLFormattedError[]) {
    super('errors of an operation');
    this.told = told;
  }
}

/** Why an operation is aborted whose client does not want it any more: neither told nor logged. */
class ClientLeft extends Error {
  override readonly name = 'ClientLeft';
}

type Ending = { readonly result: FormattedExecutionResult | undefined } | { readonly error: ToldErrors };

/**
 * One operation of a socket. To graphql-ws it is an iterator of what it says at its end, if anything: one result of a query, the last error of a
 * stream. The messages of a stream before that do not go through it: they would wait for each other, and each be encoded anew.
 *
 * `return`, by which graphql-ws says that the client has completed it or has gone, ends it at once, whatever it waits for.
 */
export class SocketOperation implements AsyncGenerator<ExecutionResult, undefined>, Outlet {
  readonly transport = 'websocket';
  readonly #socket: OperationSocket;
  readonly #head: Buffer;
  readonly #life = new AbortController();
  readonly #ended = Promise.withResolvers<Ending>();
  #isOver = false;
  #isRead = false;
  #said: FormattedExecutionResult | undefined;
  #stream: OpenStream | undefined;

  private constructor(socket: OperationSocket, id: string) {
    this.#socket = socket;
    this.#head = Buffer.from(`{"id":${JSON.stringify(id)},"type":"next","payload":`);
  }

  /** Parses, validates and begins: the operation, or what is wrong with it. Never throws. */
  static begin(
    options: SocketOperationOptions,
    socket: OperationSocket,
    asked: { readonly id: string; request(): OperationRequest },
  ): { readonly operation: SocketOperation; readonly ready: ReadyOperation } | ToldErrors {
    const operation = new SocketOperation(socket, asked.id);
    const asking: Asking = { requestId: randomUUID(), caller: socket.caller, transport: 'websocket', life: operation.#life };
    const masking = { requestId: asking.requestId, onBug: options.onBug };
    try {
      const request = asked.request();
      const ready = options.operations.prepare(request, asking);
      if ('stage' in ready) return new ToldErrors(ready.body.errors ?? []);
      socket.joined(operation);
      void operation.#run(options, { ready, request, asking, masking });
      return { operation, ready };
    } catch (error) {
      return new ToldErrors([clientError(error, masking)]);
    }
  }

  /** The socket has room again. */
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

  /** The result it has come to, as the client is to get it. What is iterated only tells that there is one: graphql-ws knows no masked errors. */
  get said(): FormattedExecutionResult | undefined {
    return this.#said;
  }

  async next(): Promise<IteratorResult<ExecutionResult, undefined>> {
    const ending = await this.#ended.promise;
    if (this.#isRead) return { done: true, value: undefined };
    this.#isRead = true;
    if ('error' in ending) throw ending.error;
    this.#said = ending.result;
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

  /** The client does not want it any more, or has gone. Twice is once. */
  close(): void {
    if (this.#isOver) return;
    this.#end({ result: undefined });
    // Of a stream it is the end too, opened or not.
    this.#life.abort(new ClientLeft());
  }

  async #run(
    options: SocketOperationOptions,
    begun: { readonly ready: ReadyOperation; readonly request: OperationRequest; readonly asking: Asking; readonly masking: MaskOptions },
  ): Promise<void> {
    const { ready, request, asking, masking } = begun;
    try {
      if (ready.type === 'execution') await this.#answer(options, ready, { request, asking });
      else await this.#open(options, ready, { request, asking });
    } catch (error) {
      if (!this.#isOver) this.#end({ error: new ToldErrors([clientError(error, masking)]) });
    }
  }

  async #answer(options: SocketOperationOptions, ready: ReadyExecution, { request, asking }: Asked): Promise<void> {
    using _place = options.admission.enter();
    if (!isIntrospection(ready.operation)) {
      await this.#sendAnswer(await options.operations.run(ready, request, asking));
      return;
    }
    const found = await options.introspections.answer(ready, request, asking);
    await this.#sendAnswer('stage' in found ? found : { stage: 'execution', json: [found.plain] });
  }

  /** Ends once the client has taken it: until then the operation holds its place. */
  async #sendAnswer(answer: Pick<Answer, 'stage'> & { readonly json: readonly Uint8Array[] }): Promise<void> {
    if (this.#isOver) return;
    await this.#socket.writeAnswer(this.#head, answer.json);
    this.#end({ result: undefined });
  }

  async #open({ subscriptions }: SocketOperationOptions, ready: ReadySubscription, asked: Asked): Promise<void> {
    const opened = await subscriptions.open({ ready, ...asked }, this);
    if ('stage' in opened) {
      this.#end({ error: new ToldErrors(opened.body.errors ?? []) });
      return;
    }
    this.#stream = opened;
    // The socket may have got room before there was anybody to tell.
    if (this.#socket.hasRoom()) opened.resume();
  }

  #end(ending: Ending): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#ended.resolve(ending);
    this.#socket.left(this);
  }
}

interface Asked {
  readonly request: OperationRequest;
  readonly asking: Asking;
}
