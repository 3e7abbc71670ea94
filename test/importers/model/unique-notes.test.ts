import { expect, test } from 'vitest';
import { infoNote, warningNote } from '../../../src/importers/model/import-notes.ts';
import { boundedNotes, UniqueNotes } from '../../../src/importers/model/unique-notes.ts';

test('a note that is already there is not added again', () => {
  const notes = new UniqueNotes();
  notes.addAll([infoNote('A', 'x', 'one'), infoNote('A', 'x', 'one'), infoNote('A', 'y', 'one')]);
  expect(notes.all.map(({ path }) => path)).toEqual(['x', 'y']);
});

test('after 100 notes, one note has the number and the highest severity of all others', () => {
  const many = Array.from({ length: 200 }, (_, index) => (index === 150 ? warningNote : infoNote)('A', `[${index}]`, 'one'));
  const notes = new UniqueNotes();
  notes.addAll(many);
  expect(notes.all).toEqual([
    ...many.slice(0, 100),
    { severity: 'WARNING', code: 'MORE_NOTES', message: '100 more notes are left out: a Propagation has at most 100' },
  ]);
  expect(boundedNotes(many)).toEqual(notes.all);
  expect(boundedNotes(notes.all)).toEqual(notes.all);
});
