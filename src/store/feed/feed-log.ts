import type { StoreEvent } from '../mirror-store.ts';
import { createReaderQueue, maxBatchEvents, type ReaderQueue } from './reader-queue.ts';

type ResetEvent = Extract<StoreEvent, { readonly type: 'reset' }>;

/** What the readers of a change feed have not been given yet, once for all of them: each remembers up to where it has read. */
interface FeedLog extends Pick<ReaderQueue, 'push' | 'pushDiff' | 'pushState' | 'pushConfirmed' | 'reset'> {
  /** Nothing has come since the last `close`. */
  readonly empty: boolean;
  /** Where somebody is who has read all that was closed. */
  readonly end: number;
  /** What has come can be read from now on, and what comes is no longer merged into it. */
  close(): void;
  /**
   * What comes after that place, at most 1,000 events, and up to where that is. A `reset`, and the state, for whoever has left so much unread that
   * it was forgotten: 8,000 changes, or 8 MiB.
   */
  read(at: number): { readonly events: readonly StoreEvent[]; readonly next: number };
  /** Nobody will read from before there. */
  forgetBefore(at: number): void;
  /** Nobody reads. */
  clear(): void;
}

interface Batch {
  readonly events: readonly StoreEvent[];
  readonly weight: number;
  readonly bytes: number;
}

const maxWeight = 8_000;
const maxBytes = 8 * 1024 * 1024;

/** An empty log. @param resetNow Asked for where a `reset` is due: with what is held now. */
export function createFeedLog(resetNow: () => ResetEvent): FeedLog {
  const open = createReaderQueue();
  const batches: Batch[] = [];
  /** The place of the first batch. */
  let base = 0;
  let weight = 0;
  let bytes = 0;
  let state: Extract<StoreEvent, { readonly type: 'synced' | 'failed' }> | undefined;

  const drop = (count: number): void => {
    for (const batch of batches.splice(0, count)) {
      weight -= batch.weight;
      bytes -= batch.bytes;
    }
    base += count;
  };

  const close = (): void => {
    if (open.empty) return;
    if (weight > maxWeight || bytes > maxBytes) drop(batches.length);
    // The diff of a list, however long, weighs no more than the first thousand of it: it is there anyway.
    let added = open.bytes;
    bytes += added;
    for (let isFirst = true; !open.empty; isFirst = false) {
      const events = open.take(resetNow);
      const weighs = isFirst ? events.length : 0;
      weight += weighs;
      batches.push({ events, weight: weighs, bytes: added });
      added = 0;
    }
  };

  return {
    get empty() {
      return open.empty;
    },
    get end() {
      return base + batches.length;
    },
    push: open.push,
    pushDiff: open.pushDiff,
    pushState(event) {
      state = event;
      open.pushState(event);
    },
    pushConfirmed: open.pushConfirmed,
    reset: open.reset,
    close,
    read(at) {
      if (at < base) {
        close();
        return { events: [resetNow(), ...(state === undefined ? [] : [state])], next: base + batches.length };
      }
      const [first, second] = [batches[at - base], batches[at - base + 1]];
      if (first === undefined) return { events: [], next: at };
      if (second === undefined) return { events: first.events, next: at + 1 };
      const events = [...first.events];
      let next = at + 1;
      for (; next < base + batches.length; next++) {
        const more = batches[next - base]?.events ?? [];
        if (events.length + more.length > maxBatchEvents) break;
        events.push(...more);
      }
      return { events, next };
    },
    forgetBefore: (at) => drop(Math.max(0, at - base)),
    clear() {
      if (!open.empty) close();
      drop(batches.length);
      state = undefined;
    },
  };
}
