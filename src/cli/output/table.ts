import { terminalWidth } from './text-width.ts';

/** Between two columns, as in kubectl's tables. */
const gap = '   ';

/** Lines under a header, in columns as wide as the widest cell so far: what comes later lines up with what came before unless it is wider. */
export interface TableColumns {
  /**
   * The lines of these rows, without ends; before the first of all, the header.
   *
   * @param style Colors a cell, which is padded after that; the header is row -1.
   */
  lines(rows: readonly (readonly string[])[], style?: CellStyle): readonly string[];
}

/** Gives a text its color. */
export type CellStyle = (text: string, at: { readonly row: number; readonly column: number }) => string;

/** Makes the columns of one table. Cells are shown as `printable` makes them. */
export function createTableColumns(header: readonly string[]): TableColumns {
  // Of custom kinds the header comes from clusters too.
  const titles = header.map(printable);
  const widths = titles.map((title) => terminalWidth(title));
  let isFirst = true;
  return {
    lines: (rows, style = (text) => text) => {
      const cells = rows.map((row) => row.map(printable));
      for (const row of cells) for (const [at, cell] of row.entries()) widths[at] = Math.max(widths[at] ?? 0, terminalWidth(cell));
      const headers = isFirst && rows.length > 0 ? [lineOf(titles, widths, (text, column) => style(text, { row: -1, column }))] : [];
      isFirst &&= rows.length === 0;
      return [...headers, ...cells.map((line, row) => lineOf(line, widths, (text, column) => style(text, { row, column })))];
    },
  };
}

/** A whole table; empty for no rows. */
export function renderTable(header: readonly string[], rows: readonly (readonly string[])[]): string {
  return textOfLines(createTableColumns(header).lines(rows));
}

/** The lines with their ends. */
export function textOfLines(lines: readonly string[]): string {
  return lines.map((line) => `${line}\n`).join('');
}

/** The text on one line and without what a terminal would obey: names and messages come from clusters, which are not ours. */
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

/** The spaces that make the text so many columns of a terminal wide. */
export function paddingOf(text: string, columns: number): string {
  return ' '.repeat(Math.max(0, columns - terminalWidth(text)));
}

/** Gives a text a color or a weight: the code is that of SGR (ECMA-48), such as 31 for red. Or leaves it as it is. */
export type Paint = (code: number, text: string) => string;

/** As the terminal likes it. */
export function paintFor({ hasColor }: { readonly hasColor: boolean }): Paint {
  return hasColor ? (code, text) => `\x1b[${code}m${text}\x1b[0m` : (_code, text) => text;
}
