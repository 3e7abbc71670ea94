import { expect, test } from 'vitest';
import { memoizeByText } from '../../src/core/memoize-by-text.ts';

/** Returns the length of a text, or undefined for the empty one, and records each call. */
function counting() {
  const texts: string[] = [];
  const read = memoizeByText((text) => {
    texts.push(text);
    return text === '' ? undefined : text.length;
  });
  return { texts, read };
}

test('a text is read once, even if the result is undefined', () => {
  const { texts, read } = counting();
  expect(['a', '', 'a', '', 'bb'].map(read)).toEqual([1, undefined, 1, undefined, 2]);
  expect(texts).toEqual(['a', '', 'bb']);
});

test('long texts are not held', () => {
  const { texts, read } = counting();
  const [held, long] = ['x'.repeat(64), 'x'.repeat(65)];
  expect([held, long, held, long].map(read)).toEqual([64, 65, 64, 65]);
  expect(texts).toEqual([held, long, long]);
});

test('4,096 texts are held, and one more empties the cache', () => {
  const { texts, read } = counting();
  for (const round of [1, 2]) {
    for (let index = 0; index < 4_096; index += 1) read(`t${index}`);
    expect(texts, `round ${round}`).toHaveLength(4_096);
  }
  read('another');
  expect([read('t0'), read('another')]).toEqual([2, 7]);
  expect(texts).toHaveLength(4_098);
});
