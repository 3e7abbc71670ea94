import net from 'node:net';
import tls from 'node:tls';
import type { Clock } from '../../core/clock.ts';
import { untilAborted } from '../../core/scheduling/until-aborted.ts';
import { type ClusterFailure, clusterFailure } from '../cluster-failure.ts';
import type { AddressRule } from '../endpoint.ts';
import { ClusterFailureError, failureOfError } from './connection-errors.ts';
import { openTunnel } from './proxy-tunnel.ts';
import { createPublicLookup, forbiddenAddress, isForbiddenAddress, publicAddressOf } from './public-addresses.ts';
import { abandonedFailure, openRequestScope, type RequestScope } from './request-scope.ts';

/** Deadline in milliseconds for DNS, TCP, proxy and TLS together. */
const connectDeadlineMs = 10_000;

/** The certificates of a TLS connection: trusted authorities, and the client certificate with its key. */
export interface TlsIdentity {
  /** Grows with each change. Connections with a lower serial are replaced. */
  readonly serial: number;
  readonly ca?: Uint8Array;
  readonly cert?: Uint8Array;
  readonly key?: Uint8Array;
  readonly verify: boolean;
}

/** The server to connect to, and the proxy if there is one. */
export interface DialTarget {
  /** `https:`, or `http:` to loopback. */
  readonly server: URL;
  readonly tlsServerName?: string;
  readonly proxyUrl?: string;
  /**
   * Returns the rule for the address of the server. Called before each connection. With a rule, a proxy gets an address that the rule allows, and not
   * the host name, which the proxy would resolve itself.
   */
  readonly addressRule?: () => AddressRule | undefined;
}

export interface DialOptions {
  readonly identity: TlsIdentity;
  readonly protocols: readonly ('h2' | 'http/1.1')[];
  readonly clock: Clock;
}

export type DialResult =
  | {
      readonly type: 'dialled';
      readonly socket: net.Socket;
      readonly protocol: 'h2' | 'http/1.1';
      /** Milliseconds of one round trip to the server, or to the proxy on its behalf. 0 on loopback. */
      readonly roundTripMs: number;
    }
  | { readonly type: 'broken'; readonly failure: ClusterFailure };

/**
 * Connects to an API server within 10 s. TLS is at least 1.2, and the certificate is checked by name and authority, unless `verify` of the
 * identity is false.
 *
 * An abort destroys the connection at once. Never throws. The socket has no data listener and no timeout yet.
 */
export async function dial(target: DialTarget, { identity, protocols, clock }: DialOptions, signal: AbortSignal): Promise<DialResult> {
  using scope = openRequestScope([signal], clock);
  scope.setDeadline(
    connectDeadlineMs,
    clusterFailure('UNREACHABLE', `the API server did not take the connection within ${connectDeadlineMs / 1_000} s`),
  );
  try {
    const { socket, roundTripMs } = await connect(target, clock, scope);
    if (target.server.protocol === 'http:') return { type: 'dialled', socket: demandLoopback(socket), protocol: 'http/1.1', roundTripMs };
    const secured = await startTls(socket, { target, identity, protocols, scope });
    return { type: 'dialled', socket: secured, protocol: secured.alpnProtocol === 'h2' ? 'h2' : 'http/1.1', roundTripMs };
  } catch (error) {
    return { type: 'broken', failure: scope.signal.aborted ? (scope.failure ?? abandonedFailure) : failureOfError(error) };
  }
}

async function connect(
  { server, proxyUrl, addressRule: ruleNow }: DialTarget,
  clock: Clock,
  scope: RequestScope,
): Promise<{ socket: net.Socket; roundTripMs: number }> {
  const addressRule = ruleNow?.();
  if (addressRule !== undefined && isForbiddenAddress(hostOf(server), addressRule))
    throw new ClusterFailureError(forbiddenAddress(addressRule));
  const first = proxyUrl === undefined ? server : new URL(proxyUrl);
  const host = proxyUrl === undefined || addressRule === undefined ? hostOf(server) : await judgedAddress(server, addressRule, scope);
  const lookup = addressRule === undefined || proxyUrl !== undefined ? {} : { lookup: createPublicLookup(addressRule) };
  const socket = net.connect({ host: hostOf(first), port: portOf(first), ...lookup });
  // The time of the DNS lookup does not count as part of the round trip.
  let startedMs = clock.monotonic();
  socket.once('lookup', () => {
    startedMs = clock.monotonic();
  });
  await untilEvent(socket, 'connect', scope);
  socket.setNoDelay(true);
  if (proxyUrl === undefined) return { socket, roundTripMs: isLoopback(socket) ? 0 : clock.monotonic() - startedMs };
  const proxy = first.protocol === 'https:' ? await secureProxy(socket, first, scope) : socket;
  startedMs = clock.monotonic();
  await openTunnel(proxy, { proxy: first, host, port: portOf(server) }, scope.signal);
  return { socket: proxy, roundTripMs: clock.monotonic() - startedMs };
}

async function judgedAddress(server: URL, rule: AddressRule, { signal }: RequestScope): Promise<string> {
  const address = await untilAborted(publicAddressOf(hostOf(server), rule), signal);
  if (address === undefined) throw new ClusterFailureError(abandonedFailure);
  return address;
}

async function secureProxy(socket: net.Socket, proxy: URL, scope: RequestScope): Promise<net.Socket> {
  const host = hostOf(proxy);
  const secured = tls.connect({ socket, minVersion: 'TLSv1.2', host, ...(net.isIP(host) === 0 ? { servername: host } : {}) });
  await untilEvent(secured, 'secureConnect', { signal: scope.signal, beneath: socket });
  return secured;
}

interface TlsOptions {
  readonly target: DialTarget;
  readonly identity: TlsIdentity;
  readonly protocols: readonly string[];
  readonly scope: RequestScope;
}

async function startTls(socket: net.Socket, { target, identity, protocols, scope }: TlsOptions): Promise<tls.TLSSocket> {
  // The certificate is checked for `servername`, or else for `host`. An address may not be sent as `servername` (RFC 6066).
  const host = target.tlsServerName ?? hostOf(target.server);
  const secured = tls.connect({
    socket,
    host,
    minVersion: 'TLSv1.2',
    ALPNProtocols: [...protocols],
    rejectUnauthorized: identity.verify,
    ...(net.isIP(host) === 0 ? { servername: host } : {}),
    ...(identity.ca === undefined ? {} : { ca: Buffer.from(identity.ca) }),
    ...(identity.cert === undefined ? {} : { cert: Buffer.from(identity.cert) }),
    ...(identity.key === undefined ? {} : { key: Buffer.from(identity.key) }),
  });
  await untilEvent(secured, 'secureConnect', { signal: scope.signal, beneath: socket });
  return secured;
}

/** Waits for the event. An abort, an error or an early end rejects, and destroys the socket and the socket `beneath` it. */
function untilEvent(
  socket: net.Socket,
  event: 'connect' | 'secureConnect',
  { signal, beneath }: { readonly signal: AbortSignal; readonly beneath?: net.Socket },
): Promise<void> {
  // This listener stays, because a destroyed socket may still emit an error.
  socket.on('error', () => undefined);
  return new Promise((resolve, reject) => {
    const done = (end: () => void) => {
      signal.removeEventListener('abort', abort);
      socket.off(event, arrived).off('close', closed).off('error', failed);
      end();
    };
    const arrived = () => done(resolve);
    const failed = (error: Error) => {
      done(() => reject(error));
      socket.destroy();
      beneath?.destroy();
    };
    const closed = () => failed(new ClusterFailureError(clusterFailure('UNREACHABLE', 'the API server closed the connection at once')));
    const abort = () => failed(new ClusterFailureError(abandonedFailure));
    socket.once(event, arrived).once('close', closed).once('error', failed);
    if (signal.aborted) abort();
    else signal.addEventListener('abort', abort, { once: true });
  });
}

/** Refuses a connection without TLS unless its address is loopback. A host name such as `localhost` may resolve to another machine. */
function demandLoopback(socket: net.Socket): net.Socket {
  if (isLoopback(socket)) return socket;
  socket.destroy();
  throw new ClusterFailureError(clusterFailure('UNREACHABLE', 'expected https: http is allowed to loopback only'));
}

function isLoopback({ remoteAddress = '' }: net.Socket): boolean {
  return remoteAddress === '::1' || /^(::ffff:)?127\./.test(remoteAddress);
}

function hostOf(url: URL): string {
  return url.hostname.replace(/^\[|\]$/g, '');
}

function portOf(url: URL): number {
  return url.port === '' ? (url.protocol === 'https:' ? 443 : 80) : Number(url.port);
}
