import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Duplex } from 'node:stream';
import { defaultLimits, type Limits } from '../../config/defaults.ts';
import { MusterError } from '../../core/errors.ts';

export interface ListenOptions {
  readonly host: string;
  /** 0: any that is free. */
  readonly port: number;
  /** What connections have to be enough for. Absent: the defaults. */
  readonly limits?: Pick<Limits, 'streams' | 'requestsInFlight'>;
  /** Connections at a time; one more is closed as soon as it is made. By default enough for all streams, and for five times the requests in flight. */
  readonly maxConnections?: number;
}

/** Answers one request. Rejects for nothing. */
type Handle = (request: IncomingMessage, response: ServerResponse) => Promise<void>;

/** Takes over a connection that asks to become something else than HTTP, with what it has sent so far. Throws nothing. */
type HandleUpgrade = (request: IncomingMessage, socket: Duplex, head: Buffer) => void;

/** A server that accepts connections. Disposing it closes it and cuts what is still open. */
export interface HttpListener extends AsyncDisposable {
  readonly port: number;
  /** From now on who asks is answered, and so is who asked before and is still there: until then requests wait. Once. */
  onRequest(handle: Handle): void;
  /**
   * The same for who asks for another protocol. Whoever offers h2c, as some HTTP clients always do, is answered in HTTP/1.1. A connection taken
   * over still counts as one: `close` waits for it, and `destroy` cuts it. Once.
   */
  onUpgrade(handle: HandleUpgrade): void;
  /** Accepts no more connections and closes those that are idle; resolves when the last one is gone. */
  close(): Promise<void>;
  /** Cuts what is still open. */
  destroy(): void;
}

/** Most connections of who only asks are kept ones that wait. */
const connectionsPerRequest = 5;

/**
 * Listens, with bounds on what a connection may cost before it is a request: 10 s for headers of 16 KiB, 30 s for a whole request, 75 s
 * between two.
 *
 * @throws {MusterError} `BAD_INPUT`, one line, if the address cannot be listened on.
 */
export async function listen({ host, port, limits = defaultLimits, ...options }: ListenOptions): Promise<HttpListener> {
  const { promise: answering, resolve: answer } = Promise.withResolvers<Handle>();
  let handle: Handle | undefined;
  const take = (request: IncomingMessage, response: ServerResponse) => {
    if (handle === undefined) void answering.then((late) => (response.destroyed ? undefined : late(request, response)));
    else void handle(request, response);
  };
  const server = createServer(
    {
      headersTimeout: 10_000,
      requestTimeout: 30_000,
      keepAliveTimeout: 75_000,
      maxHeaderSize: 16 << 10,
      connectionsCheckingInterval: 5_000,
      // RFC 9113 has dropped that way to HTTP/2: a server that does not go it answers as if it had not been offered.
      shouldUpgradeCallback: ({ headers }) => headers.upgrade?.toLowerCase() !== 'h2c',
    },
    (request, response) => {
      // What was in flight when it stopped listening leaves a kept connection behind, which nobody else would close. Not by closeIdleConnections:
      // to it, whatever has been said is idle, although it may still be on its way.
      response.once('finish', () => {
        if (!server.listening) request.socket.destroySoon();
      });
      // Asked before the answer to the last request is out: it has no connection yet, so it would not hear if its client left.
      if (response.socket === null) response.once('socket', () => take(request, response));
      else take(request, response);
    },
  );
  const upgrades = takeUpgrades(server);
  server.maxConnections = options.maxConnections ?? limits.streams + connectionsPerRequest * limits.requestsInFlight;
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
    close: () => closed(server),
    destroy,
    [Symbol.asyncDispose]: () => {
      const ended = closed(server);
      destroy();
      return ended;
    },
  };
}

interface Upgrades {
  take(handle: HandleUpgrade): void;
  destroy(): void;
}

/** Keeps those that ask for another protocol until somebody speaks it. The server itself does not know them any more. */
function takeUpgrades(server: Server): Upgrades {
  const { promise: upgrading, resolve: take } = Promise.withResolvers<HandleUpgrade>();
  const upgraded = new Set<Duplex>();
  server.on('upgrade', (request, socket, head) => {
    upgraded.add(socket);
    socket.once('close', () => upgraded.delete(socket));
    // Nobody else listens by now, and an error that nobody hears of ends the process.
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
  if (code === 'EADDRINUSE') return `port ${port} on ${host} is in use: expected a free one, or another by --port`;
  if (code === 'EACCES') return `port ${port} on ${host} may not be listened on: expected one above 1023, by --port`;
  if (code === 'EADDRNOTAVAIL' || code === 'ENOTFOUND') return `${host} is no address of this machine: expected another by --host`;
  return `cannot listen on ${host}:${port}: ${message}`;
}
