import { expect, test } from 'vitest';
import { jobFrame } from '../../../src/cli/watches/job-frame.ts';
import { cellsOfJob } from '../../../src/core/columns/job-cells.ts';
import { phaseText } from '../../../src/core/columns/kubectl-text.ts';
import { jobState, summaryOf } from '../../support/cli/job-states.ts';

const nowMs = Date.parse('2026-01-01T00:01:30Z');
const size = { columns: 100, rows: 24 };
const done = { phase: 'COMPLETE', succeeded: 1, completionTime: '2026-01-01T00:00:12Z' } as const;

test('shows Jobs by cluster, namespace and name, and below their counts by phase and cluster', () => {
  const jobs = [jobState('south', 'nightly'), jobState('north', 'nightly', done), jobState('north', 'a-first', { namespace: 'shop' })];
  expect(jobFrame({ jobs, summary: summaryOf(jobs, ['north', 'south']), size, nowMs, hasColor: false })).toEqual([
    'CLUSTER   NAMESPACE   NAME      STATUS     COMPLETIONS   DURATION   AGE',
    'north     batch       nightly   Complete   1/1           12s        90s',
    'north     shop        a-first   Running    0/1           90s        90s',
    'south     batch       nightly   Running    0/1           90s        90s',
    '',
    'JOBS    TOTAL   COMPLETE   FAILED   RUNNING   SYNC',
    'north   2       1          0        1         SYNCED',
    'south   1       0          0        1         SYNCED',
    'all     3       1          0        2',
  ]);
});

test('shows which clusters are stale, since when and why, and how many Jobs they have', () => {
  const jobs = [jobState('south', 'nightly', { phase: 'SUSPENDED' })];
  const frame = jobFrame({ jobs, summary: summaryOf(jobs, ['north', 'south'], ['south']), size, nowMs, hasColor: false });
  expect(frame.slice(-4)).toEqual([
    'JOBS    TOTAL   COMPLETE   FAILED   SUSPENDED   RUNNING   SYNC',
    'north   0       0          0        0           0         SYNCED',
    'south   1       0          0        1           0         STALE for 90s: UNREACHABLE the connection was refused',
    'all     1       0          0        1           0         1 stale',
  ]);
});

test('is never higher than the terminal: leaves out Jobs that have ended first, and counts them', () => {
  const old = Array.from({ length: 30 }, (_, at) => jobState('north', `old-${at}`, done));
  const jobs = [...old, jobState('north', 'zz-running')];
  for (const rows of [1, 2, 4, 6, 8, 12, 40]) {
    const frame = jobFrame({ jobs, summary: summaryOf(jobs, ['north', 'south']), size: { columns: 100, rows }, nowMs, hasColor: false });
    expect(frame.length, `${rows}`).toBeLessThanOrEqual(rows);
  }
  const frame = jobFrame({ jobs, summary: summaryOf(jobs, ['north', 'south']), size: { columns: 100, rows: 12 }, nowMs, hasColor: false });
  expect(frame).toHaveLength(12);
  expect(frame.join('\n')).toContain('zz-running');
  expect(frame).toContain('… and 26 more');
  expect(frame.at(-1)).toMatch(/^all +31 /);
});

test('counts only the sum if there are more clusters than lines', () => {
  const clusters = Array.from({ length: 30 }, (_, at) => `c${at}`);
  const frame = jobFrame({ jobs: [], summary: summaryOf([], clusters), size, nowMs, hasColor: false });
  expect(frame).toEqual(['JOBS   TOTAL   COMPLETE   FAILED   RUNNING   SYNC', 'all    0       0          0        0']);
});

test('colors only the status', () => {
  const jobs = [jobState('north', 'Running', done)];
  const [, line] = jobFrame({ jobs, summary: summaryOf(jobs, ['north']), size, nowMs, hasColor: true });
  expect(line).toBe('north     batch       Running   \x1b[32mComplete\x1b[0m   1/1           12s        90s');
});

test('shows that it waits before the first message', () => {
  expect(jobFrame({ jobs: [], summary: undefined, size, nowMs, hasColor: false })).toEqual(['waiting for the first state']);
});

test.each([
  ['COMPLETE', 'Complete'],
  ['FAILURE_TARGET', 'FailureTarget'],
  ['RUNNING', 'Running'],
])('prints %s as %s, like kubectl', (phase, word) => {
  expect(phaseText(phase)).toBe(word);
});

test.each([
  [{ completions: 3, succeeded: 2 }, '2/3'],
  [{ completions: null, parallelism: null }, '0/1'],
  [{ completions: null, parallelism: 1, succeeded: 1 }, '1/1'],
  [{ completions: null, parallelism: 3 }, '0/1 of 3'],
])('prints the completions of %j as %s, like kubectl get jobs', (parts, text) => {
  expect(cellsOfJob(jobState('north', 'a', parts), nowMs).completions).toBe(text);
});

test('ends the duration with the Job, even a failed one, and shows none before its start', () => {
  const conditions = [{ type: 'Failed', status: 'True', lastTransitionTime: '2026-01-01T00:00:30Z' }];
  expect(cellsOfJob(jobState('north', 'a', { phase: 'FAILED', conditions }), nowMs).duration).toBe('30s');
  expect(cellsOfJob(jobState('north', 'a', { startTime: null }), nowMs).duration).toBe('');
});
