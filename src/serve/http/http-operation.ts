import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Plugin } from 'graphql-yoga';
import type { CallerSession } from '../../identity/authenticator.ts';
import { GraphqlOperation } from '../../operations/operation.ts';
import type { EventStream } from '../sse/event-stream.ts';

/** The media types of GraphQL over HTTP, except streams. */
export type AnswerType = 'application/json' | 'application/graphql-response+json';

/** The forms of answer that the caller accepts. */
export interface AcceptedAnswer {
  /** The media type of an answer that is no stream. Refusals always have it, even if the caller accepts streams only. */
  readonly type: AnswerType;
  /**
   * `none`: no server-sent events. `streams`: server-sent events for subscriptions only. `all`: server-sent events for every operation, because the caller
   * prefers them.
   */
  readonly events: 'none' | 'streams' | 'all';
}

/** The abort reason after the client has closed its connection. Such a request is not answered, logged or counted. */
class ClientGone extends Error {
  override readonly name = 'ClientGone';
}

/** A request to /graphql, with the HTTP details that Yoga's hooks need. Disposing it frees its admission slot. */
export class HttpOperation extends GraphqlOperation {
  readonly req: IncomingMessage;
  readonly res: ServerResponse;
  /** The stream of server-sent events. Undefined before `openOutlet`, and if the client does not accept a stream. */
  events: EventStream | undefined;
  accepted: AcceptedAnswer = { type: 'application/json', events: 'none' };
  admissionSlot: Disposable | undefined;
  /** Yoga calls this with tasks that outlive a request. There are none. */
  readonly waitUntil = ignored;

  /** The credential of the caller. Undefined in local mode. */
  readonly session: CallerSession | undefined;

  constructor({ req, res, caller, session, outlet }: HttpOperationOptions) {
    super({
      caller,
      transport: 'http',
      openOutlet: () => {
        if (this.accepted.events !== 'none') this.events = outlet(this);
        return this.events;
      },
    });
    this.req = req;
    this.res = res;
    this.session = session;
    abortOnClose(res, this.abortController);
  }

  get hasClientGone(): boolean {
    return this.abortController.signal.reason instanceof ClientGone;
  }

  override [Symbol.dispose](): void {
    super[Symbol.dispose]();
    this.admissionSlot?.[Symbol.dispose]();
  }
}

interface HttpOperationOptions extends Pick<HttpOperation, 'req' | 'res' | 'caller' | 'session'> {
  readonly outlet: (operation: HttpOperation) => EventStream | undefined;
}

function ignored(): void {}

/**
 * Aborts the operation if the connection closes before the whole response is written. A function of its own, so that the listener of a long
 * stream keeps nothing else alive.
 */
function abortOnClose(response: ServerResponse, abortController: AbortController): void {
  response.once('close', () => {
    if (!response.writableFinished) abortController.abort(new ClientGone());
  });
}

/**
 * A plugin of Yoga for requests over HTTP. In the hooks that only HTTP has (`onRequestParse`, `onResultProcess`), `serverContext` is the
 * `HttpOperation`, with the request and its response.
 */
export type HttpPlugin = Plugin<GraphqlOperation, HttpOperation, GraphqlOperation>;
