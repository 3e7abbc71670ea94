import { expect, test } from 'vitest';
import { judgeJobs, type UntilChoice } from '../../../src/cli/watches/job-ends.ts';

test.each<[UntilChoice, number, number, number, boolean, string]>([
  // until, total, complete, failed, whole, verdict
  ['any', 0, 0, 0, true, 'open'],
  ['any', 3, 0, 0, true, 'open'],
  ['any', 3, 1, 0, true, 'true'],
  ['any', 3, 1, 2, true, 'true'],
  ['any', 3, 1, 0, false, 'true'],
  ['any', 3, 0, 2, true, 'open'],
  ['any', 3, 0, 3, true, 'false'],
  ['any', 3, 0, 3, false, 'open'],
  ['all', 0, 0, 0, true, 'open'],
  ['all', 3, 2, 0, true, 'open'],
  ['all', 3, 3, 0, true, 'true'],
  ['all', 3, 3, 0, false, 'open'],
  ['all', 3, 0, 1, true, 'false'],
  ['all', 3, 2, 1, false, 'false'],
  ['all', 1, 0, 1, true, 'false'],
])('until %s: of %d Jobs %d complete and %d failed, all known: %s, gives %s', (until, total, complete, failed, isWhole, verdict) => {
  expect(judgeJobs(until, { total, complete, failed, isWhole })).toBe(verdict);
});
