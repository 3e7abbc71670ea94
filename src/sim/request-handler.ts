import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Http2ServerRequest, Http2ServerResponse } from 'node:http2';
import { answer } from './answer.ts';
import { parseRequestTarget } from './requests/request-target.ts';
import { createResponseOutlet } from './requests/response-outlet.ts';
import type { AnswerContext, ServedRequest, SimServer } from './requests/sim-server.ts';

type Message = IncomingMessage | Http2ServerRequest;
export type Handler = (request: Message, response: ServerResponse | Http2ServerResponse) => void;

/** The largest body that an API server reads, in bytes. */
const maxBodyBytes = 3 * 1024 * 1024;

/** Returns the handler for requests over HTTP/1.1 and HTTP/2. */
export function createRequestHandler(server: SimServer): Handler {
  return (message, response) => {
    const request = requestOf(message);
    const query = new URLSearchParams((message.url ?? '').split('?')[1] ?? '');
    const target = parseRequestTarget(server.state, request.method, request.path, query);
    message.on('error', () => undefined);
    let body: Promise<string | undefined> | undefined;
    const context: AnswerContext = {
      ...{ server, target, request, query, outlet: createResponseOutlet(response) },
      body: () => {
        body ??= bodyOf(message);
        return body;
      },
    };
    const answering = server.hooks.around?.(context, answer) ?? answer(context);
    answering.catch((error: unknown) => {
      // A client that went away is no error. Any other rejection is a bug of this server, so it must crash.
      if (!context.outlet.signal.aborted && !isCutOff(message)) queueMicrotask(() => Promise.reject(error));
    });
  };
}

function requestOf(message: Message): ServedRequest {
  const [path = '/', search = ''] = (message.url ?? '/').split('?');
  const headers = Object.entries(message.headers).filter(([name, value]) => value !== undefined && !name.startsWith(':'));
  return {
    method: message.method ?? 'GET',
    path,
    query: Object.fromEntries(new URLSearchParams(search)),
    headers: Object.fromEntries(headers.map(([name, value]) => [name, Array.isArray(value) ? value.join(', ') : String(value)])),
    protocol: message.httpVersionMajor === 2 ? 'h2' : 'http1',
  };
}

async function bodyOf(message: Message): Promise<string | undefined> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of message as AsyncIterable<Uint8Array>) {
    length += chunk.length;
    if (length <= maxBodyBytes) chunks.push(chunk);
  }
  // An incomplete body must not count as empty: a deletion would lose its preconditions.
  if (isCutOff(message)) throw new Error('the request was cut off');
  return length > maxBodyBytes ? undefined : Buffer.concat(chunks).toString('utf8');
}

/** True if the client went away. The stream of an HTTP/2 request knows this before the message does. */
function isCutOff(message: Message): boolean {
  return message.aborted || ('stream' in message && (message.stream.aborted || message.stream.destroyed || message.stream.rstCode !== 0));
}
