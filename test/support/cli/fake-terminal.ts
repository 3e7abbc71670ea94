import type { Terminal } from '../../../src/cli/output/terminal.ts';

/** A terminal that records its output. */
export interface FakeTerminal extends Terminal {
  /** The standard output so far. */
  readonly written: string;
  /** The standard error so far. */
  readonly told: string;
  /** All drawn frames. */
  readonly frames: readonly (readonly string[])[];
  /** All statuses, including empty ones. */
  readonly statuses: readonly string[];
  /** Number of calls of `settle`, which leaves the drawn frame on the screen. */
  readonly settled: number;
  /** Number of frames drawn after `settle`. */
  readonly late: number;
  /** Changes the size of the window. */
  resize(columns: number, rows: number): void;
}

export interface FakeTerminalOptions {
  readonly isInteractive?: boolean;
  readonly isWatched?: boolean;
  readonly hasColor?: boolean;
  /** The standard input. */
  readonly input?: string;
  /** The answer that a person types to questions. Default: no person can be asked. */
  readonly typed?: string;
}

/** Creates a terminal with 80 columns and 24 rows. */
export function createFakeTerminal({
  isInteractive = false,
  isWatched = false,
  hasColor = false,
  input = '',
  typed,
}: FakeTerminalOptions = {}): FakeTerminal {
  const seen = { written: '', told: '', settled: 0, late: 0 };
  const frames: (readonly string[])[] = [];
  const statuses: string[] = [];
  const listeners = new Set<() => void>();
  let size = { columns: 80, rows: 24 };
  return {
    isInteractive,
    isWatched,
    hasColor,
    out: async (text) => {
      seen.written += text;
    },
    err: (text) => {
      seen.told += text;
    },
    status: (text) => statuses.push(text),
    draw: (lines) => {
      frames.push(lines);
      if (seen.settled > 0) seen.late += 1;
    },
    settle: () => {
      seen.settled += 1;
    },
    size: () => size,
    onResize: (changed, signal) => {
      listeners.add(changed);
      signal.addEventListener('abort', () => listeners.delete(changed), { once: true });
    },
    readInput: async () => input,
    canAsk: typed !== undefined,
    ask: async (question) => {
      seen.told += question;
      return typed ?? '';
    },
    resize: (columns, rows) => {
      size = { columns, rows };
      for (const changed of listeners) changed();
    },
    get written() {
      return seen.written;
    },
    get told() {
      return seen.told;
    },
    get late() {
      return seen.late;
    },
    get settled() {
      return seen.settled;
    },
    frames,
    statuses,
  };
}
