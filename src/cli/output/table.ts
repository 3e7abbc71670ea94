import { terminalWidth } from './text-width.ts';

/** The space between two columns, as in kubectl's tables. */
const gap = '   ';

/** Formats rows under a header. Columns are as wide as their widest cell so far, so later lines align unless they are wider. */
export interface TableColumns {
  /**
   * Returns the lines of these rows, without line ends. The first call with rows puts the header first.
   *
   * @param style Colors a cell before padding. The header is row -1.
   */
  lines(rows: readonly (readonly string[])[], style?: CellStyle): readonly string[];
}

/** Returns the text of a cell with its color. */
export type CellStyle = (text: string, at: { readonly row: number; readonly column: number }) => string;

export interface TableColumnsOptions {
  /** False: the header is not printed, and columns may be narrower than it. Default: true. */
  readonly hasHeader?: boolean | undefined;
  /** The least width of a column. Default: 0. */
  readonly minWidth?: number | undefined;
}

/** Creates the columns of one table. Cells pass through `printable`. Spaces that end a header widen its column. */
export function createTableColumns(header: readonly string[], { hasHeader = true, minWidth = 0 }: TableColumnsOptions = {}): TableColumns {
  // The header of a custom kind comes from a cluster, so it is as untrusted as the cells.
  const titles = header.map(printable);
  // `printable` shortens the spaces that end a header, but they reserve the width of later cells.
  const widths = hasHeader ? titles.map((title, at) => Math.max(minWidth, terminalWidth(title), header[at]?.length ?? 0)) : [];
  let isFirst = hasHeader;
  return {
    lines: (rows, style = (text) => text) => {
      const cells = rows.map((row) => row.map(printable));
      for (const row of cells) for (const [at, cell] of row.entries()) widths[at] = Math.max(widths[at] ?? minWidth, terminalWidth(cell));
      const headers = isFirst && rows.length > 0 ? [lineOf(titles, widths, (text, column) => style(text, { row: -1, column }))] : [];
      isFirst &&= rows.length === 0;
      return [...headers, ...cells.map((line, row) => lineOf(line, widths, (text, column) => style(text, { row, column })))];
    },
  };
}

/** Returns a whole table. Empty if there are no rows. */
export function renderTable(header: readonly string[], rows: readonly (readonly string[])[]): string {
  return textOfLines(createTableColumns(header).lines(rows));
}

/** Joins lines, each with a line end. */
export function textOfLines(lines: readonly string[]): string {
  return lines.map((line) => `${line}\n`).join('');
}

/** Returns the text on one line without terminal control characters. Names and messages of clusters are untrusted. */
export function printable(text: string): string {
  return text.replaceAll(/\s+/g, ' ').replaceAll(/[\p{Cc}\p{Bidi_Control}]/gu, (control) => {
    const code = control.codePointAt(0) ?? 0;
    return code < 0x20 ? `^${String.fromCharCode(code + 0x40)}` : '?';
  });
}

function lineOf(row: readonly string[], widths: readonly number[], style: (text: string, column: number) => string): string {
  const styled = row.map((cell, column) => (cell === '' ? '' : style(cell, column)) + paddingOf(cell, widths[column] ?? 0));
  return styled.join(gap).trimEnd();
}

/** Returns the spaces that pad the text to a number of terminal columns. */
export function paddingOf(text: string, columns: number): string {
  return ' '.repeat(Math.max(0, columns - terminalWidth(text)));
}

/** Adds a color or weight to a text. The code is that of SGR (ECMA-48), such as 31 for red. A terminal without colors gets plain text. */
export type Paint = (code: number, text: string) => string;

/** Returns the `Paint` for a terminal with or without colors. */
export function paintFor({ hasColor }: { readonly hasColor: boolean }): Paint {
  return hasColor ? (code, text) => `\x1b[${code}m${text}\x1b[0m` : (_code, text) => text;
}
