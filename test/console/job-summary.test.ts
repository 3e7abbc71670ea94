import { expect, test } from 'vitest';
import { type ShownJobSummary, summaryColumns, summaryRows } from '../../src/console/jobs/job-summary.ts';

test('a cluster that has never sent its Jobs has no counts, because 0 would mean that it has none', () => {
  const counts = { total: 2, byPhase: [{ phase: 'FAILED', count: 2 }] };
  const unreachable = { phase: 'UNREACHABLE', ageSeconds: null, fault: { code: 'UNREACHABLE', message: 'no route' } };
  const summary: ShownJobSummary = {
    ...counts,
    byCluster: [
      { ...counts, cluster: { name: 'north' }, sync: { phase: 'SYNCED', ageSeconds: 1, fault: null } },
      { total: 0, byPhase: [], cluster: { name: 'south' }, sync: unreachable },
    ],
  };
  const texts = summaryRows(summary).map((row) => summaryColumns(summary).map(({ text }) => text(row, 0)));
  expect(texts).toEqual([
    ['all', '2', '2'],
    ['north', '2', '2'],
    ['south', '–', '–'],
  ]);
});
