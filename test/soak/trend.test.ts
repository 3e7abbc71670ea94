import { expect, test } from 'vitest';
import { trendOf } from './trend.ts';

const allowance = { share: 0.03, least: 3 };
const samplesOf = (valueAt: (index: number) => number, count = 120) =>
  Array.from({ length: count }, (_, index) => ({ atMs: index * 30_000, value: valueAt(index) }));

test('a figure that swings without growing is flat', () => {
  const trend = trendOf(
    samplesOf((index) => 100 + 5 * Math.sin(index)),
    allowance,
  );
  expect(trend).toMatchObject({ flat: true });
  expect(Math.abs(trend?.growth ?? Number.NaN)).toBeLessThan(1);
});

test('a figure that grows a little with every sample is not flat, even if it swings', () => {
  const trend = trendOf(
    samplesOf((index) => 100 + 5 * Math.sin(index) + index / 10),
    allowance,
  );
  expect(trend).toMatchObject({ flat: false });
  expect(trend?.growth).toBeCloseTo(5.9, 0);
});

test('ignores the warm-up and a single spike', () => {
  const trend = trendOf(
    samplesOf((index) => (index < 50 ? index * 2 : 100) + (index === 119 ? 500 : 0)),
    allowance,
  );
  expect(trend).toMatchObject({ flat: true, median: 100, growth: 0 });
});

test('gives no trend for too few samples', () => {
  expect(
    trendOf(
      samplesOf(() => 1, 12),
      allowance,
    ),
  ).toBeUndefined();
});
