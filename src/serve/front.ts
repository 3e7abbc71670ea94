import { randomUUID } from 'node:crypto';
import type { IncomingMessage, OutgoingHttpHeaders, ServerResponse } from 'node:http';
import type { Caller } from '../access/access.ts';
import type { Clock } from '../core/clock.ts';
import { MusterError } from '../core/errors.ts';
import type { Admission } from './admission.ts';
import type { ReadyExecution } from './engine.ts';
import { EventStreams, sendAsEvents } from './event-stream.ts';
import { Gate } from './gate.ts';
import type { Guard } from './guard.ts';
import { bytesAnswer, send } from './http-answer.ts';
import { type Introspections, isIntrospection } from './introspection.ts';
import { clientError, maskedCode } from './masking.ts';
import { type AcceptedAnswer, type AnswerType, chooseAnswer, demandJson } from './media-types.ts';
import type { Answer, Asking, Operations } from './operations.ts';
import { Refusal } from './refusal.ts';
import { type OperationRequest, parseOperation, readBody } from './request-body.ts';
import type { StreamAsked } from './stream-groups.ts';
import type { Subscriptions } from './subscriptions.ts';
import type { UnsentBytes } from './unsent-bytes.ts';

export interface FrontOptions {
  readonly operations: Operations;
  readonly introspections: Introspections;
  readonly subscriptions: Pick<Subscriptions, 'open'>;
  readonly guard: Guard;
  readonly admission: Admission;
  /** Who asks in local mode: whoever runs the gateway. */
  readonly caller: Caller;
  readonly bodyBytes: number;
  readonly clock: Clock;
  readonly unsent: UnsentBytes;
  /** Told of each refusal before the operation was known. */
  readonly onRefused: (refusal: Refusal) => void;
  readonly onBug: (error: unknown) => void;
}

/** A client that left: nothing is answered, logged or counted. */
class ClientGone extends Error {
  override readonly name = 'ClientGone';
}

/** Answers POST /graphql: GraphQL over HTTP in both its media types, and as server-sent events. */
export class Front {
  readonly #options: FrontOptions;
  readonly #events: EventStreams;
  readonly #gate: Gate;
  readonly #lives = new Set<AbortController>();

  constructor(options: FrontOptions) {
    this.#options = options;
    this.#events = new EventStreams(options.clock, options.unsent);
    this.#gate = new Gate(options.clock);
  }

  /** Ends what is in flight, telling the clients why. */
  endAll(reason: MusterError): void {
    for (const life of this.#lives) life.abort(reason);
    this.#options.introspections.endAll(reason);
  }

  /** Order of work: headers, identity, limits, body, shape, parse, validate, execute. Rejects for nothing. */
  async handle(request: IncomingMessage, response: ServerResponse, headers: OutgoingHttpHeaders): Promise<void> {
    const requestId = randomUUID();
    const life = this.#begin();
    response.once('close', () => {
      if (!response.writableFinished) life.abort(new ClientGone());
    });
    let accepted: AcceptedAnswer = { type: 'application/json', events: 'none' };
    try {
      demandJson(request.headers);
      accepted = chooseAnswer(request.headers.accept);
      this.#options.guard.identify(request.headers);
      // Before it takes a place: a crowd that comes in one turn is no reason to send anybody away.
      await this.#gate.pass();
      life.signal.throwIfAborted();
      using _place = this.#options.admission.enter();
      const operation = parseOperation(await readBody(request, this.#options.bodyBytes));
      const transport = accepted.events === 'all' ? 'sse' : 'http';
      await this.#answer(operation, { requestId, caller: this.#options.caller, transport, life }, { request, response, headers, accepted });
      // Its place is free once the client has taken the answer. A stream that has begun holds none.
      if (response.writableEnded) await this.#options.unsent.sent(response);
    } catch (error) {
      if (life.signal.reason instanceof ClientGone) return;
      this.#refuse(error, requestId, { request, response, headers, accepted });
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
    if ('stage' in ready) sendAnswer(ready, exchange, asking.requestId);
    else if (ready.type === 'subscription') await this.#subscribe({ ready, request: operation, asking }, exchange);
    else if (isIntrospection(ready.operation)) await this.#introspect(ready, operation, { asking, exchange });
    else sendAnswer(await operations.run(ready, operation, asking), exchange, asking.requestId);
  }

  /** Resolves once the stream has begun: it goes on by itself. */
  async #subscribe({ ready, request, asking }: StreamAsked, exchange: Exchange): Promise<void> {
    const { operations, subscriptions } = this.#options;
    const { response, headers, accepted } = exchange;
    if (accepted.events === 'none') {
      sendAnswer(operations.refuse(ready, request, { asking, error: noStreamHere() }), exchange, asking.requestId);
      return;
    }
    const outlet = this.#events.outlet(response, { ...headers, 'x-request-id': asking.requestId });
    const opened = await subscriptions.open({ ready, request, asking: { ...asking, transport: 'sse' } }, outlet);
    if ('stage' in opened) this.#notBegun(opened, { ...exchange, accepted: { ...accepted, events: 'all' } }, asking.requestId);
    else outlet.begin(opened);
  }

  /** What graphql-sse calls a validation error is told as an event; that there is no room for more is told to who looks at nothing but the status. */
  #notBegun(answer: Answer, exchange: Exchange, requestId: string): void {
    const status = unavailableStatuses.get(answer.code);
    if (status === undefined) {
      sendAnswer(answer, exchange, requestId);
      return;
    }
    const { response, headers, accepted } = exchange;
    // Those who are sent away together are not to come back together.
    const retryAfter = String(1 + Math.floor(this.#options.clock.random() * 10));
    const all = { ...answerHeaders(headers, accepted.type, requestId), 'retry-after': retryAfter };
    send(response, { status, headers: all, body: answer.json });
  }

  async #introspect(
    ready: ReadyExecution,
    operation: OperationRequest,
    { asking, exchange }: { readonly asking: Asking; readonly exchange: Exchange },
  ): Promise<void> {
    const { request, response, headers, accepted } = exchange;
    const found = await this.#options.introspections.answer(ready, operation, asking);
    const all = { status: 200, headers: answerHeaders(headers, accepted.type, asking.requestId) };
    if ('stage' in found) sendAnswer(found, exchange, asking.requestId);
    else if (accepted.events === 'all') sendAsEvents(response, { ...all, body: found.plain });
    else send(response, bytesAnswer(request, found, all));
  }

  #refuse(error: unknown, requestId: string, { response, headers, accepted: { type } }: Exchange): void {
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
  readonly accepted: AcceptedAnswer;
}

/** Codes of streams that may well begin a little later, or elsewhere. */
const unavailableStatuses: ReadonlyMap<string, number> = new Map([
  ['OVERLOADED', 429],
  ['SHUTTING_DOWN', 503],
]);

function sendAnswer(answer: Answer, { response, headers, accepted: { type, events } }: Exchange, requestId: string): void {
  const all = { headers: answerHeaders(headers, type, requestId), body: answer.json };
  if (events === 'all') sendAsEvents(response, { ...all, status: 200 });
  else send(response, { ...all, status: statusOf(answer, type) });
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
