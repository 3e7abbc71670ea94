import type { Clock } from '../core/clock.ts';
import { breakage } from './classify.ts';
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
  /** Connections that stand, draining ones included. */
  readonly open: number;
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

interface Waiting {
  readonly lane: Lane;
  readonly start: (session: Http2Session) => void;
  readonly give: (answer: WireAnswer | { readonly type: 'http1' }) => void;
}

/** Nothing is opened before the first request. At the end of `life` all sockets are destroyed. */
export function createSessions({ authority, clock, dial, fallBack, roundTrip }: SessionsOptions, life: AbortSignal): Sessions {
  let sessions: readonly Http2Session[] = [];
  let waiting: readonly Waiting[] = [];
  let opening = false;
  let current: TlsIdentity | undefined;

  /** Gives room to those who wait, and opens one more connection if somebody still does. */
  const serve = () => {
    sessions = sessions.filter((session) => !session.closed);
    for (const one of waiting) {
      const session = sessions.find((candidate) => candidate.hasRoom(one.lane));
      if (session === undefined) continue;
      waiting = waiting.filter((other) => other !== one);
      one.start(session);
    }
    if (waiting.length > 0 && !opening && !life.aborted) void openOne();
  };

  const giveAll = (answer: WireAnswer | { readonly type: 'http1' }) => {
    const all = waiting;
    waiting = [];
    for (const one of all) one.give(answer);
  };

  const openOne = async () => {
    const identity = current;
    if (identity === undefined || sessions.filter((session) => !session.draining).length >= maxSessions) return;
    opening = true;
    const connection = await dial(identity, life);
    const opened = connection.type === 'dialled' && connection.protocol === 'h2' ? await greet(connection) : undefined;
    opening = false;
    if (connection.type === 'broken') return giveAll(connection);
    if (opened === undefined) {
      fallBack(connection, identity);
      return giveAll({ type: 'http1' });
    }
    if (opened.type === 'broken') return giveAll(opened);
    sessions = [...sessions, opened.session];
    if (current !== undefined && current.serial > identity.serial) replace([opened.session]);
    serve();
  };

  const greet = async ({ socket }: Connection): Promise<SessionOpened> => {
    using scope = openRequestScope([life], clock);
    scope.within(
      settingsDeadlineMs,
      breakage('UNREACHABLE', `the API server sent no HTTP/2 settings within ${settingsDeadlineMs / 1_000} s`),
    );
    return await openHttp2Session(socket, { authority, clock, changed: serve, roundTrip }, scope.signal);
  };

  /** Lets sessions finish what they carry, and ends the watches on them after a while. */
  const replace = (old: readonly Http2Session[]) => {
    for (const session of old) session.drain();
    void clock.sleep(drainMs, life).then(() => {
      for (const session of old)
        session.destroy(breakage('UNREACHABLE', 'the connection was replaced, as the certificates changed', 'NOW'));
    });
  };

  life.addEventListener('abort', () => {
    for (const session of sessions) session.destroy(abandoned);
    giveAll({ type: 'broken', breakage: abandoned });
  });

  return {
    get open() {
      return sessions.length;
    },
    request(request, identity, signal) {
      if (life.aborted || signal.aborted) return Promise.resolve({ type: 'broken', breakage: breakageIn(signal) ?? abandoned });
      if (current === undefined || identity.serial > current.serial) {
        current = identity;
        if (sessions.length > 0) replace(sessions);
      }
      return new Promise((resolve) => {
        const settle = (answer: WireAnswer | { readonly type: 'http1' } | Promise<WireAnswer>) => {
          signal.removeEventListener('abort', abort);
          resolve(answer);
        };
        const one: Waiting = { lane: request.lane, start: (session) => settle(session.request(request, signal)), give: settle };
        const abort = () => {
          waiting = waiting.filter((other) => other !== one);
          settle({ type: 'broken', breakage: breakageIn(signal) ?? abandoned });
        };
        signal.addEventListener('abort', abort, { once: true });
        waiting = [...waiting, one];
        serve();
      });
    },
  };
}
