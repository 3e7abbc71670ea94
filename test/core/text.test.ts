import { expect, test } from 'vitest';
import { shortenedList } from '../../src/core/text.ts';

test.each<[readonly string[], string]>([
  [[], ''],
  [['a'], 'a'],
  [['a', 'b'], 'a, b'],
  [['a', 'b', 'c'], 'a, b and 1 more'],
  [['a', 'b', 'c', 'd', 'e'], 'a, b and 3 more'],
])('a shortened list of %j has the first two texts and the number of the others', (texts, shown) => {
  expect(shortenedList(texts, 2)).toBe(shown);
});
