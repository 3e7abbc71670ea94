import { paddingOf, printable } from '../output/table.ts';
import { terminalWidth } from '../output/text-width.ts';

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

export interface LogPrinterOptions {
  readonly hasColor: boolean;
  readonly hasTimes: boolean;
}

/** Prefixes each line with `cluster/namespace/pod/container`, padded to the longest prefix so far. Each log has its own color. */
export class LogPrinter {
  readonly #options: LogPrinterOptions;
  readonly #colors = new Map<string, number>();
  #width = 0;

  constructor(options: LogPrinterOptions) {
    this.#options = options;
  }

  /** Makes prefixes as wide as the longest of these sources needs. Call it before the first `print`, so that all lines align. */
  reserveWidth(sources: readonly LogSource[]): void {
    for (const source of sources) this.#width = Math.max(this.#width, terminalWidth(nameOfLog(source)));
  }

  /** Returns the lines to print, with line ends. The text is unchanged. */
  print(source: LogSource, lines: readonly LogLine[]): string {
    this.reserveWidth([source]);
    const prefix = this.#prefix(nameOfLog(source));
    return lines.map(({ time, text }) => `${prefix} ${this.#options.hasTimes && time !== null ? `${time} ` : ''}${text}\n`).join('');
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
