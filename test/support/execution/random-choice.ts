/** Random choices from one source of random numbers in [0, 1). */
export class RandomChoice {
  readonly #random: () => number;

  constructor(random: () => number) {
    this.#random = random;
  }

  /** True with this probability. */
  chance(probability: number): boolean {
    return this.#random() < probability;
  }

  /** Returns an integer from 0 to below `end`. */
  below(end: number): number {
    return Math.floor(this.#random() * end);
  }

  /** Returns an element of a list that is not empty. */
  of<T>(list: readonly T[]): T {
    return list[this.below(list.length)] as T;
  }
}
