import type { Clock } from '../../core/clock.ts';

interface CutPaceOptions {
  readonly clock: Clock;
  /** A window is over: what came meanwhile may be told. */
  readonly onElapsed: () => void;
  /** Readers have been waited for long enough. */
  readonly onImpatient: () => void;
}

/** Batches leave at least so far apart, the first at once. */
const windowMs = 5;
/** Who leaves a batch untaken, and has not said that it would, is waited for so long. */
const patienceMs = 1_000;

/** When the batches of a view may leave. Nothing of it runs once the signal has aborted. */
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

  /** A batch has left so recently that the next one has to wait. */
  get isWindowOpen(): boolean {
    return this.#windowOpen;
  }

  /** Readers are being waited for. */
  get isWaiting(): boolean {
    return this.#waiting !== undefined;
  }

  /** How long ago a batch left. */
  get quietMs(): number {
    return this.#options.clock.monotonic() - this.#leftMs;
  }

  /** A batch leaves. */
  noteBatch(): void {
    const { clock, onElapsed } = this.#options;
    this.#leftMs = clock.monotonic();
    this.#windowOpen = true;
    void clock.sleep(windowMs, this.#signal).then(() => {
      this.#windowOpen = false;
      if (!this.#signal.aborted) onElapsed();
    });
  }

  /** Readers have something of the last batch still to take. */
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

  /** They have taken it, or are not waited for any more. */
  stopWaiting(): void {
    this.#waiting?.abort();
    this.#waiting = undefined;
  }
}
