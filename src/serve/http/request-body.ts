import type { IncomingMessage } from 'node:http';
import { setImmediate as nextLoopTurn } from 'node:timers/promises';
import type { Caller } from '../../access/access.ts';
import type { Clock } from '../../core/clock.ts';
import { FairSemaphore } from '../../core/scheduling/fair-semaphore.ts';
import {
  badRequest,
  type OperationRequest,
  operationRequestIn,
  parseJsonText,
  parseOperationBody,
  parseOperationBodyInSteps,
} from '../../operations/operation-request.ts';
import { RequestRefusal } from '../../operations/refusal.ts';
import { type RequestScheduler, turnMs } from '../../operations/request-scheduler.ts';
import type { HttpOperation, HttpPlugin } from './http-operation.ts';

/** Bytes above which a body waits for a turn before it is parsed. A smaller document takes well below a millisecond. */
const unscheduledBytes = 1 << 10;

/** Bytes above which a body is parsed in steps, and few bodies at a time: 4 MiB with many keys take 0.3 s. */
const largeBytes = 16 << 10;

/** Maximum number of large bodies that are parsed at a time. One of them belongs to one caller. */
const largeAtOnce = 4;

interface ExactJsonOptions {
  /** Maximum bytes of a body. */
  readonly maxBytes: number;
  readonly requestScheduler: Pick<RequestScheduler, 'waitForTurn'>;
  readonly clock: Pick<Clock, 'monotonic'>;
}

/**
 * Returns a plugin that reads operations from bodies and query strings. Yoga's own parser uses `JSON.parse`, which rounds integers beyond
 * 2⁵³−1.
 *
 * A body above 1 KiB waits for a second turn before it is parsed, because the requests of a caller may arrive together. A large body waits for a
 * turn before each 3 ms of parsing, so that other callers have their turns in between.
 */
export function useExactJson({ maxBytes, requestScheduler, clock }: ExactJsonOptions): HttpPlugin {
  const semaphore = new FairSemaphore({ permits: largeAtOnce, permitsPerUser: 1 });
  const parseLarge = async (body: Uint8Array, { key }: Caller, signal: AbortSignal): Promise<OperationRequest> => {
    const steps = parseOperationBodyInSteps(body);
    for (;;) {
      // The parsing always waits for a later event-loop turn, so that sockets are read between two slices.
      await nextLoopTurn();
      await requestScheduler.waitForTurn(key);
      signal.throwIfAborted();
      const untilMs = clock.monotonic() + turnMs;
      do {
        const { done, value } = steps.next();
        if (done === true) return value;
      } while (clock.monotonic() < untilMs);
    }
  };
  const parse = async ({ req, caller, abortController }: HttpOperation): Promise<OperationRequest> => {
    const body = await readBody(req, maxBytes);
    const { signal } = abortController;
    if (body.length > largeBytes) {
      const ran = await semaphore.run(caller.key, () => parseLarge(body, caller, signal), signal);
      if (ran.result !== 'done') throw signal.reason;
      return ran.value;
    }
    if (body.length > unscheduledBytes) await requestScheduler.waitForTurn(caller.key);
    signal.throwIfAborted();
    return parseOperationBody(body);
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
