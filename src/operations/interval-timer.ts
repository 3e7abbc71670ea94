import type { Clock } from '../core/clock.ts';

/**
 * Number of parts into which items are divided. The parts get their callbacks at different times of the interval, so that thousands of
 * items do not delay other work.
 */
const maxSlices = 12;

/** Calls back at a regular interval for each of many items. One timer serves all items, and none runs without items. */
export class IntervalTimer<Item> {
  readonly #options: IntervalTimerOptions<Item>;
  readonly #slices: readonly Set<Item>[] = Array.from({ length: maxSlices }, () => new Set());
  readonly #sliceOf = new Map<Item, Set<Item>>();
  #sleep: AbortController | undefined;

  constructor(options: IntervalTimerOptions<Item>) {
    this.#options = options;
  }

  /** Adds an item. Its first callback comes after at most one interval. */
  add(item: Item): void {
    if (this.#sliceOf.has(item)) return;
    const slice = this.#slices.reduce((least, one) => (one.size < least.size ? one : least));
    slice.add(item);
    this.#sliceOf.set(item, slice);
    if (this.#sleep !== undefined) return;
    this.#sleep = new AbortController();
    void this.#watch(this.#sleep.signal);
  }

  /** Removes an item. A second call does nothing. */
  delete(item: Item): void {
    if (!this.#sliceOf.get(item)?.delete(item)) return;
    this.#sliceOf.delete(item);
    if (this.#sliceOf.size > 0) return;
    this.#sleep?.abort();
    this.#sleep = undefined;
  }

  async #watch(signal: AbortSignal): Promise<void> {
    const { clock, everyMs, onInterval: beat } = this.#options;
    while (!signal.aborted) {
      // The first slice is filled first, so it comes last. A single item then waits a whole interval for its first callback.
      for (const slice of this.#slices.toReversed()) {
        await clock.sleep(everyMs / maxSlices, signal);
        if (signal.aborted) return;
        for (const item of slice) beat(item);
      }
    }
  }
}

export interface IntervalTimerOptions<Item> {
  readonly clock: Clock;
  readonly everyMs: number;
  /** Called for each item once per interval. May add and remove items. Must not throw. */
  readonly onInterval: (item: Item) => void;
}
