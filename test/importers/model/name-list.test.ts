import { expect, test } from 'vitest';
import { nameListOf } from '../../../src/importers/model/name-list.ts';

const names = (count: number) => Array.from({ length: count }, (_, at) => `n${at}`);

test.each([
  [names(1), 'n0'],
  [names(10), 'n0, n1, n2, n3, n4, n5, n6, n7, n8, n9'],
  [names(13), 'n0, n1, n2, n3, n4, n5, n6, n7, n8, n9 and 3 more'],
])('a list has the first 10 names and the number of the others', (given, text) => {
  expect(nameListOf(given)).toBe(text);
});

test('a list of long names is shorter', () => {
  const list = nameListOf(Array.from({ length: 12 }, () => 'a'.repeat(400)));
  expect(list).toBe(`${'a'.repeat(400)}, ${'a'.repeat(400)} and 10 more`);
});
