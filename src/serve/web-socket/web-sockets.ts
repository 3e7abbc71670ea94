import type { IncomingMessage } from 'node:http';
import { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { GRAPHQL_TRANSPORT_WS_PROTOCOL, makeServer, type Server } from 'graphql-ws';
import { type RawData, type WebSocket, WebSocketServer } from 'ws';
import type { Caller } from '../../access/access.ts';
import type { Clock } from '../../core/clock.ts';
import { Deadlines } from '../../operations/deadlines.ts';
import { IntervalTimer } from '../../operations/interval-timer.ts';
import { RequestRefusal } from '../../operations/refusal.ts';
import type { UnsentBytes } from '../../operations/unsent-bytes.ts';
import { type ClientMessage, parseClientMessage } from './client-message.ts';
import { FrameWriter } from './frame-writer.ts';
import { HandshakeLimit } from './handshakes.ts';
import { type ProtocolOptions, protocolHooks, type SocketContext } from './protocol-hooks.ts';
import { SocketConnection } from './socket-connection.ts';
import { admitUpgrade, refuseUpgrade } from './upgrade.ts';

export interface WebSocketsOptions extends ProtocolOptions {
  /** Who asks in local mode: whoever runs the gateway. */
  readonly caller: Caller;
  /** Sockets in the process, those that wait to be let in among them. */
  readonly maxSockets: number;
  readonly clock: Clock;
  readonly unsent: UnsentBytes;
}

/** Bytes of a message; a longer one closes the socket with 1009. */
const maxMessageBytes = 256 << 10;

/** Bytes of a message before the socket is acknowledged. */
const maxInitBytes = 16 << 10;

/** How long a client has for `connection_init`. */
const initMs = 3_000;

/** Between two pings: who has not answered by the next one is gone. */
const pingMs = 12_000;

/** How long a client has to answer a close. */
const closeMs = 10_000;

/** How long it has when the gateway ends. */
const lastWordsMs = 2_000;

const serverOptions = {
  noServer: true,
  clientTracking: false,
  maxPayload: maxMessageBytes,
  perMessageDeflate: false,
  // One message per turn: a crowd of them holds up nobody else, and each is done with before the next of its socket comes.
  allowSynchronousEvents: false,
  closeTimeout: closeMs,
  handleProtocols: () => GRAPHQL_TRANSPORT_WS_PROTOCOL,
};

/** The WebSockets of the gateway, with the same verdicts, limits and errors as over HTTP. Disposing them cuts every socket. */
export class WebSockets implements Disposable {
  readonly #options: WebSocketsOptions;
  readonly #life = new AbortController();
  readonly #handshakes: HandshakeLimit;
  readonly #initDeadlines: Deadlines;
  readonly #pings: IntervalTimer<SocketConnection>;
  readonly #writer = new FrameWriter();
  readonly #sockets = new Set<SocketConnection>();
  /** Those that wait for their turn, with how to give it up. */
  readonly #waiting = new Map<Duplex, () => void>();
  readonly #gone = Promise.withResolvers<void>();
  readonly #protocol: Server<SocketContext>;
  readonly #server = new WebSocketServer(serverOptions);
  #isClosing = false;

  constructor(options: WebSocketsOptions) {
    const { clock } = options;
    this.#options = options;
    this.#handshakes = new HandshakeLimit(clock, this.#life.signal);
    this.#initDeadlines = new Deadlines({ clock, limitMs: initMs }, this.#life.signal);
    this.#pings = new IntervalTimer({ clock, everyMs: pingMs, onInterval: (connection) => connection.checkLiveness(clock.monotonic()) });
    this.#protocol = makeServer(protocolHooks(options));
  }

  /** Sockets that are open, or wait to be. */
  get size(): number {
    return this.#sockets.size + this.#waiting.size;
  }

  /** Takes over a connection that asks to become something else: a WebSocket of graphql-transport-ws at /graphql, or nothing. Never throws. */
  upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): void {
    try {
      admitUpgrade(request, this.#options.guard);
      this.#demandRoom();
      this.#request(request, socket, head);
    } catch (error) {
      this.#refuse(socket, error);
    }
  }

  /**
   * Accepts no more sockets, and closes all with 1001, spread evenly over that time. Resolves when the last one is gone, at most 2 s later: a client
   * that does not answer is cut.
   */
  async drain(spreadMs: number): Promise<void> {
    const { clock } = this.#options;
    const { signal } = this.#life;
    this.#isClosing = true;
    for (const [socket, giveUp] of this.#waiting) {
      giveUp();
      this.#refuse(socket, ending());
    }
    const sockets = [...this.#sockets];
    const startMs = clock.monotonic();
    for (const [position, connection] of sockets.entries()) {
      const waitMs = startMs + (spreadMs * position) / sockets.length - clock.monotonic();
      if (waitMs > 0) await clock.sleep(waitMs, signal);
      connection.close(1001, 'the gateway is ending: connect again, and resume with `after`');
    }
    if (this.#sockets.size > 0) await this.#untilGone();
    this.#life.abort();
  }

  async #untilGone(): Promise<void> {
    const done = new AbortController();
    const patience = this.#options.clock.sleep(lastWordsMs, AbortSignal.any([this.#life.signal, done.signal]));
    await Promise.race([this.#gone.promise, patience]);
    done.abort();
    for (const connection of this.#sockets) connection.terminate();
    if (this.#sockets.size > 0) await this.#gone.promise;
  }

  [Symbol.dispose](): void {
    this.#isClosing = true;
    for (const socket of this.#waiting.keys()) socket.destroy();
    for (const connection of this.#sockets) connection.terminate();
    this.#life.abort();
  }

  #demandRoom(): void {
    if (this.#isClosing) throw ending();
    const { maxSockets } = this.#options;
    if (this.size >= maxSockets)
      throw new RequestRefusal({
        status: 503,
        code: 'OVERLOADED',
        message: `expected at most ${maxSockets} sockets`,
        headers: { 'retry-after': '5' },
      });
  }

  #refuse(socket: Duplex, error: unknown): void {
    const { onRefused, onBug } = this.#options;
    if (error instanceof RequestRefusal) onRefused(error);
    else onBug(error);
    refuseUpgrade(
      socket,
      error instanceof RequestRefusal ? error : new RequestRefusal({ status: 500, code: 'UNAVAILABLE', message: 'Unexpected error.' }),
    );
  }

  /** Lets it in once there is a place among the newcomers of its address. */
  #request(request: IncomingMessage, socket: Duplex, head: Buffer): void {
    if (!(socket instanceof Socket))
      throw new RequestRefusal({ status: 400, code: 'BAD_INPUT', message: 'expected a connection of its own' });
    let giveUp: (() => void) | undefined;
    const settle = () => {
      giveUp?.();
      this.#waiting.delete(socket);
      socket.off('close', settle);
    };
    this.#waiting.set(socket, settle);
    socket.once('close', settle);
    giveUp = this.#handshakes.requestSlot(socket.remoteAddress ?? '', {
      enter: (place) => {
        settle();
        if (socket.destroyed) place[Symbol.dispose]();
        else this.#accept({ request, socket, head }, place);
      },
      refuse: (why) => {
        settle();
        this.#refuse(socket, why);
      },
    });
  }

  #accept({ request, socket, head }: Accepting, place: Disposable): void {
    let opened: WebSocket | undefined;
    this.#server.handleUpgrade(request, socket, head, (ws) => {
      opened = ws;
    });
    // It was no proper handshake, and has been told so.
    if (opened === undefined) place[Symbol.dispose]();
    else this.#open(opened, { socket, authorization: request.headers.authorization }, place);
  }

  #open(ws: WebSocket, { socket, authorization }: Opening, place: Disposable): void {
    const { clock, caller, subscriptions, unsent } = this.#options;
    const endsMs = clock.monotonic() + subscriptions.lifetimeMs();
    const connection = new SocketConnection({ ws, raw: socket, writer: this.#writer, unsent, caller, endsMs });
    const deadline = this.#initDeadlines.start(() => connection.close(4408, `expected connection_init within ${initMs / 1000} s`));
    const settle = () => {
      deadline.end();
      place[Symbol.dispose]();
      context.handshake = undefined;
    };
    const context: SocketContext = { connection, handshake: { authorization, settle }, currentMessage: undefined };
    this.#pings.add(connection);
    this.#sockets.add(connection);
    const closed = this.#speak(ws, context);
    ws.on('close', (code, reason) => {
      this.#pings.delete(connection);
      context.handshake?.settle();
      connection.endOperations();
      void closed(code, reason.toString());
      this.#sockets.delete(connection);
      if (this.#isClosing && this.#sockets.size === 0) this.#gone.resolve();
    });
  }

  /** Hands the protocol to graphql-ws, which keeps who may say what when. */
  #speak(ws: WebSocket, context: SocketContext): ReturnType<Server<SocketContext>['opened']> {
    const { connection } = context;
    // Bytes that are no WebSocket, or too many of them: ws closes with the right code by itself.
    ws.on('error', () => connection.endOperations());
    return this.#protocol.opened(
      {
        protocol: ws.protocol,
        send: (text) => connection.reply(text),
        close: (code, reason) => connection.close(code ?? 1000, reason ?? ''),
        onMessage: (handle) => ws.on('message', (data, isBinary) => this.#receive(context, data, { isBinary, handle })),
      },
      context,
    );
  }

  #receive(context: SocketContext, data: RawData, { isBinary, handle }: Receiving): void {
    const { connection, handshake: newcomer } = context;
    if (!connection.isOpen) return;
    const text = String(data);
    const message = readMessage(text, { isBinary, isNew: newcomer !== undefined });
    if (typeof message === 'string') {
      connection.close(4400, message);
      return;
    }
    context.currentMessage = message;
    handle(text).catch((error) => {
      // Whoever threw may have closed the socket with a better reason.
      if (!connection.isOpen) return;
      this.#options.onBug(error);
      connection.close(4500, 'Unexpected error.');
    });
    context.currentMessage = undefined;
  }
}

interface Receiving {
  readonly isBinary: boolean;
  readonly handle: (text: string) => Promise<void>;
}

/** The message, or why the socket is closed for it. */
function readMessage(text: string, { isBinary, isNew }: { readonly isBinary: boolean; readonly isNew: boolean }): ClientMessage | string {
  if (isBinary) return 'expected messages as text, got a binary one';
  if (isNew && Buffer.byteLength(text) > maxInitBytes)
    return `expected at most ${maxInitBytes} bytes before the connection is acknowledged`;
  return parseClientMessage(text);
}

interface Accepting {
  readonly request: IncomingMessage;
  readonly socket: Socket;
  readonly head: Buffer;
}

interface Opening {
  readonly socket: Socket;
  readonly authorization: string | undefined;
}

function ending(): RequestRefusal {
  return new RequestRefusal({ status: 503, code: 'SHUTTING_DOWN', message: 'the gateway is ending', headers: { 'retry-after': '1' } });
}
