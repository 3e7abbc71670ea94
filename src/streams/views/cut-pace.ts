import type { Clock } from '../../core/clock.ts';

interface CutPaceOptions {
  readonly clock: Clock;
  /** Called when the time between two batches is over, so that the next cut may happen. */
  readonly onElapsed: () => void;
  /** Called when the view has waited for readers as long as it may. */
  readonly onImpatient: () => void;
}

/** Minimum time between two batches. A batch is the messages of one cut. */
const windowMs = 5;
/** Maximum time for which a view waits for readers that have not taken the latest batch and have not paused. */
const patienceMs = 1_000;

/** Decides when the batches of a view may leave. Stops when the signal aborts. */
export class CutPace {
  readonly #options: CutPaceOptions;
  readonly #signal: AbortSignal;
  #windowOpen = false;
  #waiting: AbortController | undefined;
  #leftMs: number;

  constructor(options: CutPaceOptions, signal: AbortSignal) {
    this.#options = options;
    this.#signal = signal;
    this.#leftMs = options.clock.monotonic();
    signal.addEventListener('abort', () => this.stopWaiting(), { once: true });
  }

  /** True if the latest batch left so recently that the next one has to wait. */
  get isWindowOpen(): boolean {
    return this.#windowOpen;
  }

  /** True while the view waits for readers. */
  get isWaiting(): boolean {
    return this.#waiting !== undefined;
  }

  /** Time since the latest batch, in milliseconds. */
  get quietMs(): number {
    return this.#options.clock.monotonic() - this.#leftMs;
  }

  /** Starts the 5 ms in which no other batch may leave. Then calls `onElapsed`. Call this method when a batch leaves. */
  noteBatch(): void {
    const { clock, onElapsed } = this.#options;
    this.#leftMs = clock.monotonic();
    this.#windowOpen = true;
    void clock.sleep(windowMs, this.#signal).then(() => {
      this.#windowOpen = false;
      if (!this.#signal.aborted) onElapsed();
    });
  }

  /**
   * Waits for readers that still have messages of the latest batch. Calls `onImpatient` after 1 s, unless `stopWaiting` is called before.
   */
  waitForReaders(): void {
    if (this.#waiting !== undefined || this.#signal.aborted) return;
    const waiting = new AbortController();
    this.#waiting = waiting;
    void this.#options.clock.sleep(patienceMs, waiting.signal).then(() => {
      if (waiting.signal.aborted) return;
      this.#waiting = undefined;
      this.#options.onImpatient();
    });
  }

  /** Stops waiting: the readers have taken their messages, or the view cuts without them. */
  stopWaiting(): void {
    this.#waiting?.abort();
    this.#waiting = undefined;
  }
}
