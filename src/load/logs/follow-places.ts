/** Somebody who wants to follow a log as soon as there is a place. */
export interface WaitingFollow {
  /** Called once it has a place, which it gives back with `release`. */
  start(): void;
}

/** So many logs are followed at a time by one reader; who comes later waits, in the order of asking. */
export class FollowPlaces {
  readonly #most: number;
  readonly #waiting = new Set<WaitingFollow>();
  #taken = 0;

  constructor(most: number) {
    this.#most = most;
  }

  /** How many wait. */
  get waiting(): number {
    return this.#waiting.size;
  }

  /** Starts it now, or puts it at the end of the line: false. */
  take(one: WaitingFollow): boolean {
    if (this.#taken >= this.#most) {
      this.#waiting.add(one);
      return false;
    }
    this.#taken++;
    one.start();
    return true;
  }

  /** It no longer waits. */
  withdraw(one: WaitingFollow): void {
    this.#waiting.delete(one);
  }

  /** Gives a place back: to the next in line. */
  release(): void {
    this.#taken--;
    for (const next of this.#waiting) {
      this.#waiting.delete(next);
      this.take(next);
      return;
    }
  }
}
