import type { Clock } from '../clock.ts';

/** A worker that does its work in small pieces. */
export interface ScheduledWorker {
  /** Does one piece of work. Returns true if there is more. It must not throw: the workers behind it in the queue would never run. */
  work(): boolean;
}

/** Milliseconds of work in one event-loop turn. Then the event loop continues, mainly to read sockets. */
const turnMs = 4;

/** Milliseconds. A piece that would probably make the turn longer than this starts in the next turn. */
const longestTurnMs = 8;

/**
 * Milliseconds per byte that the kernel takes to copy written data: 2 ms per MiB. Measured on loopback, where the same kernel also reads
 * it.
 */
const copyMsPerByte = 2 / (1 << 20);

/** Factor by which the recorded longest time of a piece shrinks with each turn, so that old pieces count less. */
const fading = 0.95;

/** Maximum number of pieces in one turn, even if they are short. */
const maxPieces = 512;

/**
 * Shares the process among all scheduled workers. The workers form a queue: each does one piece and returns to the end.
 *
 * Work starts in a microtask after the first worker was scheduled, that is, once the current synchronous code has ended. After 4 ms it
 * stops until the next event-loop turn, so that sockets are read and timers run.
 */
export class WorkScheduler {
  readonly #clock: Pick<Clock, 'monotonic'>;
  /** The queue. A worker that is scheduled again keeps its position. */
  readonly #queue = new Set<ScheduledWorker>();
  /** Workers that join the queue in the next turn. */
  readonly #next = new Set<ScheduledWorker>();
  #planned = false;
  /** Milliseconds of copying that the kernel does at the end of this turn. */
  #putOffMs = 0;
  /** The longest recent call of `work`, in milliseconds. The number shrinks with each turn, so that an old call counts less. */
  #longestMs = 0;

  constructor(clock: Pick<Clock, 'monotonic'>) {
    this.#clock = clock;
  }

  /** Adds a worker to the end of the queue, unless it is in the queue already. */
  schedule(worker: ScheduledWorker): void {
    this.#queue.add(worker);
    if (this.#planned) return;
    this.#planned = true;
    queueMicrotask(this.#turn);
  }

  /**
   * Adds a worker to the queue when the next event-loop turn begins. All workers that were added this way enter together, so they run
   * before the workers that they themselves schedule.
   */
  scheduleNextTurn(worker: ScheduledWorker): void {
    if (this.#next.size === 0) setImmediate(this.#enterAll);
    this.#next.add(worker);
  }

  /** Removes a worker from the queue, and from the workers that join it in the next turn. */
  cancel(worker: ScheduledWorker): void {
    this.#next.delete(worker);
    this.#queue.delete(worker);
  }

  /** Counts bytes that a piece of work wrote to a socket. The kernel copies them at the end of the turn, which makes the turn longer. */
  countWrittenBytes(bytes: number): void {
    this.#putOffMs += bytes * copyMsPerByte;
  }

  readonly #enterAll = (): void => {
    for (const worker of this.#next) this.schedule(worker);
    this.#next.clear();
  };

  readonly #turn = (): void => {
    const startMs = this.#clock.monotonic();
    let beganMs = startMs;
    let pieces = 0;
    this.#putOffMs = 0;
    this.#longestMs *= fading;
    for (const worker of this.#queue) {
      this.#queue.delete(worker);
      if (worker.work()) this.#queue.add(worker);
      const nowMs = this.#clock.monotonic();
      this.#longestMs = Math.max(this.#longestMs, nowMs - beganMs);
      beganMs = nowMs;
      pieces++;
      const tookMs = nowMs - startMs + this.#putOffMs;
      if (tookMs >= turnMs || tookMs + this.#longestMs > longestTurnMs || pieces === maxPieces) break;
    }
    this.#planned = this.#queue.size > 0;
    if (this.#planned) setImmediate(this.#turn);
  };
}
