import { compareInstants, type LogInstant, parseLogInstant } from './log-times.ts';
import type { LogLineView } from './logs.ts';

/**
 * The lines with which reading a log begins. `sinceSeconds` or `since` (never both) leaves out older lines. `tailLines` then keeps only the
 * last lines. Default: the whole log.
 */
export interface LogBegin {
  readonly tailLines?: number | undefined;
  readonly sinceSeconds?: number | undefined;
  readonly since?: { readonly text: string; readonly instant: LogInstant } | undefined;
}

/** The parameters of a request that decide where the log starts. */
interface BeginQuery {
  readonly tailLines?: number | undefined;
  readonly sinceSeconds?: number | undefined;
  readonly sinceTime?: string | undefined;
}

/**
 * The position up to which one log was passed on, so that a new request repeats no line.
 *
 * API servers round `sinceTime` to seconds. Lines that they repeat are dropped, and lines of equal times are distinguished by their number.
 * After a rotation, the log continues with the lines that are left.
 *
 * Until the first line has arrived, a repeated request can only ask for the seconds since the log was opened, rounded up. With `tailLines:
 * 0`, the answer may therefore have lines from the two seconds before the log was opened.
 */
export class LogPosition {
  readonly #begin: LogBegin;
  #openedMs: number | undefined;
  /**
   * The time of the last line that was passed on, and the number of lines with this time. A line without a time, which continues the line
   * before it, counts too.
   */
  #last: { readonly time: string; count: number } | undefined;
  /** The lines to drop: all before `instant`, and the first `count` lines at `instant`. Undefined if no more lines are to be dropped. */
  #past: { readonly instant: LogInstant; count: number } | undefined;
  #withPast = false;

  constructor(begin: LogBegin) {
    this.#begin = begin;
  }

  /** Returns the parameters of the next request. */
  query(nowMs: number): BeginQuery {
    if (this.#last !== undefined) return { sinceTime: this.#last.time };
    const { tailLines, sinceSeconds, since } = this.#begin;
    const sinceTime = since?.text;
    if (this.#openedMs === undefined) return { tailLines, sinceSeconds, sinceTime };
    const elapsed = Math.ceil((nowMs - this.#openedMs) / 1_000) + 1;
    if (tailLines === 0) return { sinceSeconds: elapsed };
    return { sinceTime, sinceSeconds: sinceSeconds === undefined ? undefined : sinceSeconds + elapsed };
  }

  /** Called when the answer to the last request begins. From now on, `take` drops the lines that the answer repeats. */
  opened(nowMs: number): void {
    this.#openedMs ??= nowMs;
    const last = this.#last === undefined ? undefined : parseLogInstant(this.#last.time);
    if (last !== undefined) this.#past = { instant: last, count: this.#last?.count ?? 0 };
    else this.#past = this.#begin.since === undefined ? undefined : { instant: this.#begin.since.instant, count: 0 };
    this.#withPast = false;
  }

  /** Returns the lines that were not passed on before, and records that they are passed on now. */
  take(lines: readonly LogLineView[]): readonly LogLineView[] {
    const fresh = this.#past === undefined ? lines : lines.filter((line) => !this.#isPast(line));
    for (const { time } of fresh) {
      if (this.#last !== undefined && (time === undefined || time === this.#last.time)) this.#last.count++;
      else if (time !== undefined) this.#last = { time, count: 1 };
    }
    return fresh;
  }

  #isPast({ time }: LogLineView): boolean {
    if (this.#past === undefined) return false;
    const instant = time === undefined ? undefined : parseLogInstant(time);
    // A line without a time continues the line before it, and is dropped together with it.
    const order = instant === undefined ? (this.#withPast ? 0 : -1) : compareInstants(instant, this.#past.instant);
    this.#withPast = order === 0;
    if (order < 0) return true;
    if (order === 0 && this.#past.count > 0) {
      this.#past.count--;
      if (this.#past.count === 0) this.#past = undefined;
      return true;
    }
    this.#past = undefined;
    return false;
  }
}
