import type { Terminal } from '../../../src/cli/output/terminal.ts';

/** A terminal that keeps what it was told. */
export interface FakeTerminal extends Terminal {
  /** All of standard output so far. */
  readonly written: string;
  /** All of standard error so far. */
  readonly told: string;
  /** Each frame that was drawn. */
  readonly frames: readonly (readonly string[])[];
  /** Each status, the empty ones too. */
  readonly statuses: readonly string[];
  /** How often what was drawn was left as it is. */
  readonly settled: number;
  /** Frames that were drawn after that. */
  readonly late: number;
  /** Changes the size, as who uses it does. */
  resize(columns: number, rows: number): void;
}

export interface FakeTerminalOptions {
  readonly isInteractive?: boolean;
  readonly isWatched?: boolean;
  readonly hasColor?: boolean;
  /** Of standard input. */
  readonly input?: string;
}

/** Makes one, of 80 columns and 24 rows. */
export function createFakeTerminal({
  isInteractive = false,
  isWatched = false,
  hasColor = false,
  input = '',
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
