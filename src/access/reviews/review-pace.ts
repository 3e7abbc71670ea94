import type { Clock } from '../../core/clock.ts';
import { FairPlaces } from '../../core/scheduling/fair-places.ts';

/** Maximum number of reviews that begin within any second in one cluster. */
const maxPerSecond = 200;

/** Maximum numbers of reviews in one cluster: in flight, waiting, and waiting of one user. */
const bounds = { places: 10, waiting: 50_000, waitingPerUser: 5_000 };

/**
 * Limits the reviews of one cluster: at most 10 in flight, and 200 per second. Further ones wait. Users take turns, so that one user with
 * many questions does not delay the others.
 */
export class ReviewPace {
  readonly #clock: Clock;
  readonly #places = new FairPlaces(bounds);
  /** The monotonic times at which the last reviews began, the oldest first. */
  readonly #begun: number[] = [];

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Runs the work when it is its turn. Undefined if the signal aborts before, or if too many reviews wait. The work then never runs. */
  async run<T>(userKey: string, work: () => Promise<T>, signal: AbortSignal): Promise<T | undefined> {
    const ran = await this.#places.run(userKey, async () => ((await this.#mayBegin(signal)) ? await work() : undefined), signal);
    return ran.result === 'done' ? ran.value : undefined;
  }

  /** Waits until another review may begin. False if the signal aborts before. */
  async #mayBegin(signal: AbortSignal): Promise<boolean> {
    for (let pauseMs = this.#pauseMs(); pauseMs > 0 && !signal.aborted; pauseMs = this.#pauseMs()) await this.#clock.sleep(pauseMs, signal);
    if (signal.aborted) return false;
    this.#begun.push(this.#clock.monotonic());
    if (this.#begun.length > maxPerSecond) this.#begun.shift();
    return true;
  }

  /** Returns the milliseconds until another review may begin. */
  #pauseMs(): number {
    const [oldest] = this.#begun;
    if (oldest === undefined || this.#begun.length < maxPerSecond) return 0;
    return Math.max(0, oldest + 1_000 - this.#clock.monotonic());
  }
}
