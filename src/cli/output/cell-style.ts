import type { CellStyle, Paint } from './table.ts';

const [bold, red, green, yellow] = [1, 31, 32, 33];

const good = /^(?:Running|Ready|Active|Bound|Available|Complete|Completed|Succeeded|Synced|True)$/;
const bad = /Error|BackOff|Failed|Failure|Invalid|Killed|Evicted|Lost|NotReady|Unknown|Deadline|ExitCode|Signal|^False$/;

/** Returns the colors of a table of objects: a bold header, and states colored by health. */
export function stylesOf(header: readonly string[], rows: readonly (readonly string[])[], paint: Paint): CellStyle {
  return (text, { row, column }) => {
    if (row === -1) return paint(bold, text);
    const color = colorOf(header[column] ?? '', rows[row]?.[column] ?? '');
    return color === undefined ? text : paint(color, text);
  };
}

/**
 * Returns the ANSI color of a cell. Red means failed, green means healthy, and yellow means still in progress or incomplete. Undefined: no
 * color.
 */
function colorOf(header: string, cell: string): number | undefined {
  switch (header) {
    case 'STATUS':
      return bad.test(cell) ? red : good.test(cell) ? green : yellow;
    case 'READY':
      return isShort(cell) ? yellow : undefined;
    case 'TYPE':
      return cell === 'Warning' ? yellow : undefined;
    default:
      return undefined;
  }
}

function isShort(cell: string): boolean {
  const [, some = '', all = ''] = /^(\d+)\/(\d+)$/.exec(cell) ?? [];
  return Number(some) < Number(all);
}
