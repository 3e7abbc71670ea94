import type { Clock } from '../clock.ts';
import type { PromiseOrValue } from './promise-or-value.ts';

/** Long work in small steps: it can be interrupted at each `yield`. A step takes well below a millisecond. */
export type Steps<T> = Generator<undefined, T, undefined>;

/** Runs all steps without interruption. */
export function runAtOnce<T>(steps: Steps<T>): T {
  for (;;) {
    const { done, value } = steps.next();
    if (done === true) return value;
  }
}

/**
 * Runs the long work of one operation in slices. Other operations have their slices in between.
 *
 * A step may call these methods too. The work of such a call is part of the step, which ends the slice by itself: `pause` returns undefined, and `run` may
 * continue for 2 ms after the end of the slice.
 */
export interface TimeSlices {
  /**
   * Runs the steps and returns their result: at once if the first slice is enough, else as a promise.
   *
   * The first step always runs at once, so it reads the state at the time of the call. Each later slice first checks whether the operation is over, and
   * rejects with the reason if so.
   */
  run<T>(steps: Steps<T>): PromiseOrValue<T>;
  /**
   * Ends a step of asynchronous work. Returns undefined while the current slice has time left: continue at once. Otherwise returns a promise that
   * resolves in a later slice. The promise rejects with the reason once the operation is over.
   */
  pause(): Promise<void> | undefined;
}

/** Milliseconds for the slices of all operations in one event-loop turn. */
const turnMs = 8;

/** Milliseconds of one slice while several operations wait. An operation that waits alone may use the whole turn. */
const sliceMs = 4;

/**
 * Milliseconds that each operation may work at once when it begins, even if many operations wait. Most operations need no more. While
 * several operations wait, the next slices are also this short until the operation has used 4 ms, because many operations may begin
 * together.
 */
const firstMs = 1;

/** Milliseconds after the end of a slice for which the work inside its last step may continue. */
const innerMs = 2;

/**
 * Shares the time of the process among operations with long work. All operations together get 8 ms in each event-loop turn. Then sockets are read and
 * timers run. The operation that has had the least time runs first, so a small one never waits for more than the slice of another.
 */
export class TimeSliceScheduler {
  readonly #clock: Pick<Clock, 'monotonic'>;
  readonly #waiting = new Set<Operation>();
  /** When the slices of this event-loop turn end; undefined before the first one. */
  #turnEndsMs: number | undefined;
  #planned = false;

  constructor(clock: Pick<Clock, 'monotonic'>) {
    this.#clock = clock;
  }

  /**
   * Creates the slices of one operation. They share the time of this scheduler.
   *
   * @param throwIfOver Called before each slice. It throws once the operation is over.
   */
  createSlices(throwIfOver: () => void): TimeSlices {
    return new Operation({ slices: this, clock: this.#clock, throwIfOver });
  }

  /** Returns the time at which the work of this event-loop turn must stop. The first call in a turn sets it to 8 ms after `nowMs`. */
  turnEndsMs(nowMs: number): number {
    if (!this.#planned) this.#plan();
    this.#turnEndsMs ??= nowMs + turnMs;
    return this.#turnEndsMs;
  }

  /** Queues an operation that has work for later slices. */
  wait(operation: Operation): void {
    this.#waiting.add(operation);
    this.#plan();
  }

  #plan(): void {
    if (this.#planned) return;
    this.#planned = true;
    setImmediate(this.#turn);
  }

  readonly #turn = async (): Promise<void> => {
    this.#turnEndsMs = undefined;
    this.#planned = false;
    for (let next = this.#next(); next !== undefined; next = this.#next()) {
      const beganMs = this.#clock.monotonic();
      const endsMs = this.turnEndsMs(beganMs);
      if (beganMs >= endsMs) return;
      next.work(this.#waiting.size === 1 ? endsMs : Math.min(endsMs, beganMs + (next.usedMs < sliceMs ? firstMs : sliceMs)));
      if (!next.waits) this.#waiting.delete(next);
      // The operation may continue with its result in microtasks. Their time counts as part of the slice.
      await microtasksDone();
      next.usedMs += this.#clock.monotonic() - beganMs;
    }
  };

  #next(): Operation | undefined {
    let least: Operation | undefined;
    for (const operation of this.#waiting) if (least === undefined || operation.usedMs < least.usedMs) least = operation;
    return least;
  }
}

function microtasksDone(): Promise<void> {
  return new Promise((resolve) => process.nextTick(resolve));
}

interface OperationOptions {
  readonly slices: TimeSliceScheduler;
  readonly clock: Pick<Clock, 'monotonic'>;
  readonly throwIfOver: () => void;
}

/** Works until `untilMs`. Returns false once all of the work is done. */
type Work = (untilMs: number) => boolean;

class Operation implements TimeSlices {
  readonly #options: OperationOptions;
  readonly #work: Work[] = [];
  #next = 0;
  #firstEndsMs: number | undefined;
  /** True while a step runs. */
  #isInStep = false;
  /** Milliseconds of work in slices, without the first slice. */
  usedMs = 0;

  constructor(options: OperationOptions) {
    this.#options = options;
  }

  get waits(): boolean {
    return this.#next < this.#work.length;
  }

  run<T>(steps: Steps<T>): PromiseOrValue<T> {
    const endsMs = this.#sliceEndsMs();
    const first = this.#proceed(steps, this.#isInStep ? endsMs + innerMs : endsMs);
    if (first.done) return first.value;
    return this.#later((resolve) => (endsMs) => {
      this.#options.throwIfOver();
      const next = this.#proceed(steps, endsMs);
      if (next.done) resolve(next.value);
      return !next.done;
    });
  }

  pause(): Promise<void> | undefined {
    if (this.#isInStep || this.#options.clock.monotonic() < this.#sliceEndsMs()) return undefined;
    return this.#later<void>((resolve) => () => {
      this.#options.throwIfOver();
      resolve();
      return false;
    });
  }

  work(untilMs: number): void {
    const work = this.#work[this.#next];
    if (work?.(untilMs) === true) return;
    this.#next += 1;
    if (this.waits) return;
    this.#work.length = 0;
    this.#next = 0;
  }

  #sliceEndsMs(): number {
    const nowMs = this.#options.clock.monotonic();
    this.#firstEndsMs ??= nowMs + firstMs;
    return Math.max(this.#firstEndsMs, this.#options.slices.turnEndsMs(nowMs));
  }

  #proceed<T>(steps: Steps<T>, untilMs: number): { readonly done: true; readonly value: T } | { readonly done: false } {
    const wasInStep = this.#isInStep;
    this.#isInStep = true;
    try {
      do {
        const { done, value } = steps.next();
        if (done === true) return { done, value };
      } while (this.#options.clock.monotonic() < untilMs);
      return { done: false };
    } finally {
      this.#isInStep = wasInStep;
    }
  }

  #later<T>(workOf: (resolve: (value: T) => void) => Work): Promise<T> {
    return new Promise((resolve, reject) => {
      const work = workOf(resolve);
      this.#work.push((untilMs) => {
        try {
          return work(untilMs);
        } catch (error) {
          reject(error);
          return false;
        }
      });
      this.#options.slices.wait(this);
    });
  }
}
