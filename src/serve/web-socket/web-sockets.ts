import type { IncomingMessage } from 'node:http';
import { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { GRAPHQL_TRANSPORT_WS_PROTOCOL, makeServer, type Server } from 'graphql-ws';
import { type RawData, type WebSocket, WebSocketServer } from 'ws';
import { Deadlines } from '../../operations/deadlines.ts';
import { IntervalTimer } from '../../operations/interval-timer.ts';
import { RequestRefusal } from '../../operations/refusal.ts';
import type { UnsentBytes } from '../../operations/unsent-bytes.ts';
import { networkOf } from '../callers/peer-network.ts';
import { type ClientMessage, parseClientMessage } from './client-message.ts';
import { FrameWriter } from './frame-writer.ts';
import { HandshakeLimit } from './handshakes.ts';
import { type ProtocolOptions, protocolHooks, type SocketContext } from './protocol-hooks.ts';
import { SocketConnection } from './socket-connection.ts';
import { admitUpgrade, refuseUpgrade } from './upgrade.ts';

export interface WebSocketsOptions extends ProtocolOptions {
  /** Maximum number of sockets in the process whose caller is known. Handshakes have limits of their own. */
  readonly maxSockets: number;
  readonly unsent: UnsentBytes;
}

/** Maximum bytes of a message. A longer one closes the socket with 1009. */
const maxMessageBytes = 256 << 10;

/** Maximum bytes of a message before the socket is acknowledged. */
const maxInitBytes = 16 << 10;

/** Maximum number of upgrades of one network or caller that wait, with authentication. */
const maxWaitingPerClient = 1_000;

/** Milliseconds that a client has to send `connection_init`. */
const initMs = 3_000;

/** Interval of pings. A client that has not answered by the next ping is cut. */
const pingMs = 12_000;

/** Time for a client to answer a close frame. */
const closeMs = 10_000;

/** Time for a client to answer a close frame when the gateway ends. */
const closeAtEndMs = 2_000;

const serverOptions = {
  noServer: true,
  clientTracking: false,
  maxPayload: maxMessageBytes,
  perMessageDeflate: false,
  // One message per event-loop turn, so that many messages do not delay other clients. Each is handled before the next one of its socket.
  allowSynchronousEvents: false,
  closeTimeout: closeMs,
  handleProtocols: () => GRAPHQL_TRANSPORT_WS_PROTOCOL,
};

/** The WebSockets of the gateway, with the same checks, limits and errors as HTTP. Disposing it cuts every socket. */
export class WebSockets implements Disposable {
  readonly #options: WebSocketsOptions;
  readonly #abortController = new AbortController();
  /** The handshakes of clients that no header identifies, by network. */
  readonly #handshakes: HandshakeLimit;
  /** The handshakes of callers whom the headers of the upgrade have shown. Those of other clients take none of these slots. */
  readonly #knownHandshakes: HandshakeLimit;
  readonly #initDeadlines: Deadlines;
  readonly #pings: IntervalTimer<SocketConnection>;
  readonly #writer = new FrameWriter();
  readonly #sockets = new Set<SocketConnection>();
  /** The sockets whose caller is known. */
  readonly #accepted = new Set<SocketConnection>();
  /** Sockets that wait for a handshake slot, with a function that gives up the wait. */
  readonly #waiting = new Map<Duplex, () => void>();
  readonly #gone = Promise.withResolvers<void>();
  readonly #protocol: Server<SocketContext>;
  readonly #server = new WebSocketServer(serverOptions);
  #isClosing = false;

  constructor(options: WebSocketsOptions) {
    const { clock, requestAuthenticator } = options;
    this.#options = options;
    const { signal } = this.#abortController;
    // Local mode has one caller, whose clients may all reconnect at once.
    const maxWaitingPerUser = requestAuthenticator.isLocal ? undefined : maxWaitingPerClient;
    this.#handshakes = new HandshakeLimit({ clock, maxWaitingPerUser }, signal);
    this.#knownHandshakes = new HandshakeLimit({ clock, maxWaitingPerUser }, signal);
    this.#initDeadlines = new Deadlines({ clock, limitMs: initMs }, signal);
    this.#pings = new IntervalTimer({ clock, everyMs: pingMs, onInterval: (connection) => connection.checkLiveness(clock.monotonic()) });
    this.#protocol = makeServer(protocolHooks(options));
  }

  /** Number of sockets that are open or wait for a slot. */
  get size(): number {
    return this.#sockets.size + this.#waiting.size;
  }

  /** Handles an upgrade request: opens a WebSocket of graphql-transport-ws at /graphql, or refuses it. Never throws. */
  upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): void {
    try {
      admitUpgrade(request, this.#options.guard);
      this.#requireRoom();
      this.#waitForSlot(request, socket, head).catch((error) => this.#refuse(socket, error));
    } catch (error) {
      this.#refuse(socket, error);
    }
  }

  /**
   * Accepts no more sockets, and closes all open ones with 1001, spread evenly over `spreadMs`. Resolves when the last one is gone. The
   * connection of a client that does not answer within 2 s is cut.
   */
  async drain(spreadMs: number): Promise<void> {
    const { clock } = this.#options;
    const { signal } = this.#abortController;
    this.#isClosing = true;
    for (const [socket, giveUp] of this.#waiting) {
      giveUp();
      this.#refuse(socket, shuttingDown());
    }
    const sockets = [...this.#sockets];
    const startMs = clock.monotonic();
    for (const [position, connection] of sockets.entries()) {
      const waitMs = startMs + (spreadMs * position) / sockets.length - clock.monotonic();
      if (waitMs > 0) await clock.sleep(waitMs, signal);
      connection.close(1001, 'the gateway is ending: connect again, and resume with `after`');
    }
    if (this.#sockets.size > 0) await this.#untilGone();
    this.#abortController.abort();
  }

  async #untilGone(): Promise<void> {
    const done = new AbortController();
    const patience = this.#options.clock.sleep(closeAtEndMs, AbortSignal.any([this.#abortController.signal, done.signal]));
    await Promise.race([this.#gone.promise, patience]);
    done.abort();
    for (const connection of this.#sockets) connection.terminate();
    if (this.#sockets.size > 0) await this.#gone.promise;
  }

  [Symbol.dispose](): void {
    this.#isClosing = true;
    for (const socket of this.#waiting.keys()) socket.destroy();
    for (const connection of this.#sockets) connection.terminate();
    this.#abortController.abort();
  }

  #requireRoom(): void {
    if (this.#isClosing) throw shuttingDown();
    const { maxSockets } = this.#options;
    if (this.#accepted.size >= maxSockets)
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

  /**
   * Waits for a handshake slot of the client, then accepts the socket. A client that sends a credential with the upgrade is identified first. If
   * the credential is not accepted, the client may still send another one with `connection_init`, and is treated like one without.
   */
  async #waitForSlot(request: IncomingMessage, socket: Duplex, head: Buffer): Promise<void> {
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
    const recognized = this.#options.requestAuthenticator.recognize(request);
    const caller = recognized instanceof Promise ? await recognized : recognized;
    // The client may have left meanwhile, or the gateway may be ending.
    if (!this.#waiting.has(socket)) return;
    const [handshakes, client] =
      caller === undefined ? [this.#handshakes, networkOf(socket.remoteAddress)] : [this.#knownHandshakes, caller.key];
    giveUp = handshakes.requestSlot(client, {
      enter: (slot) => {
        settle();
        if (socket.destroyed) slot[Symbol.dispose]();
        else this.#accept({ request, socket, head }, slot);
      },
      refuse: (why) => {
        settle();
        this.#refuse(socket, why);
      },
    });
  }

  #accept({ request, socket, head }: UpgradeRequest, slot: Disposable): void {
    let opened: WebSocket | undefined;
    this.#server.handleUpgrade(request, socket, head, (ws) => {
      opened = ws;
    });
    // The handshake was invalid. `ws` has answered it.
    if (opened === undefined) slot[Symbol.dispose]();
    else this.#open(opened, { socket, request }, slot);
  }

  #open(ws: WebSocket, { socket, request }: OpeningSocket, slot: Disposable): void {
    const { clock, subscriptions, unsent } = this.#options;
    const endsMs = clock.monotonic() + subscriptions.lifetimeMs();
    const connection = new SocketConnection({ ws, raw: socket, writer: this.#writer, unsent, endsMs });
    const deadline = this.#initDeadlines.start(() => connection.close(4408, `expected connection_init within ${initMs / 1000} s`));
    const received = () => void deadline.end();
    const settle = () => {
      received();
      slot[Symbol.dispose]();
      context.handshake = undefined;
    };
    const accept = () => {
      this.#requireRoom();
      this.#accepted.add(connection);
    };
    const context: SocketContext = { connection, handshake: { request, received, accept, settle }, currentMessage: undefined };
    this.#pings.add(connection);
    this.#sockets.add(connection);
    const closed = this.#runProtocol(ws, context);
    ws.on('close', (code, reason) => {
      this.#pings.delete(connection);
      context.handshake?.settle();
      connection.endOperations();
      void closed(code, reason.toString());
      this.#sockets.delete(connection);
      this.#accepted.delete(connection);
      if (this.#isClosing && this.#sockets.size === 0) this.#gone.resolve();
    });
  }

  /** Hands the messages of the socket to graphql-ws, which keeps the order of the protocol. Its hooks are in protocol-hooks.ts. */
  #runProtocol(ws: WebSocket, context: SocketContext): ReturnType<Server<SocketContext>['opened']> {
    const { connection } = context;
    // `ws` closes the socket by itself, with the right code, if the bytes are no valid frame or too many.
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

  #receive(context: SocketContext, data: RawData, { isBinary, handle }: MessageReceiver): void {
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
      // A hook may have closed the socket already, with a better reason.
      if (!connection.isOpen) return;
      this.#options.onBug(error);
      connection.close(4500, 'Unexpected error.');
    });
    context.currentMessage = undefined;
  }
}

interface MessageReceiver {
  readonly isBinary: boolean;
  readonly handle: (text: string) => Promise<void>;
}

/** Parses a message. Returns the reason to close the socket if it is invalid. */
function readMessage(text: string, { isBinary, isNew }: { readonly isBinary: boolean; readonly isNew: boolean }): ClientMessage | string {
  if (isBinary) return 'expected messages as text, got a binary one';
  if (isNew && Buffer.byteLength(text) > maxInitBytes)
    return `expected at most ${maxInitBytes} bytes before the connection is acknowledged`;
  return parseClientMessage(text);
}

interface UpgradeRequest {
  readonly request: IncomingMessage;
  readonly socket: Socket;
  readonly head: Buffer;
}

interface OpeningSocket {
  readonly socket: Socket;
  readonly request: IncomingMessage;
}

function shuttingDown(): RequestRefusal {
  return new RequestRefusal({ status: 503, code: 'SHUTTING_DOWN', message: 'the gateway is ending', headers: { 'retry-after': '1' } });
}
