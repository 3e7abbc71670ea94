import type { Clock } from '../core/clock.ts';

/** One running time limit. */
export interface Deadline {
  readonly hasPassed: boolean;
  /** Calls the callback now if the time is over. Use it in code that blocks the event loop, where the timer of the limit cannot fire. */
  check(): void;
  end(): void;
}

interface Entry {
  readonly dueMs: number;
  readonly pass: () => void;
}

/**
 * The same time limit for many short operations. Limits that began earlier also end earlier, so one timer serves all of them. A timer for
 * each operation would cost more than a small query.
 */
export class Deadlines {
  readonly #clock: Clock;
  readonly #limitMs: number;
  readonly #signal: AbortSignal;
  readonly #running = new Set<Entry>();
  #sleeps = false;

  constructor(limit: { readonly clock: Clock; readonly limitMs: number }, signal: AbortSignal) {
    this.#clock = limit.clock;
    this.#limitMs = limit.limitMs;
    this.#signal = signal;
  }

  /** The time limit in seconds. */
  get seconds(): number {
    return this.#limitMs / 1_000;
  }

  /**
   * Returns the time at which this share of the limit is over if it starts now, in milliseconds of the monotonic clock. `share`: 0 to 1.
   */
  dueAtShareMs(share: number): number {
    return this.#clock.monotonic() + this.#limitMs * share;
  }

  /** Starts a time limit. Calls back once when the time is over, unless `end` was called or the signal has aborted. */
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
    for (let first = this.#first(); first !== undefined && !this.#signal.aborted; first = this.#first()) {
      const restMs = first.dueMs - this.#clock.monotonic();
      if (restMs > 0) {
        await this.#clock.sleep(restMs, this.#signal);
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
