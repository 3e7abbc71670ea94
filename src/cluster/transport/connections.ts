import type { Clock } from '../../core/clock.ts';
import type { Log } from '../../core/log.ts';
import type { ClusterName } from '../../core/names.ts';
import { type DialResult, type DialTarget, dial, type TlsIdentity } from './dial.ts';
import { createHttp1Pool, type Http1Pool } from './http1-pool.ts';
import { createHttp2Sessions, type Http2Sessions } from './http2-sessions.ts';
import type { WireAnswer, WireRequest } from './wire.ts';

/** All connections to one API server with one identity, over HTTP/2 or HTTP/1.1. */
export interface ClusterConnections {
  /** Sends one request. Only bugs are thrown. `refused` means that two sessions have refused the request. */
  request(request: WireRequest, identity: TlsIdentity, signal: AbortSignal): Promise<WireAnswer>;
  /**
   * The shortest round trip so far, in milliseconds. A busy event loop makes a measurement longer, so the shortest one is the most exact.
   * Undefined before the first connection.
   */
  readonly roundTripMs: number | undefined;
}

export interface ConnectionsOptions {
  readonly target: DialTarget;
  readonly cluster: ClusterName;
  readonly clock: Clock;
  readonly log: Log;
}

/**
 * Creates the connections to one API server. The first request opens the first connection.
 *
 * HTTP/2 is used if TLS negotiates it, else HTTP/1.1. After the loss of all connections it is negotiated again. When `life` aborts, all
 * sockets are destroyed.
 */
export function createClusterConnections(options: ConnectionsOptions, life: AbortSignal): ClusterConnections {
  return new NegotiatedConnections(options, life);
}

class NegotiatedConnections implements ClusterConnections {
  readonly #options: ConnectionsOptions;
  readonly #life: AbortSignal;
  readonly #sessions: Http2Sessions;
  #http1: Http1Pool | undefined;
  #roundTripMs: number | undefined;

  constructor(options: ConnectionsOptions, life: AbortSignal) {
    const { target, clock } = options;
    this.#options = options;
    this.#life = life;
    this.#sessions = createHttp2Sessions(
      {
        authority: target.server.host,
        clock,
        dial: (identity, signal) => this.#dial(['h2', 'http/1.1'], identity, signal),
        roundTrip: (ms) => this.#measured(ms),
        fallBack: (connection, identity) => {
          this.#http1 = this.#poolFor(identity);
          this.#http1.adopt(connection);
        },
      },
      life,
    );
  }

  get roundTripMs(): number | undefined {
    return this.#roundTripMs;
  }

  async request(request: WireRequest, identity: TlsIdentity, signal: AbortSignal): Promise<WireAnswer> {
    const answer = await this.#once(request, identity, signal);
    // A refused stream was not processed, so the request may be sent again (RFC 9113, 8.7). A GOAWAY that crosses a request causes this.
    return answer.type === 'refused' && !signal.aborted ? await this.#once(request, identity, signal) : answer;
  }

  async #once(request: WireRequest, identity: TlsIdentity, signal: AbortSignal): Promise<WireAnswer> {
    const pool = this.#poolNow(identity);
    if (pool !== undefined) return await pool.request(request, signal);
    const answer = await this.#sessions.request(request, identity, signal);
    if (answer.type !== 'http1') return answer;
    this.#http1 ??= this.#poolFor(identity);
    return await this.#http1.request(request, signal);
  }

  /**
   * Returns the HTTP/1.1 pool if the server is known to use HTTP/1.1, else undefined. If the identity is newer than the pool, drains the
   * pool and creates another one.
   */
  #poolNow(identity: TlsIdentity): Http1Pool | undefined {
    if (this.#http1?.dead === true) this.#http1 = undefined;
    if (this.#http1 === undefined) {
      if (this.#options.target.server.protocol === 'http:') this.#http1 = this.#poolFor(identity);
    } else if (this.#http1.identity.serial < identity.serial) {
      this.#http1.drain();
      this.#http1 = this.#poolFor(identity);
    }
    return this.#http1;
  }

  #poolFor(identity: TlsIdentity): Http1Pool {
    const { target, clock } = this.#options;
    const probePath = `${target.server.pathname.replace(/\/+$/, '')}/version`;
    const dial = (as: TlsIdentity, signal: AbortSignal) => this.#dial(['http/1.1'], as, signal);
    return createHttp1Pool({ origin: target.server.origin, identity, probePath, clock, dial }, this.#life);
  }

  async #dial(protocols: readonly ('h2' | 'http/1.1')[], identity: TlsIdentity, signal: AbortSignal): Promise<DialResult> {
    const { target, cluster, clock, log } = this.#options;
    const dialled = await dial(target, { identity, protocols, clock }, signal);
    if (dialled.type === 'dialled') {
      this.#measured(dialled.roundTripMs);
      log.debug({ cluster, protocol: dialled.protocol, roundTripMs: dialled.roundTripMs }, 'connected');
    } else if (!signal.aborted) log.debug({ cluster, problem: dialled.failure.message }, 'could not connect');
    return dialled;
  }

  #measured(ms: number): void {
    this.#roundTripMs = Math.min(ms, this.#roundTripMs ?? ms);
  }
}
