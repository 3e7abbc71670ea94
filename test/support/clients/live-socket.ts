import { once } from 'node:events';
import http from 'node:http';
import type { Socket } from 'node:net';
import { WebSocket } from 'ws';
import type { Json } from '../../../src/core/json.ts';

/** The transports of streams. */
export const transports = ['websocket', 'sse'] as const;
export type Transport = (typeof transports)[number];

export type Variables = Readonly<Record<string, Json>>;

export interface ResultError {
  readonly message: string;
  readonly path?: readonly (string | number)[];
  readonly extensions: { readonly code: string };
}

/** One execution result. */
interface StreamResult {
  readonly data?: Readonly<Record<string, unknown>> | null;
  readonly errors?: readonly ResultError[];
}

export interface Closure {
  readonly code: number;
  readonly reason: string;
}

/** A connection that a test controls. */
interface Connection {
  /** The close code of a WebSocket, or the status of an answer. Undefined while the connection is open. Either side may close it. */
  readonly closed: Closure | undefined;
  /** Stops reading until the result is disposed of. */
  pauseReading(): Disposable;
  /** Destroys the connection. */
  destroy(): void;
}

/** One operation over such a connection. */
export interface LiveStream extends Connection {
  /** The results, in order of arrival. */
  readonly seen: readonly StreamResult[];
  /** The text of each message. */
  readonly texts: readonly string[];
  /** The errors that refused the operation. Undefined if it has begun. */
  readonly refusal: readonly ResultError[] | undefined;
  /** True if `complete` or `error` has arrived. */
  readonly completed: boolean;
  /** Ends the operation as a client does. */
  stop(): void;
}

/** Returns the codes of all received errors: of the refusal and of the results. */
export function codesOf({ refusal, seen }: Pick<LiveStream, 'refusal' | 'seen'>): readonly string[] {
  return [...(refusal ?? []), ...seen.flatMap(({ errors }) => errors ?? [])].map(({ extensions }) => extensions.code);
}

/** Opens one stream over its own connection. Rejects if the connection is refused. */
export async function openStream(
  transport: Transport,
  url: string,
  operation: { readonly query: string; readonly variables?: Variables },
): Promise<LiveStream> {
  if (transport === 'sse') return EventStream.open(url, operation.query, operation.variables);
  return (await LiveSocket.open(url)).start(operation.query, operation.variables);
}

/** A WebSocket of the graphql-transport-ws protocol, with many operations at the same time. */
export class LiveSocket implements Connection {
  readonly #socket: WebSocket;
  readonly #operations = new Map<string, SocketStream>();
  #ids = 0;
  #closed: Closure | undefined;

  /**
   * Resolves when the gateway has acknowledged the connection.
   *
   * @throws {Error} with the status or close code if it does not.
   */
  static async open(url: string, payload?: Variables): Promise<LiveSocket> {
    const socket = new WebSocket(url.replace('http', 'ws'), 'graphql-transport-ws', { perMessageDeflate: false });
    const live = new LiveSocket(socket);
    const { promise: refused, reject } = Promise.withResolvers<never>();
    refused.catch(() => undefined);
    socket.on('unexpected-response', (_, { statusCode }) => {
      reject(new Error(`expected a socket, got ${statusCode}`));
      socket.terminate();
    });
    socket.on('close', (code) => reject(new Error(`expected a socket, got ${code}`)));
    await Promise.race([once(socket, 'open'), refused]);
    socket.send(JSON.stringify({ type: 'connection_init', ...(payload === undefined ? {} : { payload }) }));
    await Promise.race([once(socket, 'message'), refused]);
    return live;
  }

  private constructor(socket: WebSocket) {
    this.#socket = socket;
    socket.on('error', () => undefined);
    socket.on('close', (code, reason) => {
      this.#closed = { code, reason: String(reason) };
    });
    socket.on('message', (bytes) => this.#receive(String(bytes)));
  }

  get closed(): Closure | undefined {
    return this.#closed;
  }

  start(query: string, variables: Variables = {}, id = String(++this.#ids)): LiveStream {
    const stream = new SocketStream(this, id);
    this.#operations.set(id, stream);
    this.send(JSON.stringify({ id, type: 'subscribe', payload: { query, variables } }));
    return stream;
  }

  /** Sends a frame unchanged. */
  send(text: string): void {
    if (this.#socket.readyState === WebSocket.OPEN) this.#socket.send(text);
  }

  /** Ends an operation. Later messages for it are ignored. */
  complete(id: string): void {
    this.send(JSON.stringify({ id, type: 'complete' }));
    this.#operations.delete(id);
  }

  pauseReading(): Disposable {
    const { _socket: raw } = this.#socket as unknown as { readonly _socket: Socket };
    raw.pause();
    return { [Symbol.dispose]: () => void raw.resume() };
  }

  /** Closes the connection as a client does. */
  close(): void {
    this.#socket.close(1000);
  }

  destroy(): void {
    this.#socket.terminate();
  }

  #receive(text: string): void {
    const { id, type, payload } = JSON.parse(text) as { readonly id: string; readonly type: string; readonly payload?: unknown };
    const operation = this.#operations.get(id);
    if (operation === undefined) return;
    if (type === 'next') operation.receive(text.slice(text.indexOf('"payload":') + '"payload":'.length, -1));
    if (type === 'error') operation.refusal = payload as readonly ResultError[];
    if (type === 'next') return;
    operation.completed = true;
    this.#operations.delete(id);
  }
}

/** Collects the messages of one operation. */
class ReceivedMessages {
  readonly seen: StreamResult[] = [];
  readonly texts: string[] = [];
  refusal: readonly ResultError[] | undefined;
  completed = false;

  receive(text: string): void {
    this.texts.push(text);
    this.seen.push(JSON.parse(text) as StreamResult);
  }
}

class SocketStream extends ReceivedMessages implements LiveStream {
  readonly #socket: LiveSocket;
  readonly #id: string;

  constructor(socket: LiveSocket, id: string) {
    super();
    this.#socket = socket;
    this.#id = id;
  }

  get closed(): Closure | undefined {
    return this.#socket.closed;
  }

  pauseReading(): Disposable {
    return this.#socket.pauseReading();
  }

  destroy(): void {
    this.#socket.destroy();
  }

  stop(): void {
    this.#socket.complete(this.#id);
  }
}

/** A stream of server-sent events, with one operation per connection. */
class EventStream extends ReceivedMessages implements LiveStream {
  readonly #request: http.ClientRequest;
  readonly #answer: http.IncomingMessage;
  #closed: Closure | undefined;
  #rest = '';

  /** Resolves when the answer has begun. */
  static async open(url: string, query: string, variables: Variables = {}): Promise<LiveStream> {
    const headers = { 'content-type': 'application/json', accept: 'text/event-stream' };
    const request = http.request(url, { method: 'POST', headers, agent: false });
    request.end(JSON.stringify({ query, variables }));
    const [answer] = (await once(request, 'response')) as [http.IncomingMessage];
    return new EventStream(request, answer);
  }

  private constructor(request: http.ClientRequest, answer: http.IncomingMessage) {
    super();
    this.#request = request.on('error', () => undefined);
    this.#answer = answer.setEncoding('utf8').on('error', () => undefined);
    const code = answer.statusCode ?? 0;
    answer.on('data', (chunk: string) => {
      this.#rest += chunk;
      if (code === 200) this.#receiveEvents();
    });
    answer.on('close', () => {
      this.#closed = { code, reason: this.completed ? 'complete' : 'closed' };
      if (code !== 200) this.#refuse();
    });
  }

  get closed(): Closure | undefined {
    return this.#closed;
  }

  pauseReading(): Disposable {
    const [answer, { socket }] = [this.#answer, this.#answer];
    answer.pause();
    socket.pause();
    return {
      [Symbol.dispose]: () => {
        socket.resume();
        answer.resume();
      },
    };
  }

  destroy(): void {
    this.#request.destroy();
  }

  stop(): void {
    this.#request.destroy();
  }

  #refuse(): void {
    this.refusal = (JSON.parse(this.#rest) as StreamResult).errors;
    this.completed = true;
  }

  #receiveEvents(): void {
    const events = this.#rest.split('\n\n');
    this.#rest = events.pop() ?? '';
    for (const event of events) {
      const lines = event.split('\n');
      const data = lines.filter((line) => line.startsWith('data:')).map((line) => line.slice('data:'.length).trimStart());
      if (lines.includes('event: next')) this.receive(data.join('\n'));
      if (lines.includes('event: complete')) this.completed = true;
    }
  }
}
