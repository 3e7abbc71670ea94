import { jsonText } from '../output/json-text.ts';
import { paddingOf, printable } from '../output/table.ts';
import { terminalWidth } from '../output/text-width.ts';
import { matchInTime } from './expressions.ts';

/** The container that wrote a log. */
export interface LogSource {
  readonly cluster: { readonly name: string };
  readonly namespace: string;
  readonly pod: string;
  readonly container: string;
}

export interface LogLine {
  readonly time: string | null;
  readonly text: string;
}

/** The largest number of lines of one log in an answer. */
export const maxTailLines = 10_000;

/** SGR colors of logs. Red is reserved for errors. */
const colors = [36, 33, 32, 35, 34, 96, 93, 92, 95, 94];

const maxColored = 1_000;

/** How lines are printed: after their source, alone, or as JSON with their source. */
export const logFormats = ['default', 'raw', 'json'] as const;

export type LogFormat = (typeof logFormats)[number];

export interface LogPrinterOptions {
  readonly hasColor: boolean;
  readonly hasTimes: boolean;
  /** Default: `default`. */
  readonly format?: LogFormat | undefined;
  /** Only lines that one of these finds. Default: all lines. */
  readonly include?: readonly RegExp[] | undefined;
  /** No line that one of these finds. Default: none. */
  readonly exclude?: readonly RegExp[] | undefined;
}

/** Prefixes each line with `cluster/namespace/pod/container`, padded to the longest prefix so far. Each log has its own color. */
export class LogPrinter {
  readonly #options: LogPrinterOptions;
  readonly #colors = new Map<string, number>();
  #width = 0;

  constructor(options: LogPrinterOptions) {
    this.#options = options;
  }

  /** True if the printer needs the time of each line. */
  get needsTimes(): boolean {
    return this.#options.hasTimes || this.#options.format === 'json';
  }

  /** Makes prefixes as wide as the longest of these sources needs. Call it before the first `print`, so that all lines align. */
  reserveWidth(sources: readonly LogSource[]): void {
    for (const source of sources) this.#width = Math.max(this.#width, terminalWidth(nameOfLog(source)));
  }

  /** Returns the lines that `include` and `exclude` choose, formatted and with line ends. The text of a line is unchanged, except in JSON. */
  print(source: LogSource, lines: readonly LogLine[]): string {
    this.reserveWidth([source]);
    return this.#chosenOf(lines)
      .map((line) => `${this.#lineOf(source, line)}\n`)
      .join('');
  }

  #chosenOf(lines: readonly LogLine[]): readonly LogLine[] {
    const { include = [], exclude = [] } = this.#options;
    if (include.length + exclude.length === 0) return lines;
    const isChosen = ({ text }: LogLine) =>
      (include.length === 0 || include.some((one) => one.test(text))) && !exclude.some((one) => one.test(text));
    return matchInTime(() => lines.filter(isChosen));
  }

  #lineOf(source: LogSource, { time, text }: LogLine): string {
    const { format = 'default', hasTimes } = this.#options;
    const { cluster, namespace, pod, container } = source;
    if (format === 'json') return jsonText({ cluster: cluster.name, namespace, pod, container, time, text });
    const timed = `${hasTimes && time !== null ? `${time} ` : ''}${text}`;
    return format === 'raw' ? timed : `${this.#prefix(nameOfLog(source))} ${timed}`;
  }

  #prefix(name: string): string {
    const padded = name + paddingOf(name, this.#width);
    if (!this.#options.hasColor) return padded;
    const color = this.#colors.get(name) ?? colors[this.#colors.size % colors.length] ?? 0;
    // Forgets all colors, because Pods come and go. Logs may then change their color, but among this many logs colors distinguish nothing.
    if (this.#colors.size >= maxColored) this.#colors.clear();
    this.#colors.set(name, color);
    return `\x1b[${color}m${padded}\x1b[0m`;
  }
}

/** Returns `north/shop/web-1/app`, or `north` for a message about a whole cluster. */
export function nameOfLog({ cluster, namespace, pod, container }: LogSource): string {
  return printable([cluster.name, namespace, pod, container].filter((part) => part !== '').join('/'));
}
