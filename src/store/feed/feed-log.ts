import type { StoreEvent } from '../mirror-store.ts';
import type { StoreChange } from './changes.ts';
import { type ConfirmedEvent, maxBatchEvents, ReaderQueue, type ResetEvent, type StateEvent } from './reader-queue.ts';

interface Batch {
  readonly events: readonly StoreEvent[];
  readonly weight: number;
  readonly bytes: number;
}

const maxWeight = 8_000;
const maxBytes = 8 * 1024 * 1024;

/**
 * The events of a change feed, kept once for all its readers. Each reader remembers its place: the number of batches that it has read.
 *
 * New events are merged until `close`, which turns them into batches of at most 1,000 events.
 */
export class FeedLog {
  readonly #resetNow: () => ResetEvent;
  readonly #open = new ReaderQueue();
  readonly #batches: Batch[] = [];
  /** Number of dropped batches. It is also the place of a reader whose next batch is the first one in `#batches`. */
  #base = 0;
  #weight = 0;
  #bytes = 0;
  #state: StateEvent | undefined;

  /**
   * Creates an empty log.
   *
   * @param resetNow Makes a `reset` with the current objects. Called only if a reader has to receive a `reset`.
   */
  constructor(resetNow: () => ResetEvent) {
    this.#resetNow = resetNow;
  }

  /** True if no event has arrived since the last `close`. */
  get empty(): boolean {
    return this.#open.empty;
  }

  /** The place of a reader that has read every closed batch. */
  get end(): number {
    return this.#base + this.#batches.length;
  }

  push(change: StoreChange): void {
    this.#open.push(change);
  }

  pushDiff(diff: readonly StoreChange[]): void {
    this.#open.pushDiff(diff);
  }

  pushState(event: StateEvent): void {
    this.#state = event;
    this.#open.pushState(event);
  }

  pushConfirmed(event: ConfirmedEvent): void {
    this.#open.pushConfirmed(event);
  }

  reset(): void {
    this.#open.reset();
  }

  /** Makes the new events readable. Later events are not merged into them. */
  close(): void {
    if (this.#open.empty) return;
    if (this.#weight > maxWeight || this.#bytes > maxBytes) this.#drop(this.#batches.length);
    // `weight` counts towards `maxWeight`. A diff of any length counts like its first 1,000 events, because the diff is in memory anyway.
    let added = this.#open.bytes;
    this.#bytes += added;
    for (let isFirst = true; !this.#open.empty; isFirst = false) {
      const events = this.#open.take(this.#resetNow);
      const weight = isFirst ? events.length : 0;
      this.#weight += weight;
      this.#batches.push({ events, weight, bytes: added });
      added = 0;
    }
  }

  /**
   * Returns the events after a place, at most 1,000, and the place after them.
   *
   * A reader that is more than 8,000 changes or 8 MiB behind receives a `reset` and the last `synced` or `failed`, because its batches were
   * dropped.
   */
  read(at: number): { readonly events: readonly StoreEvent[]; readonly next: number } {
    if (at < this.#base) {
      this.close();
      const reset = this.#resetNow();
      return { events: this.#state === undefined ? [reset] : [reset, this.#state], next: this.end };
    }
    const [first, second] = [this.#batches[at - this.#base], this.#batches[at - this.#base + 1]];
    if (first === undefined) return { events: [], next: at };
    if (second === undefined) return { events: first.events, next: at + 1 };
    const events = [...first.events];
    let next = at + 1;
    for (; next < this.end; next++) {
      const more = this.#batches[next - this.#base]?.events ?? [];
      if (events.length + more.length > maxBatchEvents) break;
      events.push(...more);
    }
    return { events, next };
  }

  /** Drops the batches before a place, which every reader has passed. */
  forgetBefore(at: number): void {
    this.#drop(Math.max(0, at - this.#base));
  }

  /** Drops everything. Call it when no reader reads this log any more. */
  clear(): void {
    if (!this.#open.empty) this.close();
    this.#drop(this.#batches.length);
    this.#state = undefined;
  }

  #drop(count: number): void {
    for (const batch of this.#batches.splice(0, count)) {
      this.#weight -= batch.weight;
      this.#bytes -= batch.bytes;
    }
    this.#base += count;
  }
}
