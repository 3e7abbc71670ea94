import type { StoreEvent } from '../mirror-store.ts';
import type { StoreChange, StoreObjectEvent } from './changes.ts';

export type StateEvent = Extract<StoreEvent, { readonly type: 'synced' | 'failed' }>;
export type ConfirmedEvent = Extract<StoreEvent, { readonly type: 'confirmed' }>;
export type ResetEvent = Extract<StoreEvent, { readonly type: 'reset' }>;

/** Maximum number of events in one batch, and of merged changes in a queue. */
export const maxBatchEvents = 1_000;
const maxBytes = 1024 * 1024;
/** A diff of at most this many changes is merged like single changes. */
const maxMergedDiff = 100;
/** A queue with more long diffs than this is reset. Each diff keeps the objects in memory that it replaced. */
const maxLongDiffs = 8;

interface WaitingEvent {
  readonly event: StoreEvent;
  readonly bytes: number;
}

type Segment =
  | { readonly type: 'merged'; readonly waiting: Map<string, WaitingEvent> }
  | { readonly type: 'diff'; readonly diff: readonly StoreChange[]; next: number };

/**
 * The events that one reader of a change feed has not received yet, merged by object and ordered by the last change of each object.
 *
 * Two `applied` become the last one, with the `before` of the first. A `deleted` removes an `applied` of an object that the reader never
 * had. At most 1,000 changes or 1 MiB wait. A long diff of a list is a segment of its own, shared by all readers. A queue beyond these
 * bounds drops its changes and gives one `reset` instead.
 */
export class ReaderQueue {
  #segments: Segment[] = [];
  #events = 0;
  #bytes = 0;
  #resetDue = false;

  get empty(): boolean {
    return !this.#resetDue && this.#segments.every((segment) => segment.type === 'merged' && segment.waiting.size === 0);
  }

  /** Estimated bytes of the merged changes. Long diffs do not count. */
  get bytes(): number {
    return this.#bytes;
  }

  push({ key, event, bytes }: StoreChange): void {
    if (this.#resetDue) return;
    const merged = mergeEvents(this.#tail().get(key)?.event, event);
    this.#set(key, merged === undefined ? undefined : { event: merged, bytes });
    if (this.#events > maxBatchEvents || this.#bytes > maxBytes) this.reset();
  }

  /** Adds the diff of a list. The array is kept, not copied. */
  pushDiff(diff: readonly StoreChange[]): void {
    if (this.#resetDue) return;
    if (diff.length <= maxMergedDiff) {
      for (const change of diff) this.push(change);
      return;
    }
    this.#segments.push({ type: 'diff', diff, next: 0 });
    if (this.#segments.filter(({ type }) => type === 'diff').length > maxLongDiffs) this.reset();
  }

  pushState(event: StateEvent): void {
    this.#set(stateKey, { event, bytes: 0 });
  }

  pushConfirmed(event: ConfirmedEvent): void {
    this.#set(confirmedKey, { event, bytes: 0 });
  }

  /** Drops everything except the last `synced` or `failed`. The next batch then begins with a `reset`, made when the batch is taken. */
  reset(): void {
    const state = this.#segments
      .flatMap((segment) => (segment.type === 'merged' ? [segment.waiting.get(stateKey)] : []))
      .findLast((waiting) => waiting !== undefined);
    this.#segments = [];
    this.#events = 0;
    this.#bytes = 0;
    this.#resetDue = true;
    if (state !== undefined) this.#set(stateKey, state);
  }

  /** Removes and returns the next events, at most 1,000. Calls `snapshot` only if a `reset` is due. */
  take(snapshot: () => ResetEvent): readonly StoreEvent[] {
    const batch: StoreEvent[] = this.#resetDue ? [snapshot()] : [];
    this.#resetDue = false;
    while (this.#segments.length > 0 && batch.length < maxBatchEvents) {
      const [segment] = this.#segments;
      if (segment === undefined) break;
      if (segment.type === 'diff') {
        const end = Math.min(segment.diff.length, segment.next + maxBatchEvents - batch.length);
        for (; segment.next < end; segment.next += 1) {
          const change = segment.diff[segment.next];
          if (change !== undefined) batch.push(change.event);
        }
        if (segment.next === segment.diff.length) this.#segments.shift();
        continue;
      }
      for (const [key, waiting] of segment.waiting) {
        if (batch.length >= maxBatchEvents) break;
        batch.push(waiting.event);
        segment.waiting.delete(key);
        this.#events -= 1;
        this.#bytes -= waiting.bytes;
      }
      if (segment.waiting.size === 0) this.#segments.shift();
    }
    return batch;
  }

  #tail(): Map<string, WaitingEvent> {
    const last = this.#segments.at(-1);
    if (last?.type === 'merged') return last.waiting;
    const waiting = new Map<string, WaitingEvent>();
    this.#segments.push({ type: 'merged', waiting });
    return waiting;
  }

  #set(key: string, waiting: WaitingEvent | undefined): void {
    const map = this.#tail();
    const before = map.get(key);
    if (before !== undefined) {
      // Deletes the entry first, so that the new one moves to the end. Versions then only grow from one event to the next.
      map.delete(key);
      this.#events -= 1;
      this.#bytes -= before.bytes;
    }
    if (waiting === undefined) return;
    map.set(key, waiting);
    this.#events += 1;
    this.#bytes += waiting.bytes;
  }
}

/** Keys of changes begin with a uid or a slash, so these keys differ from all of them. */
const stateKey = '\0state';
const confirmedKey = '\0confirmed';

/** Merges two changes of one object for a reader that has seen neither. Returns undefined if the reader needs no event at all. */
function mergeEvents(first: StoreEvent | undefined, next: StoreObjectEvent): StoreObjectEvent | undefined {
  if (first?.type === 'applied') {
    if (next.type === 'deleted') return first.before === undefined ? undefined : { ...next, before: first.before };
    return withBefore(next, first.before);
  }
  if (first?.type === 'deleted' && next.type === 'applied') return withBefore(next, first.before);
  return next;
}

function withBefore(
  { type, object, version }: Extract<StoreObjectEvent, { type: 'applied' }>,
  before: StoreObjectEvent['object'] | undefined,
) {
  return before === undefined ? { type, object, version } : { type, object, before, version };
}
