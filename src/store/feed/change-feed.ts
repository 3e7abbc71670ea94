import type { Clock } from '../../core/clock.ts';
import type { Fault } from '../../core/faults.ts';
import type { Log } from '../../core/log.ts';
import { loggableError } from '../../core/loggable-error.ts';
import type { ResourceVersion } from '../../core/names.ts';
import { type ScheduledWorker, WorkScheduler } from '../../core/scheduling/work-scheduler.ts';
import type { FeedReader, StoreEvent, StoreSnapshot } from '../mirror-store.ts';
import type { StoreChange } from './changes.ts';
import { createFeedLog } from './feed-log.ts';
import { createReaderQueue, type ReaderQueue } from './reader-queue.ts';

/**
 * Tells the readers of one mirror what changes, in store order, in batches at the end of a turn of the event loop. What waits is merged and kept
 * once for all of them (`feed-log.ts`); one that answers with a promise has a queue of its own from then on (`reader-queue.ts`). A reader that
 * throws or rejects is ended alone, and logged as the bug it is.
 *
 * Readers stand in the row one after the other: thousands of them take several turns, and what comes meanwhile waits for the next round.
 */
export interface ChangeFeed {
  /** True while somebody reads. */
  readonly hasReaders: boolean;
  /** @returns `FeedSubscription.pull`. */
  follow(reader: FeedReader, signal: AbortSignal): () => void;
  changed(changes: readonly StoreChange[]): void;
  /** The diff of a list, in the order it took effect. Kept, not copied. */
  replaced(diff: readonly StoreChange[]): void;
  /** All that the readers know is void: each gets a `reset`. */
  reset(): void;
  synced(version: ResourceVersion | undefined): void;
  failed(fault: Fault): void;
  /** Reaches readers at most once per 30 s. */
  confirmed(version: ResourceVersion): void;
  /** The last event, after what still waits. Nothing is told after it; who follows later is told this alone. */
  gone(fault: Fault): void;
}

interface ChangeFeedOptions {
  readonly clock: Clock;
  readonly log: Log;
  /** What is held now: for a `reset`. */
  readonly snapshot: () => StoreSnapshot;
  /** The row in which readers are told; one of its own by default. */
  readonly scheduler?: WorkScheduler | undefined;
}

const confirmedEveryMs = 30_000;

interface Follower {
  readonly reader: FeedReader;
  readonly end: () => void;
  /** Up to where it was given what all are given. */
  at: number;
  /** Of one that answers later: what it has still to be given, the batches first. */
  own: Own | undefined;
  /** Its last batch is still being handled. */
  busy: boolean;
}

interface Own {
  batches: readonly (readonly StoreEvent[])[];
  readonly queue: ReaderQueue;
}

/** One piece of the feed's work: with a single follower in each, the last of many would wait for a piece of everybody in the row each time. */
const pieceMs = 1;

/** A feed without readers. */
export function createChangeFeed({ clock, log, snapshot, scheduler = new WorkScheduler(clock) }: ChangeFeedOptions): ChangeFeed {
  const followers = new Set<Follower>();
  const slow = new Set<Follower>();
  const resetNow = () => ({ type: 'reset', ...snapshot() }) as const;
  const shared = createFeedLog(resetNow);
  let confirmedAtMs = Number.NEGATIVE_INFINITY;
  let gone: Extract<StoreEvent, { readonly type: 'gone' }> | undefined;
  let scheduled = false;
  /** Those who have not had their turn in this round. */
  let round: Follower[] = [];

  const schedule = (): void => {
    if (scheduled || followers.size === 0) return;
    scheduled = true;
    scheduler.scheduleNextTurn(worker);
  };

  const worker: ScheduledWorker = {
    work() {
      if (scheduled) shared.close();
      if (round.length === 0) {
        scheduled = false;
        round = [...followers].reverse();
      }
      const endMs = clock.monotonic() + pieceMs;
      for (let follower = round.pop(); follower !== undefined; follower = round.pop()) {
        if (follower.busy || !waits(follower)) continue;
        deliver(follower);
        if (clock.monotonic() >= endMs) break;
      }
      if (round.length > 0) return true;
      endRound();
      return false;
    },
  };

  const endRound = (): void => {
    shared.forgetBefore(earliest());
    // What came on its way, and whoever has more than a batch to take: each in another turn.
    if (scheduled) scheduler.scheduleNextTurn(worker);
    else if (followers.values().some((follower) => !follower.busy && waits(follower))) schedule();
  };

  const earliest = (): number => {
    let at = shared.end;
    for (const follower of followers) if (follower.own === undefined && follower.at < at) at = follower.at;
    return at;
  };

  const waits = ({ at, own }: Follower): boolean => {
    if (gone !== undefined) return true;
    return own === undefined ? at < shared.end : own.batches.length > 0 || !own.queue.empty;
  };

  const pull = (follower: Follower): void => {
    // Of hundreds of mirrors that are pulled together, hardly one has something to say.
    if (gone === undefined && shared.empty && !waits(follower)) return;
    shared.close();
    while (followers.has(follower) && !follower.busy && waits(follower)) deliver(follower);
  };

  const deliver = (follower: Follower): void => {
    if (follower.busy || !followers.has(follower)) return;
    if (gone !== undefined) shared.close();
    const batch = take(follower);
    const last = gone !== undefined && isUpToDate(follower);
    const events = last && gone !== undefined ? [...batch, gone] : batch;
    if (last) follower.end();
    if (events.length > 0) hand(follower, events);
  };

  const isUpToDate = ({ at, own }: Follower): boolean =>
    own === undefined ? at === shared.end : own.batches.length === 0 && own.queue.empty;

  const take = (follower: Follower): readonly StoreEvent[] => {
    const { own } = follower;
    if (own === undefined) {
      const { events, next } = shared.read(follower.at);
      follower.at = next;
      return events;
    }
    const [first, ...rest] = own.batches;
    if (first === undefined) return own.queue.take(resetNow);
    own.batches = rest;
    return first;
  };

  const hand = (follower: Follower, events: readonly StoreEvent[]): void => {
    try {
      const handled = follower.reader(events);
      if (!(handled instanceof Promise)) return;
      follower.busy = true;
      standApart(follower);
      handled.then(
        () => {
          follower.busy = false;
          schedule();
        },
        (error: unknown) => expel(follower, error),
      );
    } catch (error) {
      expel(follower, error);
    }
  };

  const standApart = (follower: Follower): void => {
    if (follower.own !== undefined || !followers.has(follower)) return;
    shared.close();
    const batches: (readonly StoreEvent[])[] = [];
    while (follower.at < shared.end) batches.push(take(follower));
    follower.own = { batches, queue: createReaderQueue() };
    slow.add(follower);
  };

  const expel = (follower: Follower, error: unknown): void => {
    follower.end();
    log.error({ error: loggableError(error) }, 'a reader of a change feed failed and was ended');
  };

  const tell = (put: (queue: Pick<ReaderQueue, 'push' | 'pushDiff' | 'pushState' | 'pushConfirmed' | 'reset'>) => void): void => {
    if (gone !== undefined) return;
    if (followers.size > slow.size) put(shared);
    for (const { own } of slow) if (own !== undefined) put(own.queue);
    schedule();
  };

  return {
    get hasReaders() {
      return followers.size > 0;
    },
    follow(reader, signal) {
      if (signal.aborted) return () => undefined;
      const end = (): void => {
        followers.delete(follower);
        slow.delete(follower);
        signal.removeEventListener('abort', end);
        if (followers.size === slow.size) shared.clear();
      };
      // What waits is no news to whoever comes now.
      if (followers.size === slow.size) shared.clear();
      else shared.close();
      const follower: Follower = { reader, end, at: shared.end, own: undefined, busy: false };
      signal.addEventListener('abort', end, { once: true });
      followers.add(follower);
      if (gone !== undefined) schedule();
      return () => pull(follower);
    },
    changed: (changes) => tell((queue) => changes.forEach(queue.push)),
    replaced: (diff) => tell((queue) => queue.pushDiff(diff)),
    reset: () => tell((queue) => queue.reset()),
    synced: (version) => tell((queue) => queue.pushState({ type: 'synced', version })),
    failed: (fault) => tell((queue) => queue.pushState({ type: 'failed', fault })),
    confirmed(version) {
      const now = clock.monotonic();
      if (followers.size === 0 || now - confirmedAtMs < confirmedEveryMs) return;
      confirmedAtMs = now;
      tell((queue) => queue.pushConfirmed({ type: 'confirmed', version }));
    },
    gone(fault) {
      if (gone !== undefined) return;
      gone = { type: 'gone', fault };
      schedule();
    },
  };
}
