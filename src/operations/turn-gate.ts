import type { Clock } from '../core/clock.ts';

/** Milliseconds of an event-loop turn after which no more requests are let in. */
const turnMs = 3;

/** Maximum number of waiting requests that one turn lets in. */
const maxPerTurn = 32;

/**
 * Lets requests in for 3 ms of each event-loop turn. Later ones wait for the next turns, in order. The event loop delivers all waiting
 * requests of all sockets in one turn, and serving all of them at once would delay other work.
 */
export class TurnGate {
  readonly #clock: Pick<Clock, 'monotonic'>;
  readonly #waiting: (() => void)[] = [];
  /** The time at which the first request of this turn was let in. Undefined if none was. */
  #beganMs: number | undefined;
  #planned = false;

  constructor(clock: Pick<Clock, 'monotonic'>) {
    this.#clock = clock;
  }

  /**
   * Waits until the request may continue. Returns undefined if it may continue at once. If not, returns a promise that resolves when it may
   * continue.
   */
  pass(): Promise<void> | undefined {
    if (this.#waiting.length === 0 && this.#hasTime()) return undefined;
    return new Promise((resolve) => this.#waiting.push(resolve));
  }

  #hasTime(): boolean {
    if (!this.#planned) {
      this.#planned = true;
      setImmediate(this.#endTurn);
    }
    const nowMs = this.#clock.monotonic();
    this.#beganMs ??= nowMs;
    return nowMs - this.#beganMs < turnMs;
  }

  readonly #endTurn = (): void => {
    this.#beganMs = undefined;
    this.#planned = this.#waiting.length > 0;
    if (!this.#planned) return;
    // Each request has its own callback. So the work of one request is done before the next callback checks the time.
    for (let count = Math.min(this.#waiting.length, maxPerTurn); count > 0; count--) setImmediate(this.#letIn);
    setImmediate(this.#endTurn);
  };

  readonly #letIn = (): void => {
    if (this.#hasTime()) this.#waiting.shift()?.();
  };
}
