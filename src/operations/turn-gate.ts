import type { Clock } from '../core/clock.ts';

/** After so long in one turn nobody else is let in before the next. */
const turnMs = 3;

/** Of those who have waited, in one turn. */
const maxPerTurn = 32;

/**
 * Lets in who comes, unless this turn of the loop has been long enough: then they wait for the next ones, in order. The loop hands over whatever has
 * come from all sockets in one turn; a crowd that was served in it would hold up everything else.
 */
export class TurnGate {
  readonly #clock: Pick<Clock, 'monotonic'>;
  readonly #waiting: (() => void)[] = [];
  /** When the first one of this turn was let in; undefined if there was none yet. */
  #beganMs: number | undefined;
  #planned = false;

  constructor(clock: Pick<Clock, 'monotonic'>) {
    this.#clock = clock;
  }

  /** Undefined: at once. */
  pass(): Promise<void> | undefined {
    if (this.#waiting.length === 0 && this.#hasTime()) return undefined;
    return new Promise((resolve) => this.#waiting.push(resolve));
  }

  #hasTime(): boolean {
    if (!this.#planned) {
      this.#planned = true;
      setImmediate(this.#endTurn);
    }
    const nowMs = this.#clock.monotonic();
    this.#beganMs ??= nowMs;
    return nowMs - this.#beganMs < turnMs;
  }

  readonly #endTurn = (): void => {
    this.#beganMs = undefined;
    this.#planned = this.#waiting.length > 0;
    if (!this.#planned) return;
    // Each by a callback of its own: what it does then is done when the next one asks for the time.
    for (let count = Math.min(this.#waiting.length, maxPerTurn); count > 0; count--) setImmediate(this.#letIn);
    setImmediate(this.#endTurn);
  };

  readonly #letIn = (): void => {
    if (this.#hasTime()) this.#waiting.shift()?.();
  };
}
