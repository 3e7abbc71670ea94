import type { Caller } from '../../access/access.ts';
import { MusterError } from '../../core/errors.ts';
import type { QueueShare } from '../../load/queue-budget.ts';
import type { MessageDraft, SourceKnowledge, SourceSlice } from '../messages/message-drafts.ts';
import type { MessageRun } from '../messages/message-run.ts';
import type { ResumePoint } from '../messages/stream-cursor.ts';
import type { StreamListener, StreamReader } from '../stream-source.ts';
import { SourceBacklog } from './source-backlog.ts';

/** The view that a reader belongs to. Implemented by `StreamView` (views/view.ts). */
export interface ReaderHost<Message extends object> {
  /** Makes a message for this reader alone. `over` has the positions of the reader in other sources. */
  make(draft: MessageDraft, over: ReadonlyMap<string, SourceKnowledge['position']>): Message;
  /**
   * Called when the reader has taken the whole shared batch (the messages of one cut for readers in step), has paused, or has ended. The view
   * then no longer waits for it.
   */
  caughtUp(reader: ViewReader<Message>): void;
  /** Called when the reader has messages of the shared batch to take. */
  hasUntaken(reader: ViewReader<Message>): void;
  leave(reader: ViewReader<Message>): void;
}

interface ViewReaderOptions<Message extends object> {
  readonly caller: Caller;
  readonly listener: StreamListener;
  readonly signal: AbortSignal;
  readonly host: ReaderHost<Message>;
  /**
   * Adds the queue of this reader to the budget, which bounds the bytes of the queues of all readers. The budget calls `evict` if it must end
   * this reader to free bytes.
   */
  readonly openShare: (evict: () => void) => QueueShare;
  /** Called with the error of a listener that throws. */
  readonly onThrow: (error: unknown) => void;
  /** The point at which the reader resumes. Default: it begins with the first state. */
  readonly after?: ResumePoint | undefined;
}

/** An empty list that all readers share, because a view would otherwise make a thousand of them for each batch. */
const noDrafts: readonly MessageDraft[] = [];

/** Bounds of the backlog of one reader, in changes and in estimated bytes. */
const maxChanges = 1_000;
const maxBytes = 1024 * 1024;

/**
 * One reader of a view (docs/internals/streams.md 3).
 *
 * A reader *in step* gets the shared messages of each cut. A reader that is not in step takes the remaining messages of its run, and new
 * slices wait in its backlog.
 *
 * Next: the listener is a `StreamSender` (sending/stream-sender.ts). After `notify` it calls `take`.
 */
export class ViewReader<Message extends object> implements StreamReader<Message> {
  readonly caller: Caller;
  readonly #options: Omit<ViewReaderOptions<Message>, 'after'>;
  readonly #backlogs = new Map<string, SourceBacklog>();
  readonly #dispose = () => this[Symbol.dispose]();
  #host: ReaderHost<Message>;
  #after: ResumePoint | undefined;
  #run: MessageRun<Message> | undefined;
  /** Messages of the backlog, for this reader alone. */
  #ownMessages = noDrafts;
  #next = 0;
  #isRunShared = false;
  #paused = false;
  #isNotified = false;
  #ended = false;
  /** The reason of the end, until the listener was notified. */
  #reason: MusterError | undefined;
  #share: QueueShare | undefined;

  constructor({ after, ...options }: ViewReaderOptions<Message>) {
    this.#options = options;
    this.#host = options.host;
    this.caller = options.caller;
    this.#after = after;
    options.signal.addEventListener('abort', this.#dispose, { once: true });
  }

  /**
   * The point at which the reader resumes. Undefined if it begins with the first state. Also undefined after `startRun`, because a cursor
   * may be large and is then dropped.
   */
  get after(): ResumePoint | undefined {
    return this.#after;
  }

  /**
   * True if the reader gets the shared messages: it has taken everything that it got before, and is not paused. It may still wait for
   * incomplete sources.
   */
  get isInStep(): boolean {
    return !this.#paused && !this.#hasSomething;
  }

  /**
   * Keys of the sources for which this reader has a backlog. A reader in step can have one only for a source whose list is not complete.
   * Such a backlog gives no message before the list is complete.
   */
  get waitingSources(): Iterable<string> {
    return this.#backlogs.keys();
  }

  get ended(): boolean {
    return this.#ended;
  }

  /** Gives the reader messages to take. `shared`: the batch of all readers in step. `first`: its first state, or what it has missed. */
  startRun(run: MessageRun<Message>, as: 'shared' | 'first'): void {
    this.#after = undefined;
    this.#run = run.length === 0 ? undefined : run;
    this.#next = 0;
    this.#isRunShared = as === 'shared' && run.length > 0;
    if (this.#isRunShared && !this.#paused) this.#host.hasUntaken(this);
  }

  /** Gives the reader the shared messages of these slices. Call it only if the reader is in step. */
  deliver(slices: readonly SourceSlice[], run: MessageRun<Message>): void {
    if (this.#backlogs.size > 0) {
      for (const slice of slices) {
        const backlog = this.#backlogs.get(slice.source.key);
        backlog?.markSent(slice);
        if (backlog?.isSettled) this.#backlogs.delete(slice.source.key);
      }
    }
    if (run.length > 0) this.startRun(run, 'shared');
  }

  /** Adds the slices to the backlog of the reader. Ends it with `SLOW_CONSUMER` if the backlog exceeds its bounds. */
  addBacklog(slices: readonly SourceSlice[]): void {
    for (const slice of slices) {
      const { key } = slice.source;
      const known = this.#backlogs.get(key);
      if (known === undefined && slice.news.type === 'confirmed') continue;
      const backlog = known ?? new SourceBacklog(slice.source, slice.before);
      backlog.add(slice);
      if (backlog.isSettled) this.#backlogs.delete(key);
      else this.#backlogs.set(key, backlog);
    }
    this.#checkBounds();
  }

  /** Adds the backlog of an incomplete source. The changes that the reader has missed are known only when the source is complete. */
  waitForSource(backlog: SourceBacklog): void {
    this.#backlogs.set(backlog.source.key, backlog);
  }

  /** Makes another view the host of this reader. No view waits for the messages that the reader still has to take. */
  moveTo(host: ReaderHost<Message>): void {
    this.#host = host;
    this.#isRunShared = false;
  }

  /** Notifies the listener that there is a message to take, unless it knows that already. If the listener throws, disposes the reader. */
  notify(): void {
    if (this.#ended || this.#isNotified || !this.#hasSomething) return;
    this.#isNotified = true;
    try {
      this.#options.listener.ready();
    } catch (error) {
      this.#options.onThrow(error);
      this[Symbol.dispose]();
    }
  }

  /** Ends the reader. The listener is notified in a later event-loop turn. */
  end(reason: MusterError): void {
    if (this.#ended) return;
    this.#release();
    this.#reason = reason;
    setImmediate(() => {
      // The reader was disposed meanwhile, so the listener is not notified.
      if (this.#reason === undefined) return;
      try {
        this.#options.listener.ended(reason);
      } catch (error) {
        this.#options.onThrow(error);
      }
    });
  }

  take(): Message | undefined {
    if (this.#ended) return undefined;
    this.#paused = false;
    const message = this.#takeFromRun() ?? this.#takeFromBacklog();
    if (!this.#hasSomething) this.#isNotified = false;
    if (this.#isRunShared) this.#host.hasUntaken(this);
    else this.#host.caughtUp(this);
    return message;
  }

  pause(): void {
    if (this.#ended) return;
    this.#paused = true;
    this.#isNotified = false;
    this.#host.caughtUp(this);
  }

  [Symbol.dispose](): void {
    this.#reason = undefined;
    if (!this.#ended) this.#release();
  }

  #release(): void {
    this.#ended = true;
    this.#options.signal.removeEventListener('abort', this.#dispose);
    this.#share?.[Symbol.dispose]();
    this.#run = undefined;
    this.#ownMessages = noDrafts;
    this.#backlogs.clear();
    this.#host.leave(this);
  }

  get hasMore(): boolean {
    return this.#hasSomething;
  }

  get #hasSomething(): boolean {
    return this.#run !== undefined || this.#ownMessages.length > 0 || this.#firstDue() !== undefined;
  }

  #firstDue(): SourceBacklog | undefined {
    // This runs several times for each reader and message. So it makes an iterator only if there is a backlog.
    if (this.#backlogs.size === 0) return undefined;
    for (const backlog of this.#backlogs.values()) if (backlog.isDue) return backlog;
    return undefined;
  }

  #takeFromRun(): Message | undefined {
    const run = this.#run;
    if (run === undefined) return undefined;
    const message = run.messageAt(this.#next);
    this.#next += 1;
    if (this.#next >= run.length) {
      this.#run = undefined;
      this.#isRunShared = false;
    }
    return message;
  }

  #takeFromBacklog(): Message | undefined {
    if (this.#ownMessages.length === 0) this.#ownMessages = this.#nextOfBacklog();
    const [draft, ...rest] = this.#ownMessages;
    if (draft === undefined) return undefined;
    this.#ownMessages = rest.length === 0 ? noDrafts : rest;
    const positions = new Map([...this.#backlogs].map(([key, { position }]) => [key, position]));
    return this.#host.make(draft, positions);
  }

  #nextOfBacklog(): readonly MessageDraft[] {
    const backlog = this.#firstDue();
    if (backlog === undefined) return [];
    const drafts = backlog.take();
    if (backlog.isSettled) this.#backlogs.delete(backlog.source.key);
    this.#checkBounds();
    return drafts;
  }

  #checkBounds(): void {
    let changes = 0;
    let bytes = 0;
    for (const { size, source } of this.#backlogs.values()) {
      changes += size;
      bytes += size * source.meanBytes;
    }
    if (changes > maxChanges || bytes > maxBytes) {
      this.end(tooSlow(`expected a reader to keep up within ${maxChanges} changes or 1 MiB: resume with after`));
      return;
    }
    if (bytes === 0 && this.#share === undefined) return;
    this.#share ??= this.#options.openShare(() =>
      this.end(tooSlow('all readers together have fallen too far behind: resume with `after`')),
    );
    this.#share.set(bytes);
  }
}

function tooSlow(message: string): MusterError {
  return new MusterError('SLOW_CONSUMER', message);
}
