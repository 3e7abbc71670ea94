import { text } from 'node:stream/consumers';
import { createLiveRegion, cutTo, type TerminalSize } from './live-region.ts';

/** Where a command writes, and what it knows of it. */
export interface Terminal {
  /** Standard output. Resolves once there is room for more; never if nobody reads it any more. */
  out(text: string): Promise<void>;
  /** Standard error: whole lines. */
  err(text: string): void;
  /** One line on standard error that tells how far something is, until the next or an empty one takes its place. Only where `isWatched`. */
  status(text: string): void;
  /** Draws these lines at the bottom of the terminal, instead of those drawn before. Only where `isInteractive`. */
  draw(lines: readonly string[]): void;
  /** What was drawn stays, and the cursor is back; the status is gone. Twice is once. */
  settle(): void;
  /** Standard output is a terminal that can be drawn on. */
  readonly isInteractive: boolean;
  /** Standard output is to have colors. */
  readonly hasColor: boolean;
  /** Standard error is a terminal: someone is watching. */
  readonly isWatched: boolean;
  size(): TerminalSize;
  /** Called when the size has changed. */
  onResize(changed: () => void, signal: AbortSignal): void;
  /** All of standard input. */
  readInput(): Promise<string>;
}

/** The standard streams of a process. */
export interface StandardStreams {
  readonly stdin: AsyncIterable<Buffer | string>;
  readonly stdout: NodeJS.WriteStream;
  readonly stderr: NodeJS.WriteStream;
  /** `TERM`: a dumb one cannot be drawn on. */
  readonly term: string | undefined;
}

/** A terminal of which nothing is known is taken to be of this size. */
const usualSize = { columns: 80, rows: 24 };

/** The terminal of a process. */
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
      // What is drawn stands on the same screen: it makes room.
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
  };
}
