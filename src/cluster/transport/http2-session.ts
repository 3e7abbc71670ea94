import http2 from 'node:http2';
import type net from 'node:net';
import type { Clock } from '../../core/clock.ts';
import { type Breakage, breakage } from '../classify.ts';
import { breakageOfError } from './connection-errors.ts';
import { openStream } from './http2-stream.ts';
import { createPulse, type Pulse, watchOver } from './liveness.ts';
import { abandoned, breakageIn } from './request-scope.ts';
import type { Lane, WireAnswer, WireRequest } from './wire.ts';

/** We open no more streams on one session, whatever the peer allows. */
const maxStreams = 200;
/** Of the room, watches and followed logs take four fifths at most: lists and live calls must get through. */
const standingShare = 0.8;
/** And followed logs two fifths: mirrors come first. */
const followShare = 0.4;
const streamWindowBytes = 1024 * 1024;
const sessionWindowBytes = 16 * 1024 * 1024;
const closed = breakage('UNREACHABLE', 'the connection was closed');

/** One HTTP/2 connection whose streams we count ourselves: node:http2 queues in silence past the peer's limit. */
export interface Http2Session {
  /** Takes no new streams: the peer said GOAWAY, or `drain` was called. Open ones end by themselves. */
  readonly draining: boolean;
  readonly closed: boolean;
  readonly streams: number;
  hasRoom(lane: Lane): boolean;
  /** Counts a stream at once. Ends upstream as soon as the signal aborts. Resolves with the head; throws nothing. */
  request(request: WireRequest, signal: AbortSignal): Promise<WireAnswer>;
  drain(): void;
  /** Destroys the socket; open streams fail with this. */
  destroy(reason: Breakage): void;
}

export interface Http2SessionOptions {
  readonly authority: string;
  readonly clock: Clock;
  /** Called after a stream ended, the session began to drain, or closed: there may be room, or need, elsewhere. */
  readonly changed: () => void;
  /** Told how long a round trip took, as measured beneath the event loop. */
  readonly roundTrip: (ms: number) => void;
}

export type SessionOpened =
  | { readonly type: 'opened'; readonly session: Http2Session }
  | { readonly type: 'broken'; readonly breakage: Breakage };

/** Makes a session of a connected socket, once the peer has said how many streams it takes. An abort meanwhile destroys the socket. */
export function openHttp2Session(socket: net.Socket, options: Http2SessionOptions, signal: AbortSignal): Promise<SessionOpened> {
  const client = http2.connect(`https://${options.authority}`, {
    createConnection: () => socket,
    settings: { initialWindowSize: streamWindowBytes, enablePush: false },
    // At Node's 10 MB it refuses streams once the windows below are full.
    maxSessionMemory: 64,
  });
  const session = new SupervisedSession(client, socket, options);
  return new Promise((resolve) => {
    const settle = (opened: SessionOpened) => {
      signal.removeEventListener('abort', abort);
      resolve(opened);
    };
    const abort = () => session.destroy(breakageIn(signal) ?? abandoned);
    client.once('remoteSettings', () => {
      client.setLocalWindowSize(sessionWindowBytes);
      client.ping((error, durationMs) => error ?? options.roundTrip(durationMs));
      settle({ type: 'opened', session });
    });
    client.once('close', () => settle({ type: 'broken', breakage: session.reason }));
    if (signal.aborted) abort();
    else signal.addEventListener('abort', abort, { once: true });
  });
}

class SupervisedSession implements Http2Session {
  readonly #client: http2.ClientHttp2Session;
  readonly #socket: net.Socket;
  readonly #options: Http2SessionOptions;
  readonly #pulse: Pulse;
  readonly #counts: Record<Lane, number> = { watch: 0, follow: 0, request: 0 };
  #reason: Breakage | undefined;
  #draining = false;

  constructor(client: http2.ClientHttp2Session, socket: net.Socket, options: Http2SessionOptions) {
    this.#client = client;
    this.#socket = socket;
    this.#options = options;
    this.#pulse = createPulse(options.clock);
    client.on('error', (error) => {
      this.#reason ??= breakageOfError(error);
    });
    client.on('goaway', () => {
      this.#draining = true;
      options.changed();
    });
    client.on('ping', () => this.#pulse.beat());
    // Of an alert that follows the handshake, as when TLS 1.3 refuses our certificate, the socket tells and node:http2 does not.
    socket.on('error', (error) => this.destroy(breakageOfError(error)));
    socket.once('end', () => this.destroy(closed));
    this.#live();
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

  get reason(): Breakage {
    return this.#reason ?? closed;
  }

  hasRoom(lane: Lane): boolean {
    const limit = Math.min(this.#client.remoteSettings.maxConcurrentStreams ?? maxStreams, maxStreams);
    if (this.draining || this.closed || this.streams >= limit) return false;
    if (lane === 'request') return true;
    const { watch, follow } = this.#counts;
    const shareOf = (share: number) => Math.max(1, Math.floor(limit * share));
    return watch + follow < shareOf(standingShare) && (lane === 'watch' || follow < shareOf(followShare));
  }

  // Asynchronous so that what is thrown reaches this caller; the count moves in the same turn.
  async request(request: WireRequest, signal: AbortSignal): Promise<WireAnswer> {
    this.#counts[request.lane]++;
    const ended = () => {
      this.#counts[request.lane]--;
      if (this.#draining && this.streams === 0) this.#client.close();
      this.#options.changed();
    };
    const { authority } = this.#options;
    return await openStream(this.#client, { request, authority, pulse: this.#pulse, ended, reason: () => this.reason }, signal);
  }

  drain(): void {
    this.#draining = true;
    if (this.streams === 0) this.#client.close();
  }

  destroy(reason: Breakage): void {
    this.#reason ??= reason;
    this.#client.destroy();
    // Without this Node waits until what it has written is gone, and from a dead peer's buffer it never goes.
    this.#socket.destroy();
  }

  #live(): void {
    const life = new AbortController();
    const client = this.#client;
    const { clock, changed } = this.#options;
    const pulse = this.#pulse;
    client.once('close', () => {
      life.abort();
      changed();
    });
    const ask = () => {
      if (!client.destroyed) client.ping((error) => error ?? pulse.beat());
    };
    const dead = () => this.destroy(breakage('UNREACHABLE', 'the API server has not been heard for 25 s'));
    void watchOver({ clock, pulse, ask, dead }, life.signal);
  }
}
