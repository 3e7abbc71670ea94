import { expect, test } from 'vitest';
import { LogLines, maxLines } from '../../src/console/object/log-lines.ts';
import { podSelectorOf } from '../../src/console/object/pod-selector.ts';

const batch = (
  lines: readonly (readonly [time: string, text: string])[],
  parts: { readonly dropped?: number; readonly type?: string } = {},
) => ({
  type: parts.type ?? 'LINES',
  cluster: { name: 'north' },
  pod: 'web-0',
  container: 'web',
  dropped: parts.dropped ?? 0,
  fault: parts.type === 'FAILED' ? { code: 'FORBIDDEN', message: 'no' } : null,
  lines: lines.map(([time, text]) => ({ time, text })),
});

test('keeps the last 5,000 lines and counts the others', () => {
  const log = new LogLines();
  log.apply(
    batch(
      Array.from({ length: maxLines + 7 }, (_, at) => [`t${at}`, `line ${at}`] as const),
      { dropped: 3 },
    ),
  );
  expect([log.lines.length, log.forgotten, log.dropped, log.lines[0]?.text]).toEqual([maxLines, 7, 3, 'line 7']);
});

test('shows no line twice after a lost stream', () => {
  const log = new LogLines();
  log.apply(
    batch([
      ['2026-01-01T00:00:01Z', 'one'],
      ['2026-01-01T00:00:02Z', 'two'],
    ]),
  );
  expect(log.resume()).toBe('2026-01-01T00:00:02Z');
  log.apply(
    batch([
      ['2026-01-01T00:00:02Z', 'two'],
      ['2026-01-01T00:00:03Z', 'three'],
    ]),
  );
  expect(log.lines.map(({ text }) => text)).toEqual(['one', 'two', 'three']);
});

test('removes the colors of terminals, and names a container that cannot be followed until it can', () => {
  const log = new LogLines();
  log.apply(batch([], { type: 'FAILED' }));
  expect(log.faults).toEqual(['web-0/web: FORBIDDEN: no']);
  log.apply(batch([['t', '\u001b[31mred\u001b[0m text']]));
  expect([log.faults, log.lines[0]?.text]).toEqual([[], 'red text']);
});

test('names a fault of the whole cluster once, and not for each container', () => {
  const log = new LogLines();
  log.apply(batch([], { type: 'FAILED' }));
  log.apply({ ...batch([], { type: 'FAILED' }), pod: '', container: '' });
  log.apply({ ...batch([], { type: 'FAILED' }), pod: 'web-1', fault: { code: 'NOT_FOUND', message: 'waiting' } });
  expect(log.faults).toEqual(['north: FORBIDDEN: no', 'web-1/web: NOT_FOUND: waiting']);
});

test.each([
  [{ spec: { selector: { matchLabels: { app: 'web' }, matchExpressions: [{ key: 'tier', operator: 'Exists' }] } } }, 'app=web,tier'],
  [{ spec: { selector: { app: 'web', tier: 'front' } } }, 'app=web,tier=front'],
  [{ spec: { selector: {} } }, undefined],
  [{ spec: {} }, undefined],
])('the Pods of %o', (object, expected) => {
  expect(podSelectorOf(object)).toBe(expected);
});
