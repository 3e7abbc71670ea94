import type { Clock } from '../core/clock.ts';

/** A time that is running. Ending it twice is once. */
export interface Deadline {
  readonly hasPassed: boolean;
  /** Passes it now if its time is over, and nothing had a turn yet to say so: for what keeps the loop to itself. */
  check(): void;
  end(): void;
}

interface Entry {
  readonly dueMs: number;
  readonly pass: () => void;
}

/**
 * One and the same time limit for many short things at once: they end in the order they began, so one sleeper serves them all, where a timer
 * of its own for each would cost more than a small query.
 */
export class Deadlines {
  readonly #clock: Clock;
  readonly #limitMs: number;
  readonly #life: AbortSignal;
  readonly #running = new Set<Entry>();
  #sleeps = false;

  constructor(limit: { readonly clock: Clock; readonly limitMs: number }, signal: AbortSignal) {
    this.#clock = limit.clock;
    this.#limitMs = limit.limitMs;
    this.#life = signal;
  }

  /** How long that is. */
  get seconds(): number {
    return this.#limitMs / 1_000;
  }

  /** When a share of the time from now on is over, in milliseconds of the monotonic clock. */
  dueAtShareMs(share: number): number {
    return this.#clock.monotonic() + this.#limitMs * share;
  }

  /** Calls back once when the time has passed, unless it was ended before, or the signal of all has aborted. */
  start(onPassed: () => void): Deadline {
    let passed = false;
    const entry: Entry = {
      dueMs: this.#clock.monotonic() + this.#limitMs,
      pass: () => {
        if (!this.#running.delete(entry)) return;
        passed = true;
        onPassed();
      },
    };
    this.#running.add(entry);
    if (!this.#sleeps) void this.#watch();
    return {
      get hasPassed() {
        return passed;
      },
      check: () => {
        if (this.#clock.monotonic() >= entry.dueMs) entry.pass();
      },
      end: () => this.#running.delete(entry),
    };
  }

  async #watch(): Promise<void> {
    this.#sleeps = true;
    for (let first = this.#first(); first !== undefined && !this.#life.aborted; first = this.#first()) {
      const restMs = first.dueMs - this.#clock.monotonic();
      if (restMs > 0) {
        await this.#clock.sleep(restMs, this.#life);
        continue;
      }
      first.pass();
    }
    this.#sleeps = false;
  }

  #first(): Entry | undefined {
    return this.#running.values().next().value;
  }
}
