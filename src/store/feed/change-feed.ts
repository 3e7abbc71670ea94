import type { Clock } from '../../core/clock.ts';
import type { Fault } from '../../core/faults.ts';
import type { Log } from '../../core/log.ts';
import { loggableError } from '../../core/loggable-error.ts';
import type { ResourceVersion } from '../../core/names.ts';
import { type ScheduledWorker, WorkScheduler } from '../../core/scheduling/work-scheduler.ts';
import type { FeedReader, StoreEvent, StoreSnapshot } from '../mirror-store.ts';
import type { StoreChange } from './changes.ts';
import { FeedLog } from './feed-log.ts';
import { ReaderQueue } from './reader-queue.ts';

interface ChangeFeedOptions {
  readonly clock: Clock;
  readonly log: Log;
  /** Returns the current objects, for a `reset`. */
  readonly snapshot: () => StoreSnapshot;
  /** The scheduler in which readers are called. Default: a scheduler of this feed alone. */
  readonly scheduler?: WorkScheduler | undefined;
}

const confirmedEveryMs = 30_000;

interface Follower {
  readonly reader: FeedReader;
  readonly end: () => void;
  /** The place of this reader in the shared log: the number of batches that it has read (`feed-log.ts`). */
  place: number;
  /** The events of an asynchronous reader. Undefined while the reader reads the shared log. */
  own: OwnEvents | undefined;
  /** True while the reader still handles the batch that it received most recently. */
  busy: boolean;
}

/** The events of a reader that answers with promises. It receives `batches` first, then the events of `queue`. */
interface OwnEvents {
  batches: readonly (readonly StoreEvent[])[];
  readonly queue: ReaderQueue;
}

/**
 * Milliseconds for which one run of `#work` calls readers. Other workers of the scheduler run between two of its runs. If each run called
 * only one reader, the last of many readers would wait too long.
 */
const batchSliceMs = 1;

/**
 * Sends the changes of one mirror to its readers, in the order of the store, in batches in the event-loop turn after a change.
 *
 * Waiting events are merged and kept once for all readers (`feed-log.ts`). A reader that returns a promise has a queue of its own from then
 * on (`reader-queue.ts`). A reader that throws or rejects is ended and logged, because that is a bug. The other readers continue.
 *
 * The feed calls its readers one after the other, in rounds: a round calls each reader with new events once. Thousands of readers take
 * several event-loop turns, and events that arrive meanwhile wait for the next round.
 *
 * The readers of subscriptions are registered in `src/streams/views/selected-mirror.ts`.
 */
export class ChangeFeed {
  readonly #clock: Clock;
  readonly #log: Log;
  readonly #scheduler: WorkScheduler;
  readonly #resetNow: () => Extract<StoreEvent, { readonly type: 'reset' }>;
  readonly #shared: FeedLog;
  readonly #followers = new Set<Follower>();
  /** The followers with waiting events in a queue of their own (`reader-queue.ts`), instead of in the shared log. */
  readonly #slow = new Set<Follower>();
  readonly #worker: ScheduledWorker = { work: () => this.#work() };
  #confirmedMs = Number.NEGATIVE_INFINITY;
  #gone: Extract<StoreEvent, { readonly type: 'gone' }> | undefined;
  #scheduled = false;
  /** Followers that were not called yet in this round, in reverse order, so that `pop` returns the next one. */
  #round: Follower[] = [];

  constructor({ clock, log, snapshot, scheduler = new WorkScheduler(clock) }: ChangeFeedOptions) {
    this.#clock = clock;
    this.#log = log;
    this.#scheduler = scheduler;
    this.#resetNow = () => ({ type: 'reset', ...snapshot() });
    this.#shared = new FeedLog(this.#resetNow);
  }

  /** True while the feed has a reader. */
  get hasReaders(): boolean {
    return this.#followers.size > 0;
  }

  /** Adds a reader until the signal aborts. Returns the function that delivers at once (see `FeedSubscription.pull`). */
  follow(reader: FeedReader, signal: AbortSignal): () => void {
    if (signal.aborted) return () => undefined;
    const end = (): void => {
      this.#followers.delete(follower);
      this.#slow.delete(follower);
      signal.removeEventListener('abort', end);
      if (this.#followers.size === this.#slow.size) this.#shared.clear();
    };
    // The new reader begins with the current state, so it does not receive events that wait already.
    if (this.#followers.size === this.#slow.size) this.#shared.clear();
    else this.#shared.close();
    const follower: Follower = { reader, end, place: this.#shared.end, own: undefined, busy: false };
    signal.addEventListener('abort', end, { once: true });
    this.#followers.add(follower);
    if (this.#gone !== undefined) this.#schedule();
    return () => this.#pull(follower);
  }

  changed(changes: readonly StoreChange[]): void {
    this.#publish((queue) => {
      for (const change of changes) queue.push(change);
    });
  }

  /** Publishes the diff of a list, in the order in which it took effect. The array is kept, not copied. */
  replaced(diff: readonly StoreChange[]): void {
    this.#publish((queue) => queue.pushDiff(diff));
  }

  /** Publishes a `reset` in place of the waiting changes: each reader must replace everything that it knows. */
  reset(): void {
    this.#publish((queue) => queue.reset());
  }

  synced(version: ResourceVersion | undefined): void {
    this.#publish((queue) => queue.pushState({ type: 'synced', version }));
  }

  failed(fault: Fault): void {
    this.#publish((queue) => queue.pushState({ type: 'failed', fault }));
  }

  /** Publishes a version that was reached without a change, at most once per 30 s. */
  confirmed(version: ResourceVersion): void {
    const nowMs = this.#clock.monotonic();
    if (this.#followers.size === 0 || nowMs - this.#confirmedMs < confirmedEveryMs) return;
    this.#confirmedMs = nowMs;
    this.#publish((queue) => queue.pushConfirmed({ type: 'confirmed', version }));
  }

  /** Publishes the last event, after all waiting events. A reader that joins later receives only this event. */
  gone(fault: Fault): void {
    if (this.#gone !== undefined) return;
    this.#gone = { type: 'gone', fault };
    this.#schedule();
  }

  #publish(put: (queue: ReaderQueue | FeedLog) => void): void {
    if (this.#gone !== undefined) return;
    if (this.#followers.size > this.#slow.size) put(this.#shared);
    for (const { own } of this.#slow) if (own !== undefined) put(own.queue);
    this.#schedule();
  }

  #schedule(): void {
    if (this.#scheduled || this.#followers.size === 0) return;
    this.#scheduled = true;
    this.#scheduler.scheduleNextTurn(this.#worker);
  }

  #work(): boolean {
    if (this.#scheduled) this.#shared.close();
    if (this.#round.length === 0) {
      this.#scheduled = false;
      this.#round = [...this.#followers].reverse();
    }
    const endMs = this.#clock.monotonic() + batchSliceMs;
    for (let follower = this.#round.pop(); follower !== undefined; follower = this.#round.pop()) {
      if (follower.busy || !this.#hasEvents(follower)) continue;
      this.#deliver(follower);
      if (this.#clock.monotonic() >= endMs) break;
    }
    if (this.#round.length > 0) return true;
    this.#endRound();
    return false;
  }

  #endRound(): void {
    this.#shared.forgetBefore(this.#firstUnread());
    // New events, and readers with more than one batch, wait for another event-loop turn.
    if (this.#scheduled) this.#scheduler.scheduleNextTurn(this.#worker);
    else if (this.#followers.values().some((follower) => !follower.busy && this.#hasEvents(follower))) this.#schedule();
  }

  #firstUnread(): number {
    let first = this.#shared.end;
    for (const { own, place } of this.#followers) if (own === undefined && place < first) first = place;
    return first;
  }

  #hasEvents(follower: Follower): boolean {
    return this.#gone !== undefined || !this.#isUpToDate(follower);
  }

  #isUpToDate({ place, own }: Follower): boolean {
    return own === undefined ? place === this.#shared.end : own.batches.length === 0 && own.queue.empty;
  }

  #pull(follower: Follower): void {
    // Returns early, because views pull hundreds of mirrors together, and hardly any of them has events.
    if (this.#gone === undefined && this.#shared.empty && !this.#hasEvents(follower)) return;
    this.#shared.close();
    while (this.#followers.has(follower) && !follower.busy && this.#hasEvents(follower)) this.#deliver(follower);
  }

  #deliver(follower: Follower): void {
    if (follower.busy || !this.#followers.has(follower)) return;
    if (this.#gone !== undefined) this.#shared.close();
    const batch = this.#takeBatch(follower);
    const isLast = this.#gone !== undefined && this.#isUpToDate(follower);
    const events = isLast && this.#gone !== undefined ? [...batch, this.#gone] : batch;
    if (isLast) follower.end();
    if (events.length > 0) this.#callReader(follower, events);
  }

  #takeBatch(follower: Follower): readonly StoreEvent[] {
    const { own } = follower;
    if (own === undefined) {
      const { events, next } = this.#shared.read(follower.place);
      follower.place = next;
      return events;
    }
    const [first, ...rest] = own.batches;
    if (first === undefined) return own.queue.take(this.#resetNow);
    own.batches = rest;
    return first;
  }

  #callReader(follower: Follower, events: readonly StoreEvent[]): void {
    try {
      const handled = follower.reader(events);
      if (!(handled instanceof Promise)) return;
      follower.busy = true;
      this.#separate(follower);
      handled.then(
        () => {
          follower.busy = false;
          this.#schedule();
        },
        (error: unknown) => this.#endFailed(follower, error),
      );
    } catch (error) {
      this.#endFailed(follower, error);
    }
  }

  /** Gives an asynchronous reader events of its own, so that it does not keep batches in the shared log. */
  #separate(follower: Follower): void {
    if (follower.own !== undefined || !this.#followers.has(follower)) return;
    this.#shared.close();
    const batches: (readonly StoreEvent[])[] = [];
    while (follower.place < this.#shared.end) batches.push(this.#takeBatch(follower));
    follower.own = { batches, queue: new ReaderQueue() };
    this.#slow.add(follower);
  }

  #endFailed(follower: Follower, error: unknown): void {
    follower.end();
    this.#log.error({ error: loggableError(error) }, 'a reader of a change feed failed and was ended');
  }
}
