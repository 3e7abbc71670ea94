import { once } from 'node:events';
import http2 from 'node:http2';
import tls from 'node:tls';
import { expect } from 'vitest';
import type { Endpoint } from '../support/clients/raw-client.ts';
import type { DeclareCase } from './place.ts';

interface Connection extends AsyncDisposable {
  readonly session: http2.ClientHttp2Session;
  readonly settings: http2.Settings;
  /** Opens a stream and resolves with the status of its answer; the stream stays open. */
  open(path: string): Promise<number>;
}

async function connect(endpoint: Endpoint): Promise<Connection> {
  const session = http2.connect(endpoint.url, { ca: endpoint.caPem, cert: endpoint.certPem, key: endpoint.keyPem });
  session.on('error', () => undefined);
  const [settings] = (await once(session, 'remoteSettings')) as [http2.Settings];
  const authorization: http2.OutgoingHttpHeaders = endpoint.token === undefined ? {} : { authorization: `Bearer ${endpoint.token}` };
  return {
    session,
    settings,
    async open(path) {
      const stream = session.request({ ':path': path, ...authorization });
      stream.on('error', () => undefined);
      stream.end();
      const [headers] = (await once(stream, 'response')) as [http2.IncomingHttpHeaders & http2.IncomingHttpStatusHeader];
      return headers[':status'] ?? 0;
    },
    async [Symbol.asyncDispose]() {
      const closed = once(session, 'close');
      session.destroy();
      await closed;
    },
  };
}

/** Behavior of connections, below HTTP requests. */
export function transportCases(declare: DeclareCase): void {
  declare('serves HTTP/2 and HTTP/1.1, by ALPN', async ({ server }) => {
    const { hostname: host, port } = new URL(server.endpoint.url);
    const chosen = async (protocols: string[]) => {
      const socket = tls.connect({
        host,
        port: Number(port),
        ca: server.endpoint.caPem,
        ALPNProtocols: protocols,
        servername: 'localhost',
      });
      await once(socket, 'secureConnect');
      const protocol = socket.alpnProtocol;
      socket.destroy();
      return protocol;
    };
    expect(await chosen(['h2', 'http/1.1'])).toBe('h2');
    expect(await chosen(['http/1.1'])).toBe('http/1.1');
  });

  declare('allows 100 streams per connection, answers PING, and opens as many watches', async ({ server, at }) => {
    await using connection = await connect(server.endpoint);
    expect(connection.settings.maxConcurrentStreams).toBe(100);
    const statuses = await Promise.all(Array.from({ length: 100 }, () => connection.open(`${at('configmaps')}?watch=1&resourceVersion=0`)));
    expect(new Set(statuses)).toEqual(new Set([200]));
    const rtt = await new Promise<number>((resolve, reject) =>
      connection.session.ping((error, duration) => (error === null ? resolve(duration) : reject(error))),
    );
    expect(rtt).toBeLessThan(10_000);
  });

  declare('sends the headers of a watch at once, before its first event', async ({ server, at }) => {
    await using connection = await connect(server.endpoint);
    expect(await connection.open(`${at('configmaps')}?watch=1`)).toBe(200);
  });
}
