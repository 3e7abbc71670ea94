import { expect, test } from 'vitest';
import { rowHeight, rowsToDraw, scrollTopFor } from '../../src/console/table/row-window.ts';

test('draws the visible rows and a few around them, however many rows there are', () => {
  const drawn = rowsToDraw({ count: 20_000, scrollTop: 10_000 * rowHeight, height: 800, pinned: undefined });
  expect(drawn.length).toBeLessThan(50);
  expect([drawn[0], drawn.at(-1)]).toEqual([9_992, 10_031]);
});

test.each([
  ['no rows', { count: 0, scrollTop: 0, height: 800, pinned: undefined }, []],
  ['fewer rows than fit', { count: 3, scrollTop: 0, height: 800, pinned: undefined }, [0, 1, 2]],
  ['a scroll position beyond the last row', { count: 3, scrollTop: 9_999, height: 100, pinned: undefined }, [0, 1, 2]],
  ['a row with the focus above', { count: 100, scrollTop: 90 * rowHeight, height: rowHeight, pinned: 1 }, [1, ...range(82, 98)]],
  ['a row with the focus below', { count: 100, scrollTop: 0, height: rowHeight, pinned: 99 }, [...range(0, 8), 99]],
  ['a row with the focus in visibility', { count: 20, scrollTop: 0, height: rowHeight, pinned: 2 }, range(0, 8)],
  ['a row with the focus that is gone', { count: 2, scrollTop: 0, height: 100, pinned: 7 }, [0, 1]],
] as const)('%s', (_case, options, expected) => {
  expect(rowsToDraw(options)).toEqual(expected);
});

test.each([
  ['visible', 5, 0],
  ['above', 0, 0],
  ['below', 30, 31 * rowHeight + rowHeight - 400],
])('scrolls only as far as a row that is %s needs', (_case, row, expected) => {
  expect(scrollTopFor(row, { scrollTop: 0, height: 400, head: rowHeight })).toBe(expected);
});

function range(from: number, to: number): number[] {
  return Array.from({ length: to - from + 1 }, (_, at) => from + at);
}
