import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { RolloutMark } from '../../../src/propagate/model/propagation.ts';
import { nextMark, watchMsOf } from '../../../src/propagate/rollout/rollout-mark.ts';

const nowMs = Date.parse('2030-01-01T00:10:00Z');
const now = '2030-01-01T00:10:00.000Z';
const before = '2030-01-01T00:09:00.000Z';
const mark = (phase: RolloutMark['phase']): RolloutMark => ({ phase, since: before });

test.each([
  ['begins', undefined, 'progressing', { phase: 'Progressing', since: now }],
  ['begins unseen', undefined, undefined, { phase: 'Progressing', since: now }],
  ['is done at once', undefined, 'done', { phase: 'Succeeded', since: now }],
  ['fails at once', undefined, 'failed', { phase: 'Failed', since: now }],
  ['goes on', mark('Progressing'), 'progressing', mark('Progressing')],
  ['goes on unseen', mark('Progressing'), undefined, mark('Progressing')],
  ['succeeds', mark('Progressing'), 'done', { phase: 'Succeeded', since: now }],
  ['fails', mark('Progressing'), 'failed', { phase: 'Failed', since: now }],
  ['stays failed', mark('Failed'), 'failed', mark('Failed')],
  ['stays failed unseen', mark('Failed'), undefined, mark('Failed')],
  ['goes on after all', mark('Failed'), 'progressing', { phase: 'Progressing', since: now }],
  ['succeeds after all', mark('Failed'), 'done', { phase: 'Succeeded', since: now }],
  ['succeeds late', mark('TimedOut'), 'done', { phase: 'Succeeded', since: now }],
  ['stays out of time', mark('TimedOut'), 'progressing', mark('TimedOut')],
  ['stays out of time though it failed', mark('TimedOut'), 'failed', mark('TimedOut')],
  ['stays done whatever comes', mark('Succeeded'), 'failed', mark('Succeeded')],
] as const)('%s', (_, previous, phase, expected) => {
  expect(nextMark({ previous, phase, watchMs: 0, nowMs })).toEqual(expected);
});

test('times out at its deadline, also while its state is unknown', () => {
  expect(nextMark({ previous: mark('Progressing'), phase: 'progressing', deadlineMs: 60_001, watchMs: 0, nowMs })).toEqual(
    mark('Progressing'),
  );
  for (const phase of ['progressing', undefined] as const) {
    expect(nextMark({ previous: mark('Progressing'), phase, deadlineMs: 60_000, watchMs: 0, nowMs })).toEqual({
      phase: 'TimedOut',
      since: now,
    });
  }
  expect(nextMark({ previous: mark('Progressing'), phase: 'done', deadlineMs: 1, watchMs: 0, nowMs }).phase).toBe('Succeeded');
});

test.each([
  ['is undone by what undoes it while it is watched', 60_001, 'progressing', { phase: 'Progressing', since: now }],
  ['fails while it is watched', 60_001, 'failed', { phase: 'Failed', since: now }],
  ['stays while nobody can tell', 60_001, undefined, mark('Succeeded')],
  ['goes on being watched', 60_001, 'done', mark('Succeeded')],
  ['stays for good once it was watched', 60_000, 'progressing', mark('Succeeded')],
] as const)('a success %s', (_, watchMs, phase, expected) => {
  expect(nextMark({ previous: mark('Succeeded'), phase, watchMs, nowMs })).toEqual(expected);
});

test('watches a success for the soak time, in a breach for at least 30 s', () => {
  expect(watchMsOf({ soakMs: 5_000, breachedAtMs: undefined })).toBe(5_000);
  expect(watchMsOf({ soakMs: 5_000, breachedAtMs: 1 })).toBe(30_000);
  expect(watchMsOf({ soakMs: 90_000, breachedAtMs: 1 })).toBe(90_000);
});

test('returns the same mark for its own result', () => {
  const phase = fc.constantFrom('progressing', 'done', 'failed', undefined);
  const previous = fc.option(fc.constantFrom<RolloutMark['phase']>('Progressing', 'Succeeded', 'Failed', 'TimedOut').map(mark), {
    nil: undefined,
  });
  fc.assert(
    fc.property(previous, phase, fc.option(fc.nat(120_000), { nil: undefined }), (given, its, deadlineMs) => {
      const once = nextMark({ previous: given, phase: its, deadlineMs, watchMs: 0, nowMs });
      // A deadline of 0 times out at once.
      const settled = once.phase === 'Progressing' && deadlineMs === 0 ? 'TimedOut' : once.phase;
      expect(nextMark({ previous: once, phase: its, deadlineMs, watchMs: 0, nowMs }).phase).toBe(settled);
    }),
  );
});
