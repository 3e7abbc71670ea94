import { once } from 'node:events';
import { Socket } from 'node:net';
import { GraphQLInt, GraphQLList, GraphQLNonNull, GraphQLObjectType, GraphQLSchema, GraphQLString } from 'graphql';
import { type ClientOptions, WebSocket } from 'ws';
import { systemClock } from '../../../src/core/clock.ts';
import type { MusterError } from '../../../src/core/errors.ts';
import { emptyHeapGauge } from '../../../src/core/heap-gauge.ts';
import { type Log, silentLog } from '../../../src/core/log.ts';
import { SourceCarrier } from '../../../src/graph/context/subscribe.ts';
import { OperationAdmission } from '../../../src/operations/admission.ts';
import { AnswerEncoder } from '../../../src/operations/answer-encoder.ts';
import { AnswerFactory } from '../../../src/operations/answers.ts';
import { Deadlines } from '../../../src/operations/deadlines.ts';
import { createEngine } from '../../../src/operations/engine.ts';
import type { OperationScope } from '../../../src/operations/operation.ts';
import type { RequestRefusal } from '../../../src/operations/refusal.ts';
import { RequestScheduler } from '../../../src/operations/request-scheduler.ts';
import { UnsentBytes } from '../../../src/operations/unsent-bytes.ts';
import { createLocalAuthenticator } from '../../../src/serve/callers/request-authenticator.ts';
import { createGuard, type GuardOptions } from '../../../src/serve/http/guard.ts';
import { listen } from '../../../src/serve/http/listen.ts';
import { operationPlugins } from '../../../src/serve/serve.ts';
import { WebSockets, type WebSocketsOptions } from '../../../src/serve/web-socket/web-sockets.ts';
import { Subscriptions } from '../../../src/streams/sending/subscriptions.ts';
import type { StreamListener, StreamReader } from '../../../src/streams/stream-source.ts';
import { testExecutor } from '../graph/executor.ts';
import { servedOf } from './start-serving.ts';

/** One reader of the field `ticks`. */
interface Ticker {
  /** Sends a message: the value of the field. */
  tick(text: string): void;
  /** Ends the stream from the server's side. */
  end(reason: MusterError): void;
  readonly pauses: number;
  readonly isDisposed: boolean;
}

/** Starts the WebSocket endpoint over its own schema, with everything behind it except Kubernetes. */
export async function startWebSockets(
  changes: Partial<WebSocketsOptions> & { guard?: never; log?: Log; maxStreams?: number; door?: Partial<GuardOptions> } = {},
) {
  const { clock = systemClock, log = silentLog, maxStreams = 5_000, door, ...options } = changes;
  const life = new AbortController();
  const tickers: Ticker[] = [];
  const refusals: RequestRefusal[] = [];
  let executions = 0;
  const bugs: unknown[] = [];
  const waiting: PromiseWithResolvers<string>[] = [];
  const schema = schemaOf(tickers, waiting);
  const common = {
    executor: testExecutor(),
    contextOf: (scope: OperationScope) => {
      executions++;
      return scope;
    },
    deadlines: new Deadlines({ clock, limitMs: 30_000 }, life.signal),
    mutations: new Deadlines({ clock, limitMs: 60_000 }, life.signal),
    encoder: new AnswerEncoder({ clock }),
    clock,
    log,
    onAnswered: () => undefined,
    onRefused: () => undefined,
    inFlight: new Set<AbortController>(),
  };
  const served = () => servedOf(schema);
  const answers = new AnswerFactory(common);
  const subscriptions = new Subscriptions({ ...common, served, maxStreams, heap: emptyHeapGauge, onClosed: () => undefined });
  const engine = createEngine({ served, clock, plugins: operationPlugins({ ...common, answers, subscriptions }) });
  const admission = new OperationAdmission(400);
  const listening = await listen({ host: '127.0.0.1', port: 0, maxConnections: 10_000 });
  listening.onRequest(async (_request, response) => void response.end('plain'));
  const guard = createGuard({ host: '127.0.0.1', allowOrigins: ['https://portal.example.com'], ...door });
  const sockets = new WebSockets({
    engine,
    answers,
    subscriptions,
    admission,
    guard,
    requestAuthenticator: createLocalAuthenticator({ checkToken: guard.checkToken, caller: { key: 'local' }, onFailure: () => undefined }),
    maxSockets: 5_000,
    requestScheduler: new RequestScheduler(clock),
    clock,
    unsent: new UnsentBytes(clock),
    onRefused: (refusal) => refusals.push(refusal),
    onBug: (error) => bugs.push(error),
    ...options,
  });
  const raw: Socket[] = [];
  listening.onUpgrade((request, socket, head) => {
    if (socket instanceof Socket) raw.push(socket);
    sockets.upgrade(request, socket, head);
  });
  const url = `ws://127.0.0.1:${listening.port}/graphql`;
  return {
    url,
    origin: url.replace('ws', 'http').replace('/graphql', ''),
    sockets,
    /** Number of executed operations. */
    executions: () => executions,
    subscriptions,
    admission,
    /** The server's ends of the upgraded connections, in order. */
    rawSockets: () => raw,
    tickers,
    /** Resolves the field `slow`. */
    waiting,
    refusals,
    bugs,
    open: (client?: TestClientOptions, query = '') => TestSocket.open(url + query, client),
    connect: async (payload?: unknown, client?: TestClientOptions) => {
      const socket = await TestSocket.open(url, client);
      socket.say({ type: 'connection_init', ...(payload === undefined ? {} : { payload }) });
      await socket.until(({ type }) => type === 'connection_ack');
      return socket;
    },
    async [Symbol.asyncDispose]() {
      sockets[Symbol.dispose]();
      life.abort();
      await listening[Symbol.asyncDispose]();
    },
  };
}

function schemaOf(tickers: Ticker[], waiting: PromiseWithResolvers<string>[]): GraphQLSchema {
  const slow = () => {
    const answer = Promise.withResolvers<string>();
    waiting.push(answer);
    return answer.promise;
  };
  const echo = (_: unknown, { text, number }: { text?: string; number?: number }) =>
    text ?? (number === undefined ? undefined : String(number));
  const args = { text: { type: GraphQLString }, number: { type: GraphQLInt } };
  const open = async (listener: StreamListener) => createTicker(listener, tickers);
  return new GraphQLSchema({
    query: new GraphQLObjectType({
      name: 'Query',
      fields: {
        hello: { type: GraphQLString, resolve: () => 'world' },
        echo: { type: GraphQLString, args, resolve: echo },
        slow: { type: GraphQLString, resolve: slow },
        bug: {
          type: GraphQLString,
          resolve: () => {
            throw new Error('a secret');
          },
        },
        many: {
          type: new GraphQLNonNull(new GraphQLList(GraphQLString)),
          resolve: () => Array.from({ length: 1_000 }, () => 'x'.repeat(1_000)),
        },
      },
    }),
    subscription: new GraphQLObjectType({
      name: 'Subscription',
      fields: {
        ticks: {
          type: GraphQLString,
          args,
          subscribe: () => new SourceCarrier({ open }),
          resolve: (message: { readonly text: string }) => message.text,
        },
        bug: {
          type: GraphQLString,
          subscribe: () => {
            throw new Error('a secret');
          },
        },
      },
    }),
  });
}

/** Creates a reader whose queue has no bound. The test sends its messages. */
function createTicker(listener: StreamListener, tickers: Ticker[]): StreamReader<object> {
  const queue: { readonly text: string }[] = [];
  const seen = { pauses: 0, isDisposed: false };
  let isPaused = false;
  tickers.push({
    tick: (text) => {
      queue.push({ text });
      if (queue.length === 1 || isPaused) listener.ready();
      isPaused = false;
    },
    end: (reason) => listener.ended(reason),
    get pauses() {
      return seen.pauses;
    },
    get isDisposed() {
      return seen.isDisposed;
    },
  });
  return {
    take: () => queue.shift(),
    get hasMore() {
      return queue.length > 0;
    },
    pause: () => {
      isPaused = true;
      seen.pauses++;
    },
    [Symbol.dispose]: () => {
      seen.isDisposed = true;
    },
  };
}

/** A message of the protocol. */
export interface SocketMessage {
  readonly type: string;
  readonly id?: string;
  readonly payload?: unknown;
}

export interface TestClientOptions extends ClientOptions {
  readonly protocols?: readonly string[];
}

/** A client that sends any message, even if the protocol forbids it. */
export class TestSocket {
  readonly ws: WebSocket;
  readonly received: SocketMessage[] = [];
  #closed: { readonly code: number; readonly reason: string } | undefined;

  /**
   * Resolves when the connection is open.
   *
   * @throws {Error} with the status if the connection is refused.
   */
  static async open(url: string, { protocols = ['graphql-transport-ws'], ...options }: TestClientOptions = {}): Promise<TestSocket> {
    const ws = new WebSocket(url, [...protocols], { perMessageDeflate: false, ...options });
    const socket = new TestSocket(ws);
    await once(ws, 'open');
    return socket;
  }

  private constructor(ws: WebSocket) {
    this.ws = ws;
    ws.on('message', (data) => this.received.push(JSON.parse(String(data)) as SocketMessage));
    ws.on('close', (code, reason) => {
      this.#closed = { code, reason: String(reason) };
    });
    ws.on('error', () => undefined);
  }

  /** The socket of the connection. */
  get raw(): Socket {
    return (this.ws as unknown as { readonly _socket: Socket })._socket;
  }

  say(...messages: readonly unknown[]): void {
    for (const message of messages)
      this.ws.send(typeof message === 'string' || Buffer.isBuffer(message) ? message : JSON.stringify(message));
  }

  subscribe(id: string, query: string, more: object = {}): void {
    this.say({ id, type: 'subscribe', payload: { query, ...more } });
  }

  /** Returns the messages for an id, without the id. */
  of(id: string): readonly Omit<SocketMessage, 'id'>[] {
    return this.received.filter((message) => message.id === id).map(({ id: _id, ...rest }) => rest);
  }

  /**
   * Resolves when a matching message has arrived.
   *
   * @throws {Error} if the socket closes before, or after 5 s.
   */
  async until(isIt: (message: SocketMessage) => boolean): Promise<SocketMessage> {
    const late = AbortSignal.timeout(5_000);
    for (;;) {
      const found = this.received.find(isIt);
      if (found !== undefined) return found;
      if (this.#closed !== undefined) throw new Error(`closed with ${this.#closed.code} ${this.#closed.reason}`);
      const settled = new AbortController();
      const signal = AbortSignal.any([late, settled.signal]);
      await Promise.race([once(this.ws, 'message', { signal }), once(this.ws, 'close', { signal })]).finally(() => settled.abort());
    }
  }

  /** Resolves with the code and the reason of the close. */
  async closed(): Promise<{ readonly code: number; readonly reason: string }> {
    if (this.#closed === undefined) await once(this.ws, 'close', { signal: AbortSignal.timeout(5_000) });
    return this.#closed ?? { code: 0, reason: '' };
  }
}
