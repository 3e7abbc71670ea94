import { once } from 'node:events';
import { createServer, type Server, type Socket } from 'node:net';
import { type WebSocket, WebSocketServer } from 'ws';
import type { Publisher } from './publisher.ts';

const synced = 'SYNCED';

/** Only the system call: publishes the same bytes to each socket. `write` sends other bytes. */
export async function rawWrites(frameBytes: number): Promise<Publisher & { write(bytes: Buffer): void }> {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket.setNoDelay(true).on('error', () => undefined));
    socket.write(synced);
  });
  const bytes = Buffer.alloc(frameBytes, 'x');
  const write = (part: Buffer) => {
    for (const socket of sockets) socket.write(part);
  };
  return {
    write,
    port: await portOf(server),
    protocol: 'raw',
    query: '',
    publish: (changes) => {
      for (let n = 0; n < changes; n += 1) write(bytes);
    },
  };
}

/** The `ws` package with default options, sending prepared text. */
export async function wsSends(frameBytes: number): Promise<Publisher> {
  const server = new WebSocketServer({ port: 0, host: '127.0.0.1', perMessageDeflate: false });
  const sockets = new Set<WebSocket>();
  server.on('connection', (socket) => {
    socket.on('message', (data) => {
      if (String(data).includes('connection_init')) return socket.send('{"type":"connection_ack"}');
      socket.send(synced);
      sockets.add(socket);
    });
  });
  await once(server, 'listening');
  const text = Buffer.alloc(frameBytes, 'x').toString();
  return {
    port: portIn(server.address()),
    protocol: 'websocket',
    query: '',
    publish: (changes) => {
      for (let n = 0; n < changes; n += 1) for (const socket of sockets) socket.send(text);
    },
  };
}

/** Listens on a free port of the loopback interface. Returns the port. */
export async function portOf(server: Pick<Server, 'listen' | 'address'>): Promise<number> {
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', () => resolve()));
  return portIn(server.address());
}

function portIn(address: ReturnType<Server['address']>): number {
  if (typeof address !== 'object' || address === null) throw new Error(`expected a port, got ${address}`);
  return address.port;
}
