import type { Clock } from '../core/clock.ts';
import type { Fault } from '../core/faults.ts';
import type { Log } from '../core/log.ts';
import type { ResourceVersion } from '../core/names.ts';
import type { Change } from './changes.ts';
import type { FeedReader, Followed, StoreEvent } from './mirror-store.ts';
import { createReaderQueue, type ReaderQueue } from './reader-queue.ts';

/**
 * Tells the readers of one mirror what changes, in store order: each has a queue of its own (`reader-queue.ts`), emptied in batches at the end
 * of a turn of the event loop. A reader that throws or rejects is ended alone, and logged as the bug it is.
 */
export interface ChangeFeed {
  /** True while somebody reads. */
  readonly read: boolean;
  /** @returns `Following.pull`. */
  follow(reader: FeedReader, signal: AbortSignal): () => void;
  changed(changes: readonly Change[]): void;
  /** The diff of a list, in the order it took effect. Kept, not copied. */
  replaced(diff: readonly Change[]): void;
  /** All that the readers know is void: each gets a `reset`. */
  reset(): void;
  synced(version: ResourceVersion | undefined): void;
  failed(fault: Fault): void;
  /** Reaches each reader at most once per 30 s. */
  confirmed(version: ResourceVersion): void;
  /** The last event, after what still waits. Nothing is told after it; who follows later is told this alone. */
  gone(fault: Fault): void;
}

export interface ChangeFeedOptions {
  readonly clock: Clock;
  readonly log: Log;
  /** What is held now: for a `reset`. */
  readonly snapshot: () => Followed;
}

const confirmedEveryMs = 30_000;

interface Follower {
  readonly reader: FeedReader;
  readonly queue: ReaderQueue;
  readonly end: () => void;
  /** Its last batch is still being handled. */
  busy: boolean;
  confirmedAtMs: number;
}

/** A feed without readers. */
export function createChangeFeed({ clock, log, snapshot }: ChangeFeedOptions): ChangeFeed {
  const followers = new Set<Follower>();
  let gone: Extract<StoreEvent, { readonly type: 'gone' }> | undefined;
  let scheduled = false;

  const schedule = (): void => {
    if (scheduled || followers.size === 0) return;
    scheduled = true;
    setImmediate(flush);
  };

  const flush = (): void => {
    scheduled = false;
    const reset = snapshotOnce();
    for (const follower of [...followers]) deliver(follower, reset);
  };

  /** One snapshot serves all readers that need one now. */
  const snapshotOnce = () => {
    let taken: (StoreEvent & { readonly type: 'reset' }) | undefined;
    return () => {
      taken ??= { type: 'reset', ...snapshot() };
      return taken;
    };
  };

  const pull = (follower: Follower): void => {
    // Of hundreds of mirrors that are pulled together, hardly one has something to say.
    if (gone === undefined && follower.queue.empty) return;
    const reset = snapshotOnce();
    while (followers.has(follower) && !follower.busy && (gone !== undefined || !follower.queue.empty)) deliver(follower, reset);
  };

  const deliver = (follower: Follower, reset: () => StoreEvent & { readonly type: 'reset' }): void => {
    if (follower.busy || !followers.has(follower)) return;
    const batch = follower.queue.take(reset);
    const last = gone !== undefined && follower.queue.empty;
    const events = last && gone !== undefined ? [...batch, gone] : batch;
    if (last) follower.end();
    else if (!follower.queue.empty) schedule();
    if (events.length > 0) hand(follower, events);
  };

  const hand = (follower: Follower, events: readonly StoreEvent[]): void => {
    try {
      const handled = follower.reader(events);
      if (!(handled instanceof Promise)) return;
      follower.busy = true;
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

  const expel = (follower: Follower, error: unknown): void => {
    follower.end();
    log.error({ error }, 'a reader of a change feed failed and was ended');
  };

  const tell = (put: (follower: Follower) => void): void => {
    if (gone !== undefined) return;
    for (const follower of followers) put(follower);
    schedule();
  };

  return {
    get read() {
      return followers.size > 0;
    },
    follow(reader, signal) {
      if (signal.aborted) return () => undefined;
      const end = (): void => {
        followers.delete(follower);
        signal.removeEventListener('abort', end);
      };
      const follower: Follower = { reader, queue: createReaderQueue(), end, busy: false, confirmedAtMs: Number.NEGATIVE_INFINITY };
      signal.addEventListener('abort', end, { once: true });
      followers.add(follower);
      if (gone !== undefined) schedule();
      return () => pull(follower);
    },
    changed: (changes) => tell(({ queue }) => changes.forEach(queue.push)),
    replaced: (diff) => tell(({ queue }) => queue.pushDiff(diff)),
    reset: () => tell(({ queue }) => queue.reset()),
    synced: (version) => tell(({ queue }) => queue.pushState({ type: 'synced', version })),
    failed: (fault) => tell(({ queue }) => queue.pushState({ type: 'failed', fault })),
    confirmed(version) {
      const now = clock.monotonic();
      tell((follower) => {
        if (now - follower.confirmedAtMs < confirmedEveryMs) return;
        follower.confirmedAtMs = now;
        follower.queue.pushConfirmed({ type: 'confirmed', version });
      });
    },
    gone(fault) {
      if (gone !== undefined) return;
      gone = { type: 'gone', fault };
      schedule();
    },
  };
}
