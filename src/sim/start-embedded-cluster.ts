import { once } from 'node:events';
import { createSecureServer } from 'node:http2';
import type { AddressInfo, Socket } from 'node:net';
import { administer } from './administer.ts';
import { createCertificate } from './certificate.ts';
import { createSimServer } from './create-sim-server.ts';
import type { EmbeddedClusterOptions, StoppableCluster } from './kinds/embedded-cluster.ts';
import { createRequestHandler } from './request-handler.ts';

/** Starts one cluster with the namespaces that a new cluster has, such as `kube-system`. Resolves once it listens on loopback. */
export async function startEmbeddedCluster(options: EmbeddedClusterOptions): Promise<StoppableCluster> {
  const server = createSimServer(options);
  const { key, certificate: cert, ca } = await createCertificate();
  const settings = { maxConcurrentStreams: 100 };
  const listener = createSecureServer({ key, cert, allowHTTP1: true, settings }, createRequestHandler(server));
  const sockets = new Set<Socket>();
  let isStopped = false;
  listener.on('connection', (socket: Socket) => {
    if (isStopped) return void socket.resetAndDestroy();
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
  });
  listener.on('sessionError', () => undefined);
  await once(listener.listen(0, '127.0.0.1'), 'listening');
  server.host = `127.0.0.1:${(listener.address() as AddressInfo).port}`;
  return {
    ...{ name: options.name, url: `https://${server.host}`, caPem: ca, token: server.token },
    ...administer(server),
    stop() {
      isStopped = true;
      for (const socket of sockets) socket.resetAndDestroy();
    },
    start() {
      isStopped = false;
    },
    async [Symbol.asyncDispose]() {
      listener.close();
      for (const socket of sockets) socket.destroy();
      await once(listener, 'close');
    },
  };
}
