import { randomUUID } from 'node:crypto';
import type { IncomingMessage, OutgoingHttpHeaders, ServerResponse } from 'node:http';
import { RequestRefusal } from '../../operations/refusal.ts';
import type { RequestAuthenticator } from '../callers/request-authenticator.ts';
import type { GraphqlHandler } from './graphql-handler.ts';
import { sendHttpAnswer } from './http-answer.ts';
import type { HttpPlugin } from './http-operation.ts';
import { answerTypeOf } from './media-types.ts';

export interface IdentifiedHandlerOptions {
  readonly handler: GraphqlHandler;
  readonly requestAuthenticator: RequestAuthenticator;
  /** Called for each request that is refused here. */
  readonly onRefused: (refusal: RequestRefusal) => void;
}

/**
 * Returns a handler that finds the caller of a request to /graphql and then calls `handler`. If there is no accepted credential, or the caller
 * has too many operations, it answers with the refusal and reads no body. GraphiQL is a page of `handler`, so it needs a caller too. A
 * preflight of a browser has no credentials and is passed on without a caller.
 *
 * In local mode, returns `handler`. There a plugin (`useTokenCheck`) checks the token, so that the page opens without it.
 */
export function createIdentifiedHandler({ handler, requestAuthenticator, onRefused }: IdentifiedHandlerOptions): GraphqlHandler {
  if (requestAuthenticator.isLocal) return handler;
  return async (req, res, { cors }) => {
    if (req.method === 'OPTIONS') return handler(req, res, { cors });
    try {
      const session = await requestAuthenticator.authenticate(req);
      // The client may have left while its credential was checked. An operation that starts after that would not notice, because the
      // connection closes only once.
      if (res.destroyed) return;
      using _operation = requestAuthenticator.load.take('operations', session.caller.key);
      await handler(req, res, { cors, session });
    } catch (error) {
      if (!(error instanceof RequestRefusal)) throw error;
      onRefused(error);
      refuse(req, res, { cors, refusal: error });
    }
  };
}

/** Maximum bytes of a body that are read and dropped after a refusal. */
const maxDroppedBytes = 64 << 10;

/** Returns a plugin that checks the token of local mode before the body of a request is read. */
export function useTokenCheck(requestAuthenticator: RequestAuthenticator): HttpPlugin {
  return {
    onRequestParse: ({ serverContext: { req } }) =>
      requestAuthenticator.isLocal ? void requestAuthenticator.authenticate(req) : undefined,
  };
}

interface RefusedRequest {
  readonly cors: OutgoingHttpHeaders;
  readonly refusal: RequestRefusal;
}

/** Answers in the form of GraphQL over HTTP: `errors` and no `data`, as JSON even if the client accepts streams or pages only. */
function refuse(req: IncomingMessage, res: ServerResponse, { cors, refusal }: RefusedRequest): void {
  const { status, code, message, headers } = refusal;
  const requestId = headers['x-request-id'] ?? randomUUID();
  const body = Buffer.from(JSON.stringify({ errors: [{ message, extensions: { code, requestId } }] }));
  const common = { 'content-type': `${answerTypeOf(req.headers.accept)}; charset=utf-8`, 'cache-control': 'no-store' };
  // Node reads the rest of the request and drops it, so that the connection can be used again. A long body is not worth that.
  const isLong = req.headers['transfer-encoding'] !== undefined || Number(req.headers['content-length'] ?? 0) > maxDroppedBytes;
  const connection = isLong ? { connection: 'close' } : {};
  sendHttpAnswer(res, { status, headers: { ...common, 'x-request-id': requestId, ...cors, ...headers, ...connection }, body: [body] });
}
