import { LRUCache } from 'lru-cache';
import type { Clock } from '../../core/clock.ts';
import type { Visibility } from '../access.ts';
import { Decisions } from './decisions.ts';

/** Maximum number of cached entries. */
const maxEntries = 200_000;

/** Maximum size of all entries, in units of about 100 bytes: a decision is one, and so are 100 characters of a key. */
const maxUnits = 2_000_000;
const keyCharactersPerUnit = 100;

const sweepEveryMs = 60_000;

/** Maximum number of sets of namespaces that entries share. */
const maxShared = 10_000;

/** Maximum characters of a set that is shared. */
const maxSharedLength = 10_000;

/** Entries that one event-loop turn of a sweep looks at. */
const sweptAtOnce = 5_000;

/**
 * The decisions of all callers, by a key of caller, cluster, verb and resource. At most 200,000 entries and about 200 MB; the entry that was
 * not used for the longest time goes first. Entries that are too old are dropped within a minute, also without traffic.
 */
export class DecisionCache {
  readonly #entries = new LRUCache<string, Decisions>({
    max: maxEntries,
    maxSize: maxUnits,
    sizeCalculation: ({ size }, key) => size + 1 + Math.floor(key.length / keyCharactersPerUnit),
  });

  /** Visibilities by their namespaces. Callers of the same groups have equal ones. */
  readonly #shared = new LRUCache<string, Visibility>({ max: maxShared });

  /** @param signal Ends the sweeps. */
  constructor(clock: Clock, signal: AbortSignal) {
    void this.#sweepNowAndThen(clock, signal);
  }

  /** Number of entries. */
  get size(): number {
    return this.#entries.size;
  }

  get(key: string): Decisions | undefined {
    return this.#entries.get(key);
  }

  /** Adds an entry without decisions. */
  add(key: string, version: number): Decisions {
    const decisions = new Decisions(version);
    this.#entries.set(key, decisions);
    return decisions;
  }

  /** Measures an entry again, after decisions were added. */
  resized(key: string, decisions: Decisions): void {
    if (this.#entries.peek(key) !== decisions) return;
    // lru-cache keeps the old size if the value is the same.
    this.#entries.delete(key);
    this.#entries.set(key, decisions);
  }

  /** Returns an equal visibility that other entries may have too. It takes memory only once. */
  shared(visibility: Visibility): Visibility {
    if (visibility.type !== 'namespaces' || visibility.fault !== undefined) return visibility;
    const key = [...visibility.namespaces].sort().join('/');
    if (key.length > maxSharedLength) return visibility;
    const known = this.#shared.get(key);
    if (known !== undefined) return known;
    this.#shared.set(key, visibility);
    return visibility;
  }

  async #sweepNowAndThen(clock: Clock, signal: AbortSignal): Promise<void> {
    for (;;) {
      await clock.sleep(sweepEveryMs, signal);
      if (signal.aborted) return;
      let left = sweptAtOnce;
      for (const [key, decisions] of [...this.#entries.entries()]) {
        if (decisions.isExpired(clock.monotonic())) this.#entries.delete(key);
        left -= 1;
        if (left > 0) continue;
        left = sweptAtOnce;
        await new Promise((resolve) => setImmediate(resolve));
        if (signal.aborted) return;
      }
    }
  }
}
