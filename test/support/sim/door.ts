import { randomInt } from 'node:crypto';
import { createServer as createHttp1, type Server as Http1Server } from 'node:http';
import { createServer as createHttp2, type Http2Server, type Http2Session } from 'node:http2';
import { createServer, type Server, type Socket } from 'node:net';
import { createServer as createTls, type TLSSocket, type Server as TlsServer } from 'node:tls';
import type { ServingCertificate } from '../../../src/sim/certificate.ts';
import type { Handler } from '../../../src/sim/request-handler.ts';
import { Line } from './line.ts';
import type { SimProtocols } from './misbehaviours.ts';

export interface DoorOptions {
  readonly certificate: ServingCertificate;
  readonly protocols: SimProtocols;
  readonly maxConcurrentStreams: number;
  readonly handler: Handler;
}

// Below the ports that systems assign by themselves. Otherwise a client that dials a refused port could be assigned that same port and
// connect to itself.
const [firstPort, lastPort] = [20_000, 32_000];
const host = '127.0.0.1';

/**
 * The listener of one API server: a port on loopback, TLS, and the protocol that ALPN chose. Connections can fall silent, be refused and
 * be cut. `close` ends all of them.
 */
export class Door implements AsyncDisposable {
  readonly port: number;
  readonly #options: DoorOptions;
  readonly #tls: TlsServer;
  readonly #http1: Http1Server;
  #http2: Http2Server;
  readonly #lines = new Set<Line>();
  readonly #sockets = new Set<Socket>();
  readonly #sessions = new Set<Http2Session>();
  #listener: Server | undefined;
  #protocols: SimProtocols;
  #silences = 0;
  #refusals = 0;

  private constructor(options: DoorOptions, port: number, listener: Server) {
    this.#options = options;
    this.port = port;
    this.#protocols = options.protocols;
    this.#http1 = createHttp1({ keepAliveTimeout: 90_000, requestTimeout: 0 }, options.handler);
    this.#http2 = this.#speakHttp2(options.maxConcurrentStreams);
    const { key, certificate: cert } = options.certificate;
    this.#tls = createTls({ key, cert, ALPNCallback: ({ protocols }) => this.#choose(protocols), handshakeTimeout: 0x7fffffff });
    this.#tls.on('secureConnection', (socket) => this.#welcome(socket));
    this.#tls.on('tlsClientError', () => undefined);
    this.#listen(listener);
  }

  /** Opens a free port. */
  static async open(options: DoorOptions): Promise<Door> {
    for (let attempt = 0; ; attempt++) {
      const port = randomInt(firstPort, lastPort);
      const listener = await listenOn(port).catch((error: unknown) => {
        if (attempt > 100) throw error;
      });
      if (listener !== undefined) return new Door(options, port, listener);
    }
  }

  get host(): string {
    return `${host}:${this.port}`;
  }

  get connections(): number {
    return this.#sockets.size;
  }

  get isSilent(): boolean {
    return this.#silences > 0;
  }

  silence(): Disposable {
    this.#silences += 1;
    this.#regulate();
    return once(() => {
      this.#silences -= 1;
      this.#regulate();
    });
  }

  refuse(): Disposable {
    this.#refusals += 1;
    this.#listener?.close();
    this.#listener = undefined;
    return once(() => {
      this.#refusals -= 1;
      if (this.#refusals === 0) void this.#listenAgain();
    });
  }

  cut(): void {
    for (const line of [...this.#lines]) line.cut();
  }

  /** Sends GOAWAY. The session continues with its open streams and takes no more. */
  goAway(): void {
    for (const session of this.#sessions) session.close();
  }

  speak(protocols: SimProtocols, maxConcurrentStreams = this.#options.maxConcurrentStreams): void {
    this.#protocols = protocols;
    this.#http2 = this.#speakHttp2(maxConcurrentStreams);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#refusals += 1;
    const listener = this.#listener;
    this.#listener = undefined;
    this.#http1.closeIdleConnections();
    for (const session of this.#sessions) session.destroy();
    this.cut();
    for (const socket of this.#sockets) socket.destroy();
    if (listener !== undefined) await new Promise<void>((resolve) => listener.close(() => resolve()));
  }

  #speakHttp2(maxConcurrentStreams: number): Http2Server {
    const server = createHttp2({ settings: { maxConcurrentStreams } }, this.#options.handler);
    server.on('session', (session) => {
      this.#sessions.add(session);
      session.on('close', () => this.#sessions.delete(session));
      session.on('error', () => undefined);
    });
    server.on('sessionError', () => undefined);
    return server;
  }

  #choose(offered: readonly string[]): string | undefined {
    const spoken = this.#protocols === 'both' ? ['h2', 'http/1.1'] : [this.#protocols === 'h2' ? 'h2' : 'http/1.1'];
    return spoken.find((protocol) => offered.includes(protocol));
  }

  #welcome(socket: TLSSocket): void {
    socket.on('error', () => undefined);
    if (socket.alpnProtocol === 'h2') this.#http2.emit('connection', socket);
    else if (this.#protocols !== 'h2') this.#http1.emit('connection', socket);
    else socket.destroy();
  }

  #listen(listener: Server): void {
    this.#listener = listener;
    listener.on('connection', (socket) => {
      const line = new Line(socket, this);
      this.#lines.add(line);
      this.#sockets.add(socket);
      line.on('close', () => this.#lines.delete(line));
      line.on('error', () => undefined);
      socket.on('close', () => this.#sockets.delete(socket));
      this.#tls.emit('connection', line);
    });
  }

  async #listenAgain(): Promise<void> {
    for (let attempt = 0; attempt < 100 && this.#refusals === 0 && this.#listener === undefined; attempt++) {
      const listener = await listenOn(this.port).catch(() => undefined);
      if (listener === undefined) continue;
      if (this.#refusals === 0) this.#listen(listener);
      else listener.close();
    }
  }

  #regulate(): void {
    for (const line of this.#lines) line.regulate();
  }
}

function listenOn(port: number): Promise<Server> {
  return new Promise((resolve, reject) => {
    const listener = createServer({ noDelay: true });
    listener.once('error', reject);
    listener.listen(port, host, () => resolve(listener));
  });
}

function once(action: () => void): Disposable {
  let isDone = false;
  return {
    [Symbol.dispose]() {
      if (isDone) return;
      isDone = true;
      action();
    },
  };
}
