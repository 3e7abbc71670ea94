import { RequestRefusal } from '../../operations/refusal.ts';

/** The maximum load of one caller at a time. */
export interface CallerLimits {
  /** Operations in flight, over HTTP and WebSocket. A stream does not count once it has begun. */
  readonly operations: number;
  /** Streams of server-sent events. */
  readonly streams: number;
  /** WebSockets. */
  readonly sockets: number;
}

/** The limits with authentication, so that one caller leaves room for others. */
export const sharedLimits: CallerLimits = { operations: 20, streams: 100, sockets: 20 };

/** Local mode has one caller, so only the limits of the process apply. */
export const unlimited: CallerLimits = {
  operations: Number.POSITIVE_INFINITY,
  streams: Number.POSITIVE_INFINITY,
  sockets: Number.POSITIVE_INFINITY,
};

type Counts = { -readonly [What in keyof CallerLimits]: number };

/** Counts what each caller has open. Keeps nothing about a caller who has nothing open. */
export class CallerLoad {
  readonly #limits: CallerLimits;
  readonly #callers = new Map<string, Counts>();

  constructor(limits: CallerLimits) {
    this.#limits = limits;
  }

  /**
   * Counts one more operation, stream or socket of the caller with this key. Disposing the result counts it down again. A second disposal does
   * nothing.
   *
   * @throws {RequestRefusal} 429 with Retry-After, if the caller already has the maximum number.
   */
  take(what: keyof CallerLimits, key: string): Disposable {
    const counts = this.#callers.get(key) ?? { operations: 0, streams: 0, sockets: 0 };
    const max = this.#limits[what];
    if (counts[what] >= max)
      throw new RequestRefusal({
        status: 429,
        code: 'OVERLOADED',
        message: `expected at most ${max} ${what} of one caller at a time`,
        headers: { 'retry-after': '1' },
      });
    counts[what]++;
    this.#callers.set(key, counts);
    const taken = new DisposableStack();
    taken.defer(() => {
      counts[what]--;
      if (counts.operations + counts.streams + counts.sockets === 0) this.#callers.delete(key);
    });
    return taken;
  }
}
