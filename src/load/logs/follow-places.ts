/** A log that waits until it may be followed. */
export interface WaitingFollow {
  /** Starts to follow the log. Called when fewer logs than the maximum are followed. When the log ends, `release` must be called. */
  start(): void;
}

/** Limits the number of logs that one reader follows at the same time. Further logs wait in the order of their requests. */
export class FollowPlaces {
  readonly #max: number;
  readonly #waiting = new Set<WaitingFollow>();
  #taken = 0;

  constructor(max: number) {
    this.#max = max;
  }

  /** The number of logs that wait. */
  get waiting(): number {
    return this.#waiting.size;
  }

  /** Starts the log now and returns true, or adds it to the end of the queue and returns false. */
  take(one: WaitingFollow): boolean {
    if (this.#taken >= this.#max) {
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

  /** Reports that one followed log has ended, and starts the next log in the queue. */
  release(): void {
    this.#taken--;
    for (const next of this.#waiting) {
      this.#waiting.delete(next);
      this.take(next);
      return;
    }
  }
}
