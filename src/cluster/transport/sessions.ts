import type { Clock } from '../../core/clock.ts';
import { breakage } from '../classify.ts';
import type { Dialled, TlsIdentity } from './dial.ts';
import { type Http2Session, openHttp2Session, type SessionOpened } from './http2-session.ts';
import { abandoned, breakageIn, openRequestScope } from './request-scope.ts';
import type { Lane, WireAnswer, WireRequest } from './wire.ts';

/** At most so many HTTP/2 connections take new requests at a time. */
const maxSessions = 4;
/** Connections made with an old certificate live on for so long; then their watches resume elsewhere. */
const drainMs = 30_000;
/** After the connection stands, the peer has this long to say how many streams it takes. */
const settingsDeadlineMs = 10_000;

/** A connected socket, or why there is none. */
export type Connection = Extract<Dialled, { type: 'dialled' }>;

/** The HTTP/2 connections to one API server as one identity: 1 to 4, opened one at a time, and only when there is no room. */
export interface Sessions {
  /**
   * Sends the request over a session with room in its lane, perhaps after waiting for one, in the order of the callers.
   *
   * `http1` if the server turned out not to speak HTTP/2: nothing was sent. A newer identity lets the sessions of the older one drain.
   */
  request(request: WireRequest, identity: TlsIdentity, signal: AbortSignal): Promise<WireAnswer | { readonly type: 'http1' }>;
}

export interface SessionsOptions {
  readonly authority: string;
  readonly clock: Clock;
  dial(identity: TlsIdentity, signal: AbortSignal): Promise<Dialled>;
  /** Told of each round trip measured. */
  readonly roundTrip: (ms: number) => void;
  /** The server does not speak HTTP/2; this connection was made to it, and is handed over. */
  readonly fallBack: (connection: Connection, identity: TlsIdentity) => void;
}

type Served = WireAnswer | { readonly type: 'http1' };

interface Waiting {
  readonly lane: Lane;
  readonly start: (session: Http2Session) => void;
  readonly give: (served: Served) => void;
}

/** Nothing is opened before the first request. At the end of `life` all sockets are destroyed. */
export function createSessions(options: SessionsOptions, life: AbortSignal): Sessions {
  return new SessionPool(options, life);
}

class SessionPool implements Sessions {
  readonly #options: SessionsOptions;
  readonly #life: AbortSignal;
  #sessions: readonly Http2Session[] = [];
  #waiting: readonly Waiting[] = [];
  #opening = false;
  #current: TlsIdentity | undefined;

  constructor(options: SessionsOptions, life: AbortSignal) {
    this.#options = options;
    this.#life = life;
    life.addEventListener('abort', () => {
      for (const session of this.#sessions) session.destroy(abandoned);
      this.#giveAll({ type: 'broken', breakage: abandoned });
    });
  }

  request(request: WireRequest, identity: TlsIdentity, signal: AbortSignal): Promise<Served> {
    if (this.#life.aborted || signal.aborted) return Promise.resolve({ type: 'broken', breakage: breakageIn(signal) ?? abandoned });
    if (this.#current === undefined || identity.serial > this.#current.serial) {
      this.#current = identity;
      if (this.#sessions.length > 0) this.#replace(this.#sessions);
    }
    return new Promise((resolve) => {
      const settle = (served: Served | Promise<Served>) => {
        signal.removeEventListener('abort', abort);
        resolve(served);
      };
      const one: Waiting = { lane: request.lane, start: (session) => settle(session.request(request, signal)), give: settle };
      const abort = () => {
        this.#waiting = this.#waiting.filter((other) => other !== one);
        settle({ type: 'broken', breakage: breakageIn(signal) ?? abandoned });
      };
      signal.addEventListener('abort', abort, { once: true });
      this.#waiting = [...this.#waiting, one];
      this.#serve();
    });
  }

  /** Gives room to those who wait, and opens one more connection if somebody still does. */
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

  #giveAll(served: Served): void {
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
    // The certificates changed while it was made.
    if (this.#current !== undefined && this.#current.serial > identity.serial) this.#replace([opened.session]);
    this.#serve();
  }

  async #greet({ socket }: Connection): Promise<SessionOpened> {
    const { authority, clock, roundTrip } = this.#options;
    using scope = openRequestScope([this.#life], clock);
    const seconds = settingsDeadlineMs / 1_000;
    scope.within(settingsDeadlineMs, breakage('UNREACHABLE', `the API server sent no HTTP/2 settings within ${seconds} s`));
    return await openHttp2Session(socket, { authority, clock, roundTrip, changed: () => this.#serve() }, scope.signal);
  }

  /** Lets sessions finish what they carry, and ends the watches on them after a while. */
  #replace(old: readonly Http2Session[]): void {
    const reason = breakage('UNREACHABLE', 'the connection was replaced, as the certificates changed', 'NOW');
    for (const session of old) session.drain();
    void this.#options.clock.sleep(drainMs, this.#life).then(() => {
      for (const session of old) session.destroy(reason);
    });
  }
}
