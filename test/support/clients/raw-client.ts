import { once } from 'node:events';
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import https from 'node:https';
import { createInterface } from 'node:readline';

/** The address of an API server and an identity: a client certificate, a token, or anonymous. */
export interface Endpoint {
  readonly url: string;
  readonly caPem: string;
  readonly certPem?: string;
  readonly keyPem?: string;
  readonly token?: string;
}

/** The fields of an object, a list or a Status that tests read. */
export interface ApiBody {
  readonly kind?: string;
  readonly apiVersion?: string;
  readonly metadata: {
    readonly name: string;
    readonly namespace?: string;
    readonly uid: string;
    readonly resourceVersion: string;
    readonly generation?: number;
    readonly creationTimestamp: string;
    readonly deletionTimestamp?: string;
    readonly labels?: Readonly<Record<string, string>>;
    readonly annotations?: Readonly<Record<string, string>>;
    readonly continue?: string;
    readonly remainingItemCount?: number;
  };
  readonly items: readonly ApiBody[];
  readonly spec?: Readonly<Record<string, unknown>>;
  readonly status?: unknown;
  readonly data?: Readonly<Record<string, string>>;
  readonly code?: number;
  readonly reason?: string;
  readonly message?: string;
  readonly details?: Readonly<Record<string, unknown>>;
}

export interface RawAnswer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  /** The body as it was sent, not decompressed. */
  readonly bytes: Buffer;
  readonly text: string;
  /** @throws {SyntaxError} if the body is not JSON. */
  json(): ApiBody;
}

export interface RawEvent {
  readonly type: string;
  readonly object: ApiBody;
  /** The line as it was sent. */
  readonly line: string;
}

/** One open watch. Disposing of it ends the request. */
interface RawWatch extends Disposable {
  readonly status: number;
  /** Returns the next event. Undefined if the stream ended cleanly. Fails after 15 s without an event. */
  next(): Promise<RawEvent | undefined>;
  /** Returns this many events. Fails if the stream ends before. */
  take(count: number): Promise<RawEvent[]>;
}

export interface RawRequest {
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

/** A plain HTTP/1.1 client for an API server, without a client library or code of Muster. It returns answers unchanged. */
export interface RawClient extends Disposable {
  send(method: string, path: string, request?: RawRequest): Promise<RawAnswer>;
  get(path: string, headers?: Readonly<Record<string, string>>): Promise<RawAnswer>;
  /** Resolves with the headers of the answer. */
  watch(path: string, headers?: Readonly<Record<string, string>>): Promise<RawWatch>;
}

/** Milliseconds that a test waits for a server. */
const patienceMs = 15_000;

/** Creates a client with its own connections, which are closed when it is disposed of. */
export function createRawClient(endpoint: Endpoint): RawClient {
  const agent = new https.Agent({ ca: endpoint.caPem, cert: endpoint.certPem, key: endpoint.keyPem, keepAlive: true });
  const open = async (method: string, path: string, { body, headers = {} }: RawRequest): Promise<IncomingMessage> => {
    const bytes = body === undefined ? undefined : Buffer.from(typeof body === 'string' ? body : JSON.stringify(body));
    const request = https.request(`${endpoint.url}${path}`, {
      agent,
      method,
      headers: {
        ...(endpoint.token === undefined ? {} : { authorization: `Bearer ${endpoint.token}` }),
        // Without a given length Node sends the body of a DELETE with neither a length nor chunks.
        ...(bytes === undefined ? {} : { 'content-type': 'application/json', 'content-length': String(bytes.length) }),
        ...headers,
      },
    });
    request.end(bytes);
    const [answer] = (await once(request, 'response', { signal: AbortSignal.timeout(patienceMs) })) as [IncomingMessage];
    return answer;
  };
  const send = async (method: string, path: string, request: RawRequest = {}): Promise<RawAnswer> => {
    const answer = await open(method, path, request);
    const bytes = Buffer.concat(await answer.toArray({ signal: AbortSignal.timeout(patienceMs) }));
    const text = bytes.toString();
    return { status: answer.statusCode ?? 0, headers: answer.headers, bytes, text, json: () => JSON.parse(text) as ApiBody };
  };
  return {
    send,
    get: (path, headers = {}) => send('GET', path, { headers }),
    watch: async (path, headers = {}) => readWatch(await open('GET', path, { headers })),
    [Symbol.dispose]: () => agent.destroy(),
  };
}

function readWatch(answer: IncomingMessage): RawWatch {
  // Disposing of the watch resets the connection. Without this listener the pipeline of readline throws that error.
  answer.on('error', () => undefined);
  const lines = createInterface({ input: answer, crlfDelay: Number.POSITIVE_INFINITY })[Symbol.asyncIterator]();
  const next = async (): Promise<RawEvent | undefined> => {
    const { value, done } = await withPatience(lines.next());
    if (done === true) return undefined;
    return { ...(JSON.parse(value) as { type: string; object: ApiBody }), line: value };
  };
  return {
    status: answer.statusCode ?? 0,
    next,
    async take(count) {
      const events: RawEvent[] = [];
      while (events.length < count) {
        const event = await next();
        if (event === undefined) throw new Error(`the watch ended after ${events.length} of ${count} events`);
        events.push(event);
      }
      return events;
    },
    [Symbol.dispose]: () => {
      answer.destroy();
    },
  };
}

async function withPatience<T>(promise: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const silence = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new Error(`expected an event, heard nothing for ${patienceMs} ms`)), patienceMs);
  });
  try {
    return await Promise.race([promise, silence]);
  } finally {
    clearTimeout(timer);
  }
}
