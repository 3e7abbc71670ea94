/** The health that a cell shows. It changes the color only; the text says the same. */
export type Tone = 'good' | 'bad' | 'warn' | 'busy' | 'dim';

/** One column of a table. */
export interface TableColumn<Row> {
  readonly header: string;
  /** Returns the text of a cell. `nowMs` is the time for ages. */
  text(row: Row, nowMs: number): string;
  /** Returns the link of a cell. A column with links leads to the page of its row. Default: no links. */
  href?(row: Row): string;
  /** The path by which a click on the header sorts. Default: the column cannot be sorted. */
  readonly sortPath?: string | undefined;
  tone?(row: Row): Tone | undefined;
  /** True: numbers, which are aligned to the right. Default: false. */
  readonly isNumeric?: boolean;
}

/** The order of a table. */
export interface SortOrder {
  readonly path: string;
  readonly isDescending: boolean;
}

/** Parses `PATH` (ascending) or `-PATH` (descending). Undefined for an empty text. */
export function parseSort(text: string | null): SortOrder | undefined {
  if (text === null || text === '' || text === '-') return undefined;
  return text.startsWith('-') ? { path: text.slice(1), isDescending: true } : { path: text, isDescending: false };
}

/** Returns the text of the order after a click on the header of `path`: ascending first, then descending. */
export function sortAfterClick(sort: SortOrder | undefined, path: string): string {
  return sort?.path === path && !sort.isDescending ? `-${path}` : path;
}

/** Greatest width of a column, in characters. */
const maxWidth = 60;

/**
 * Returns the width of each column in characters: that of its longest text so far, so that scrolling makes no column narrower.
 *
 * @param before The result of the last call.
 */
export function widthsOf(before: readonly number[], rows: readonly (readonly string[])[], headers: readonly string[]): readonly number[] {
  return headers.map((header, at) => {
    const longest = rows.reduce((most, row) => Math.max(most, widthOf(row[at] ?? '')), header.length + 1);
    return Math.min(maxWidth, Math.max(before[at] ?? 0, longest));
  });
}

/** Returns the width of a text in widths of the digit 0, rounded up. Capital letters are wider than a digit. */
function widthOf(text: string): number {
  return Math.ceil(text.length + 0.25 * text.replaceAll(/[^A-Z]/g, '').length);
}
