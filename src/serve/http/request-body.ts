import type { IncomingMessage } from 'node:http';
import {
  badRequest,
  type OperationRequest,
  operationRequestIn,
  parseJsonText,
  parseOperationBody,
} from '../../operations/operation-request.ts';
import { RequestRefusal } from '../../operations/refusal.ts';
import type { HttpPlugin } from './http-operation.ts';

/** Reads operations from bodies and query strings by our rules, as Yoga's `JSON.parse` would round integers beyond 2⁵³−1. */
export function useExactJson(maxBytes: number): HttpPlugin {
  return {
    onRequestParse: ({ serverContext: { req }, setRequestParser }) => {
      if (req.method === 'POST') setRequestParser(() => readBody(req, maxBytes).then(parseOperationBody));
      if (req.method === 'GET') setRequestParser(() => parseQueryString(req.url ?? ''));
    },
  };
}

/**
 * Reads a body whole.
 *
 * @throws {RequestRefusal} 413 above the bound, before reading where the length was told; 400 if the client left in mid-body.
 */
function readBody(request: IncomingMessage, maxBytes: number): Promise<Uint8Array> {
  const told = Number(request.headers['content-length'] ?? 0);
  if (told > maxBytes) return Promise.reject(tooLarge(maxBytes));
  const { promise, resolve, reject } = Promise.withResolvers<Uint8Array>();
  const chunks: Buffer[] = [];
  let size = 0;
  // Events, as an async iterator costs as much as all the rest of a small request.
  const take = (chunk: Buffer) => {
    size += chunk.length;
    if (size <= maxBytes) return void chunks.push(chunk);
    // What is still on its way is dropped unread, and the client gets to read our answer.
    request.off('data', take).resume();
    reject(tooLarge(maxBytes));
  };
  request.on('data', take);
  request.once('end', () => resolve(chunks.length === 1 && chunks[0] !== undefined ? chunks[0] : Buffer.concat(chunks)));
  request.once('error', () => reject(badRequest('the body ended before its end')));
  return promise;
}

/**
 * The operation in the query string of a GET: `variables` and `extensions` are JSON there. A parameter without a value counts as absent.
 *
 * @throws {RequestRefusal} 400 with what was expected.
 */
function parseQueryString(url: string): OperationRequest {
  const { query, operationName, ...parameters } = Object.fromEntries(new URLSearchParams(url.slice('/graphql'.length)));
  const jsonOf = (name: string) => (parameters[name] ? parseJsonText(parameters[name], `the parameter ${name}`) : undefined);
  return operationRequestIn({
    query,
    operationName: operationName || null,
    variables: jsonOf('variables'),
    extensions: jsonOf('extensions'),
  });
}

function tooLarge(maxBytes: number): RequestRefusal {
  // What is still on its way is not read: the connection cannot be used again.
  return new RequestRefusal({
    status: 413,
    code: 'BAD_INPUT',
    message: `expected a body of at most ${maxBytes} bytes`,
    headers: { connection: 'close' },
  });
}
