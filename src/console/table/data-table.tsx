import { useLayoutEffect, useReducer, useRef } from 'preact/hooks';
import { now } from '../browser/now.ts';
import { RowFocus } from './row-focus.ts';
import { rowHeight, rowsToDraw } from './row-window.ts';
import { type SortOrder, type TableColumn, widthsOf } from './table-column.ts';
import { useViewport } from './use-viewport.ts';

export interface DataTableProps<Row> {
  /** The accessible name. */
  readonly name: string;
  readonly rows: readonly Row[];
  readonly columns: readonly TableColumn<Row>[];
  keyOf(row: Row): string;
  readonly sort?: SortOrder | undefined;
  /** Called with the path of a header that was clicked. Default: no header can be clicked. */
  readonly onSort?: (path: string) => void;
  /** True for the table that the keys `j` and `k` move in. Default: false. */
  readonly isMain?: boolean;
  /** True for a table that is as high as its rows. Default: it takes the height that is left, and scrolls. */
  readonly isShort?: boolean;
}

/**
 * Shows rows in a table that draws only what is visible, so it stays fast with 20,000 rows. The focus stays on its row while rows move, come
 * and go.
 */
export function DataTable<Row>(props: DataTableProps<Row>) {
  const { name, rows, columns, keyOf, isMain = false, isShort = false } = props;
  const [, redraw] = useReducer((count: number) => count + 1, 0);
  const frame = useRef<HTMLDivElement>(null);
  const focus = useRef<RowFocus<Row>>(undefined);
  focus.current ??= new RowFocus<Row>(redraw);
  const held = focus.current;
  held.beforeRender({ rows, keyOf, frame });
  const { scrollTop, height } = useViewport(frame);
  useLayoutEffect(() => held.afterRender());
  useLayoutEffect(() => (isMain ? held.becomeMain() : undefined), [isMain]);
  const nowMs = now.value;
  const drawn = rowsToDraw({ count: rows.length, scrollTop, height, pinned: held.pinned });
  const texts = drawn.map((at) => textsOf(columns, rows[at], nowMs));
  const widths = useRef<readonly number[]>([]);
  const headers = columns.map(({ header }) => header);
  const headerKey = headers.join('\n');
  const lastHeaders = useRef(headerKey);
  widths.current = widthsOf(lastHeaders.current === headerKey ? widths.current : [], texts, headers);
  lastHeaders.current = headerKey;
  const style = {
    '--columns': widths.current.map((width) => `minmax(calc(${width}ch + 1.5rem), ${width}fr)`).join(' '),
    // A long name leaves room for the next column.
    '--narrow-columns': widths.current.map((width) => `min(calc(${width}ch + 1.5rem), 75vw)`).join(' '),
  };
  return (
    <div
      ref={frame}
      class={isShort ? 'table-frame short' : 'table-frame'}
      style={{ '--rows': rows.length }}
      // A table without links must itself be reached by keyboard to be scrolled.
      {...(isShort || rows.length === 0 ? { tabIndex: 0, role: 'group', 'aria-label': `${name}, scrolled sideways` } : {})}
      onFocusIn={held.onFocusIn}
      onFocusOut={held.onFocusOut}
    >
      <div role="table" aria-label={name} aria-rowcount={rows.length + 1} aria-colcount={columns.length} class="table" style={style}>
        <div role="rowgroup" class="table-head">
          <div role="row" aria-rowindex={1} class="table-row">
            {columns.map((column) => (
              <HeaderCell key={column.header} column={column} sort={props.sort} onSort={props.onSort} />
            ))}
          </div>
        </div>
        <div role="rowgroup" class="table-body" style={{ height: `${rows.length * rowHeight}px` }}>
          {drawn.map((at, index) => {
            const row = rows[at] as Row;
            return <TableRow key={keyOf(row)} at={at} row={row} columns={columns} texts={texts[index] ?? []} dataKey={keyOf(row)} />;
          })}
        </div>
      </div>
    </div>
  );
}

function textsOf<Row>(columns: readonly TableColumn<Row>[], row: Row | undefined, nowMs: number): readonly string[] {
  return row === undefined ? [] : columns.map((column) => column.text(row, nowMs));
}

interface HeaderCellProps<Row> {
  readonly column: TableColumn<Row>;
  readonly sort: SortOrder | undefined;
  readonly onSort: ((path: string) => void) | undefined;
}

function HeaderCell<Row>({ column: { header, sortPath, isNumeric = false }, sort, onSort }: HeaderCellProps<Row>) {
  const isSorted = sortPath !== undefined && sort?.path === sortPath;
  const order = !isSorted ? undefined : sort.isDescending ? 'descending' : 'ascending';
  return (
    <div role="columnheader" aria-sort={order} class={isNumeric ? 'cell number' : 'cell'}>
      {sortPath === undefined || onSort === undefined ? (
        header
      ) : (
        <button type="button" class="sort" onClick={() => onSort(sortPath)}>
          {header}
        </button>
      )}
    </div>
  );
}

interface TableRowProps<Row> {
  readonly at: number;
  readonly row: Row;
  readonly columns: readonly TableColumn<Row>[];
  readonly texts: readonly string[];
  readonly dataKey: string;
}

function TableRow<Row>({ at, row, columns, texts, dataKey }: TableRowProps<Row>) {
  return (
    <div role="row" aria-rowindex={at + 2} class="table-row" data-key={dataKey} style={{ transform: `translateY(${at * rowHeight}px)` }}>
      {columns.map((column, index) => {
        const text = texts[index] ?? '';
        const tone = column.tone?.(row);
        const href = column.href?.(row);
        return (
          <div key={column.header} role="cell" class={classOf(column.isNumeric, tone)} title={text.length > 24 ? text : undefined}>
            {href === undefined ? text : <a href={href}>{text}</a>}
          </div>
        );
      })}
    </div>
  );
}

function classOf(isNumeric: boolean | undefined, tone: string | undefined): string {
  return ['cell', ...(isNumeric === true ? ['number'] : []), ...(tone === undefined ? [] : [tone])].join(' ');
}
