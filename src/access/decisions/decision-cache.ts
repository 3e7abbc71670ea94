import { LRUCache } from 'lru-cache';
import type { Clock } from '../../core/clock.ts';
import type { Visibility } from '../access.ts';
import { Decisions } from './decisions.ts';

/** Maximum number of cached entries. */
const maxEntries = 200_000;

/** Maximum size of all entries, in units of about 100 bytes. An entry, a decision, and 100 characters of a key count as one unit each. */
const maxUnits = 2_000_000;
const keyCharactersPerUnit = 100;

const sweepEveryMs = 60_000;

/** Maximum number of visibilities that `shared` caches. */
const maxShared = 10_000;

/** Maximum characters of the namespaces of a visibility, joined. A longer one is not cached by `shared`. */
const maxSharedLength = 10_000;

/** The number of entries that a sweep checks in one event-loop turn. */
const sweptAtOnce = 5_000;

/**
 * The decisions of all callers, by a key of caller, cluster, verb, resource and object. At most 200,000 entries and about 200 MB. Beyond that,
 * the least recently used entry is dropped. An entry whose decisions are all too old is dropped within about a minute.
 */
export class DecisionCache {
  readonly #entries = new LRUCache<string, Decisions>({
    max: maxEntries,
    maxSize: maxUnits,
    sizeCalculation: ({ size }, key) => size + 1 + Math.floor(key.length / keyCharactersPerUnit),
  });

  /** The visibilities of `shared`, by their namespaces. Callers of the same groups have equal ones. */
  readonly #shared = new LRUCache<string, Visibility>({ max: maxShared });

  /** Starts a sweep every minute, until the signal aborts. */
  constructor(clock: Clock, signal: AbortSignal) {
    void this.#sweepEveryMinute(clock, signal);
  }

  /** Number of entries. */
  get size(): number {
    return this.#entries.size;
  }

  get(key: string): Decisions | undefined {
    return this.#entries.get(key);
  }

  /** Adds and returns an entry without decisions, for this version of the rights in the cluster. */
  add(key: string, version: number): Decisions {
    const decisions = new Decisions(version);
    this.#entries.set(key, decisions);
    return decisions;
  }

  /** Updates the size of an entry after decisions were added. Does nothing if the cache no longer has the entry. */
  updateSize(key: string, decisions: Decisions): void {
    if (this.#entries.peek(key) !== decisions) return;
    // lru-cache keeps the old size if the value is the same.
    this.#entries.delete(key);
    this.#entries.set(key, decisions);
  }

  /**
   * Returns an equal visibility that is already cached, so that equal ones take memory once. If there is none, caches and returns this one. A
   * visibility of another type, with a fault, or with many namespaces is returned as it is and not cached.
   */
  shared(visibility: Visibility): Visibility {
    if (visibility.type !== 'namespaces' || visibility.fault !== undefined) return visibility;
    const key = [...visibility.namespaces].sort().join('/');
    if (key.length > maxSharedLength) return visibility;
    const known = this.#shared.get(key);
    if (known !== undefined) return known;
    this.#shared.set(key, visibility);
    return visibility;
  }

  async #sweepEveryMinute(clock: Clock, signal: AbortSignal): Promise<void> {
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
