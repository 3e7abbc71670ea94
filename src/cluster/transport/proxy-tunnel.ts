import type net from 'node:net';
import { clusterFailure } from '../cluster-failure.ts';
import { ClusterFailureError } from './connection-errors.ts';

const maxHeadBytes = 16_384;

export interface TunnelTarget {
  readonly proxy: URL;
  readonly host: string;
  readonly port: number;
}

/**
 * Asks an HTTP proxy to CONNECT to a host. After the promise resolves, the socket leads to that host.
 *
 * @throws {ClusterFailureError} if the proxy refuses, sends something other than HTTP, or closes the connection.
 */
export async function openTunnel(socket: net.Socket, { proxy, host, port }: TunnelTarget, signal: AbortSignal): Promise<void> {
  const target = `${host.includes(':') ? `[${host}]` : host}:${port}`;
  const user = proxy.username === '' ? '' : `${decodeURIComponent(proxy.username)}:${decodeURIComponent(proxy.password)}`;
  const authorization = user === '' ? '' : `Proxy-Authorization: Basic ${Buffer.from(user).toString('base64')}\r\n`;
  socket.write(`CONNECT ${target} HTTP/1.1\r\nHost: ${target}\r\n${authorization}\r\n`);
  const head = await readHead(socket, signal);
  const status = /^HTTP\/1\.[01] (\d{3})/.exec(head)?.[1];
  if (status?.startsWith('2')) return;
  socket.destroy();
  const answer = status === undefined ? 'something other than HTTP' : `HTTP ${status}`;
  throw new ClusterFailureError(clusterFailure('UNREACHABLE', `the proxy did not open a tunnel: it answered ${answer}`));
}

function readHead(socket: net.Socket, signal: AbortSignal): Promise<string> {
  return new Promise((resolve, reject) => {
    let head = Buffer.alloc(0);
    const finish = (end: () => void) => {
      socket.off('readable', read);
      socket.off('close', closed);
      signal.removeEventListener('abort', closed);
      end();
    };
    const fail = (message: string) => {
      finish(() => reject(new ClusterFailureError(clusterFailure('UNREACHABLE', message))));
      socket.destroy();
    };
    const read = () => {
      for (let chunk = socket.read(); chunk !== null; chunk = socket.read()) {
        head = Buffer.concat([head, chunk as Buffer]);
        const end = head.indexOf('\r\n\r\n');
        if (end >= 0) {
          const rest = head.subarray(end + 4);
          return finish(() => {
            if (rest.length > 0) socket.unshift(rest);
            resolve(head.toString('latin1', 0, end));
          });
        }
        if (head.length > maxHeadBytes) return fail('the proxy answered with too long a head');
      }
    };
    const closed = () => fail('the proxy closed the connection');
    socket.on('readable', read);
    socket.on('close', closed);
    signal.addEventListener('abort', closed, { once: true });
  });
}
