import type { RefObject } from 'preact';
import { rowHeight, scrollTopFor } from './row-window.ts';

interface RenderedRows<Row> {
  readonly rows: readonly Row[];
  keyOf(row: Row): string;
  readonly frame: RefObject<HTMLElement | null>;
}

/** A table in which `j` and `k` move. */
interface MainTable {
  move(step: 1 | -1): void;
}

let main: MainTable | undefined;

/** Moves the focus to the link of the next row (1) or the previous one (-1) of the main table of the page. */
export function moveInMainTable(step: 1 | -1): void {
  main?.move(step);
}

/**
 * Keeps the focus of one table. A row with the focus stays drawn when it is scrolled out of the page, and gets the focus back when the browser
 * takes it away because the row has moved in the document.
 */
export class RowFocus<Row> {
  readonly #redraw: (action: undefined) => void;
  #rendered: RenderedRows<Row> | undefined;
  #isRendering = false;
  /** The key of the row with the focus. */
  #focused: string | undefined;
  /** The key of the row that had the focus last. `j` continues there. */
  #last: string | undefined;
  /** The key of the row that gets the focus after the next render. */
  #wanted: string | undefined;

  constructor(redraw: (action: undefined) => void) {
    this.#redraw = redraw;
  }

  /** Call this at the beginning of each render, with the rows that it shows. */
  beforeRender(rendered: RenderedRows<Row>): void {
    this.#rendered = rendered;
    this.#isRendering = true;
  }

  /** Call this after each render, when the document has the new rows. Sets the focus. */
  afterRender(): void {
    this.#isRendering = false;
    const key = this.#wanted ?? (document.activeElement === document.body ? this.#focused : undefined);
    this.#wanted = undefined;
    if (key === undefined) return;
    const row = this.#rendered?.frame.current?.querySelector(`[data-key="${CSS.escape(key)}"]`);
    if (row === undefined || row === null) this.#focused = undefined;
    else row.querySelector('a')?.focus({ preventScroll: true });
  }

  /** The index of the row that has the focus, or gets it after this render. It must be drawn even if it is not visible. Undefined without one. */
  get pinned(): number | undefined {
    return this.#indexOf(this.#wanted ?? this.#focused);
  }

  /** Makes this table the one in which `j` and `k` move. Call the returned function when the table is removed. */
  becomeMain(): () => void {
    const own: MainTable = { move: (step) => this.#move(step) };
    main = own;
    return () => {
      if (main === own) main = undefined;
    };
  }

  readonly onFocusIn = ({ target }: FocusEvent): void => {
    const row = target instanceof Element ? target.closest<HTMLElement>('[data-key]') : null;
    this.#focused = row?.dataset.key;
    this.#last = this.#focused ?? this.#last;
  };

  readonly onFocusOut = (): void => {
    if (!this.#isRendering) this.#focused = undefined;
  };

  #move(step: 1 | -1): void {
    const { rows, keyOf, frame } = this.#rendered ?? {};
    if (rows === undefined || keyOf === undefined || rows.length === 0 || !frame?.current) return;
    const at = this.#indexOf(this.#focused) ?? this.#indexOf(this.#last);
    const next = at === undefined ? Math.ceil(frame.current.scrollTop / rowHeight) : Math.max(0, Math.min(rows.length - 1, at + step));
    const row = rows[Math.min(next, rows.length - 1)];
    if (row === undefined) return;
    this.#wanted = keyOf(row);
    const { scrollTop, clientHeight } = frame.current;
    frame.current.scrollTop = scrollTopFor(next, { scrollTop, height: clientHeight, head: rowHeight });
    this.#redraw(undefined);
  }

  #indexOf(key: string | undefined): number | undefined {
    const { rows, keyOf } = this.#rendered ?? {};
    if (key === undefined || rows === undefined || keyOf === undefined) return undefined;
    const found = rows.findIndex((row) => keyOf(row) === key);
    return found === -1 ? undefined : found;
  }
}
