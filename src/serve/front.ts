import { randomUUID } from 'node:crypto';
import type { IncomingMessage, OutgoingHttpHeaders, ServerResponse } from 'node:http';
import type { Caller } from '../access/access.ts';
import { MusterError } from '../core/errors.ts';
import type { Admission } from './admission.ts';
import type { ReadyExecution } from './engine.ts';
import type { Guard } from './guard.ts';
import { bytesAnswer, send } from './http-answer.ts';
import { IntrospectionCache, isIntrospection } from './introspection.ts';
import { clientError, maskedCode } from './masking.ts';
import { type AnswerType, chooseAnswerType, demandJson } from './media-types.ts';
import type { Answer, Asking, Operations } from './operations.ts';
import { Refusal } from './refusal.ts';
import { type OperationRequest, parseOperation, readBody } from './request-body.ts';

export interface FrontOptions {
  readonly operations: Operations;
  readonly guard: Guard;
  readonly admission: Admission;
  /** Who asks in local mode: whoever runs the gateway. */
  readonly caller: Caller;
  readonly bodyBytes: number;
  /** Told of each refusal before the operation was known. */
  readonly onRefused: (refusal: Refusal) => void;
  readonly onBug: (error: unknown) => void;
}

/** A client that left: nothing is answered, logged or counted. */
class ClientGone extends Error {
  override readonly name = 'ClientGone';
}

/** Answers POST /graphql: GraphQL over HTTP in both its media types. */
export class Front {
  readonly #options: FrontOptions;
  readonly #introspections = new IntrospectionCache();
  readonly #lives = new Set<AbortController>();

  constructor(options: FrontOptions) {
    this.#options = options;
  }

  /** Ends what is in flight, telling the clients why. */
  endAll(reason: MusterError): void {
    for (const life of this.#lives) life.abort(reason);
  }

  /** Order of work: headers, identity, limits, body, shape, parse, validate, execute. Rejects for nothing. */
  async handle(request: IncomingMessage, response: ServerResponse, headers: OutgoingHttpHeaders): Promise<void> {
    const requestId = randomUUID();
    const life = this.#begin();
    response.once('close', () => {
      if (!response.writableFinished) life.abort(new ClientGone());
    });
    let type: AnswerType = 'application/json';
    try {
      demandJson(request.headers);
      type = chooseAnswerType(request.headers.accept);
      this.#options.guard.identify(request.headers);
      using _place = this.#options.admission.enter();
      const operation = parseOperation(await readBody(request, this.#options.bodyBytes));
      await this.#answer(
        operation,
        { requestId, caller: this.#options.caller, transport: 'http', life },
        { request, response, headers, type },
      );
    } catch (error) {
      if (life.signal.reason instanceof ClientGone) return;
      this.#refuse(error, requestId, { request, response, headers, type });
    } finally {
      this.#lives.delete(life);
    }
  }

  #begin(): AbortController {
    const life = new AbortController();
    this.#lives.add(life);
    return life;
  }

  async #answer(operation: OperationRequest, asking: Asking, exchange: Exchange): Promise<void> {
    const { operations } = this.#options;
    const ready = operations.prepare(operation, asking);
    if ('stage' in ready) return sendAnswer(ready, exchange, asking.requestId);
    if (ready.type === 'subscription')
      return sendAnswer(operations.refuse(ready, operation, { asking, error: noStreamHere() }), exchange, asking.requestId);
    if (isIntrospection(ready.operation)) return this.#introspect(ready, operation, { asking, exchange });
    sendAnswer(await operations.run(ready, operation, asking), exchange, asking.requestId);
  }

  /** The bytes are for everybody who asks the same: no one client's departure ends their making. */
  async #introspect(
    ready: ReadyExecution,
    operation: OperationRequest,
    { asking, exchange }: { readonly asking: Asking; readonly exchange: Exchange },
  ): Promise<void> {
    const { request, response, headers, type } = exchange;
    const make = async () => {
      const life = this.#begin();
      const answer = await this.#options.operations.run(ready, operation, { ...asking, life }).finally(() => this.#lives.delete(life));
      // An answer with errors names its request: it is told, not kept.
      if (answer.body.errors !== undefined) throw new NotKept(answer);
      return Buffer.from(JSON.stringify(answer.body));
    };
    try {
      const bytes = await this.#introspections.bytesOf(ready.served.schema, operation, make);
      send(response, bytesAnswer(request, bytes, { status: 200, headers: answerHeaders(headers, type, asking.requestId) }));
    } catch (error) {
      if (!(error instanceof NotKept)) throw error;
      sendAnswer(error.answer, exchange, asking.requestId);
    }
  }

  #refuse(error: unknown, requestId: string, { response, headers, type }: Exchange): void {
    const known = error instanceof Refusal ? error : refusalOf(error);
    if (known !== undefined) this.#options.onRefused(known);
    const formatted = clientError(known ?? error, { requestId, onBug: this.#options.onBug });
    const body = JSON.stringify({ errors: [formatted] });
    send(response, { status: known?.status ?? 500, headers: { ...answerHeaders(headers, type, requestId), ...known?.headers }, body });
  }
}

interface Exchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  /** Those of CORS. */
  readonly headers: OutgoingHttpHeaders;
  readonly type: AnswerType;
}

class NotKept extends Error {
  override readonly name = 'NotKept';
  readonly answer: Answer;

  constructor(answer: Answer) {
    super('an answer with errors');
    this.answer = answer;
  }
}

function sendAnswer(answer: Answer, { response, headers, type }: Exchange, requestId: string): void {
  send(response, { status: statusOf(answer, type), headers: answerHeaders(headers, type, requestId), body: JSON.stringify(answer.body) });
}

/** GraphQL over HTTP: the older type says 200 to every request it could read, the newer one 200 only where there is data. */
function statusOf({ body, code }: Answer, type: AnswerType): number {
  if (body.data !== undefined && body.data !== null) return 200;
  if (code === maskedCode && body.data === undefined) return 500;
  return type === 'application/json' || body.data === null ? 200 : 400;
}

function answerHeaders(headers: OutgoingHttpHeaders, type: AnswerType, requestId: string): OutgoingHttpHeaders {
  return { 'content-type': `${type}; charset=utf-8`, 'cache-control': 'no-store', 'x-request-id': requestId, ...headers };
}

function refusalOf(error: unknown): Refusal | undefined {
  if (!(error instanceof MusterError)) return undefined;
  return new Refusal({ status: error.code === 'SHUTTING_DOWN' ? 503 : 400, code: error.code, message: error.message });
}

function noStreamHere(): MusterError {
  return new MusterError('BAD_INPUT', 'expected a query, got a subscription: ask over WebSocket, or with Accept: text/event-stream');
}
