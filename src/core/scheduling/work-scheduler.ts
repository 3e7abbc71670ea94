import type { Clock } from '../clock.ts';

/** Somebody who has work to do in small pieces. */
export interface ScheduledWorker {
  /** Does one piece. True if there is more. Must not throw: who waits behind it would never have its turn. */
  work(): boolean;
}

/** After so long in one turn others have theirs: what is read from sockets, above all. */
const turnMs = 4;

/** No piece is begun that is likely to make the turn longer than this. */
const longestTurnMs = 8;

/** 2 ms for each MiB: measured on loopback, where the same kernel also reads them. */
const copyMsPerByte = 2 / (1 << 20);

/** By how much what was seen of pieces counts less with each turn. */
const fading = 0.95;

/** Pieces in one turn, however short they are. */
const maxPieces = 512;

/**
 * Shares the process among all who have something to do: they stand in one row, each does one piece and goes to its end. They begin at the end
 * of the turn in which the first one came, and stop after 4 ms, so that sockets are read and timers run between.
 */
export class WorkScheduler {
  readonly #clock: Pick<Clock, 'monotonic'>;
  /** In the order in which they came: who is in it already keeps its place. */
  readonly #row = new Set<ScheduledWorker>();
  /** Who comes into it in the next turn. */
  readonly #next = new Set<ScheduledWorker>();
  #planned = false;
  /** What was left to the end of this turn, in time. */
  #putOffMs = 0;
  /** How long a piece may take, by those before it; what was long ago counts less. */
  #longestMs = 0;

  constructor(clock: Pick<Clock, 'monotonic'>) {
    this.#clock = clock;
  }

  /** Puts it at the end of the row, unless it stands there already. */
  schedule(worker: ScheduledWorker): void {
    this.#row.add(worker);
    if (this.#planned) return;
    this.#planned = true;
    queueMicrotask(this.#turn);
  }

  /** Puts it into the row in the next turn of the loop, with all who come in this way: before whoever they wake. */
  scheduleNextTurn(worker: ScheduledWorker): void {
    if (this.#next.size === 0) setImmediate(this.#enterAll);
    this.#next.add(worker);
  }

  /** Takes it out of the row. */
  cancel(worker: ScheduledWorker): void {
    this.#next.delete(worker);
    this.#row.delete(worker);
  }

  /**
   * Counts bytes that were handed to a socket in a piece of work. They are written at the end of the turn, which is then longer by as much as the kernel
   * takes to copy them.
   */
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
    for (const worker of this.#row) {
      this.#row.delete(worker);
      if (worker.work()) this.#row.add(worker);
      const nowMs = this.#clock.monotonic();
      this.#longestMs = Math.max(this.#longestMs, nowMs - beganMs);
      beganMs = nowMs;
      pieces++;
      const tookMs = nowMs - startMs + this.#putOffMs;
      if (tookMs >= turnMs || tookMs + this.#longestMs > longestTurnMs || pieces === maxPieces) break;
    }
    this.#planned = this.#row.size > 0;
    if (this.#planned) setImmediate(this.#turn);
  };
}
