import { expect, test } from 'vitest';
import { nearestAfter, type RolloutLine, slotOf } from '../../../src/propagate/rollout/slots.ts';

const nowMs = 1_000_000;
const line = (phase: RolloutLine['phase'], agoMs?: number): RolloutLine => ({
  phase,
  sinceMs: agoMs === undefined ? undefined : nowMs - agoMs,
});

test.each([
  [line('toApply', 999), { taken: 'yes' }],
  [line('succeeded', 9_999), { taken: 'yes', recheckMs: nowMs + 1 }],
  [line('succeeded', 10_000), { taken: 'no' }],
  [line('succeeded'), { taken: 'yes', recheckMs: nowMs + 10_000 }],
  [line('progressing', 59_999), { taken: 'yes', recheckMs: nowMs + 1 }],
  [line('progressing', 60_000), { taken: 'timedOut', recheckMs: nowMs }],
  [line('failed', 60_001), { taken: 'timedOut', recheckMs: nowMs - 1 }],
  [line('unknown'), { taken: 'yes', recheckMs: nowMs + 60_000 }],
  [line('timedOut', 1), { taken: 'no' }],
  [line('skip'), { taken: 'no' }],
])('%o takes %o', (given, slot) => {
  expect(slotOf(given, { soakMs: 10_000, deadlineMs: 60_000, nowMs })).toEqual(slot);
});

test('without a deadline nothing times out', () => {
  for (const phase of ['progressing', 'failed', 'unknown'] as const) {
    expect(slotOf(line(phase, 1e12), { soakMs: 0, nowMs })).toEqual({ taken: 'yes' });
  }
});

test.each([
  [[], undefined],
  [[undefined, 10, 9], undefined],
  [[undefined, 13, 11, 10, 12], 11],
])('the nearest of %o after 10 is %s', (times, nearest) => {
  expect(nearestAfter(10, times)).toBe(nearest);
});
