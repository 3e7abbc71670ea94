import type { Clock } from '../core/clock.ts';

/** Milliseconds of an event-loop turn after which no more requests are let in. */
export const turnMs = 3;

/** Maximum number of waiting requests that one turn lets in. */
const maxPerTurn = 32;

/** Work of one request that takes longer than these milliseconds delays the next request of the same caller. */
const costlyMs = 6;

/** Milliseconds for which a caller counts as present after its last request. */
const presentMs = 1_000;

/**
 * Lets requests in for 3 ms of each event-loop turn. Later ones wait for the next turns: callers take turns, and the requests of one caller
 * stay in order. The event loop delivers all waiting requests of all sockets in one turn, and serving all of them at once would delay other
 * work.
 *
 * While several callers are present, a caller whose request took more than 6 ms at once waits as long before its next one. So the requests
 * of one caller that cannot be interrupted, such as the parsing of large documents, take at most half of the time of the process.
 */
export class TurnGate {
  readonly #clock: Pick<Clock, 'monotonic' | 'sleep'>;
  /** The waiting requests by caller. The first caller is next. */
  readonly #waiting = new Map<string, (() => void)[]>();
  /** The time before which a caller waits, because its last request took long. */
  readonly #restsUntilMs = new Map<string, number>();
  /** The request that was let in last, until its work is measured. */
  #working: { readonly caller: string; readonly sinceMs: number } | undefined;
  #lastCaller: string | undefined;
  /** The last time at which a request came from another caller than the one before it. */
  #callerChangedMs = Number.NEGATIVE_INFINITY;
  /** The time at which the first request of this turn was let in. Undefined if none was. */
  #beganMs: number | undefined;
  #planned = false;
  /** The time of the first turn that is planned for the end of a rest. Infinity if there is none. */
  #wakesAtMs = Number.POSITIVE_INFINITY;

  constructor(clock: Pick<Clock, 'monotonic' | 'sleep'>) {
    this.#clock = clock;
  }

  /**
   * Waits until the request may continue. Returns undefined if it may continue at once. If not, returns a promise that resolves when it may
   * continue.
   *
   * @param caller The key of the caller. Default: all requests belong to one caller.
   */
  pass(caller = ''): Promise<void> | undefined {
    if (this.#lastCaller !== undefined && this.#lastCaller !== caller) this.#callerChangedMs = this.#clock.monotonic();
    this.#lastCaller = caller;
    // A caller that rests delays only itself.
    const isBehind = this.#waiting.has(caller) || [...this.#waiting.keys()].some((other) => !this.#rests(other));
    if (!isBehind && this.#hasTime() && !this.#rests(caller)) {
      this.#working = { caller, sinceMs: this.#clock.monotonic() };
      return undefined;
    }
    const { promise, resolve } = Promise.withResolvers<void>();
    const ofCaller = this.#waiting.get(caller) ?? [];
    ofCaller.push(resolve);
    this.#waiting.set(caller, ofCaller);
    if (!this.#rests(caller)) this.#planTurn();
    return promise;
  }

  #planTurn(): void {
    if (this.#planned) return;
    this.#planned = true;
    setImmediate(this.#endTurn);
  }

  #hasTime(): boolean {
    this.#planTurn();
    this.#measure();
    const nowMs = this.#clock.monotonic();
    this.#beganMs ??= nowMs;
    return nowMs - this.#beganMs < turnMs;
  }

  /** Measures the work since the last request was let in. Other work of the event loop in this time, such as decoding, counts too. */
  #measure(): void {
    const worked = this.#working;
    this.#working = undefined;
    if (worked === undefined) return;
    const nowMs = this.#clock.monotonic();
    const tookMs = nowMs - worked.sinceMs;
    if (tookMs <= costlyMs) return;
    this.#restsUntilMs.set(worked.caller, nowMs + tookMs);
    // No request of another caller could come in this time, so it does not count as their absence.
    this.#callerChangedMs += tookMs;
  }

  #rests(caller: string): boolean {
    const nowMs = this.#clock.monotonic();
    const isAlone = nowMs - this.#callerChangedMs >= presentMs;
    return !isAlone && (this.#restsUntilMs.get(caller) ?? nowMs) > nowMs;
  }

  readonly #endTurn = (): void => {
    this.#measure();
    this.#beganMs = undefined;
    const nowMs = this.#clock.monotonic();
    for (const [caller, untilMs] of this.#restsUntilMs) if (untilMs <= nowMs) this.#restsUntilMs.delete(caller);
    this.#planned = this.#waiting.size > 0;
    if (!this.#planned) return;
    const ready = [...this.#waiting].filter(([caller]) => !this.#rests(caller));
    const count = ready.reduce((sum, [, requests]) => sum + requests.length, 0);
    // Each request has its own callback. So the work of one request is done before the next callback checks the time.
    for (let left = Math.min(count, maxPerTurn); left > 0; left--) setImmediate(this.#letIn);
    if (count > 0) setImmediate(this.#endTurn);
    else this.#endTurnAfter(Math.min(...this.#restsUntilMs.values()) - nowMs);
  };

  /** Ends the turn once the first caller has rested. A request of a caller that does not rest ends it sooner. */
  #endTurnAfter(ms: number): void {
    this.#planned = false;
    const wakesAtMs = this.#clock.monotonic() + Math.max(1, ms);
    if (this.#wakesAtMs <= wakesAtMs) return;
    this.#wakesAtMs = wakesAtMs;
    void this.#clock.sleep(Math.max(1, ms), new AbortController().signal).then(() => {
      if (this.#wakesAtMs === wakesAtMs) this.#wakesAtMs = Number.POSITIVE_INFINITY;
      this.#planTurn();
    });
  }

  readonly #letIn = (): void => {
    if (!this.#hasTime()) return;
    for (const [caller, requests] of this.#waiting) {
      if (this.#rests(caller)) continue;
      const enter = requests.shift();
      this.#waiting.delete(caller);
      if (requests.length > 0) this.#waiting.set(caller, requests);
      this.#working = { caller, sinceMs: this.#clock.monotonic() };
      enter?.();
      return;
    }
  };
}
