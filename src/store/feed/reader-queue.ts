import type { StoreEvent } from '../mirror-store.ts';
import type { StoreChange, StoreObjectEvent } from './changes.ts';

type StateEvent = Extract<StoreEvent, { readonly type: 'synced' | 'failed' }>;
type ConfirmedEvent = Extract<StoreEvent, { readonly type: 'confirmed' }>;
type ResetEvent = Extract<StoreEvent, { readonly type: 'reset' }>;

/**
 * What one reader of a change feed has not been given yet, merged by object, in the order of the last change of each.
 *
 * Two `applied` become the last, with what stood before the first; a `deleted` takes back an `applied` of what the reader never had. At most
 * 1,000 changes or 1 MiB; a long diff of a list is one entry of its own, shared by all readers. Beyond that all is dropped for one `reset`.
 */
export interface ReaderQueue {
  readonly empty: boolean;
  /** Estimated, of what waits one by one: not of diffs. */
  readonly bytes: number;
  push(change: StoreChange): void;
  /** The diff of a list. It is kept, not copied. */
  pushDiff(diff: readonly StoreChange[]): void;
  pushState(event: StateEvent): void;
  pushConfirmed(event: ConfirmedEvent): void;
  /** Forgets all that waits but the state: what comes next is a `reset`, with whatever is held when it is taken. */
  reset(): void;
  /** The next events, at most 1,000. `snapshot` is asked for where a `reset` is due. */
  take(snapshot: () => ResetEvent): readonly StoreEvent[];
}

/** A batch, and what may wait. */
export const maxBatchEvents = 1_000;
const maxEvents = maxBatchEvents;
const maxBytes = 1024 * 1024;
/** A diff up to this length is merged like single changes. */
const shortDiff = 100;
/** Readers that leave this many long diffs unread get a reset, as each keeps the objects alive that it replaced. */
const maxDiffs = 8;

interface Waiting {
  readonly event: StoreEvent;
  readonly bytes: number;
}

type Segment =
  | { readonly type: 'merged'; readonly waiting: Map<string, Waiting> }
  | { readonly type: 'diff'; readonly diff: readonly StoreChange[]; next: number };

/** An empty queue. */
export function createReaderQueue(): ReaderQueue {
  let segments: Segment[] = [];
  let events = 0;
  let bytes = 0;
  let resetDue = false;

  const tail = (): Map<string, Waiting> => {
    const last = segments.at(-1);
    if (last?.type === 'merged') return last.waiting;
    const waiting = new Map<string, Waiting>();
    segments.push({ type: 'merged', waiting });
    return waiting;
  };

  const set = (key: string, waiting: Waiting | undefined): void => {
    const map = tail();
    const before = map.get(key);
    if (before !== undefined) {
      // Deleted first, so that it moves to the end: versions then only grow from one event to the next.
      map.delete(key);
      events -= 1;
      bytes -= before.bytes;
    }
    if (waiting === undefined) return;
    map.set(key, waiting);
    events += 1;
    bytes += waiting.bytes;
  };

  const forget = (): void => {
    const state = segments.flatMap((segment) => (segment.type === 'merged' ? [segment.waiting.get(stateKey)] : [])).findLast(Boolean);
    segments = [];
    events = 0;
    bytes = 0;
    resetDue = true;
    if (state !== undefined) set(stateKey, state);
  };

  const push = ({ key, event, bytes: weight }: StoreChange): void => {
    if (resetDue) return;
    const merged = mergeInto(tail().get(key)?.event, event);
    set(key, merged === undefined ? undefined : { event: merged, bytes: weight });
    if (events > maxEvents || bytes > maxBytes) forget();
  };

  return {
    get empty() {
      return !resetDue && segments.every((segment) => segment.type === 'merged' && segment.waiting.size === 0);
    },
    get bytes() {
      return bytes;
    },
    push,
    pushDiff(diff) {
      if (resetDue) return;
      if (diff.length <= shortDiff) {
        for (const change of diff) push(change);
        return;
      }
      segments.push({ type: 'diff', diff, next: 0 });
      if (segments.filter(({ type }) => type === 'diff').length > maxDiffs) forget();
    },
    pushState: (event) => set(stateKey, { event, bytes: 0 }),
    pushConfirmed: (event) => set(confirmedKey, { event, bytes: 0 }),
    reset: forget,
    take(snapshot) {
      const batch: StoreEvent[] = resetDue ? [snapshot()] : [];
      resetDue = false;
      while (segments.length > 0 && batch.length < maxEvents) {
        const [segment] = segments;
        if (segment === undefined) break;
        if (segment.type === 'diff') {
          const end = Math.min(segment.diff.length, segment.next + maxEvents - batch.length);
          for (; segment.next < end; segment.next += 1) batch.push(...eventsAt(segment.diff, segment.next));
          if (segment.next === segment.diff.length) segments.shift();
          continue;
        }
        for (const [key, waiting] of segment.waiting) {
          if (batch.length >= maxEvents) break;
          batch.push(waiting.event);
          segment.waiting.delete(key);
          events -= 1;
          bytes -= waiting.bytes;
        }
        if (segment.waiting.size === 0) segments.shift();
      }
      return batch;
    },
  };
}

/** Keys of changes begin with a uid or a slash. */
const stateKey = '\0state';
const confirmedKey = '\0confirmed';

/** What a reader who has seen neither must be told of two changes of one object. Undefined: nothing. */
function mergeInto(first: StoreEvent | undefined, next: StoreObjectEvent): StoreObjectEvent | undefined {
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

function eventsAt(diff: readonly StoreChange[], index: number): readonly StoreEvent[] {
  const change = diff[index];
  return change === undefined ? [] : [change.event];
}
