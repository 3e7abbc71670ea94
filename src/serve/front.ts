import type { IncomingMessage, OutgoingHttpHeaders, ServerResponse } from 'node:http';
import { OperationTypeNode } from 'graphql';
import type { FetchAPI } from 'graphql-yoga';
import type { Caller } from '../access/access.ts';
import type { Admission } from './admission.ts';
import type { Answer, Answers } from './answer-body.ts';
import { bytesFor } from './compressed-bytes.ts';
import type { Engine } from './engine.ts';
import { asEvents, type EventStream, type EventStreams, eventHeaders } from './event-stream.ts';
import { send } from './http-answer.ts';
import { maskedCode } from './masking.ts';
import type { AcceptedAnswer, AnswerType } from './media-types.ts';
import { Operation, type ServePlugin } from './operations.ts';
import { Begun } from './outlet.ts';
import type { UnsentBytes } from './unsent-bytes.ts';

/** A client that left: nothing is answered, logged or counted. */
class ClientGone extends Error {
  override readonly name = 'ClientGone';
}

/** A request to /graphql, with what Yoga's hooks over HTTP need of it. Disposing it gives its place back. */
export class HttpOperation extends Operation {
  readonly req: IncomingMessage;
  readonly res: ServerResponse;
  /** Undefined until the client could be given a stream. */
  events: EventStream | undefined;
  accepted: AcceptedAnswer = { type: 'application/json', events: 'none' };
  place: Disposable | undefined;
  /** Yoga's place for tasks that outlive a request. There are none. */
  readonly waitUntil = ignored;

  constructor({ req, res, caller, outlet }: HttpOperationOptions) {
    super({
      caller,
      transport: 'http',
      outlet: () => {
        if (this.accepted.events !== 'none') this.events = outlet(this);
        return this.events;
      },
    });
    this.req = req;
    this.res = res;
    abortOnClose(res, this.life);
  }

  get isGone(): boolean {
    return this.life.signal.reason instanceof ClientGone;
  }

  override [Symbol.dispose](): void {
    super[Symbol.dispose]();
    this.place?.[Symbol.dispose]();
  }
}

interface HttpOperationOptions extends Pick<HttpOperation, 'req' | 'res' | 'caller'> {
  readonly outlet: (operation: HttpOperation) => EventStream | undefined;
}

function ignored(): void {}

/** Made here, so that the listener of a long stream holds nothing else. */
function abortOnClose(response: ServerResponse, life: AbortController): void {
  response.once('close', () => {
    if (!response.writableFinished) life.abort(new ClientGone());
  });
}

export interface FrontOptions {
  readonly handle: Engine['handle'];
  /** Who asks in local mode: whoever runs the gateway. */
  readonly caller: Caller;
  readonly streams: EventStreams;
  readonly unsent: UnsentBytes;
  readonly lives: Set<AbortController>;
  readonly admission: Pick<Admission, 'inFlight'>;
}

/** Hands a request to Yoga and sends what comes of it, unless that is a stream, which sends by itself. */
export type Front = (req: IncomingMessage, res: ServerResponse, cors: OutgoingHttpHeaders) => Promise<void>;

/** Makes what answers /graphql. */
export function createFront({ handle, caller, streams, unsent, lives, admission }: FrontOptions): Front {
  const turns = new LoopTurns();
  return async (req, res, cors) => {
    const turn = turns.join();
    const isHead = req.method === 'HEAD';
    // Yoga knows no HEAD. Node leaves out the body, as the response knows the method. A stream would have no end that the client sees.
    if (isHead) req.method = 'GET';
    const outlet = ({ requestId }: HttpOperation) => (isHead ? undefined : streams.outlet(res, { ...cors, 'x-request-id': requestId }));
    using operation = new HttpOperation({ req, res, caller, outlet });
    lives.add(operation.life);
    try {
      const response = await handle(req, operation);
      // An operation of an earlier turn may run in slices. Behind them no answer waits.
      if (turns.current === turn && admission.inFlight <= turn.joined) await turn.end;
      if (operation.isGone || res.headersSent || res.destroyed) return;
      sendResponse(res, response, bodies.get(response) ?? (response.body === null ? undefined : [await response.bytes()]));
      // Its place is free once the client has taken the answer. A stream that has begun holds none.
      const sent = unsent.sent(res);
      if (sent !== undefined) await sent;
    } finally {
      lives.delete(operation.life);
    }
  };
}

interface LoopTurn {
  /** Requests that came in this turn. */
  joined: number;
  readonly end: Promise<void>;
}

/**
 * Turns of the event loop with requests in them. Answers that are ready in the turn of their requests leave together at its end: the first write wakes
 * the process of the client, which takes up to 30 µs of our CPU, and finds it awake for the others.
 */
class LoopTurns {
  current: LoopTurn | undefined;

  join(): LoopTurn {
    this.current ??= { joined: 0, end: new Promise((resolve) => setImmediate(() => this.#end(resolve))) };
    this.current.joined++;
    return this.current;
  }

  #end(resolve: () => void): void {
    this.current = undefined;
    resolve();
  }
}

/** The pieces of bodies that were encoded here, which Node sends as they are. Read from the Response they would be joined, which copies them. */
const bodies = new WeakMap<Response, readonly Uint8Array[]>();

function sendResponse(res: ServerResponse, response: Response, body: readonly Uint8Array[] | undefined): void {
  const headers: OutgoingHttpHeaders = {};
  response.headers.forEach((value, name) => {
    headers[name] = value;
  });
  send(res, { status: response.status, headers, body });
}

/** Gives results to clients in the form that was negotiated: by Yoga's `onResultProcess`, as bytes that are encoded already. */
export function useAnswers(answers: Pick<Answers, 'of'>): ServePlugin {
  return {
    onResultProcess: ({ result, serverContext: operation, setResultProcessor }) => {
      const respond = (answer: Answer | undefined) =>
        setResultProcessor((_, fetchAPI) => responseTo(operation, answer, fetchAPI), operation.accepted.type);
      if (result instanceof Begun) operation.events?.begin(result.stream);
      if (operation.isGone || result instanceof Begun || Array.isArray(result) || Symbol.asyncIterator in result) return respond(undefined);
      const answer = answers.of(operation, result);
      return answer instanceof Promise ? answer.then(respond) : respond(answer);
    },
  };
}

/** Undefined: there is nobody to answer, or the answer is a stream that sends by itself. */
function responseTo(operation: HttpOperation, answer: Answer | undefined, fetchAPI: FetchAPI): Response {
  if (answer === undefined) return new fetchAPI.Response(null);
  const { accepted, type, req, requestId } = operation;
  const isStream = accepted.events === 'all' || (accepted.events === 'streams' && type === OperationTypeNode.SUBSCRIPTION);
  const common = { 'cache-control': 'no-store', 'x-request-id': requestId };
  if (isStream && (answer.http === undefined || answer.http.spec === true))
    return responseOf(asEvents(answer.json), { status: 200, headers: { ...common, ...eventHeaders } }, fetchAPI);
  const found = answer.compressed && bytesFor(req.headers['accept-encoding'], answer.compressed);
  const headers: Record<string, string> = {
    'content-type': `${accepted.type}; charset=utf-8`,
    ...common,
    ...found?.headers,
    ...answer.http?.headers,
  };
  return responseOf(found === undefined ? answer.json : [found.body], { status: statusOf(answer, accepted.type), headers }, fetchAPI);
}

function responseOf(pieces: readonly Uint8Array[], init: ResponseInit, { Response }: FetchAPI): Response {
  const body = pieces.length === 1 ? pieces[0] : { [Symbol.asyncIterator]: () => pieces.values() };
  const response = new Response(body as BodyInit, init);
  bodies.set(response, pieces);
  return response;
}

/** GraphQL over HTTP: the older type says 200 to every request it could read, the newer one 200 only where there is data. */
function statusOf({ body, code, http }: Answer, type: AnswerType): number {
  if (body.data !== undefined && body.data !== null) return 200;
  if (http !== undefined && !(http.spec === true && type === 'application/json')) return http.status;
  if (code === maskedCode && body.data === undefined) return 500;
  return type === 'application/json' || body.data === null ? 200 : 400;
}
