import type { Clock } from '../../core/clock.ts';
import { createConcurrencyLimit } from '../../core/scheduling/concurrency-limit.ts';

/** Maximum number of reviews in flight in one cluster. */
const maxInFlight = 10;

/** Maximum number of reviews that begin within any second in one cluster. */
const maxPerSecond = 200;

/** Maximum number of reviews that wait in one cluster. */
const maxWaiting = 10_000;

/** Limits the reviews of one cluster: at most 10 in flight and 200 per second. Further ones wait, in the order of the calls. */
export class ReviewPace {
  readonly #clock: Clock;
  readonly #limit = createConcurrencyLimit(maxInFlight);
  /** The times at which the last reviews began, the oldest first. */
  readonly #begun: number[] = [];
  #waiting = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Runs the work when there is room. Undefined if the signal aborts before, or if 10,000 reviews wait already. The work then never runs. */
  async run<T>(work: () => Promise<T>, signal: AbortSignal): Promise<T | undefined> {
    if (this.#waiting >= maxWaiting) return undefined;
    this.#waiting += 1;
    try {
      return await this.#limit.run(async () => {
        await this.#whenInPace(signal);
        return signal.aborted ? undefined : work();
      }, signal);
    } finally {
      this.#waiting -= 1;
    }
  }

  async #whenInPace(signal: AbortSignal): Promise<void> {
    const nowMs = this.#clock.monotonic();
    const [oldest = Number.NEGATIVE_INFINITY] = this.#begun.length < maxPerSecond ? [] : this.#begun.splice(0, 1);
    const beginsMs = Math.max(nowMs, oldest + 1_000);
    // The time is recorded before the wait, so that reviews that wait at the same time count for each other.
    this.#begun.push(beginsMs);
    if (beginsMs > nowMs) await this.#clock.sleep(beginsMs - nowMs, signal);
  }
}
