import { expect, test } from 'vitest';
import { ageText, humanDuration } from '../../../src/core/columns/kubectl-text.ts';

const minute = 60;
const hour = 3600;
const day = 24 * hour;

// The output of kubectl 1.36.
test.each([
  [0, '0s'],
  [1, '1s'],
  [59, '59s'],
  [2 * minute - 1, '119s'],
  [2 * minute, '2m'],
  [2 * minute + 1, '2m1s'],
  [3 * minute, '3m'],
  [10 * minute - 1, '9m59s'],
  [10 * minute, '10m'],
  [10 * minute + 1, '10m'],
  [hour - 1, '59m'],
  [hour, '60m'],
  [3 * hour - 1, '179m'],
  [3 * hour, '3h'],
  [3 * hour + minute, '3h1m'],
  [8 * hour - 1, '7h59m'],
  [8 * hour, '8h'],
  [8 * hour + minute, '8h'],
  [2 * day - 1, '47h'],
  [2 * day, '2d'],
  [2 * day + 1, '2d'],
  [2 * day + hour, '2d1h'],
  [8 * day - 1, '7d23h'],
  [8 * day, '8d'],
  [365 * day, '365d'],
  [730 * day - 1, '729d'],
  [730 * day, '2y'],
  [731 * day, '2y1d'],
  [1095 * day, '3y'],
  [2920 * day - 1, '7y364d'],
  [2920 * day, '8y'],
])('prints %d seconds as %s', (seconds, text) => {
  expect(humanDuration(seconds * 1000)).toBe(text);
  expect(humanDuration(seconds * 1000 + 999)).toBe(text);
});

test('ignores a clock that is one second late, but no more', () => {
  expect(humanDuration(-1_900)).toBe('0s');
  expect(humanDuration(-2_000)).toBe('<invalid>');
  expect(humanDuration(Number.NaN)).toBe('<invalid>');
});

test('prints <unknown> as the age of an object without a time', () => {
  const nowMs = Date.parse('2026-01-01T00:05:00Z');
  expect(ageText('2026-01-01T00:00:00Z', nowMs)).toBe('5m');
  expect([ageText(null, nowMs), ageText(undefined, nowMs)]).toEqual(['<unknown>', '<unknown>']);
});
