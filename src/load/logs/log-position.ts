import { compareInstants, type LogInstant, parseLogInstant } from './log-times.ts';
import type { LogLineView } from './logs.ts';

/** Where to begin in a log: at most one of the times, and then at most so many lines. All of it, if nothing is said. */
export interface LogBegin {
  readonly tailLines?: number | undefined;
  readonly sinceSeconds?: number | undefined;
  readonly since?: { readonly text: string; readonly instant: LogInstant } | undefined;
}

/** What a request says of where to begin. */
interface BeginQuery {
  readonly tailLines?: number | undefined;
  readonly sinceSeconds?: number | undefined;
  readonly sinceTime?: string | undefined;
}

/**
 * How far one log was told, so that it can be asked for again without telling a line twice.
 *
 * API servers read `sinceTime` by the second: what they send again is dropped, lines of one and the same time by their number. A log that was
 * rotated meanwhile goes on with what is left of it. Before its first line there is nothing to go by but the time since it was opened, by the second:
 * where no old lines were wanted, one or two may come that were written just before.
 */
export class LogPosition {
  readonly #begin: LogBegin;
  #openedMs: number | undefined;
  /** The time of the last line told, and how many lines and pieces have come with it. */
  #last: { readonly time: string; count: number } | undefined;
  /** What is not to be told: everything before that moment, and so many lines of it. Undefined once past it. */
  #past: { readonly instant: LogInstant; count: number } | undefined;
  #withPast = false;

  constructor(begin: LogBegin) {
    this.#begin = begin;
  }

  /** The request with which to begin, or to go on. */
  query(nowMs: number): BeginQuery {
    if (this.#last !== undefined) return { sinceTime: this.#last.time };
    const { tailLines, sinceSeconds, since } = this.#begin;
    const sinceTime = since?.text;
    if (this.#openedMs === undefined) return { tailLines, sinceSeconds, sinceTime };
    const elapsed = Math.ceil((nowMs - this.#openedMs) / 1_000) + 1;
    if (tailLines === 0) return { sinceSeconds: elapsed };
    return { sinceTime, sinceSeconds: sinceSeconds === undefined ? undefined : sinceSeconds + elapsed };
  }

  /** The server begins to answer the request made last. */
  opened(nowMs: number): void {
    this.#openedMs ??= nowMs;
    const last = this.#last === undefined ? undefined : parseLogInstant(this.#last.time);
    if (last !== undefined) this.#past = { instant: last, count: this.#last?.count ?? 0 };
    else this.#past = this.#begin.since === undefined ? undefined : { instant: this.#begin.since.instant, count: 0 };
    this.#withPast = false;
  }

  /** Those of the next lines that were not told before. */
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
    // Without a time it is the rest of the line before: it shares its fate.
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
