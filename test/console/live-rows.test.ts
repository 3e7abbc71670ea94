import { expect, test } from 'vitest';
import { LiveRows, maxRows } from '../../src/console/objects/live-rows.ts';

const message = (
  type: string,
  parts: { added?: readonly string[]; modified?: readonly string[]; deleted?: readonly string[]; cursor?: string } = {},
) => ({
  type,
  cluster: { name: 'north' },
  cursor: parts.cursor ?? 'c',
  added: (parts.added ?? []).map((id) => ({ id, text: 'added' })),
  modified: (parts.modified ?? []).map((id) => ({ id, text: 'modified' })),
  deleted: (parts.deleted ?? []).map((id) => ({ id, text: '' })),
});

test('holds the objects of the stream, and knows which clusters are complete', () => {
  const rows = new LiveRows<{ readonly id: string; readonly text: string }>();
  rows.apply(message('INITIAL', { added: ['a', 'b'], cursor: '1' }));
  expect([...rows.complete]).toEqual([]);
  rows.apply(message('SYNCED', { cursor: '2' }));
  expect([[...rows.complete], rows.cursor]).toEqual([['north'], '2']);
  rows.apply(message('LIVE', { modified: ['a'], deleted: ['b'] }));
  expect(rows.items()).toEqual([{ id: 'a', text: 'modified' }]);
});

test('keeps the first 20,000 objects, and the number of all', () => {
  const rows = new LiveRows<{ readonly id: string; readonly text: string }>();
  const ids = Array.from({ length: maxRows + 5 }, (_, at) => `o${at}`);
  rows.apply(message('INITIAL', { added: ids }));
  expect([rows.items().length, rows.count]).toEqual([maxRows, maxRows + 5]);
  rows.apply(message('LIVE', { deleted: ['o0', `o${maxRows}`] }));
  expect([rows.items().length, rows.count]).toEqual([maxRows - 1, maxRows + 3]);
});

test('keeps objects over a restart of the stream until the new state is complete', () => {
  const rows = new LiveRows<{ readonly id: string; readonly text: string }>();
  rows.apply(message('INITIAL', { added: ['a', 'b'] }));
  rows.apply(message('SYNCED'));
  rows.restart();
  expect([rows.items().length, rows.complete.size]).toEqual([2, 0]);
  rows.apply(message('INITIAL', { added: ['b'] }));
  rows.apply(message('SYNCED'));
  expect(rows.items().map(({ id }) => id)).toEqual(['b']);
});
