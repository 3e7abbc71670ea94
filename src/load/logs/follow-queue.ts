/** A log that waits until it may be followed. */
export interface WaitingFollow {
  /** Starts to follow the log. Called when fewer logs than the maximum are followed. When the log ends, `release` must be called. */
  start(): void;
}

/** Limits the number of logs that one reader follows at the same time. Further logs wait in the order of their requests. */
export class FollowQueue {
  readonly #max: number;
  readonly #waiting = new Set<WaitingFollow>();
  #followed = 0;

  constructor(max: number) {
    this.#max = max;
  }

  /** Number of logs that wait. */
  get waiting(): number {
    return this.#waiting.size;
  }

  /** Starts the log now and returns true, or adds it to the end of the queue and returns false. */
  add(one: WaitingFollow): boolean {
    if (this.#followed >= this.#max) {
      this.#waiting.add(one);
      return false;
    }
    this.#followed++;
    one.start();
    return true;
  }

  /** Removes the log from the queue. */
  withdraw(one: WaitingFollow): void {
    this.#waiting.delete(one);
  }

  /** Reports that one followed log has ended, and starts the next log in the queue. */
  release(): void {
    this.#followed--;
    for (const next of this.#waiting) {
      this.#waiting.delete(next);
      this.add(next);
      return;
    }
  }
}
