import type { Clock } from '../core/clock.ts';
import type { Log } from '../core/log.ts';
import type { ClusterName } from '../core/names.ts';
import { type Dialled, type DialTarget, dial, type TlsIdentity } from './dial.ts';
import { createHttp1Pool, type Http1Pool } from './http1-pool.ts';
import { type Connection, createSessions } from './sessions.ts';
import type { WireAnswer, WireRequest } from './wire.ts';

/** All connections to one API server as one identity, over whichever HTTP it speaks. */
export interface Connections {
  /** Throws nothing but bugs. `refused` only after a second session refused it too. */
  request(request: WireRequest, identity: TlsIdentity, signal: AbortSignal): Promise<WireAnswer>;
  /** The shortest round trip seen: a busy event loop makes others look longer. Undefined before the first connection. */
  readonly roundTripMs: number | undefined;
}

export interface ConnectionsOptions {
  readonly target: DialTarget;
  readonly cluster: ClusterName;
  readonly clock: Clock;
  readonly log: Log;
}

/**
 * Nothing is opened before the first request. HTTP/2 where TLS agrees on it, else HTTP/1.1; asked anew after all connections were lost.
 * At the end of `life` all sockets are destroyed.
 */
export function createConnections({ target, cluster, clock, log }: ConnectionsOptions, life: AbortSignal): Connections {
  let roundTripMs: number | undefined;
  let http1: Http1Pool | undefined;

  const roundTrip = (ms: number) => {
    roundTripMs = Math.min(ms, roundTripMs ?? ms);
  };
  const dialOver =
    (...protocols: readonly ('h2' | 'http/1.1')[]) =>
    async (identity: TlsIdentity, signal: AbortSignal): Promise<Dialled> => {
      const dialled = await dial(target, { identity, protocols, clock }, signal);
      if (dialled.type === 'dialled') {
        roundTrip(dialled.roundTripMs);
        log.debug({ cluster, protocol: dialled.protocol, roundTripMs }, 'connected');
      } else log.debug({ cluster, problem: dialled.breakage.message }, 'could not connect');
      return dialled;
    };
  const poolFor = (identity: TlsIdentity): Http1Pool =>
    createHttp1Pool({ origin: target.server.origin, identity, clock, dial: dialOver('http/1.1') }, life);
  const fallBack = (connection: Connection, identity: TlsIdentity) => {
    http1 = poolFor(identity);
    http1.adopt(connection);
  };
  const sessions = createSessions({ authority: target.server.host, clock, dial: dialOver('h2', 'http/1.1'), fallBack, roundTrip }, life);
  const plain = target.server.protocol === 'http:';

  const poolOf = (identity: TlsIdentity): Http1Pool | undefined => {
    if (http1?.dead === true) http1 = undefined;
    if (http1 === undefined) {
      if (plain) http1 = poolFor(identity);
    } else if (http1.identity.serial < identity.serial) {
      http1.drain();
      http1 = poolFor(identity);
    }
    return http1;
  };
  const once = async (request: WireRequest, identity: TlsIdentity, signal: AbortSignal): Promise<WireAnswer> => {
    const pool = poolOf(identity);
    if (pool !== undefined) return await pool.request(request, signal);
    const answer = await sessions.request(request, identity, signal);
    if (answer.type !== 'http1') return answer;
    http1 ??= poolFor(identity);
    return await http1.request(request, signal);
  };

  return {
    get roundTripMs() {
      return roundTripMs;
    },
    async request(request, identity, signal) {
      const answer = await once(request, identity, signal);
      // The peer says of a refused stream that it did nothing (RFC 9113, 8.7), as when GOAWAY met it halfway.
      return answer.type === 'refused' && !signal.aborted ? await once(request, identity, signal) : answer;
    },
  };
}
