import type { Clock } from '../core/clock.ts';

/** In so many turns, spread over the time, all things are seen to: thousands in one would hold up everybody. */
const maxSlices = 12;

/** Something that happens every so often to each of many things, with one sleeper for them all; none while there is nothing. */
export class IntervalTimer<Thing> {
  readonly #options: IntervalTimerOptions<Thing>;
  readonly #slices: readonly Set<Thing>[] = Array.from({ length: maxSlices }, () => new Set());
  readonly #sliceOf = new Map<Thing, Set<Thing>>();
  #sleep: AbortController | undefined;

  constructor(options: IntervalTimerOptions<Thing>) {
    this.#options = options;
  }

  /** From now on it happens to it too: for the first time after at most the whole time. */
  add(thing: Thing): void {
    if (this.#sliceOf.has(thing)) return;
    const slice = this.#slices.reduce((least, one) => (one.size < least.size ? one : least));
    slice.add(thing);
    this.#sliceOf.set(thing, slice);
    if (this.#sleep !== undefined) return;
    this.#sleep = new AbortController();
    void this.#watch(this.#sleep.signal);
  }

  /** Not any more. Twice is once. */
  delete(thing: Thing): void {
    if (!this.#sliceOf.get(thing)?.delete(thing)) return;
    this.#sliceOf.delete(thing);
    if (this.#sliceOf.size > 0) return;
    this.#sleep?.abort();
    this.#sleep = undefined;
  }

  async #watch(signal: AbortSignal): Promise<void> {
    const { clock, everyMs, onInterval: beat } = this.#options;
    while (!signal.aborted) {
      // The first slice is filled first, so it comes last: one thing alone has the whole time before its first beat.
      for (const slice of this.#slices.toReversed()) {
        await clock.sleep(everyMs / maxSlices, signal);
        if (signal.aborted) return;
        for (const thing of slice) beat(thing);
      }
    }
  }
}

export interface IntervalTimerOptions<Thing> {
  readonly clock: Clock;
  readonly everyMs: number;
  /** May add and delete things. Must not throw. */
  readonly onInterval: (thing: Thing) => void;
}
