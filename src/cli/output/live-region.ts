import { terminalWidth } from './text-width.ts';

/** How large a terminal is, in characters. */
export interface TerminalSize {
  readonly columns: number;
  readonly rows: number;
}

/**
 * The last lines of a terminal, drawn again in place. Every method gives the text to write. The cursor is hidden from the first frame to `end`.
 */
export interface LiveRegion {
  /** These lines instead of those of the last frame: cut to the size, only what has changed written, at once. */
  frame(lines: readonly string[], size: TerminalSize): string;
  /** What to write before and after lines that are to stay above the region. Both empty if nothing is drawn. */
  linesAbove(size: TerminalSize): { readonly before: string; readonly after: string };
  /** The last frame stays; the cursor is shown, beneath it. Empty if nothing was drawn. Twice is once. */
  end(): string;
}

const hideCursor = '\x1b[?25l';
const showCursor = '\x1b[?25h';
/** Between these a terminal that knows them shows nothing; others ignore them. */
const [beginUpdate, endUpdate] = ['\x1b[?2026h', '\x1b[?2026l'];
const eraseRest = '\x1b[K';
const eraseBelow = '\x1b[J';

/** Makes a region of no lines, at the cursor. */
export function createLiveRegion(): LiveRegion {
  let drawn: readonly string[] = [];
  let drawnColumns = 0;

  function frame(lines: readonly string[], { columns, rows }: TerminalSize): string {
    // A line as wide as the terminal would leave the cursor at its end or on the next line, as the terminal likes.
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

/** To the start of the region, which a terminal that has become narrower has wrapped. */
function upTo(drawn: readonly string[], columns: number): string {
  const height = drawn.reduce((sum, line) => sum + Math.max(1, Math.ceil(terminalWidth(line) / columns)), 0);
  return height > 1 ? `\r\x1b[${height - 1}A` : '\r';
}

/** The cursor goes behind the last line even if that was not written again: what is erased after it must not be it. */
function endOfLast(lines: readonly string[]): string {
  const width = terminalWidth(lines.at(-1) ?? '');
  return width === 0 ? '\r' : `\r\x1b[${width}C`;
}

const graphemes = new Intl.Segmenter();
const colors = /((?!\s)\p{Cc}\[[\d;]*m)/u;

/** The line in at most so many columns of a terminal; colors in it are ended. */
export function cutTo(line: string, columns: number): string {
  if (terminalWidth(line) <= columns) return line;
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
