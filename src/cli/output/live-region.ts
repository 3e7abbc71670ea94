import { terminalWidth } from './text-width.ts';

/** Size of a terminal in characters. */
export interface TerminalSize {
  readonly columns: number;
  readonly rows: number;
}

/**
 * The last lines of a terminal, redrawn in place. Each method returns the text to write. The cursor is hidden from the first frame to
 * `end`.
 */
export interface LiveRegion {
  /** Replaces the lines of the last frame. Lines are cut to the size, and only changed lines are written. */
  frame(lines: readonly string[], size: TerminalSize): string;
  /** Returns what to write before and after lines that must appear above the region. Both texts are empty if nothing is drawn. */
  linesAbove(size: TerminalSize): { readonly before: string; readonly after: string };
  /** Returns the text that keeps the last frame and shows the cursor below it. Empty if nothing was drawn, and at a second call. */
  end(): string;
}

const hideCursor = '\x1b[?25l';
const showCursor = '\x1b[?25h';
/** The start and end of synchronized output. A terminal that supports it shows the whole update at once. Other terminals ignore it. */
const [beginUpdate, endUpdate] = ['\x1b[?2026h', '\x1b[?2026l'];
const eraseRest = '\x1b[K';
const eraseBelow = '\x1b[J';

/** Creates an empty region at the cursor. */
export function createLiveRegion(): LiveRegion {
  let drawn: readonly string[] = [];
  let drawnColumns = 0;

  function frame(lines: readonly string[], { columns, rows }: TerminalSize): string {
    // A line as wide as the terminal leaves the cursor at an unspecified place, so lines are one column shorter.
    const next = lines.slice(0, rows).map((line) => cutTo(line, columns - 1));
    if (next.length === 0) next.push('');
    const isSameSize = columns === drawnColumns;
    const start = drawn.length === 0 ? hideCursor : `${upTo(drawn, columns)}${isSameSize ? '' : eraseBelow}`;
    const body = next.map((line, at) => (isSameSize && line === drawn[at] ? '' : `${line}${eraseRest}`)).join('\n');
    const rest = next.length < drawn.length ? eraseBelow : '';
    drawn = next;
    drawnColumns = columns;
    return `${beginUpdate}${start}${body}${endOfLast(next)}${rest}${endUpdate}`;
  }

  return {
    frame,
    linesAbove: (size) => {
      if (drawn.length === 0) return { before: '', after: '' };
      const lines = drawn;
      const before = `${upTo(lines, size.columns)}${eraseBelow}`;
      drawn = [];
      return { before, after: frame(lines, size) };
    },
    end: () => {
      if (drawn.length === 0) return '';
      drawn = [];
      return `\n${showCursor}`;
    },
  };
}

/** Returns the text that moves the cursor to the start of the region. Counts lines that the terminal has wrapped because it became narrower. */
function upTo(drawn: readonly string[], columns: number): string {
  const height = drawn.reduce((sum, line) => sum + Math.max(1, Math.ceil(terminalWidth(line) / columns)), 0);
  return height > 1 ? `\r\x1b[${height - 1}A` : '\r';
}

/** Returns the text that moves the cursor behind the last line. A later text may erase everything after the cursor. */
function endOfLast(lines: readonly string[]): string {
  const width = terminalWidth(lines.at(-1) ?? '');
  return width === 0 ? '\r' : `\r\x1b[${width}C`;
}

/** Made at the first line that is too long, because that takes 10 ms of CPU. */
let graphemes: Intl.Segmenter | undefined;
const colors = /((?!\s)\p{Cc}\[[\d;]*m)/u;

/** Cuts a line to a number of terminal columns, and resets its colors. */
export function cutTo(line: string, columns: number): string {
  if (terminalWidth(line) <= columns) return line;
  graphemes ??= new Intl.Segmenter();
  let left = columns - 1;
  let kept = '';
  for (const part of line.split(colors)) {
    if (part.startsWith('\x1b')) kept += part;
    else
      for (const { segment } of graphemes.segment(part)) {
        left -= terminalWidth(segment);
        if (left >= 0) kept += segment;
      }
    if (left < 0) break;
  }
  return `${kept}…${line.includes('\x1b') ? '\x1b[0m' : ''}`;
}
