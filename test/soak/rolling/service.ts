import net, { type AddressInfo } from 'node:net';

/** A replica behind the service. */
export interface ServiceEndpoint {
  readonly port: number;
  /** True while new connections may go to the replica. */
  readonly isReady: boolean;
}

export interface Service extends Disposable {
  readonly port: number;
}

/** Passes connections to the ready replicas in turn, as a Service of Kubernetes does. Open connections stay where they are. */
export async function startService(endpoints: readonly ServiceEndpoint[]): Promise<Service> {
  let turn = 0;
  const sockets = new Set<net.Socket>();
  const server = net.createServer((client) => {
    const ready = endpoints.filter(({ isReady }) => isReady);
    const chosen = ready[turn++ % ready.length];
    if (chosen === undefined) return void client.destroy();
    const replica = net.connect(chosen.port, '127.0.0.1');
    for (const [one, other] of [
      [client, replica],
      [replica, client],
    ] as const) {
      sockets.add(one);
      one.on('error', () => other.destroy());
      one.on('close', () => {
        sockets.delete(one);
        other.destroySoon();
      });
      one.pipe(other);
    }
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    port: (server.address() as AddressInfo).port,
    [Symbol.dispose]: () => {
      server.close();
      for (const socket of sockets) socket.destroy();
    },
  };
}
