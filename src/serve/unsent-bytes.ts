import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Clock } from '../core/clock.ts';
import { createQueueBudget, type QueueBudget, type QueueShare } from '../load/queue-budget.ts';
import { Beats } from './beats.ts';

/** A client that takes not one byte for this long, while bytes wait for it, is cut. */
const stalledMs = 60_000;

/** How often answers on their way are looked at. */
const checkMs = 6_000;

/** What waits to be sent in all connections, and the watch over clients that do not take it. */
export class UnsentBytes {
  /** Beyond its bound the connection with the most waiting bytes is cut first. */
  readonly budget: QueueBudget;
  readonly #clock: Clock;
  readonly #answers: Beats<SentAnswer>;

  constructor(clock: Clock, maxBytes?: number) {
    this.#clock = clock;
    this.budget = createQueueBudget(maxBytes);
    this.#answers = new Beats({ clock, everyMs: checkMs, beat: (answer) => answer.check(clock.monotonic()) });
  }

  /** Watches one connection. Its owner calls `isStalled` now and then. */
  backlog(socket: Socket): Backlog {
    return new Backlog(socket, this.budget, this.#clock.monotonic());
  }

  /**
   * Resolves once the kernel has taken an answer that was written whole, or once its connection is gone. Cuts the connection if the client takes
   * nothing for 60 s.
   */
  sent(response: ServerResponse): Promise<void> | undefined {
    const { socket } = response;
    if (response.destroyed || socket === null || response.writableLength === 0) return undefined;
    const backlog = this.backlog(socket);
    const answer: SentAnswer = {
      check: (nowMs) => {
        if (backlog.isStalled(nowMs)) response.destroy();
      },
    };
    backlog.note();
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
export class Backlog implements Disposable {
  readonly #socket: Socket;
  readonly #budget: QueueBudget;
  #share: QueueShare | undefined;
  #taken = 0;
  /** When bytes were last seen to be taken, or none were waiting. */
  #movedMs: number;
  #waitedMs = 0;

  constructor(socket: Socket, budget: QueueBudget, nowMs: number) {
    this.#socket = socket;
    this.#budget = budget;
    this.#movedMs = nowMs;
  }

  /** When bytes were last seen waiting, in milliseconds of the monotonic clock. 0 if never. */
  get waitedMs(): number {
    return this.#waitedMs;
  }

  /** Counts what waits now. Cuts the connection with the most bytes, which may be this one, if all together are too many. */
  note(): void {
    const { writableLength } = this.#socket;
    if (writableLength === 0 && this.#share === undefined) return;
    // Not at once: the caller may be in the middle of a write.
    this.#share ??= this.#budget.open(() => setImmediate(() => this.#socket.destroy()));
    this.#share.set(writableLength);
  }

  /** True if bytes have waited for 60 s and the client has taken none of them. */
  isStalled(nowMs: number): boolean {
    this.note();
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
 * Bytes that the kernel has taken. `writableLength` shows a write only once all of it was taken, which may be many megabytes; `writeQueueSize` is
 * what Node's own `socket.setTimeout` reads to tell whether a write still moves. The kernel asks for more when a third of its buffer is free, so a
 * buffer of 4 MiB that is read at 32 KiB/s moves every 43 s.
 */
function takenBytes(socket: Socket): number {
  const { _handle: handle } = socket as unknown as {
    readonly _handle?: { readonly bytesWritten: number; readonly writeQueueSize: number } | null;
  };
  return handle === undefined || handle === null ? 0 : handle.bytesWritten - handle.writeQueueSize;
}
