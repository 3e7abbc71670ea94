import type { Clock } from '../core/clock.ts';

/** Milliseconds of an event-loop turn after which no more requests start. */
export const turnMs = 3;

/** Maximum number of waiting requests that start in one turn. */
const maxPerTurn = 32;

/** Work of one request that takes longer than these milliseconds delays the next request of the same caller. */
const costlyMs = 6;

/** Milliseconds for which a caller counts as present after its last request. */
const presentMs = 1_000;

/**
 * Spreads the work of requests over event-loop turns. Requests start in the first 3 ms of each turn. Later ones wait for the next turns: callers take
 * turns, and the requests of one caller stay in order. Without this, the event loop would deliver all waiting requests of all sockets in one turn, and
 * serving all of them at once would delay other work.
 *
 * While several callers are present, a caller whose request took more than 6 ms at once is delayed: its next request waits as long. So the requests of
 * one caller that cannot be interrupted, such as the parsing of large documents, take at most half of the time of the process.
 */
export class RequestScheduler {
  readonly #clock: Pick<Clock, 'monotonic' | 'sleep'>;
  /** The waiting requests by caller. The first caller is next. */
  readonly #waiting = new Map<string, (() => void)[]>();
  /** The time until which a caller is delayed, because its last request took long. */
  readonly #delayedUntilMs = new Map<string, number>();
  /** The request that started last, until its work is measured. */
  #running: { readonly caller: string; readonly sinceMs: number } | undefined;
  #lastCaller: string | undefined;
  /** The last time at which a request came from another caller than the one before it. */
  #callerChangedMs = Number.NEGATIVE_INFINITY;
  /** The time at which the first request of this turn started. Undefined if none did. */
  #beganMs: number | undefined;
  #isTurnPlanned = false;
  /** The time of the first turn that is planned for the end of a delay. Infinity if there is none. */
  #plannedForMs = Number.POSITIVE_INFINITY;

  constructor(clock: Pick<Clock, 'monotonic' | 'sleep'>) {
    this.#clock = clock;
  }

  /**
   * Returns undefined if the request may start at once. Otherwise returns a promise that resolves when it may start.
   *
   * @param caller The key of the caller. Default: all requests belong to one caller.
   */
  waitForTurn(caller = ''): Promise<void> | undefined {
    if (this.#lastCaller !== undefined && this.#lastCaller !== caller) this.#callerChangedMs = this.#clock.monotonic();
    this.#lastCaller = caller;
    // A delayed caller makes no other caller wait.
    const isBehind = this.#waiting.has(caller) || [...this.#waiting.keys()].some((other) => !this.#isDelayed(other));
    if (!isBehind && this.#hasTime() && !this.#isDelayed(caller)) {
      this.#running = { caller, sinceMs: this.#clock.monotonic() };
      return undefined;
    }
    const { promise, resolve } = Promise.withResolvers<void>();
    const ofCaller = this.#waiting.get(caller) ?? [];
    ofCaller.push(resolve);
    this.#waiting.set(caller, ofCaller);
    if (!this.#isDelayed(caller)) this.#planTurn();
    return promise;
  }

  #planTurn(): void {
    if (this.#isTurnPlanned) return;
    this.#isTurnPlanned = true;
    setImmediate(this.#endTurn);
  }

  #hasTime(): boolean {
    this.#planTurn();
    this.#measure();
    const nowMs = this.#clock.monotonic();
    this.#beganMs ??= nowMs;
    return nowMs - this.#beganMs < turnMs;
  }

  /** Measures the work since the last request started. Other work of the event loop in this time, such as decoding, counts too. */
  #measure(): void {
    const ran = this.#running;
    this.#running = undefined;
    if (ran === undefined) return;
    const nowMs = this.#clock.monotonic();
    const tookMs = nowMs - ran.sinceMs;
    if (tookMs <= costlyMs) return;
    this.#delayedUntilMs.set(ran.caller, nowMs + tookMs);
    // No request of another caller could come in this time, so it does not count as their absence.
    this.#callerChangedMs += tookMs;
  }

  #isDelayed(caller: string): boolean {
    const nowMs = this.#clock.monotonic();
    const isAlone = nowMs - this.#callerChangedMs >= presentMs;
    return !isAlone && (this.#delayedUntilMs.get(caller) ?? nowMs) > nowMs;
  }

  readonly #endTurn = (): void => {
    this.#measure();
    this.#beganMs = undefined;
    const nowMs = this.#clock.monotonic();
    for (const [caller, untilMs] of this.#delayedUntilMs) if (untilMs <= nowMs) this.#delayedUntilMs.delete(caller);
    this.#isTurnPlanned = this.#waiting.size > 0;
    if (!this.#isTurnPlanned) return;
    const ready = [...this.#waiting].filter(([caller]) => !this.#isDelayed(caller));
    const count = ready.reduce((sum, [, requests]) => sum + requests.length, 0);
    // Each request has its own callback. So the work of one request is done before the next callback checks the time.
    for (let left = Math.min(count, maxPerTurn); left > 0; left--) setImmediate(this.#startNext);
    if (count > 0) setImmediate(this.#endTurn);
    else this.#endTurnAfter(Math.min(...this.#delayedUntilMs.values()) - nowMs);
  };

  /** Ends the turn when the delay of the first caller is over. A request of a caller without delay ends it sooner. */
  #endTurnAfter(ms: number): void {
    this.#isTurnPlanned = false;
    const plannedForMs = this.#clock.monotonic() + Math.max(1, ms);
    if (this.#plannedForMs <= plannedForMs) return;
    this.#plannedForMs = plannedForMs;
    void this.#clock.sleep(Math.max(1, ms), new AbortController().signal).then(() => {
      if (this.#plannedForMs === plannedForMs) this.#plannedForMs = Number.POSITIVE_INFINITY;
      this.#planTurn();
    });
  }

  readonly #startNext = (): void => {
    if (!this.#hasTime()) return;
    for (const [caller, requests] of this.#waiting) {
      if (this.#isDelayed(caller)) continue;
      const start = requests.shift();
      this.#waiting.delete(caller);
      if (requests.length > 0) this.#waiting.set(caller, requests);
      this.#running = { caller, sinceMs: this.#clock.monotonic() };
      start?.();
      return;
    }
  };
}
