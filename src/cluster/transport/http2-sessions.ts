import type { Clock } from '../../core/clock.ts';
import { clusterFailure } from '../cluster-failure.ts';
import type { DialResult, TlsIdentity } from './dial.ts';
import { type Http2Session, openHttp2Session, type SessionOpened } from './http2-session.ts';
import { abandonedFailure, failureOfSignal, openRequestScope } from './request-scope.ts';
import type { Lane, WireAnswer, WireRequest } from './wire.ts';

/** Maximum number of HTTP/2 connections that take new requests. */
const maxSessions = 4;
/** Milliseconds that connections with an old certificate stay open. Their watches then resume on new connections. */
const drainMs = 30_000;
/** Milliseconds after connecting within which the peer must send its HTTP/2 settings. */
const settingsDeadlineMs = 10_000;

/** A connected socket. */
export type DialledConnection = Extract<DialResult, { type: 'dialled' }>;

/**
 * The HTTP/2 connections to one API server with one identity: 1 to 4. They are opened one at a time, and only when the others have no
 * room.
 */
export interface Http2Sessions {
  /**
   * Sends the request over a session with room in its lane. If none has room, requests wait in the order of the calls.
   *
   * `http1` if the server does not support HTTP/2; the request was not sent then. If the identity is newer than that of the open sessions,
   * these take no new requests and close within 30 s.
   */
  request(request: WireRequest, identity: TlsIdentity, signal: AbortSignal): Promise<WireAnswer | { readonly type: 'http1' }>;
}

export interface Http2SessionsOptions {
  readonly authority: string;
  readonly clock: Clock;
  dial(identity: TlsIdentity, signal: AbortSignal): Promise<DialResult>;
  /** Called with each measured round trip, in milliseconds. */
  readonly roundTrip: (ms: number) => void;
  /** Called if the server does not support HTTP/2. The pool of HTTP/1.1 takes over the open connection. */
  readonly fallBack: (connection: DialledConnection, identity: TlsIdentity) => void;
}

type SessionAnswer = WireAnswer | { readonly type: 'http1' };

interface WaitingRequest {
  readonly lane: Lane;
  readonly start: (session: Http2Session) => void;
  readonly give: (served: SessionAnswer) => void;
}

/** Creates the sessions. The first request opens the first connection. When `life` aborts, all sockets are destroyed. */
export function createHttp2Sessions(options: Http2SessionsOptions, life: AbortSignal): Http2Sessions {
  return new SessionPool(options, life);
}

class SessionPool implements Http2Sessions {
  readonly #options: Http2SessionsOptions;
  readonly #life: AbortSignal;
  #sessions: readonly Http2Session[] = [];
  #waiting: readonly WaitingRequest[] = [];
  #opening = false;
  #current: TlsIdentity | undefined;

  constructor(options: Http2SessionsOptions, life: AbortSignal) {
    this.#options = options;
    this.#life = life;
    life.addEventListener('abort', () => {
      for (const session of this.#sessions) session.destroy(abandonedFailure);
      this.#giveAll({ type: 'broken', failure: abandonedFailure });
    });
  }

  request(request: WireRequest, identity: TlsIdentity, signal: AbortSignal): Promise<SessionAnswer> {
    if (this.#life.aborted || signal.aborted)
      return Promise.resolve({ type: 'broken', failure: failureOfSignal(signal) ?? abandonedFailure });
    if (this.#current === undefined || identity.serial > this.#current.serial) {
      this.#current = identity;
      if (this.#sessions.length > 0) this.#replace(this.#sessions);
    }
    return new Promise((resolve) => {
      const settle = (served: SessionAnswer | Promise<SessionAnswer>) => {
        signal.removeEventListener('abort', abort);
        resolve(served);
      };
      const one: WaitingRequest = { lane: request.lane, start: (session) => settle(session.request(request, signal)), give: settle };
      const abort = () => {
        this.#waiting = this.#waiting.filter((other) => other !== one);
        settle({ type: 'broken', failure: failureOfSignal(signal) ?? abandonedFailure });
      };
      signal.addEventListener('abort', abort, { once: true });
      this.#waiting = [...this.#waiting, one];
      this.#serve();
    });
  }

  /** Starts waiting requests on sessions with room, and opens one more connection if some still wait. */
  #serve(): void {
    this.#sessions = this.#sessions.filter((session) => !session.closed);
    for (const one of this.#waiting) {
      const session = this.#sessions.find((candidate) => candidate.hasRoom(one.lane));
      if (session === undefined) continue;
      this.#waiting = this.#waiting.filter((other) => other !== one);
      one.start(session);
    }
    if (this.#waiting.length > 0 && !this.#opening && !this.#life.aborted) void this.#openOne();
  }

  #giveAll(served: SessionAnswer): void {
    const all = this.#waiting;
    this.#waiting = [];
    for (const one of all) one.give(served);
  }

  async #openOne(): Promise<void> {
    const identity = this.#current;
    if (identity === undefined || this.#sessions.filter((session) => !session.draining).length >= maxSessions) return;
    this.#opening = true;
    const connection = await this.#options.dial(identity, this.#life);
    const opened = connection.type === 'dialled' && connection.protocol === 'h2' ? await this.#greet(connection) : undefined;
    this.#opening = false;
    if (connection.type === 'broken') return this.#giveAll(connection);
    if (opened === undefined) {
      this.#options.fallBack(connection, identity);
      return this.#giveAll({ type: 'http1' });
    }
    if (opened.type === 'broken') return this.#giveAll(opened);
    this.#sessions = [...this.#sessions, opened.session];
    // The certificates changed while the session was being opened.
    if (this.#current !== undefined && this.#current.serial > identity.serial) this.#replace([opened.session]);
    this.#serve();
  }

  async #greet({ socket }: DialledConnection): Promise<SessionOpened> {
    const { authority, clock, roundTrip } = this.#options;
    using scope = openRequestScope([this.#life], clock);
    const seconds = settingsDeadlineMs / 1_000;
    scope.setDeadline(settingsDeadlineMs, clusterFailure('UNREACHABLE', `the API server sent no HTTP/2 settings within ${seconds} s`));
    return await openHttp2Session(socket, { authority, clock, roundTrip, changed: () => this.#serve() }, scope.signal);
  }

  /** Drains sessions, and destroys them after 30 s. */
  #replace(old: readonly Http2Session[]): void {
    const reason = clusterFailure('UNREACHABLE', 'the connection was replaced, as the certificates changed', 'NOW');
    for (const session of old) session.drain();
    void this.#options.clock.sleep(drainMs, this.#life).then(() => {
      for (const session of old) session.destroy(reason);
    });
  }
}
