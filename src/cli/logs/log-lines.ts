import { paddingOf, printable } from '../output/table.ts';
import { terminalWidth } from '../output/text-width.ts';

/** Whose lines these are. */
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

/** Most lines of one log that a gateway tells at once. */
export const maxTailLines = 10_000;

/** Red is for what is wrong. */
const colors = [36, 33, 32, 35, 34, 96, 93, 92, 95, 94];

const maxColored = 1_000;

export interface LogPrinterOptions {
  readonly hasColor: boolean;
  readonly hasTimes: boolean;
}

/** Puts `cluster/namespace/pod/container` before each line, padded to the longest so far, each in a color of its own. */
export class LogPrinter {
  readonly #options: LogPrinterOptions;
  readonly #colors = new Map<string, number>();
  #width = 0;

  constructor(options: LogPrinterOptions) {
    this.#options = options;
  }

  /** Makes room for these, so that their lines line up from the first on. */
  reserveWidth(sources: readonly LogSource[]): void {
    for (const source of sources) this.#width = Math.max(this.#width, terminalWidth(nameOfLog(source)));
  }

  /** The lines as they are printed, with their ends. The text is as the container wrote it. */
  print(source: LogSource, lines: readonly LogLine[]): string {
    this.reserveWidth([source]);
    const prefix = this.#prefix(nameOfLog(source));
    return lines.map(({ time, text }) => `${prefix} ${this.#options.hasTimes && time !== null ? `${time} ` : ''}${text}\n`).join('');
  }

  #prefix(name: string): string {
    const padded = name + paddingOf(name, this.#width);
    if (!this.#options.hasColor) return padded;
    const color = this.#colors.get(name) ?? colors[this.#colors.size % colors.length] ?? 0;
    // Pods come and go; with as many as this nobody tells colors apart.
    if (this.#colors.size >= maxColored) this.#colors.clear();
    this.#colors.set(name, color);
    return `\x1b[${color}m${padded}\x1b[0m`;
  }
}

/** `north/shop/web-1/app`; `north` where it is about the cluster as a whole. */
export function nameOfLog({ cluster, namespace, pod, container }: LogSource): string {
  return printable([cluster.name, namespace, pod, container].filter((part) => part !== '').join('/'));
}
