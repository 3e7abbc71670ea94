import { describe, expect, it } from 'vitest';
import { IntList, PairNumbers } from '../../../src/store/aggregates/int-list.ts';

describe('IntList', () => {
  it('keeps its items while it grows', () => {
    const list = new IntList();
    for (let item = 0; item < 1_000; item += 1) list.push(-item);
    list.set(5, 7);
    expect(list.length).toBe(1_000);
    expect([0, 5, 255, 256, 999].map((index) => list.at(index))).toEqual([-0, 7, -255, -256, -999].map((item) => item + 0));
  });
});

describe('PairNumbers', () => {
  it('numbers each pair once, in the order of first appearance', () => {
    const numbers = new PairNumbers();
    const expected = new Map<string, number>();
    for (let step = 0; step < 20_000; step += 1) {
      const [first, second] = [(step * 7_919) % 211, (step * 104_729) % 97];
      const key = `${first} ${second}`;
      if (!expected.has(key)) expected.set(key, expected.size);
      expect(numbers.numberOf(first, second)).toBe(expected.get(key));
    }
    expect(numbers.size).toBe(expected.size);
    expect(expected.size).toBeGreaterThan(10_000);
    for (const [key, number] of expected) expect(numbers.pairOf(number).join(' ')).toBe(key);
  });
});
