import type { Caller } from '../../access/access.ts';
import { MusterError } from '../../core/errors.ts';
import type { QueueShare } from '../../load/queue-budget.ts';
import type { MessageDraft, SourceKnowledge, SourceSlice } from '../messages/message-drafts.ts';
import type { MessageRun } from '../messages/message-run.ts';
import type { ResumePoint } from '../messages/stream-cursor.ts';
import type { StreamListener, StreamReader } from '../stream-source.ts';
import { SourceBacklog } from './source-backlog.ts';

/** The view that a reader reads now. */
export interface ReaderHost<Message extends object> {
  /** A message for this reader alone. `over`: what the reader knows of other sources. */
  make(draft: MessageDraft, over: ReadonlyMap<string, SourceKnowledge['position']>): Message;
  /** The reader has no longer anything untaken of the batch that all in step were given, or waits for nothing any more. */
  caughtUp(reader: ViewReader<Message>): void;
  /** It goes on with that batch. */
  hasUntaken(reader: ViewReader<Message>): void;
  leave(reader: ViewReader<Message>): void;
}

interface ViewReaderOptions<Message extends object> {
  readonly caller: Caller;
  readonly listener: StreamListener;
  readonly signal: AbortSignal;
  readonly host: ReaderHost<Message>;
  /** Opens its share of what all queues may hold. */
  readonly openShare: (evict: () => void) => QueueShare;
  /** Told of a listener that throws. */
  readonly onThrow: (error: unknown) => void;
  /** Where it resumes. */
  readonly after?: ResumePoint | undefined;
}

/** The same for all: at hand when a thousand readers are looked at. */
const noDrafts: readonly MessageDraft[] = [];

/** What one reader may have waiting, in changes and in estimated bytes. */
const maxChanges = 1_000;
const maxBytes = 1024 * 1024;

/**
 * One reader of a view. *In step* it is given the batches that all are given; else it walks through a run of messages, its first state or what
 * was left of a batch, while what comes meanwhile gathers in arrears, which it is given next (docs/internals/streams.md 3).
 */
export class ViewReader<Message extends object> implements StreamReader<Message> {
  readonly caller: Caller;
  readonly #options: Omit<ViewReaderOptions<Message>, 'after'>;
  readonly #arrears = new Map<string, SourceBacklog>();
  readonly #dispose = () => this[Symbol.dispose]();
  #host: ReaderHost<Message>;
  #after: ResumePoint | undefined;
  #run: MessageRun<Message> | undefined;
  /** The run is of drafts that are told to this reader alone. */
  #own = noDrafts;
  #next = 0;
  #shared = false;
  #paused = false;
  #told = false;
  #ended = false;
  /** Why it has ended, if its listener is to know. */
  #reason: MusterError | undefined;
  #share: QueueShare | undefined;

  constructor({ after, ...options }: ViewReaderOptions<Message>) {
    this.#options = options;
    this.#host = options.host;
    this.caller = options.caller;
    this.#after = after;
    options.signal.addEventListener('abort', this.#dispose, { once: true });
  }

  /** Where it resumes, until it is given what comes first: a cursor may be large. */
  get after(): ResumePoint | undefined {
    return this.#after;
  }

  /** It gets what all get: nothing is left of what it was given, though it may wait for sources that are not whole. */
  get isInStep(): boolean {
    return !this.#paused && !this.#hasSomething;
  }

  /** Sources of which it knows more than those in step, as they were not whole when it came. Nothing is due of them if it is in step. */
  get waitingSources(): Iterable<string> {
    return this.#arrears.keys();
  }

  get ended(): boolean {
    return this.#ended;
  }

  /** Gives it messages to walk through. `shared`: a batch of those in step. */
  startRun(run: MessageRun<Message>, as: 'shared' | 'first'): void {
    this.#after = undefined;
    this.#run = run.length === 0 ? undefined : run;
    this.#next = 0;
    this.#shared = as === 'shared' && run.length > 0;
    if (this.#shared && !this.#paused) this.#host.hasUntaken(this);
  }

  /** It is in step, and is given these parts with all who are. */
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

  /** Adds what is new to what it has to be told later. Ends it with `SLOW_CONSUMER` if that is too much. */
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

  /** It knows that much of a source which is not whole now: what it has to be told is known only then. */
  waitForSource(arrears: SourceBacklog): void {
    this.#arrears.set(arrears.source.key, arrears);
  }

  /** Goes on reading another view. */
  moveTo(host: ReaderHost<Message>): void {
    this.#host = host;
    this.#shared = false;
  }

  /** Tells the listener that there is something to take, unless it knows, or there is nothing. */
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

  /** Ends it, and tells why in a turn of its own. */
  end(reason: MusterError): void {
    if (this.#ended) return;
    this.#cease();
    this.#reason = reason;
    setImmediate(() => {
      // Disposed meanwhile: nobody wants to know.
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
    // Asked of each reader several times for each message: an iterator is made for those who have some only.
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
