import type { Clock } from '../../core/clock.ts';

/** Timers by key for code that runs in rounds. A timer is forgotten if a round does not query it. */
export class RoundTimers {
  readonly #clock: Clock;
  readonly #dueMs = new Map<string, number>();
  #queried = new Set<string>();
  #nextMs = Number.POSITIVE_INFINITY;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Begins a round, in which no timer was queried yet. */
  begin(): void {
    this.#queried = new Set();
  }

  /**
   * Returns true if the timer of the key has elapsed, and starts the timer again. The first call starts the timer and returns false. Each time
   * is random, between `minMs` and `maxMs`.
   */
  hasElapsed(key: string, minMs: number, maxMs: number): boolean {
    this.#queried.add(key);
    const dueMs = this.#dueMs.get(key);
    const nowMs = this.#clock.monotonic();
    const isDue = dueMs !== undefined && nowMs >= dueMs;
    if (dueMs === undefined || isDue) this.#dueMs.set(key, nowMs + minMs + this.#clock.random() * (maxMs - minMs));
    return isDue;
  }

  /** Ends a round and forgets the timers that it did not query. */
  end(): void {
    this.#nextMs = Number.POSITIVE_INFINITY;
    for (const [key, dueMs] of this.#dueMs) {
      if (this.#queried.has(key)) this.#nextMs = Math.min(this.#nextMs, dueMs);
      else this.#dueMs.delete(key);
    }
  }

  /** True if any timer that the last round queried has elapsed. */
  isDue(): boolean {
    return this.#clock.monotonic() >= this.#nextMs;
  }
}
