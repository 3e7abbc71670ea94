/**
 * Simulates what a terminal shows after some text. It supports only the sequences that drawing in place needs, and throws for all others.
 */
export interface Screen {
  write(text: string): void;
  /** All lines shown so far, including lines that have scrolled away. Trailing white space is removed. */
  readonly lines: readonly string[];
  readonly isCursorHidden: boolean;
  /** The position of the cursor, counted from the top of the visible part. */
  readonly cursor: { readonly row: number; readonly column: number };
}

const parts = /(?!\s)\p{Cc}\[([?\d;]*)([A-Za-z])|./gsu;

/** Creates a screen of this size. A line that is too long wraps. */
export function createScreen(size: { readonly columns: number; readonly rows: number }): Screen {
  const lines: string[][] = [[]];
  let [row, column, isHidden] = [0, 0, false];
  const top = () => Math.max(0, lines.length - size.rows);
  const line = () => lines[row] ?? [];
  const feed = () => {
    row += 1;
    if (row === lines.length) lines.push([]);
  };
  const put = (char: string) => {
    if (column === size.columns) {
      column = 0;
      feed();
    }
    while (line().length < column) line().push(' ');
    line()[column] = char;
    column += 1;
  };
  const control = (parameters: string, command: string) => {
    const count = Number(parameters || '1');
    if (command === 'm' || parameters.startsWith('?2026')) return;
    if (parameters === '?25') isHidden = command === 'l';
    else if (command === 'A') row = Math.max(top(), row - count);
    else if (command === 'C') column = Math.min(size.columns - 1, column + count);
    else if (command === 'K' && parameters === '') line().splice(column);
    else if (command === 'J' && parameters === '') {
      line().splice(column);
      lines.splice(row + 1);
    } else throw new Error(`a screen does not know ${parameters}${command}`);
  };
  return {
    write: (text) => {
      for (const [part, parameters, command] of text.matchAll(parts)) {
        if (command !== undefined) control(parameters ?? '', command);
        else if (part === '\r') column = 0;
        else if (part === '\n') {
          column = 0;
          feed();
        } else put(part);
      }
    },
    get lines() {
      return lines.map((chars) => chars.join('').trimEnd());
    },
    get isCursorHidden() {
      return isHidden;
    },
    get cursor() {
      return { row: row - top(), column };
    },
  };
}
