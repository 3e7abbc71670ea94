import { expect, test } from 'vitest';
import { LogProgress } from '../../../src/cli/logs/log-progress.ts';

const source = (pod: string) => ({ cluster: { name: 'north' }, namespace: 'shop', pod, container: 'app' });
const line = (time: string, text = time) => ({ time, text });
const texts = (lines: readonly { readonly text: string }[]) => lines.map(({ text }) => text);

test('prints all lines, even equal ones, while the stream lasts', () => {
  const progress = new LogProgress();
  const lines = [line('2026-01-01T00:00:01Z', 'a'), line('2026-01-01T00:00:01Z', 'a'), { time: null, text: 'b' }];
  expect(progress.newLines(source('web'), lines)).toEqual(lines);
});

test('repeats and loses no line after a loss, even within one instant', () => {
  const progress = new LogProgress();
  progress.newLines(source('web'), [
    line('2026-01-01T00:00:01.100Z', 'a'),
    line('2026-01-01T00:00:01.2Z', 'b'),
    line('2026-01-01T00:00:01.200Z', 'b'),
  ]);
  // The API server truncates the time to its second, so older lines come again.
  expect(progress.resumeTime()).toBe('2026-01-01T00:00:01.200Z');
  const again = [
    line('2026-01-01T00:00:01.100Z', 'a'),
    line('2026-01-01T00:00:01.200000000Z', 'b'),
    line('2026-01-01T00:00:01.2Z', 'b'),
    line('2026-01-01T00:00:01.2Z', 'b'),
    line('2026-01-01T00:00:01.200000001Z', 'c'),
  ];
  expect(texts(progress.newLines(source('web'), again.slice(0, 2)))).toEqual([]);
  expect(texts(progress.newLines(source('web'), again.slice(2)))).toEqual(['b', 'c']);
});

test('resumes at the log that is furthest behind, and skips printed lines of the others', () => {
  const progress = new LogProgress();
  progress.newLines(source('slow'), [line('2026-01-01T00:00:10Z')]);
  progress.newLines(source('fast'), [line('2026-01-01T00:01:00Z')]);
  expect(progress.resumeTime()).toBe('2026-01-01T00:00:10.000Z');
  expect(progress.newLines(source('fast'), [line('2026-01-01T00:00:30Z'), line('2026-01-01T00:01:00Z')])).toEqual([]);
  expect(texts(progress.newLines(source('slow'), [line('2026-01-01T00:00:10Z'), line('2026-01-01T00:00:11Z')]))).toEqual([
    '2026-01-01T00:00:11Z',
  ]);
});

test('does not go back to a log that has long been silent', () => {
  const progress = new LogProgress();
  progress.newLines(source('silent'), [line('2026-01-01T00:00:00Z')]);
  progress.newLines(source('chatty'), [line('2026-01-01T09:00:00Z')]);
  expect(progress.resumeTime()).toBe('2026-01-01T08:55:00.000Z');
});

test('repeats and loses nothing if a second loss occurs while lines are repeated', () => {
  const progress = new LogProgress();
  const [a, b, c] = ['1', '2', '3'].map((second) => line(`2026-01-01T00:00:0${second}Z`, second)) as [never, never, never];
  expect(texts(progress.newLines(source('web'), [a, b]))).toEqual(['1', '2']);
  progress.resumeTime();
  expect(texts(progress.newLines(source('web'), [a]))).toEqual([]);
  progress.resumeTime();
  expect(texts(progress.newLines(source('web'), [a, b, c]))).toEqual(['3']);
});

test('has no time to resume from before the first line', () => {
  expect(new LogProgress().resumeTime()).toBeUndefined();
});

test('forgets silent logs', () => {
  const progress = new LogProgress();
  for (let at = 0; at < 5_000; at++)
    progress.newLines(source(`pod-${at}`), [line(new Date(Date.UTC(2026, 0, 1) + at * 60_000).toISOString())]);
  expect(progress.remembered).toBeLessThanOrEqual(1_001);
});
