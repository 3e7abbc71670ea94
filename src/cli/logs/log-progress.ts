import { type Instant, parseInstant } from '../../core/json/json-values.ts';
import { type LogLine, type LogSource, nameOfLog } from './log-lines.ts';

/** The newest printed time of one log, and how many printed lines have that time. */
interface PrintedPosition {
  readonly at: Instant;
  readonly count: number;
}

/**
 * A restarted stream begins at most this many milliseconds before the newest printed line of all logs. Older lines are not new: the clocks of nodes
 * differ by less than this.
 */
const silentMs = 300_000;

/** Maximum number of remembered logs, because Pods come and go. Above it, logs are forgotten whose newest line is older than `silentMs`. */
const maxRemembered = 1_000;

/**
 * Remembers how far followed logs were printed, so that a reopened stream repeats no line. The stream restarts from the newest line of the
 * log that is furthest behind, at most 5 minutes back. Lines of other logs that were printed before are then left out.
 */
export class LogProgress {
  readonly #printed = new Map<string, PrintedPosition>();
  /** After a restart: the last printed position of each log. Lines up to it were printed before. */
  readonly #repeating = new Map<string, PrintedPosition>();
  #newestMs = 0;

  /** Number of logs whose newest line is known. */
  get remembered(): number {
    return this.#printed.size;
  }

  /** Returns the lines that were not printed yet, and records them as printed. */
  newLines(source: LogSource, lines: readonly LogLine[]): readonly LogLine[] {
    const name = nameOfLog(source);
    const fresh = lines.filter((line) => this.#isNew(name, line));
    if (this.#printed.size > maxRemembered) this.#forgetSilent();
    return fresh;
  }

  /**
   * Returns the RFC 3339 time to restart from. Undefined if no line was printed. From this call on, `newLines` leaves out the lines that
   * the restarted stream repeats.
   */
  resumeTime(): string | undefined {
    this.#repeating.clear();
    for (const [name, position] of this.#printed) this.#repeating.set(name, position);
    if (this.#printed.size === 0) return undefined;
    const oldest = [...this.#printed.values()].reduce((least, { at }) => Math.min(least, at.ms), this.#newestMs);
    return new Date(Math.max(oldest, this.#newestMs - silentMs)).toISOString();
  }

  /** Forgets logs whose newest line is older than the earliest `resumeTime`. */
  #forgetSilent(): void {
    for (const [name, { at }] of this.#printed) if (at.ms < this.#newestMs - silentMs) this.#printed.delete(name);
  }

  #isNew(name: string, { time }: LogLine): boolean {
    const at = time === null ? undefined : parseInstant(time);
    if (at === undefined) return true;
    if (this.#wasPrinted(name, at)) return false;
    const before = this.#printed.get(name);
    this.#newestMs = Math.max(this.#newestMs, at.ms);
    this.#printed.set(name, { at, count: before !== undefined && compare(before.at, at) === 0 ? before.count + 1 : 1 });
    return true;
  }

  /**
   * True if the line was printed before the restart. This holds for lines older than the last printed time of their log. Of the lines with exactly
   * that time, it holds for as many as were printed, so each call for such a line counts down.
   */
  #wasPrinted(name: string, at: Instant): boolean {
    const repeated = this.#repeating.get(name);
    if (repeated === undefined) return false;
    const order = compare(at, repeated.at);
    if (order > 0 || (order === 0 && repeated.count === 0)) {
      this.#repeating.delete(name);
      return false;
    }
    if (order === 0) this.#repeating.set(name, { at: repeated.at, count: repeated.count - 1 });
    return true;
  }
}

function compare(a: Instant, b: Instant): number {
  return a.ms - b.ms || a.nanos - b.nanos;
}
