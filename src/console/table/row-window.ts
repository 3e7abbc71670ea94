/** Height of a row in CSS pixels, as the style sheet sets it. */
export const rowHeight = 34;

/** Rows beyond each edge of the visible part, so that short scrolls show no gap. */
const margin = 8;

export interface WindowOptions {
  readonly count: number;
  /** Pixels above the visible part. */
  readonly scrollTop: number;
  /** Height of the visible part in pixels. */
  readonly height: number;
  /** The index of a row that is drawn in any case, because it has the focus. */
  readonly pinned: number | undefined;
}

/** Returns the indexes of the rows to draw, in order. Their number depends on the height only, never on `count`. */
export function rowsToDraw({ count, scrollTop, height, pinned }: WindowOptions): readonly number[] {
  // A filter may leave fewer rows than the scroll position. Then the last rows are drawn.
  const top = Math.min(Math.floor(scrollTop / rowHeight), count - Math.ceil(height / rowHeight));
  const from = Math.max(0, top - margin);
  const to = Math.min(count, Math.ceil((scrollTop + height) / rowHeight) + margin);
  const rows: number[] = [];
  for (let row = from; row < to; row++) rows.push(row);
  if (pinned === undefined || pinned >= count || (pinned >= from && pinned < to)) return rows;
  return pinned < from ? [pinned, ...rows] : [...rows, pinned];
}

/** Returns the scroll position nearest to `scrollTop` at which the row is visible. `head` is the height of the header. */
export function scrollTopFor(
  row: number,
  { scrollTop, height, head }: { readonly scrollTop: number; readonly height: number; readonly head: number },
): number {
  const top = row * rowHeight;
  if (top < scrollTop) return top;
  return Math.max(scrollTop, top + rowHeight + head - height);
}
