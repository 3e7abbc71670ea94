import type { Clock } from '../../core/clock.ts';
import { MusterError } from '../../core/errors.ts';
import type { Fault } from '../../core/faults.ts';
import type { StreamListener } from '../../streams/stream-source.ts';
import type { QueueBudget, QueueShare } from '../queue-budget.ts';
import { LogQueue, type QueuedLog } from './log-queue.ts';
import type { LogLineView } from './logs.ts';
import type { LogTarget } from './read-logs.ts';

interface LogOutboxOptions {
  readonly clock: Clock;
  readonly listener: StreamListener;
  readonly budget: QueueBudget;
  /** Ends the reader. Called at most once. */
  readonly end: (reason: MusterError) => void;
  /** Handles an error that a listener throws. Must not throw. */
  readonly onThrow: (error: unknown) => void;
}

/** Minimum milliseconds between two calls of `listener.ready`. Lines that arrive in between are joined, so frequent lines become few messages. */
const windowMs = 50;

/**
 * The messages that wait for one reader of logs. Calls `listener.ready` when there are messages to take. Lines that a slow reader does not
 * take are dropped and counted. The reader ends with `SLOW_CONSUMER` if its messages without lines exceed the limit of the queue, or if the
 * budget of all queues is exceeded and its queue is the largest.
 */
export class LogOutbox implements Disposable {
  readonly #options: LogOutboxOptions;
  readonly #queue = new LogQueue<LogTarget>();
  readonly #share: QueueShare;
  readonly #life = new AbortController();
  #isAnnounced = false;
  #nextMs = Number.NEGATIVE_INFINITY;

  constructor(options: LogOutboxOptions) {
    this.#options = options;
    this.#share = options.budget.open(() => this.#overflow());
  }

  lines(target: LogTarget, lines: readonly LogLineView[]): void {
    if (this.#life.signal.aborted) return;
    this.#queue.push(target, lines);
    this.#changed();
  }

  ended(target: LogTarget): void {
    if (this.#life.signal.aborted) return;
    this.#queue.addMessage(target, { type: 'ENDED' });
    this.#changed();
  }

  failed(target: LogTarget, fault: Fault): void {
    if (this.#life.signal.aborted) return;
    this.#queue.addMessage(target, { type: 'FAILED', fault });
    this.#changed();
  }

  get hasMore(): boolean {
    return !this.#queue.isEmpty;
  }

  take(): QueuedLog<LogTarget> | undefined {
    if (this.#life.signal.aborted) return undefined;
    const taken = this.#queue.take();
    this.#share.set(this.#queue.bytes);
    if (this.#queue.isEmpty) this.#isAnnounced = false;
    return taken;
  }

  pause(): void {
    this.#isAnnounced = false;
  }

  [Symbol.dispose](): void {
    this.#life.abort();
    this.#queue.clear();
    this.#share[Symbol.dispose]();
  }

  #changed(): void {
    if (this.#queue.isOverfull) this.#overflow();
    else this.#share.set(this.#queue.bytes);
    if (this.#isAnnounced || this.#life.signal.aborted) return;
    this.#isAnnounced = true;
    void this.#notify();
  }

  async #notify(): Promise<void> {
    const { clock, listener, onThrow } = this.#options;
    const { signal } = this.#life;
    const waitMs = this.#nextMs - clock.monotonic();
    // Waits for the end of the event-loop turn, so that the listener is never called from within `open` or `take`.
    if (waitMs > 0) await clock.sleep(waitMs, signal);
    else await new Promise((resolve) => setImmediate(resolve));
    if (signal.aborted || this.#queue.isEmpty) return;
    this.#nextMs = clock.monotonic() + windowMs;
    try {
      listener.ready();
    } catch (error) {
      onThrow(error);
    }
  }

  #overflow(): void {
    if (this.#life.signal.aborted) return;
    this.#options.end(new MusterError('SLOW_CONSUMER', 'the client reads the logs too slowly'));
  }
}
