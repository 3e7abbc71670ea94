import type { Clock } from '../../core/clock.ts';
import { FairSemaphore } from '../../core/scheduling/fair-semaphore.ts';

/** Maximum number of reviews that begin within any second in one cluster. */
const maxPerSecond = 200;

/** Maximum number of reviews that begin within any second for one user in one cluster. It is lower, so that other users get some of the 200. */
const maxPerSecondOfUser = 150;

/** Maximum numbers of reviews in one cluster: in flight, those of one user, waiting, and waiting of one user. */
const bounds = { permits: 10, permitsPerUser: 8, maxWaiting: 50_000, maxWaitingPerUser: 5_000 };

/**
 * Limits the reviews of one cluster: at most 10 in flight and 200 per second; of one user, at most 8 in flight and 150 per second. Further reviews
 * wait. Users take turns, so that one user with many questions does not delay the others.
 */
export class ReviewPace {
  readonly #clock: Clock;
  readonly #semaphore = new FairSemaphore(bounds);
  /** The users and monotonic times of the last 200 reviews that began, the oldest first. */
  readonly #begun: { readonly userKey: string; readonly atMs: number }[] = [];

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Runs the work when it is its turn. Undefined if the signal aborts before, or if too many reviews wait. The work then never runs. */
  async run<T>(userKey: string, work: () => Promise<T>, signal: AbortSignal): Promise<T | undefined> {
    const ran = await this.#semaphore.run(
      userKey,
      async () => ((await this.#mayBegin(userKey, signal)) ? await work() : undefined),
      signal,
    );
    return ran.result === 'done' ? ran.value : undefined;
  }

  /** Waits until another review may begin. False if the signal aborts before. */
  async #mayBegin(userKey: string, signal: AbortSignal): Promise<boolean> {
    for (let ms = this.#pauseMs(userKey); ms > 0 && !signal.aborted; ms = this.#pauseMs(userKey)) await this.#clock.sleep(ms, signal);
    if (signal.aborted) return false;
    this.#begun.push({ userKey, atMs: this.#clock.monotonic() });
    if (this.#begun.length > maxPerSecond) this.#begun.shift();
    return true;
  }

  /** Returns the milliseconds until another review of the user may begin. */
  #pauseMs(userKey: string): number {
    const own = this.#begun.filter((one) => one.userKey === userKey);
    const blocking = [this.#begun.at(-maxPerSecond), own.at(-maxPerSecondOfUser)];
    const startMs = Math.max(...blocking.map((one) => (one === undefined ? Number.NEGATIVE_INFINITY : one.atMs + 1_000)));
    return Math.max(0, startMs - this.#clock.monotonic());
  }
}
