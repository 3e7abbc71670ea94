import { constants, X509Certificate } from 'node:crypto';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { createServer as createTlsServer, Server as TlsServer } from 'node:https';
import type { AddressInfo, Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import type { TLSSocket } from 'node:tls';
import { defaultLimits, type Limits } from '../../config/defaults.ts';
import { MusterError } from '../../core/errors.ts';
import { ConnectionLimit } from './connection-limit.ts';

export interface ListenOptions {
  readonly host: string;
  /** The port to listen on. 0: any free port. */
  readonly port: number;
  /** The limits from which the maximum of connections follows. Default: the limits of the config. */
  readonly limits?: Pick<Limits, 'streams' | 'requestsInFlight'>;
  /**
   * Maximum number of connections. If one more is opened, the network or caller with the most connections loses one. Default: enough for all streams,
   * and for five times the requests in flight.
   */
  readonly maxConnections?: number;
  /** Serves HTTPS. Default: plain HTTP. */
  readonly tls?: ListenerTls | undefined;
}

/** The certificate of a listener, and the authorities of its clients. PEM. */
export interface ListenerTls {
  readonly cert: string;
  readonly key: string;
  /**
   * Clients may show a certificate of these authorities. A client without one, or with one of another authority, is served all the same.
   * Empty: no client is asked for a certificate.
   */
  readonly clientAuthorities: readonly string[];
}

/** Answers one request. Never rejects. */
type Handle = (request: IncomingMessage, response: ServerResponse) => Promise<void>;

/** Takes over a connection that requests another protocol than HTTP, with the bytes it has sent so far. Never throws. */
type HandleUpgrade = (request: IncomingMessage, socket: Duplex, head: Buffer) => void;

/** A server that accepts connections. Disposing it closes the server and cuts open connections. */
export interface HttpListener extends AsyncDisposable {
  readonly port: number;
  /** Sets the handler of requests. Earlier requests wait until the handler is set. Call this method once. */
  onRequest(handle: Handle): void;
  /**
   * Sets the handler of upgrades. Earlier upgrades wait until the handler is set. Call this method once.
   *
   * `close` also waits for upgraded connections, and `destroy` cuts them. An upgrade to h2c, which some HTTP clients offer with each request,
   * is ignored: the request is answered in HTTP/1.1.
   */
  onUpgrade(handle: HandleUpgrade): void;
  /** Reports the key of the caller who has sent a request on a connection. */
  identified(socket: Pick<Socket, 'remoteAddress' | 'remotePort'>, caller: string): void;
  /** Replaces the certificate, the key and the authorities for new connections. Does nothing without TLS. */
  setTls(tls: ListenerTls): void;
  /** Accepts no more connections and closes idle ones. Resolves when the last connection is gone. */
  close(): Promise<void>;
  /** Cuts all open connections. */
  destroy(): void;
}

/** Maximum number of connections for each request that may be in flight. Most HTTP connections are kept open and idle. */
const connectionsPerRequest = 5;

/**
 * Starts to listen. Limits what a connection may cost before its request: 10 s for headers of 16 KiB, 30 s for a whole request, 75 s
 * between two requests.
 *
 * Next: `onRequest` is called by serve.ts, with `Router.handle`.
 *
 * @throws {MusterError} `BAD_INPUT` with one line, if the address cannot be listened on.
 */
export async function listen({ host, port, limits = defaultLimits, tls, ...options }: ListenOptions): Promise<HttpListener> {
  const { promise: answering, resolve: answer } = Promise.withResolvers<Handle>();
  let handle: Handle | undefined;
  const take = (request: IncomingMessage, response: ServerResponse) => {
    if (handle === undefined) void answering.then((late) => (response.destroyed ? undefined : late(request, response)));
    else void handle(request, response);
  };
  const onRequest = (request: IncomingMessage, response: ServerResponse) => {
    // After `close`, a keep-alive connection is closed when its last answer is sent. `closeIdleConnections` cannot do it: it counts a
    // connection as idle although the answer may still be on its way.
    response.once('finish', () => {
      if (!server.listening) request.socket.destroySoon();
    });
    // HTTP pipelining: a client may send a request before it has the answer to the previous one. The response to such a request gets its
    // socket only after the previous answer is sent. Without the socket, the gateway would not notice that the client left.
    if (response.socket === null) response.once('socket', () => take(request, response));
    else take(request, response);
  };
  const server =
    tls === undefined ? createServer(httpOptions, onRequest) : createTlsServer({ ...httpOptions, ...tlsOptionsOf(tls) }, onRequest);
  if (tls !== undefined && tls.clientAuthorities.length > 0) forgetWrongSignatures(server, new X509Certificate(tls.cert));
  const upgrades = takeUpgrades(server);
  const connections = new ConnectionLimit(options.maxConnections ?? limits.streams + connectionsPerRequest * limits.requestsInFlight);
  server.on('connection', (socket) => connections.add(socket));
  await new Promise<void>((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) =>
      reject(new MusterError('BAD_INPUT', whyNot(error, host, port), { cause: error })),
    );
    server.listen({ host, port }, resolve);
  });
  const destroy = () => {
    server.closeAllConnections();
    upgrades.destroy();
  };
  return {
    port: (server.address() as AddressInfo).port,
    onRequest: (first) => {
      handle = first;
      answer(first);
    },
    onUpgrade: upgrades.take,
    identified: (socket, caller) => connections.identified(socket, caller),
    setTls: (next) => (server instanceof TlsServer ? server.setSecureContext(contextOf(next)) : undefined),
    close: () => closed(server),
    destroy,
    [Symbol.asyncDispose]: () => {
      const ended = closed(server);
      destroy();
      return ended;
    },
  };
}

const httpOptions = {
  headersTimeout: 10_000,
  requestTimeout: 30_000,
  keepAliveTimeout: 75_000,
  maxHeaderSize: 16 << 10,
  connectionsCheckingInterval: 5_000,
  // RFC 9113 has removed the upgrade to h2c. The server ignores the offer and answers in HTTP/1.1.
  shouldUpgradeCallback: ({ headers }: IncomingMessage) => headers.upgrade?.toLowerCase() !== 'h2c',
};

/** `rejectUnauthorized` is off, because a request may show a token instead of a certificate. `TLSSocket.authorized` has the verdict. */
function tlsOptionsOf(tls: ListenerTls) {
  return { ...contextOf(tls), handshakeTimeout: 10_000, requestCert: tls.clientAuthorities.length > 0, rejectUnauthorized: false };
}

function contextOf({ cert, key, clientAuthorities }: ListenerTls) {
  // With TLS 1.2, a client could renegotiate during a request: each time costs the gateway a handshake, and may show another certificate.
  if (clientAuthorities.length === 0) return { cert, key, secureOptions: constants.SSL_OP_NO_RENEGOTIATION };
  // Sessions are not resumed. A resumed session would keep the verdict on its certificate, even after a change of the authorities, and would
  // lack the certificates of intermediate authorities.
  const secureOptions = constants.SSL_OP_NO_TICKET | constants.SSL_OP_NO_RENEGOTIATION;
  // As in API servers, an authority of the file counts also if it is an intermediate one, without the root that signed it.
  return { cert, key, ca: [...clientAuthorities], secureOptions, allowPartialTrustChain: true };
}

/**
 * Keeps a connection usable whose client has shown a certificate with a wrong signature, such as one of another authority of the same name. OpenSSL
 * leaves the error in a queue, and the next read of the connection would fail with it. Any verification by Node empties the queue, so the certificate
 * `any` is verified after each handshake without an authorized client.
 */
function forgetWrongSignatures(server: Server, any: X509Certificate): void {
  server.on('secureConnection', ({ authorized }: TLSSocket) => (authorized ? undefined : any.verify(any.publicKey)));
}

interface Upgrades {
  take(handle: HandleUpgrade): void;
  destroy(): void;
}

/**
 * Collects upgraded sockets, because Node's server no longer knows them: `destroy` cuts those that are open. Until `take` sets the handler,
 * upgrades wait.
 */
function takeUpgrades(server: Server): Upgrades {
  const { promise: upgrading, resolve: take } = Promise.withResolvers<HandleUpgrade>();
  const upgraded = new Set<Duplex>();
  server.on('upgrade', (request, socket, head) => {
    upgraded.add(socket);
    socket.once('close', () => upgraded.delete(socket));
    // The socket has no other listener for errors, and an error without a listener would end the process.
    socket.on('error', () => socket.destroy());
    void upgrading.then((handle) => (socket.destroyed ? undefined : handle(request, socket, head)));
  });
  return {
    take,
    destroy: () => {
      for (const socket of upgraded) socket.destroy();
    },
  };
}

function closed(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve());
    server.closeIdleConnections();
  });
}

function whyNot({ code, message }: NodeJS.ErrnoException, host: string, port: number): string {
  if (code === 'EADDRINUSE') return `port ${port} on ${host} is in use: choose another with --port`;
  if (code === 'EACCES') return `port ${port} on ${host} may not be listened on: choose one above 1023 with --port`;
  if (code === 'EADDRNOTAVAIL' || code === 'ENOTFOUND') return `${host} is not an address of this machine: choose another with --host`;
  return `cannot listen on ${host}:${port}: ${message}`;
}
