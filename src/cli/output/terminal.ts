import { text } from 'node:stream/consumers';
import { createLiveRegion, cutTo, type TerminalSize } from './live-region.ts';

/** The terminal or files that a command writes to. */
export interface Terminal {
  /** Writes to standard output. Resolves once there is room for more; never if the reader has gone. */
  out(text: string): Promise<void>;
  /** Writes whole lines to standard error. */
  err(text: string): void;
  /** Replaces the status line on standard error. An empty text removes the line. Pass any other text only if `isWatched`. */
  status(text: string): void;
  /** Replaces the lines at the bottom of the terminal. Call this only if `isInteractive`. */
  draw(lines: readonly string[]): void;
  /** Keeps the drawn lines, shows the cursor and removes the status. A second call does nothing. */
  settle(): void;
  /** True if standard output is a terminal that can be redrawn. */
  readonly isInteractive: boolean;
  /** True if standard output shall have colors. */
  readonly hasColor: boolean;
  /** True if standard error is a terminal. */
  readonly isWatched: boolean;
  size(): TerminalSize;
  /** Calls `changed` when the size has changed, until the signal aborts. */
  onResize(changed: () => void, signal: AbortSignal): void;
  /** Returns all of standard input. */
  readInput(): Promise<string>;
  /** True if a person can be asked: standard input and standard error are terminals. */
  readonly canAsk: boolean;
  /** Writes a question to standard error, and returns the line that is typed. Empty at the end of the input. Call this only if `canAsk`. */
  ask(question: string): Promise<string>;
}

/** The standard streams of a process. */
export interface StandardStreams {
  readonly stdin: AsyncIterable<Buffer | string> & { readonly isTTY?: boolean };
  readonly stdout: NodeJS.WriteStream;
  readonly stderr: NodeJS.WriteStream;
  /** The variable `TERM`. Undefined if it is not set. A `dumb` terminal cannot be redrawn. */
  readonly term: string | undefined;
}

/** The assumed size of a terminal that does not report one. */
const usualSize = { columns: 80, rows: 24 };

/** Creates the terminal of a process. */
export function createTerminal({ stdin, stdout, stderr, term }: StandardStreams): Terminal {
  const region = createLiveRegion();
  const isInteractive = stdout.isTTY === true && term !== 'dumb';
  const isWatched = stderr.isTTY === true;
  let status = '';
  const size = () => ({ columns: stdout.columns || usualSize.columns, rows: stdout.rows || usualSize.rows });
  return {
    out: (text) =>
      new Promise((resolve) => {
        if (stdout.write(text)) resolve();
        else stdout.once('drain', resolve);
      }),
    err: (text) => {
      // The live region is on the same screen and must move down.
      const { before, after } = isWatched ? region.linesAbove(size()) : { before: '', after: '' };
      if (before !== '') stdout.write(before);
      stderr.write(status === '' ? text : `\r\x1b[K${text}${status}`);
      if (after !== '') stdout.write(after);
    },
    status: (text) => {
      const cut = cutTo(text, (stderr.columns || usualSize.columns) - 1);
      if (cut === status) return;
      status = cut;
      stderr.write(`\r\x1b[K${status}`);
    },
    draw: (lines) => {
      stdout.write(region.frame(lines, size()));
    },
    settle: () => {
      const end = region.end();
      if (end !== '') stdout.write(end);
      if (status !== '') stderr.write('\r\x1b[K');
      status = '';
    },
    isInteractive,
    hasColor: isInteractive && stdout.hasColors(),
    isWatched,
    size,
    onResize: (changed, signal) => {
      stdout.on('resize', changed);
      signal.addEventListener('abort', () => stdout.off('resize', changed), { once: true });
    },
    readInput: () => text(stdin),
    canAsk: stdin.isTTY === true && isWatched,
    ask: async (question) => {
      stderr.write(question);
      let line = '';
      for await (const chunk of stdin) {
        line += String(chunk);
        if (/[\n\r]/.test(line)) break;
      }
      return line.split(/[\n\r]/)[0] ?? '';
    },
  };
}
