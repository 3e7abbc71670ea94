import type { IncomingMessage } from 'node:http';
import { setImmediate as nextLoopTurn } from 'node:timers/promises';
import { FairPlaces } from '../../core/scheduling/fair-places.ts';
import {
  badRequest,
  type OperationRequest,
  operationRequestIn,
  parseJsonText,
  parseOperationBody,
} from '../../operations/operation-request.ts';
import { RequestRefusal } from '../../operations/refusal.ts';
import type { HttpOperation, HttpPlugin } from './http-operation.ts';

/** Bytes above which bodies are parsed one after the other: 4 MiB with many keys take 0.3 s. */
const largeBytes = 256 << 10;

/**
 * Returns a plugin that reads operations from bodies and query strings. Yoga's own parser uses `JSON.parse`, which rounds integers beyond
 * 2⁵³−1.
 */
export function useExactJson(maxBytes: number): HttpPlugin {
  const places = new FairPlaces({ places: 1 });
  const parse = async ({ req, caller, abortController }: HttpOperation): Promise<OperationRequest> => {
    const body = await readBody(req, maxBytes);
    if (body.length <= largeBytes) return parseOperationBody(body);
    const { signal } = abortController;
    const ran = await places.run(caller.key, () => nextLoopTurn().then(() => parseOperationBody(body)), signal);
    if (ran.result !== 'done') throw signal.reason;
    return ran.value;
  };
  return {
    onRequestParse: ({ serverContext: operation, setRequestParser }) => {
      const { req } = operation;
      if (req.method === 'POST') setRequestParser(() => parse(operation));
      if (req.method === 'GET') setRequestParser(() => parseQueryString(req.url ?? ''));
    },
  };
}

/**
 * Reads the whole body.
 *
 * @throws {RequestRefusal} 413 if it is larger than `maxBytes`. If `content-length` already says so, nothing is read. 400 if the
 * connection ends before the body.
 */
function readBody(request: IncomingMessage, maxBytes: number): Promise<Uint8Array> {
  const length = Number(request.headers['content-length'] ?? 0);
  if (length > maxBytes) return Promise.reject(tooLarge(maxBytes));
  const { promise, resolve, reject } = Promise.withResolvers<Uint8Array>();
  const chunks: Buffer[] = [];
  let size = 0;
  // Uses events: an async iterator costs as much as all other work for a small request.
  const take = (chunk: Buffer) => {
    size += chunk.length;
    if (size <= maxBytes) return void chunks.push(chunk);
    // The rest of the body is dropped, so that the client can read our answer.
    request.off('data', take).resume();
    reject(tooLarge(maxBytes));
  };
  request.on('data', take);
  request.once('end', () => resolve(chunks.length === 1 && chunks[0] !== undefined ? chunks[0] : Buffer.concat(chunks)));
  request.once('error', () => reject(badRequest('the connection ended before the end of the body')));
  return promise;
}

/**
 * Reads the operation of a GET from the query string. `variables` and `extensions` are JSON. A parameter without a value counts as absent.
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
  // The rest of the body is not read, so the connection cannot be used again.
  return new RequestRefusal({
    status: 413,
    code: 'BAD_INPUT',
    message: `expected a body of at most ${maxBytes} bytes`,
    headers: { connection: 'close' },
  });
}
