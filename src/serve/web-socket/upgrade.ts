import { type IncomingMessage, STATUS_CODES } from 'node:http';
import type { Duplex } from 'node:stream';
import { GRAPHQL_TRANSPORT_WS_PROTOCOL } from 'graphql-ws';
import { RequestRefusal } from '../../operations/refusal.ts';
import type { Guard } from '../http/guard.ts';

/**
 * Checks the headers of an upgrade before 101: its origin, path and protocols. It needs no token, because browsers cannot send one with an
 * upgrade. The query string is never read.
 *
 * @throws {RequestRefusal} 403, 404 or 400.
 */
export function admitUpgrade({ headers, url = '/' }: IncomingMessage, guard: Pick<Guard, 'checkOrigin'>): void {
  guard.checkOrigin(headers);
  if (headers.upgrade?.toLowerCase() !== 'websocket') throw badUpgrade('expected an upgrade to websocket');
  if (url.split('?', 1)[0] !== '/graphql')
    throw new RequestRefusal({
      status: 404,
      code: 'BAD_INPUT',
      message: 'expected an upgrade at /graphql: nothing is served at this path',
    });
  if (!subprotocolsOf(headers['sec-websocket-protocol']).includes(GRAPHQL_TRANSPORT_WS_PROTOCOL))
    throw badUpgrade(
      `expected the subprotocol ${GRAPHQL_TRANSPORT_WS_PROTOCOL} in Sec-WebSocket-Protocol: the older protocol graphql-ws is not supported`,
    );
}

/** Answers with an HTTP error and closes the connection. */
export function refuseUpgrade(socket: Duplex, { status, message, headers }: RequestRefusal): void {
  if (socket.destroyed) return;
  const body = `${message}\n`;
  const lines = Object.entries({
    ...headers,
    connection: 'close',
    'cache-control': 'no-store',
    'content-type': 'text/plain; charset=utf-8',
    'content-length': String(Buffer.byteLength(body)),
    'x-content-type-options': 'nosniff',
  }).map(([name, value]) => `${name}: ${value}\r\n`);
  socket.once('finish', () => socket.destroy());
  socket.end(`HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${lines.join('')}\r\n${body}`);
}

function subprotocolsOf(header: string | undefined): readonly string[] {
  return (header ?? '').split(',').map((name) => name.trim());
}

function badUpgrade(message: string): RequestRefusal {
  return new RequestRefusal({ status: 400, code: 'BAD_INPUT', message });
}
