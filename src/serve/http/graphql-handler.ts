import type { IncomingMessage, OutgoingHttpHeaders, ServerResponse } from 'node:http';
import { OperationTypeNode } from 'graphql';
import type { FetchAPI } from 'graphql-yoga';
import type { Caller } from '../../access/access.ts';
import type { Clock } from '../../core/clock.ts';
import type { CallerSession } from '../../identity/authenticator.ts';
import type { OperationAdmission } from '../../operations/admission.ts';
import type { AnswerFactory, EncodedAnswer } from '../../operations/answers.ts';
import { acceptedEncoding } from '../../operations/compressed-bytes.ts';
import type { Engine } from '../../operations/engine.ts';
import { maskedCode } from '../../operations/masking.ts';
import type { OutputBuffers } from '../../operations/output-buffers.ts';
import type { RequestScheduler } from '../../operations/request-scheduler.ts';
import type { UnsentBytes } from '../../operations/unsent-bytes.ts';
import { StartedStream } from '../../streams/outlet.ts';
import type { CallerLoad } from '../callers/caller-load.ts';
import { holdStream } from '../callers/stream-session.ts';
import { asEvents, EventStream, type EventStreamOptions, eventHeaders } from '../sse/event-stream.ts';
import { sendHttpAnswer } from './http-answer.ts';
import { type AnswerType, HttpOperation, type HttpPlugin } from './http-operation.ts';

export interface GraphqlHandlerOptions {
  readonly handle: Engine<HttpOperation>['handle'];
  /** The caller in local mode: the user who runs the gateway. */
  readonly caller: Caller;
  /** Writes comments to open streams of server-sent events. */
  readonly comments: EventStreamOptions['comments'];
  readonly unsent: UnsentBytes;
  /** Gets the buffers of answers back after they were sent. */
  readonly buffers: OutputBuffers;
  /** Operations in flight over HTTP. The gateway aborts them when it ends. */
  readonly inFlight: Set<AbortController>;
  readonly admission: Pick<OperationAdmission, 'inFlight'>;
  readonly load: CallerLoad;
  readonly clock: Clock;
}

/** Facts about a request that were found before it is handled. */
interface AdmittedRequest {
  readonly cors: OutgoingHttpHeaders;
  /** Undefined in local mode. */
  readonly session?: CallerSession;
}

/** Passes a request to Yoga and sends the response. A stream sends its messages without Yoga. */
export type GraphqlHandler = (req: IncomingMessage, res: ServerResponse, admitted: AdmittedRequest) => Promise<void>;

/**
 * Creates the handler of /graphql.
 *
 * Next: `handle` is Yoga (operations/engine.ts). It runs the hooks of the plugins in the order of serve.ts: `onRequestParse`, parse,
 * validate, execute, `onResultProcess`. The last hook is `useAnswers`, below.
 */
export function createGraphqlHandler(options: GraphqlHandlerOptions): GraphqlHandler {
  const { handle, comments, unsent, inFlight, admission, buffers } = options;
  const turns = new LoopTurns();
  return async (req, res, { cors, session }) => {
    const turn = turns.join();
    const isHead = req.method === 'HEAD';
    // Yoga does not know HEAD, so it gets a GET. Node leaves out the body. HEAD gets no stream, because the client would not see its end.
    if (isHead) req.method = 'GET';
    const outlet = (begun: HttpOperation) => {
      if (isHead) return undefined;
      holdStream(begun, options);
      return new EventStream({ response: res, headers: { ...cors, 'x-request-id': begun.requestId }, comments, unsent });
    };
    using operation = new HttpOperation({ req, res, caller: session?.caller ?? options.caller, session, outlet });
    inFlight.add(operation.abortController);
    try {
      const response = await handle(req, operation);
      // Waits for the end of the turn, as `LoopTurns` explains. Does not wait while an operation of an earlier turn is in flight, because its
      // work may delay the end of this turn.
      if (turns.current === turn && admission.inFlight <= turn.joined) await turn.end;
      if (operation.hasClientGone || res.headersSent || res.destroyed) return;
      const pieces = bodies.get(response);
      if (pieces !== undefined) res.once('finish', () => buffers.release(pieces));
      sendResponse(res, response, pieces ?? (response.body === null ? undefined : [await response.bytes()]));
      // The operation keeps its admission slot until the client has taken the answer. A stream that has begun has no slot any more.
      const sent = unsent.untilTaken(res);
      if (sent !== undefined) await sent;
    } finally {
      inFlight.delete(operation.abortController);
    }
  };
}

interface LoopTurn {
  /** Number of requests that came in this turn. */
  joined: number;
  readonly end: Promise<void>;
}

/**
 * The current event-loop turn, if requests came in it. Answers that are ready within the turn of their requests are sent together at its end. The
 * first write wakes the process of the client, which costs the gateway up to 30 µs of CPU. The other writes find the client awake.
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

/**
 * The pieces of response bodies that this file has encoded. Node sends the pieces as they are. Reading the body from the Response would join them,
 * which copies their bytes.
 */
const bodies = new WeakMap<Response, readonly Uint8Array[]>();

function sendResponse(res: ServerResponse, response: Response, body: readonly Uint8Array[] | undefined): void {
  const headers: OutgoingHttpHeaders = {};
  response.headers.forEach((value, name) => {
    headers[name] = value;
  });
  sendHttpAnswer(res, { status: response.status, headers, body });
}

/**
 * Returns a plugin that takes an admission slot for each HTTP request, before its body is read. If many requests come in one event-loop
 * turn, the `RequestScheduler` delays some of them first.
 */
export function useAdmission({
  admission,
  requestScheduler,
}: {
  readonly admission: OperationAdmission;
  readonly requestScheduler: RequestScheduler;
}): HttpPlugin {
  return {
    onRequestParse: ({ serverContext: operation }) => {
      const enter = () => {
        operation.abortController.signal.throwIfAborted();
        operation.admissionSlot = admission.takeSlot();
      };
      const turn = requestScheduler.waitForTurn(operation.caller.key);
      return turn === undefined ? enter() : turn.then(enter);
    },
  };
}

/**
 * Returns a plugin that turns results into HTTP responses, in Yoga's `onResultProcess`. `answerTo` encodes the bytes of the body. A result
 * that is a stream is started instead.
 */
export function useAnswers(answers: Pick<AnswerFactory, 'answerTo'>): HttpPlugin {
  return {
    onResultProcess: ({ result, serverContext: operation, setResultProcessor }) => {
      const respond = (answer: EncodedAnswer | undefined) =>
        setResultProcessor((_, fetchAPI) => responseTo(operation, answer, fetchAPI), operation.accepted.type);
      if (result instanceof StartedStream) operation.events?.start(result.stream);
      if (operation.hasClientGone || result instanceof StartedStream || Array.isArray(result) || Symbol.asyncIterator in result)
        return respond(undefined);
      const answer = answers.answerTo(operation, result);
      return answer instanceof Promise ? answer.then(respond) : respond(answer);
    },
  };
}

/**
 * Returns the response for an answer. `answer` is undefined if the client has gone, or if a stream sends the messages by itself: then the
 * response is empty.
 */
function responseTo(operation: HttpOperation, answer: EncodedAnswer | undefined, fetchAPI: FetchAPI): Response {
  if (answer === undefined) return new fetchAPI.Response(null);
  const { accepted, type, req, requestId } = operation;
  const isStream = accepted.events === 'all' || (accepted.events === 'streams' && type === OperationTypeNode.SUBSCRIPTION);
  const common = { 'cache-control': 'no-store', 'x-request-id': requestId };
  if (isStream && (answer.http === undefined || answer.http.spec === true))
    return responseOf(asEvents(answer.json), { status: 200, headers: { ...common, ...eventHeaders } }, fetchAPI);
  const found = answer.compressed && acceptedEncoding(req.headers['accept-encoding'], answer.compressed);
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

/**
 * Returns the status that the specification "GraphQL over HTTP" requires. `application/json` gets 200 for every readable request,
 * `application/graphql-response+json` only for an answer with data.
 */
function statusOf({ body, code, http }: EncodedAnswer, type: AnswerType): number {
  if (body.data !== undefined && body.data !== null) return 200;
  if (http !== undefined && !(http.spec === true && type === 'application/json')) return http.status;
  if (code === maskedCode && body.data === undefined) return 500;
  return type === 'application/json' || body.data === null ? 200 : 400;
}
