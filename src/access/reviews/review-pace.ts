import type { Clock } from '../../core/clock.ts';

/** Maximum number of reviews in flight in one cluster. */
const maxInFlight = 10;

/** Maximum number of reviews that begin within any second in one cluster. */
const maxPerSecond = 200;

/** Maximum number of reviews of one user that wait in one cluster. */
const maxWaitingPerUser = 5_000;

/** Maximum number of reviews that wait in one cluster. */
const maxWaiting = 50_000;

interface WaitingReview {
  readonly begin: () => void;
  readonly signal: AbortSignal;
}

/**
 * Limits the reviews of one cluster: at most 10 in flight, and 200 per second. Further ones wait. Users take turns, so that one user with
 * many questions does not delay the others.
 */
export class ReviewPace {
  readonly #clock: Clock;
  /** The waiting reviews by user. The first user is next. */
  readonly #waiting = new Map<string, WaitingReview[]>();
  /** The monotonic times at which the last reviews began, the oldest first. */
  readonly #begun: number[] = [];
  readonly #life: AbortSignal;
  #waitingCount = 0;
  #inFlight = 0;
  #isPausing = false;

  /** `signal` ends the wait for the limit per second. A waiting review ends by the signal of `run`. */
  constructor(clock: Clock, signal: AbortSignal) {
    this.#clock = clock;
    this.#life = signal;
  }

  /** Runs the work when it is its turn. Undefined if the signal aborts before, or if too many reviews wait. The work then never runs. */
  run<T>(userKey: string, work: () => Promise<T>, signal: AbortSignal): Promise<T | undefined> {
    const queue = this.#waiting.get(userKey) ?? [];
    if (signal.aborted || queue.length >= maxWaitingPerUser || this.#waitingCount >= maxWaiting) return Promise.resolve(undefined);
    return new Promise((resolve, reject) => {
      const leave = () => resolve(undefined);
      const begin = () => {
        signal.removeEventListener('abort', leave);
        work()
          .then(resolve, reject)
          .finally(() => {
            this.#inFlight -= 1;
            this.#beginNext();
          });
      };
      // An aborted review stays in the queue until its turn, and is then skipped.
      signal.addEventListener('abort', leave, { once: true });
      queue.push({ begin, signal });
      this.#waiting.set(userKey, queue);
      this.#waitingCount += 1;
      this.#beginNext();
    });
  }

  #beginNext(): void {
    while (this.#inFlight < maxInFlight && !this.#isPausing) {
      const next = this.#takeNext();
      if (next === undefined) return;
      const pauseMs = this.#pauseMs();
      if (pauseMs === 0) this.#begin(next);
      else void this.#beginLater(next, pauseMs);
    }
  }

  #begin({ begin }: WaitingReview): void {
    this.#begun.push(this.#clock.monotonic());
    if (this.#begun.length > maxPerSecond) this.#begun.shift();
    this.#inFlight += 1;
    begin();
  }

  async #beginLater(next: WaitingReview, pauseMs: number): Promise<void> {
    this.#isPausing = true;
    await this.#clock.sleep(pauseMs, this.#life);
    this.#isPausing = false;
    if (!next.signal.aborted) this.#begin(next);
    this.#beginNext();
  }

  /** Returns the first waiting review of the next user, and moves that user to the end. Undefined if none waits. */
  #takeNext(): WaitingReview | undefined {
    for (const [userKey, queue] of this.#waiting) {
      this.#waiting.delete(userKey);
      const next = queue.shift();
      if (next === undefined) continue;
      this.#waitingCount -= 1;
      if (queue.length > 0) this.#waiting.set(userKey, queue);
      if (!next.signal.aborted) return next;
    }
    return undefined;
  }

  /** Returns the milliseconds until another review may begin. */
  #pauseMs(): number {
    const [oldest] = this.#begun;
    if (oldest === undefined || this.#begun.length < maxPerSecond) return 0;
    return Math.max(0, oldest + 1_000 - this.#clock.monotonic());
  }
}
