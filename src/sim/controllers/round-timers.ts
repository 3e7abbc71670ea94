import type { Clock } from '../../core/clock.ts';

/** What waits for its time, by keys that are asked for in rounds. Holds what the last round asked for, and nothing else. */
export class RoundTimers {
  readonly #clock: Clock;
  readonly #dueMs = new Map<string, number>();
  #asked = new Set<string>();
  #nextMs = Number.POSITIVE_INFINITY;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  begin(): void {
    this.#asked = new Set();
  }

  /** True once a time between the two has passed since the key was first asked for, and again each time it has passed anew. */
  hasElapsed(key: string, minMs: number, maxMs: number): boolean {
    this.#asked.add(key);
    const dueMs = this.#dueMs.get(key);
    const nowMs = this.#clock.monotonic();
    const isDue = dueMs !== undefined && nowMs >= dueMs;
    if (dueMs === undefined || isDue) this.#dueMs.set(key, nowMs + minMs + this.#clock.random() * (maxMs - minMs));
    return isDue;
  }

  /** Ends a round: what it did not ask for is forgotten. */
  end(): void {
    this.#nextMs = Number.POSITIVE_INFINITY;
    for (const [key, dueMs] of this.#dueMs) {
      if (this.#asked.has(key)) this.#nextMs = Math.min(this.#nextMs, dueMs);
      else this.#dueMs.delete(key);
    }
  }

  /** True if something waits whose time has come. */
  isDue(): boolean {
    return this.#clock.monotonic() >= this.#nextMs;
  }
}
