import { type Instant, parseInstant } from '../../core/json/json-values.ts';
import { type LogLine, type LogSource, nameOfLog } from './log-lines.ts';

/** How far one log was told: its newest time, and how many of its lines have it. */
interface PrintedPosition {
  readonly at: Instant;
  readonly count: number;
}

/** A log that was silent for so long, while others spoke, has nothing left to tell from before: clocks of nodes do not differ by more. */
const silentMs = 300_000;

/** More logs than these are remembered only while they speak: Pods come and go. */
const maxRemembered = 1_000;

/**
 * How far followed logs were told, so that a stream that is opened again goes on where it was lost: it asks from a moment on that none of them has
 * passed, and leaves out what was told.
 */
export class LogProgress {
  readonly #told = new Map<string, PrintedPosition>();
  /** Of logs that tell again from `since`, what still comes that was told. */
  readonly #again = new Map<string, PrintedPosition>();
  #newestMs = 0;

  /** Logs whose newest line is known. */
  get remembered(): number {
    return this.#told.size;
  }

  /** The lines that were not told yet, from now on told. */
  newLines(source: LogSource, lines: readonly LogLine[]): readonly LogLine[] {
    const name = nameOfLog(source);
    const fresh = lines.filter((line) => this.#isNew(name, line));
    if (this.#told.size > maxRemembered) this.#forgetSilent();
    return fresh;
  }

  /** From when on to ask again: RFC 3339. Undefined if no line was told. */
  resumeTime(): string | undefined {
    this.#again.clear();
    for (const [name, told] of this.#told) this.#again.set(name, told);
    if (this.#told.size === 0) return undefined;
    const oldest = [...this.#told.values()].reduce((least, { at }) => Math.min(least, at.ms), this.#newestMs);
    return new Date(Math.max(oldest, this.#newestMs - silentMs)).toISOString();
  }

  /** What they told before is not asked for again. */
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

  /** Up to the newest that was told, and of those of that very time as many as were. */
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
