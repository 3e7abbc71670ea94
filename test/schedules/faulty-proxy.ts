import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

/** A TCP proxy in front of one API server. A schedule can freeze or cut its connections. Otherwise bytes pass unchanged. */
export interface FaultyProxy extends AsyncDisposable {
  readonly port: number;
  /** `open`: bytes pass. `frozen`: connections stay, and no byte passes. `cut`: connections are reset, and new ones refused. */
  set(state: 'open' | 'frozen' | 'cut'): void;
}

/** Listens on a free port of the loopback interface and forwards to `target`. */
export async function createFaultyProxy(target: { readonly host: string; readonly port: number }): Promise<FaultyProxy> {
  let state: 'open' | 'frozen' | 'cut' = 'open';
  const sockets = new Set<Socket>();
  const keep = (socket: Socket) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket)).on('error', () => undefined);
    if (state === 'frozen') socket.pause();
  };
  const server = createServer((client) => {
    if (state === 'cut') return client.destroy();
    const upstream = connect(target);
    keep(client);
    keep(upstream);
    forward(client, upstream);
    forward(upstream, client);
  });
  function forward(from: Socket, to: Socket): void {
    from.on('data', (bytes) => {
      if (!to.write(bytes)) from.pause();
    });
    to.on('drain', () => state !== 'frozen' && from.resume());
    from.once('close', () => to.destroy());
  }
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    set(next) {
      state = next;
      for (const socket of sockets) {
        if (next === 'cut') socket.destroy();
        else if (next === 'frozen') socket.pause();
        else socket.resume();
      }
    },
    [Symbol.asyncDispose]: async () => {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
}
