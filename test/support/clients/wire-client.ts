import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import http2 from 'node:http2';
import https from 'node:https';
import type { Readable } from 'node:stream';

/** The address of an API server and an identity. */
export interface WireServer {
  readonly url: string;
  readonly caPem: string;
  readonly token: string;
}

interface WireRequest {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: unknown;
}

export interface WireAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly bytes: Buffer;
  readonly text: string;
  /** The chunks in order of arrival: frames of HTTP/2, or chunks of HTTP/1.1. */
  readonly chunks: readonly Buffer[];
  /** `clean`: the server ended the body. `reset`: the body was cut off. */
  readonly end: 'clean' | 'reset';
}

/** An answer whose headers have arrived. */
interface WireStream extends Disposable {
  readonly status: number;
  readonly headers: WireAnswer['headers'];
  /** Returns the next whole line, parsed. Undefined at the end. */
  next(): Promise<WireEvent | undefined>;
  /** Returns this many events, as `TYPE name`, or `TYPE version` for a bookmark. Fails if the stream ends before. */
  take(count: number): Promise<string[]>;
  /** Reads the rest of the answer. */
  rest(): Promise<WireAnswer>;
}

interface WireEvent {
  readonly type: string;
  readonly object: {
    readonly kind?: string;
    readonly apiVersion?: string;
    readonly code?: number;
    readonly reason?: string;
    readonly metadata: Readonly<Record<string, unknown>> & { readonly name?: string; readonly resourceVersion?: string };
    readonly spec?: unknown;
    readonly status?: unknown;
    readonly data?: Readonly<Record<string, string>>;
  };
}

/** A client of one protocol with one connection. It uses Node's client and no code of Muster. */
export interface WireClient extends AsyncDisposable {
  /** Returns the whole answer. No behavior of a server makes it throw. */
  ask(path: string, request?: WireRequest): Promise<WireAnswer>;
  /** Returns the body of the answer, with any status. */
  read<T = WireBody>(path: string, request?: WireRequest): Promise<T>;
  /** Resolves when the headers have arrived. */
  open(path: string, request?: WireRequest): Promise<WireStream>;
  /** The HTTP/2 session. Undefined with HTTP/1.1. */
  readonly session: http2.ClientHttp2Session | undefined;
}

/** The fields of objects, lists and Status objects that tests read. */
export interface WireBody {
  readonly kind: string;
  readonly apiVersion: string;
  readonly code?: number;
  readonly reason?: string;
  readonly message?: string;
  readonly details?: Readonly<Record<string, unknown>>;
  readonly metadata: Readonly<Record<string, unknown>> & {
    readonly name: string;
    readonly uid: string;
    readonly resourceVersion: string;
    readonly continue?: string;
  };
  readonly items: readonly WireBody[];
  readonly spec?: Readonly<Record<string, unknown>>;
  readonly status?: Readonly<Record<string, unknown>>;
}

export type WireProtocol = 'h2' | 'http1';

export function createWireClient(server: WireServer, protocol: WireProtocol): WireClient {
  return protocol === 'h2' ? overHttp2(server) : overHttp1(server);
}

function overHttp2({ url, caPem, token }: WireServer): WireClient {
  const session = http2.connect(url, { ca: caPem });
  session.on('error', () => undefined);
  return {
    session,
    ...asking(async (path, { method = 'GET', headers = {}, body }) => {
      // Without `endStream: false` Node assumes that a DELETE has no body.
      const options = { endStream: body === undefined };
      const stream = session.request({ ':path': path, ':method': method, ...identified(token, body), ...headers }, options);
      stream.on('error', () => undefined);
      if (body !== undefined) stream.end(textOf(body));
      const { promise, resolve } = Promise.withResolvers<Head>();
      stream.on('response', ({ ':status': status = 0, ...rest }) => resolve({ status, headers: rest, body: stream }));
      stream.on('close', () => resolve({ status: 0, headers: {}, body: undefined }));
      return promise;
    }),
    async [Symbol.asyncDispose]() {
      if (session.destroyed) return;
      const closed = once(session, 'close');
      session.destroy();
      await closed;
    },
  };
}

function overHttp1({ url, caPem, token }: WireServer): WireClient {
  const agent = new https.Agent({ ca: caPem, keepAlive: true, maxSockets: Number.POSITIVE_INFINITY });
  return {
    session: undefined,
    ...asking((path, { method = 'GET', headers = {}, body }) => {
      const request = https.request(`${url}${path}`, { agent, method, headers: { ...identified(token, body), ...headers } });
      const { promise, resolve } = Promise.withResolvers<Head>();
      request.on('error', () => resolve({ status: 0, headers: {}, body: undefined }));
      request.on('response', (answer: IncomingMessage) => {
        answer.on('error', () => undefined);
        resolve({ status: answer.statusCode ?? 0, headers: answer.headers, body: answer });
      });
      request.end(textOf(body));
      return promise;
    }),
    async [Symbol.asyncDispose]() {
      agent.destroy();
    },
  };
}

interface Head {
  readonly status: number;
  readonly headers: WireAnswer['headers'];
  readonly body: Readable | undefined;
}

type Send = (path: string, request: WireRequest) => Promise<Head>;

function asking(send: Send): Pick<WireClient, 'ask' | 'read' | 'open'> {
  const open = async (path: string, request: WireRequest = {}) => streamOf(await send(path, request));
  const ask = async (path: string, request: WireRequest = {}) => (await open(path, request)).rest();
  return {
    open,
    ask,
    async read<T>(path: string, request: WireRequest = {}) {
      const { text } = await ask(path, request);
      return JSON.parse(text) as T;
    },
  };
}

function streamOf({ status, headers, body }: Head): WireStream {
  const chunks: Buffer[] = [];
  const waiting: (() => void)[] = [];
  let end: WireAnswer['end'] | undefined = body === undefined ? 'reset' : undefined;
  let [pending, read] = [Buffer.alloc(0), 0];
  const wake = () => {
    for (const go of waiting.splice(0)) go();
  };
  body?.on('data', (chunk: Buffer) => {
    chunks.push(chunk);
    wake();
  });
  body?.on('end', () => {
    // Node reports HTTP/2 streams that were reset as ended, too.
    end ??= 'rstCode' in body && body.rstCode !== http2.constants.NGHTTP2_NO_ERROR ? 'reset' : 'clean';
  });
  body?.on('close', () => {
    if ('rstCode' in body && body.rstCode !== http2.constants.NGHTTP2_NO_ERROR) end = 'reset';
    end ??= 'reset';
    body.removeAllListeners('data');
    wake();
  });
  const isOver = () => end !== undefined && (body === undefined || body.closed);
  const more = () => new Promise<void>((resolve) => waiting.push(resolve));
  const next = async (): Promise<WireEvent | undefined> => {
    for (;;) {
      if (read < chunks.length) pending = Buffer.concat([pending, ...chunks.slice(read)]);
      read = chunks.length;
      const at = pending.indexOf('\n');
      if (at >= 0) {
        const line = pending.subarray(0, at).toString();
        pending = pending.subarray(at + 1);
        return JSON.parse(line) as WireEvent;
      }
      if (isOver()) return undefined;
      await more();
    }
  };
  return {
    status,
    headers,
    next,
    async take(count) {
      const events: string[] = [];
      while (events.length < count) {
        const event = await next();
        if (event === undefined) throw new Error(`the stream ended after ${events.length} of ${count} events: ${events.join(', ')}`);
        events.push(briefly(event));
      }
      return events;
    },
    async rest() {
      while (!isOver()) await more();
      const bytes = Buffer.concat(chunks);
      return { status, headers, bytes, text: bytes.toString(), chunks, end: end ?? 'reset' };
    },
    [Symbol.dispose]: () => {
      body?.destroy();
    },
  };
}

/** Describes an event: `ADDED web`, `BOOKMARK 12`, `ERROR 410`. */
function briefly({ type, object }: WireEvent): string {
  if (type === 'ERROR') return `${type} ${object.code}`;
  return `${type} ${type === 'BOOKMARK' ? object.metadata.resourceVersion : object.metadata.name}`;
}

function identified(token: string, body: unknown): Record<string, string> {
  const text = textOf(body);
  const content = text === undefined ? {} : { 'content-type': 'application/json', 'content-length': String(Buffer.byteLength(text)) };
  return { authorization: `Bearer ${token}`, ...content };
}

function textOf(body: unknown): string | undefined {
  return body === undefined || typeof body === 'string' ? body : JSON.stringify(body);
}
