/** A log that waits for a place to be followed. */
export interface WaitingFollow {
  /** Called when the log gets a place. The log returns it with `release`. */
  start(): void;
}

/** Limits the number of logs that one reader follows at the same time. Further logs wait in the order of their requests. */
export class FollowPlaces {
  readonly #most: number;
  readonly #waiting = new Set<WaitingFollow>();
  #taken = 0;

  constructor(most: number) {
    this.#most = most;
  }

  /** The number of logs that wait. */
  get waiting(): number {
    return this.#waiting.size;
  }

  /** Starts the log now and returns true, or adds it to the end of the queue and returns false. */
  take(one: WaitingFollow): boolean {
    if (this.#taken >= this.#most) {
      this.#waiting.add(one);
      return false;
    }
    this.#taken++;
    one.start();
    return true;
  }

  /** Removes the log from the queue. */
  withdraw(one: WaitingFollow): void {
    this.#waiting.delete(one);
  }

  /** Returns a place, and gives it to the next log in the queue. */
  release(): void {
    this.#taken--;
    for (const next of this.#waiting) {
      this.#waiting.delete(next);
      this.take(next);
      return;
    }
  }
}
