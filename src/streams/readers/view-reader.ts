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
  /** Called when the reader has taken the whole shared batch, has paused, or has ended. The view then no longer waits for it. */
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
  /** Opens the share of this reader in the bytes that all queues may hold. */
  readonly openShare: (evict: () => void) => QueueShare;
  /** Called with the error of a listener that throws. */
  readonly onThrow: (error: unknown) => void;
  /** The point at which the reader resumes. Default: it begins with the first state. */
  readonly after?: ResumePoint | undefined;
}

/** Shared by all readers, because a view checks a thousand readers for each batch. */
const noDrafts: readonly MessageDraft[] = [];

/** Bounds of the backlog of one reader, in changes and in estimated bytes. */
const maxChanges = 1_000;
const maxBytes = 1024 * 1024;

/**
 * One reader of a view (docs/internals/streams.md 3).
 *
 * A reader *in step* gets the shared messages of each cut. Otherwise it takes the rest of its run, and new slices wait in its backlog.
 *
 * Next: the listener is a `StreamSender` (sending/stream-sender.ts). After `notify` it calls `take`.
 */
export class ViewReader<Message extends object> implements StreamReader<Message> {
  readonly caller: Caller;
  readonly #options: Omit<ViewReaderOptions<Message>, 'after'>;
  readonly #arrears = new Map<string, SourceBacklog>();
  readonly #dispose = () => this[Symbol.dispose]();
  #host: ReaderHost<Message>;
  #after: ResumePoint | undefined;
  #run: MessageRun<Message> | undefined;
  /** Messages of the backlog, for this reader alone. */
  #own = noDrafts;
  #next = 0;
  #shared = false;
  #paused = false;
  #told = false;
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

  /** The point at which the reader resumes. Undefined after `startRun`, because a cursor may be large. */
  get after(): ResumePoint | undefined {
    return this.#after;
  }

  /** True if the reader gets the shared messages: it has taken everything that it got before. It may still wait for incomplete sources. */
  get isInStep(): boolean {
    return !this.#paused && !this.#hasSomething;
  }

  /**
   * Keys of incomplete sources about which this reader knows more than readers in step do. They have no message while the reader is in
   * step.
   */
  get waitingSources(): Iterable<string> {
    return this.#arrears.keys();
  }

  get ended(): boolean {
    return this.#ended;
  }

  /** Gives the reader messages to take. `shared`: the batch of all readers in step. `first`: its first state, or what it has missed. */
  startRun(run: MessageRun<Message>, as: 'shared' | 'first'): void {
    this.#after = undefined;
    this.#run = run.length === 0 ? undefined : run;
    this.#next = 0;
    this.#shared = as === 'shared' && run.length > 0;
    if (this.#shared && !this.#paused) this.#host.hasUntaken(this);
  }

  /** Gives the reader the shared messages of these slices. Call it only if the reader is in step. */
  deliver(parts: readonly SourceSlice[], run: MessageRun<Message>): void {
    if (this.#arrears.size > 0) {
      for (const part of parts) {
        const arrears = this.#arrears.get(part.source.key);
        arrears?.markSent(part);
        if (arrears?.isSettled) this.#arrears.delete(part.source.key);
      }
    }
    if (run.length > 0) this.startRun(run, 'shared');
  }

  /** Adds the slices to the backlog of the reader. Ends it with `SLOW_CONSUMER` if the backlog exceeds its bounds. */
  addBacklog(parts: readonly SourceSlice[]): void {
    for (const part of parts) {
      const { key } = part.source;
      const known = this.#arrears.get(key);
      if (known === undefined && part.news.type === 'confirmed') continue;
      const arrears = known ?? new SourceBacklog(part.source, part.before);
      arrears.add(part);
      if (arrears.isSettled) this.#arrears.delete(key);
      else this.#arrears.set(key, arrears);
    }
    this.#weigh();
  }

  /** Keeps what the reader knows about an incomplete source. What it has missed is known only when the source is complete. */
  waitForSource(arrears: SourceBacklog): void {
    this.#arrears.set(arrears.source.key, arrears);
  }

  /** Moves the reader to another view. */
  moveTo(host: ReaderHost<Message>): void {
    this.#host = host;
    this.#shared = false;
  }

  /** Notifies the listener that there is a message to take, unless it knows that already. */
  notify(): void {
    if (this.#ended || this.#told || !this.#hasSomething) return;
    this.#told = true;
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
    this.#cease();
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
    const message = this.#takeGiven() ?? this.#takeOwed();
    if (!this.#hasSomething) this.#told = false;
    if (this.#shared) this.#host.hasUntaken(this);
    else this.#host.caughtUp(this);
    return message;
  }

  pause(): void {
    if (this.#ended) return;
    this.#paused = true;
    this.#told = false;
    this.#host.caughtUp(this);
  }

  [Symbol.dispose](): void {
    this.#reason = undefined;
    if (!this.#ended) this.#cease();
  }

  #cease(): void {
    this.#ended = true;
    this.#options.signal.removeEventListener('abort', this.#dispose);
    this.#share?.[Symbol.dispose]();
    this.#run = undefined;
    this.#own = noDrafts;
    this.#arrears.clear();
    this.#host.leave(this);
  }

  get hasMore(): boolean {
    return this.#hasSomething;
  }

  get #hasSomething(): boolean {
    return this.#run !== undefined || this.#own.length > 0 || this.#firstDue() !== undefined;
  }

  #firstDue(): SourceBacklog | undefined {
    // This runs several times for each reader and message. So it makes an iterator only if there is a backlog.
    if (this.#arrears.size === 0) return undefined;
    for (const arrears of this.#arrears.values()) if (arrears.isDue) return arrears;
    return undefined;
  }

  #takeGiven(): Message | undefined {
    const run = this.#run;
    if (run === undefined) return undefined;
    const message = run.messageAt(this.#next);
    this.#next += 1;
    if (this.#next >= run.length) {
      this.#run = undefined;
      this.#shared = false;
    }
    return message;
  }

  #takeOwed(): Message | undefined {
    if (this.#own.length === 0) this.#own = this.#nextOwed();
    const [draft, ...rest] = this.#own;
    if (draft === undefined) return undefined;
    this.#own = rest.length === 0 ? noDrafts : rest;
    const positions = new Map([...this.#arrears].map(([key, { position }]) => [key, position]));
    return this.#host.make(draft, positions);
  }

  #nextOwed(): readonly MessageDraft[] {
    const arrears = this.#firstDue();
    if (arrears === undefined) return [];
    const drafts = arrears.take();
    if (arrears.isSettled) this.#arrears.delete(arrears.source.key);
    this.#weigh();
    return drafts;
  }

  #weigh(): void {
    let changes = 0;
    let bytes = 0;
    for (const { size, source } of this.#arrears.values()) {
      changes += size;
      bytes += size * source.meanBytes;
    }
    if (changes > maxChanges || bytes > maxBytes) {
      this.end(tooSlow(`expected a reader to keep up within ${maxChanges} changes or 1 MiB: go on with after`));
      return;
    }
    if (bytes === 0 && this.#share === undefined) return;
    this.#share ??= this.#options.openShare(() => this.end(tooSlow('all readers together have fallen too far behind: go on with after')));
    this.#share.set(bytes);
  }
}

function tooSlow(message: string): MusterError {
  return new MusterError('SLOW_CONSUMER', message);
}
