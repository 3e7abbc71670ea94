import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Clock } from '../core/clock.ts';
import { createQueueBudget, type QueueBudget, type QueueShare } from '../load/queue-budget.ts';
import { IntervalTimer } from './interval-timer.ts';

/** A connection is closed if its client takes not one byte for this long while bytes wait for it. */
const stalledMs = 60_000;

/** Interval between two checks of the answers that are being sent. */
const checkMs = 6_000;

/** Counts the bytes that wait in all connections, and closes connections whose clients do not take them. */
export class UnsentBytes {
  /** The bound for all waiting bytes. Above it the connection with the most waiting bytes is closed first. */
  readonly budget: QueueBudget;
  readonly #clock: Clock;
  readonly #answers: IntervalTimer<SentAnswer>;

  constructor(clock: Clock, maxBytes?: number) {
    this.#clock = clock;
    this.budget = createQueueBudget(maxBytes);
    this.#answers = new IntervalTimer({ clock, everyMs: checkMs, onInterval: (answer) => answer.check(clock.monotonic()) });
  }

  /** Watches one connection. The caller has to call `isStalled` at regular intervals. */
  watch(socket: Socket): SocketBacklog {
    return new SocketBacklog(socket, this.budget, this.#clock.monotonic());
  }

  /**
   * Resolves once the kernel has taken an answer that was written as a whole, or once its connection is gone. Closes the connection if the client takes
   * no byte for 60 s. Undefined if no byte waits.
   */
  untilTaken(response: ServerResponse): Promise<void> | undefined {
    const { socket } = response;
    if (response.destroyed || socket === null || response.writableLength === 0) return undefined;
    const backlog = this.watch(socket);
    const answer: SentAnswer = {
      check: (nowMs) => {
        if (backlog.isStalled(nowMs)) response.destroy();
      },
    };
    backlog.update();
    this.#answers.add(answer);
    return new Promise((resolve) => {
      response.once('close', () => {
        this.#answers.delete(answer);
        backlog[Symbol.dispose]();
        resolve();
      });
    });
  }
}

interface SentAnswer {
  check(nowMs: number): void;
}

/** The bytes that wait in one connection. Disposing it ends the watch, not the connection. */
export class SocketBacklog implements Disposable {
  readonly #socket: Socket;
  readonly #budget: QueueBudget;
  #share: QueueShare | undefined;
  #taken = 0;
  /** The last time at which the client had taken bytes, or no bytes were waiting. */
  #movedMs: number;
  #waitedMs = 0;

  constructor(socket: Socket, budget: QueueBudget, nowMs: number) {
    this.#socket = socket;
    this.#budget = budget;
    this.#movedMs = nowMs;
  }

  /** The last time at which bytes were waiting, in milliseconds of the monotonic clock. 0 if never. */
  get waitedMs(): number {
    return this.#waitedMs;
  }

  /** Counts the waiting bytes. If all connections together have too many, closes the one with the most, which may be this one. */
  update(): void {
    const { writableLength } = this.#socket;
    if (writableLength === 0 && this.#share === undefined) return;
    // The socket is destroyed later, because the caller may be in the middle of a write.
    this.#share ??= this.#budget.open(() => setImmediate(() => this.#socket.destroy()));
    this.#share.set(writableLength);
  }

  /** Counts the waiting bytes, as `update` does. Returns true if bytes have waited for 60 s and the client has taken none of them. */
  isStalled(nowMs: number): boolean {
    this.update();
    const taken = takenBytes(this.#socket);
    if (this.#socket.writableLength > 0) {
      this.#waitedMs = nowMs;
      if (taken === this.#taken) return nowMs - this.#movedMs >= stalledMs;
    }
    this.#taken = taken;
    this.#movedMs = nowMs;
    return false;
  }

  [Symbol.dispose](): void {
    this.#share?.[Symbol.dispose]();
    this.#share = undefined;
  }
}

/**
 * Bytes that the kernel has taken. `writableLength` changes only when a write was taken as a whole, and one write may have many megabytes.
 * `writeQueueSize` also changes during a write: Node's own `socket.setTimeout` reads it for this reason. The kernel takes more bytes only
 * once a third of its buffer is free. So this number may stay the same for 43 s although the client reads: a third of 4 MiB at 32 KiB/s.
 */
function takenBytes(socket: Socket): number {
  const { _handle: handle } = socket as unknown as {
    readonly _handle?: { readonly bytesWritten: number; readonly writeQueueSize: number } | null;
  };
  return handle === undefined || handle === null ? 0 : handle.bytesWritten - handle.writeQueueSize;
}
