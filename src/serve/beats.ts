import type { Clock } from '../core/clock.ts';

/** Something that happens every so often to each of many things, with one sleeper for them all; none while there is nothing. */
export class Beats<Thing> {
  readonly #options: BeatsOptions<Thing>;
  readonly #things = new Set<Thing>();
  #sleep: AbortController | undefined;

  constructor(options: BeatsOptions<Thing>) {
    this.#options = options;
  }

  /** From now on it happens to it too: for the first time after at most the whole time. */
  add(thing: Thing): void {
    this.#things.add(thing);
    if (this.#sleep !== undefined) return;
    this.#sleep = new AbortController();
    void this.#watch(this.#sleep.signal);
  }

  /** Not any more. Twice is once. */
  delete(thing: Thing): void {
    if (!this.#things.delete(thing) || this.#things.size > 0) return;
    this.#sleep?.abort();
    this.#sleep = undefined;
  }

  async #watch(signal: AbortSignal): Promise<void> {
    const { clock, everyMs, beat } = this.#options;
    while (!signal.aborted) {
      await clock.sleep(everyMs, signal);
      if (signal.aborted) return;
      for (const thing of this.#things) beat(thing);
    }
  }
}

export interface BeatsOptions<Thing> {
  readonly clock: Clock;
  readonly everyMs: number;
  /** May add and delete things. Must not throw. */
  readonly beat: (thing: Thing) => void;
}
