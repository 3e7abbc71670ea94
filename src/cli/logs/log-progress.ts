import { type Instant, parseInstant } from '../../core/json/json-values.ts';
import { type LogLine, type LogSource, nameOfLog } from './log-lines.ts';

/** The newest printed time of one log, and how many printed lines have that time. */
interface PrintedPosition {
  readonly at: Instant;
  readonly count: number;
}

/** A log without lines for this long, while others have some, has no older lines to come. Clocks of nodes differ by less. */
const silentMs = 300_000;

/** Beyond this many logs, silent ones are forgotten, because Pods come and go. */
const maxRemembered = 1_000;

/**
 * Remembers how far followed logs were printed, so that a reopened stream repeats no line.
 *
 * The stream restarts from a time that no log has passed. Lines that were printed before are then left out.
 */
export class LogProgress {
  readonly #told = new Map<string, PrintedPosition>();
  /** Positions up to which logs repeat printed lines after a restart. */
  readonly #again = new Map<string, PrintedPosition>();
  #newestMs = 0;

  /** Number of logs whose newest line is known. */
  get remembered(): number {
    return this.#told.size;
  }

  /** Returns the lines that were not printed yet, and records them as printed. */
  newLines(source: LogSource, lines: readonly LogLine[]): readonly LogLine[] {
    const name = nameOfLog(source);
    const fresh = lines.filter((line) => this.#isNew(name, line));
    if (this.#told.size > maxRemembered) this.#forgetSilent();
    return fresh;
  }

  /** Returns the RFC 3339 time to restart from. Undefined if no line was printed. */
  resumeTime(): string | undefined {
    this.#again.clear();
    for (const [name, told] of this.#told) this.#again.set(name, told);
    if (this.#told.size === 0) return undefined;
    const oldest = [...this.#told.values()].reduce((least, { at }) => Math.min(least, at.ms), this.#newestMs);
    return new Date(Math.max(oldest, this.#newestMs - silentMs)).toISOString();
  }

  /** Forgets logs that `resumeTime` would not go back to. */
  #forgetSilent(): void {
    for (const [name, { at }] of this.#told) if (at.ms < this.#newestMs - silentMs) this.#told.delete(name);
  }

  #isNew(name: string, { time }: LogLine): boolean {
    const at = time === null ? undefined : parseInstant(time);
    if (at === undefined) return true;
    if (this.#wasTold(name, at)) return false;
    const before = this.#told.get(name);
    this.#newestMs = Math.max(this.#newestMs, at.ms);
    this.#told.set(name, { at, count: before !== undefined && compare(before.at, at) === 0 ? before.count + 1 : 1 });
    return true;
  }

  /** True for lines before the newest printed time, and for as many lines of that very time as were printed. */
  #wasTold(name: string, at: Instant): boolean {
    const again = this.#again.get(name);
    if (again === undefined) return false;
    const order = compare(at, again.at);
    if (order > 0 || (order === 0 && again.count === 0)) {
      this.#again.delete(name);
      return false;
    }
    if (order === 0) this.#again.set(name, { at: again.at, count: again.count - 1 });
    return true;
  }
}

function compare(a: Instant, b: Instant): number {
  return a.ms - b.ms || a.nanos - b.nanos;
}
