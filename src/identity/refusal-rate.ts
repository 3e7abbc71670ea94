import { LRUCache } from 'lru-cache';
import type { Clock } from '../core/clock.ts';

/** Number of refused tokens of one network before its rate counts. */
const burst = 200;

/** Number of refused tokens of one network per second that are allowed all the time. */
const perSecond = 20;

/** Maximum number of networks that are remembered. The one that was refused longest ago is forgotten first. */
const maxNetworks = 10_000;

/** Measures how many tokens of each network were refused. */
export class RefusalRate {
  readonly #clock: Clock;
  /** The monotonic time at which the count of a network is 0 again, if no further token is refused. */
  readonly #emptyMs = new LRUCache<string, number>({ max: maxNetworks });

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** True if 200 tokens of the network were refused within a short time. The count falls by 20 per second. */
  isExceeded(network: string): boolean {
    return this.#countOf(network) > burst - 1;
  }

  /** Counts one refused token. */
  count(network: string): void {
    this.#emptyMs.set(network, this.#clock.monotonic() + ((this.#countOf(network) + 1) * 1_000) / perSecond);
  }

  #countOf(network: string): number {
    return Math.max(0, ((this.#emptyMs.get(network) ?? 0) - this.#clock.monotonic()) * perSecond) / 1_000;
  }
}
