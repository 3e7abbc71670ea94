import http from 'node:http';
import type net from 'node:net';
import tls from 'node:tls';
import type { ServingCertificate } from '../../../src/sim/certificate.ts';

/** Starts a TLS server that passes each connection to the test. Closing it destroys all connections. */
export function listenOverTls(
  certificate: ServingCertificate,
  connected: (socket: tls.TLSSocket) => void,
  options: tls.TlsOptions = {},
): net.Server {
  const sockets = new Set<net.Socket>();
  const server = tls.createServer({ key: certificate.key, cert: certificate.certificate, ...options }, connected);
  server.on('tlsClientError', () => undefined);
  server.on('connection', (socket: net.Socket) => {
    sockets.add(socket);
    socket.on('error', () => undefined);
    socket.once('close', () => sockets.delete(socket));
  });
  server.on('secureConnection', (socket) => socket.on('error', () => undefined));
  return endingAll(server, sockets);
}

export interface PlainAnswer {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

/** Starts an HTTP/1.1 server without TLS that answers each request with the result of `answer`. */
export function serveHttp1(answer: (request: http.IncomingMessage) => PlainAnswer): net.Server {
  const sockets = new Set<net.Socket>();
  const server = http.createServer((request, response) => {
    const { status, headers = {}, body = '' } = answer(request);
    response.writeHead(status, headers).end(body);
  });
  server.on('connection', (socket) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
  });
  return endingAll(server, sockets);
}

function endingAll(server: net.Server, sockets: ReadonlySet<net.Socket>): net.Server {
  const close = server.close.bind(server);
  server.close = (callback) => {
    for (const socket of sockets) socket.destroy();
    return close(callback);
  };
  return server;
}
