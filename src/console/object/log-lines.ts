/** A message of the stream of logs. */
export interface LogMessage {
  readonly type: string;
  readonly cluster: { readonly name: string };
  readonly pod: string;
  readonly container: string;
  readonly dropped: number;
  readonly fault: { readonly code: string; readonly message: string } | null;
  readonly lines: readonly { readonly time: string | null; readonly text: string }[];
}

/** A line that is shown. */
export interface ShownLine {
  /** The number of the line, from 1, in the order in which lines came. */
  readonly at: number;
  readonly pod: string;
  readonly container: string;
  readonly text: string;
}

/** The most lines that are kept. */
export const maxLines = 5_000;

// Programs color their output for terminals.
// biome-ignore lint/suspicious/noControlCharactersInRegex: escape sequences begin with a control character
const escapeSequence = /\u001b\[[0-9;?]*[A-Za-z]/g;

/** The last 5,000 lines of the containers of one stream. When a lost stream is opened again, lines that it repeats are not added twice. */
export class LogLines {
  #lines: ShownLine[] = [];
  #count = 0;
  #dropped = 0;
  /** The time of the last line, by container. */
  readonly #lastTimes = new Map<string, string>();
  /** The last fault of each container that cannot be followed, and that of the cluster as `/`. */
  readonly #faults = new Map<string, { readonly text: string; readonly code: string }>();
  #isResumed = false;

  /** Adds the lines of a message, and its fault. */
  apply({ type, cluster, pod, container, lines, dropped, fault }: LogMessage): void {
    const source = `${pod}/${container}`;
    this.#dropped += dropped;
    if (type === 'FAILED')
      this.#faults.set(source, {
        text: `${[pod, container].filter(Boolean).join('/') || cluster.name}: ${fault?.code ?? ''}: ${fault?.message ?? ''}`,
        code: fault?.code ?? '',
      });
    if (type === 'LINES') this.#faults.delete(source);
    const last = this.#lastTimes.get(source) ?? '';
    for (const { time, text } of lines) {
      if (this.#isResumed && time !== null && time <= last) continue;
      this.#count += 1;
      this.#lines.push({ at: this.#count, pod, container, text: text.replaceAll(escapeSequence, '') });
      if (time !== null) this.#lastTimes.set(source, time);
    }
    if (this.#lines.length > maxLines) this.#lines = this.#lines.slice(-maxLines);
  }

  /** Call this when a lost stream is opened again. Returns the time from which the stream must send lines. Undefined if no line has come. */
  resume(): string | undefined {
    this.#isResumed = true;
    return [...this.#lastTimes.values()].toSorted()[0];
  }

  /** The lines that are kept, the oldest first. */
  get lines(): readonly ShownLine[] {
    return this.#lines;
  }

  /** The number of earlier lines that are not kept. */
  get forgotten(): number {
    return this.#count - this.#lines.length;
  }

  /** The number of lines that the gateway has left out, because this page read too slowly. */
  get dropped(): number {
    return this.#dropped;
  }

  /** The faults of containers that cannot be followed. A fault of the whole cluster is returned once, not for each container. */
  get faults(): readonly string[] {
    const ofCluster = this.#faults.get('/')?.code;
    return [...this.#faults].filter(([source, { code }]) => source === '/' || code !== ofCluster).map(([, { text }]) => text);
  }
}
