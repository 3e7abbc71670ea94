import http2 from 'node:http2';
import type net from 'node:net';
import type { Clock } from '../../core/clock.ts';
import { type ClusterFailure, clusterFailure } from '../cluster-failure.ts';
import { failureOfError } from './connection-errors.ts';
import { openHttp2Stream } from './http2-stream.ts';
import { type ConnectionActivity, createConnectionActivity, superviseConnection } from './liveness.ts';
import { abandonedFailure, failureOfSignal } from './request-scope.ts';
import type { Lane, WireAnswer, WireRequest } from './wire.ts';

/** Maximum number of open streams on one session, even if the peer allows more. */
const maxStreams = 200;
/** Maximum fraction of a session's streams for watches and followed logs together. The other streams are for lists and live requests. */
const longLivedFraction = 0.8;
/** Maximum fraction of a session's streams for followed logs. It is smaller, because mirrors are more important. */
const followFraction = 0.4;
const streamWindowBytes = 1024 * 1024;
const sessionWindowBytes = 16 * 1024 * 1024;
const closed = clusterFailure('UNREACHABLE', 'the connection was closed');

/** One HTTP/2 connection that counts its own streams. node:http2 silently queues requests above the peer's limit. */
export interface Http2Session {
  /** True if the session takes no new streams: the peer sent GOAWAY, or `drain` was called. Open streams continue. */
  readonly draining: boolean;
  readonly closed: boolean;
  readonly streams: number;
  hasRoom(lane: Lane): boolean;
  /**
   * Sends a request and resolves with the head of the answer. The stream counts as open from the call on. An abort ends it
   * upstream at once. Throws nothing.
   */
  request(request: WireRequest, signal: AbortSignal): Promise<WireAnswer>;
  drain(): void;
  /** Destroys the socket. Open streams fail with this reason. */
  destroy(reason: ClusterFailure): void;
}

export interface Http2SessionOptions {
  readonly authority: string;
  readonly clock: Clock;
  /** Called when a stream has ended, or the session drains or closes: waiting requests may get room, or need another session. */
  readonly changed: () => void;
  /** Called with the milliseconds of a round trip, as node:http2 measures it outside the event loop. */
  readonly roundTrip: (ms: number) => void;
}

export type SessionOpened =
  | { readonly type: 'opened'; readonly session: Http2Session }
  | { readonly type: 'broken'; readonly failure: ClusterFailure };

/**
 * Opens a session on a connected socket. Resolves when the peer has sent its limit of streams. An abort before that destroys the socket.
 */
export function openHttp2Session(socket: net.Socket, options: Http2SessionOptions, signal: AbortSignal): Promise<SessionOpened> {
  const client = http2.connect(`https://${options.authority}`, {
    createConnection: () => socket,
    settings: { initialWindowSize: streamWindowBytes, enablePush: false },
    // With Node's default of 10 MB the session refuses streams once the windows below are full.
    maxSessionMemory: 64,
  });
  const session = new SupervisedSession(client, socket, options);
  return new Promise((resolve) => {
    const settle = (opened: SessionOpened) => {
      signal.removeEventListener('abort', abort);
      resolve(opened);
    };
    const abort = () => session.destroy(failureOfSignal(signal) ?? abandonedFailure);
    client.once('remoteSettings', () => {
      client.setLocalWindowSize(sessionWindowBytes);
      client.ping((error, durationMs) => error ?? options.roundTrip(durationMs));
      settle({ type: 'opened', session });
    });
    client.once('close', () => settle({ type: 'broken', failure: session.reason }));
    if (signal.aborted) abort();
    else signal.addEventListener('abort', abort, { once: true });
  });
}

class SupervisedSession implements Http2Session {
  readonly #client: http2.ClientHttp2Session;
  readonly #socket: net.Socket;
  readonly #options: Http2SessionOptions;
  readonly #activity: ConnectionActivity;
  readonly #counts: Record<Lane, number> = { watch: 0, follow: 0, request: 0 };
  #reason: ClusterFailure | undefined;
  #draining = false;

  constructor(client: http2.ClientHttp2Session, socket: net.Socket, options: Http2SessionOptions) {
    this.#client = client;
    this.#socket = socket;
    this.#options = options;
    this.#activity = createConnectionActivity(options.clock);
    client.on('error', (error) => {
      this.#reason ??= failureOfError(error);
    });
    client.on('goaway', () => {
      this.#draining = true;
      options.changed();
    });
    client.on('ping', () => this.#activity.markReceived());
    // TLS 1.3 may refuse the client certificate after the handshake. Only the socket reports this alert, node:http2 does not.
    socket.on('error', (error) => this.destroy(failureOfError(error)));
    socket.once('end', () => this.destroy(closed));
    this.#supervise();
  }

  get draining(): boolean {
    return this.#draining || this.#client.closed;
  }

  get closed(): boolean {
    return this.#client.destroyed;
  }

  get streams(): number {
    return this.#counts.watch + this.#counts.follow + this.#counts.request;
  }

  get reason(): ClusterFailure {
    return this.#reason ?? closed;
  }

  hasRoom(lane: Lane): boolean {
    const limit = Math.min(this.#client.remoteSettings.maxConcurrentStreams ?? maxStreams, maxStreams);
    if (this.draining || this.closed || this.streams >= limit) return false;
    if (lane === 'request') return true;
    const { watch, follow } = this.#counts;
    const streamsOf = (fraction: number) => Math.max(1, Math.floor(limit * fraction));
    return watch + follow < streamsOf(longLivedFraction) && (lane === 'watch' || follow < streamsOf(followFraction));
  }

  // An async function, so that an exception rejects the promise of this caller. The stream is counted before the first await.
  async request(request: WireRequest, signal: AbortSignal): Promise<WireAnswer> {
    this.#counts[request.lane]++;
    const ended = () => {
      this.#counts[request.lane]--;
      if (this.#draining && this.streams === 0) this.#client.close();
      this.#options.changed();
    };
    const { authority } = this.#options;
    return await openHttp2Stream(this.#client, { request, authority, activity: this.#activity, ended, reason: () => this.reason }, signal);
  }

  drain(): void {
    this.#draining = true;
    if (this.streams === 0) this.#client.close();
  }

  destroy(reason: ClusterFailure): void {
    this.#reason ??= reason;
    this.#client.destroy();
    // Without this call Node waits until all written data is sent, and the buffer of a dead peer never empties.
    this.#socket.destroy();
  }

  #supervise(): void {
    const life = new AbortController();
    const client = this.#client;
    const { clock, changed } = this.#options;
    const activity = this.#activity;
    client.once('close', () => {
      life.abort();
      changed();
    });
    const probe = () => {
      if (!client.destroyed) client.ping((error) => error ?? activity.markReceived());
    };
    const onDead = () => this.destroy(clusterFailure('UNREACHABLE', 'the API server has sent nothing for 25 s'));
    void superviseConnection({ clock, activity, probe, onDead }, life.signal);
  }
}
