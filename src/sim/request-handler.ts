import type { IncomingMessage } from 'node:http';
import type { Http2ServerRequest } from 'node:http2';
import { answer } from './answer.ts';
import type { SimServer } from './answer-context.ts';
import { factsOf, readAsked } from './asked.ts';
import type { Handler } from './door.ts';
import { Outlet } from './outlet.ts';
import type { RequestLog } from './request-log.ts';

/** Most bytes of a body that an API server reads. */
const maxBodyBytes = 3 * 1024 * 1024;

/** Takes requests in, keeps the log of them, and has them answered. */
export function createRequestHandler(server: SimServer, log: RequestLog): Handler {
  return (message, response) => {
    const { state } = server;
    const request = log.begin(message);
    const query = new URLSearchParams((message.url ?? '').split('?')[1] ?? '');
    const asked = readAsked(state, request.method, request.path, query);
    if (asked.type === 'resource') request.resource = asked.resource;
    const facts = factsOf(asked, request.path);
    response.on('close', () => {
      request.endedMs = state.clock.monotonic();
    });
    const onHead = (status: number) => {
      request.status = status;
    };
    const outlet = new Outlet(response, { behaviour: server.behaviour, facts, clock: state.clock, onHead });
    message.on('error', () => undefined);
    let body: Promise<string | undefined> | undefined;
    const context = {
      server,
      asked,
      facts,
      request,
      query,
      outlet,
      body: () => {
        body ??= bodyOf(message);
        return body;
      },
    };
    answer(context).catch((error: unknown) => {
      // A reader that went away in the middle is its own affair; anything else is a bug of this server.
      if (!outlet.signal.aborted && !isCutOff(message)) queueMicrotask(() => Promise.reject(error));
    });
  };
}

async function bodyOf(message: IncomingMessage | Http2ServerRequest): Promise<string | undefined> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of message as AsyncIterable<Uint8Array>) {
    length += chunk.length;
    if (length <= maxBodyBytes) chunks.push(chunk);
  }
  // What was cut off is no request: without its body a deletion would have no preconditions.
  if (isCutOff(message)) throw new Error('the request was cut off');
  return length > maxBodyBytes ? undefined : Buffer.concat(chunks).toString('utf8');
}

/** Of HTTP/2 its stream knows it before the message does. */
function isCutOff(message: IncomingMessage | Http2ServerRequest): boolean {
  return message.aborted || ('stream' in message && (message.stream.aborted || message.stream.destroyed || message.stream.rstCode !== 0));
}
