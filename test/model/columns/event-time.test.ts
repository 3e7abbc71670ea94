import { expect, test } from 'vitest';
import type { JsonObject } from '../../../src/core/json.ts';
import { lastSeenOf } from '../../../src/model/columns/event-time.ts';
import { later } from '../../../src/model/columns/pod-status.ts';

const event = (times: JsonObject, creationTimestamp?: string) => ({
  metadata: { name: 'e', ...(creationTimestamp === undefined ? {} : { creationTimestamp }) },
  ...times,
});

test.each([
  [
    'one that goes on',
    event({ series: { lastObservedTime: '2026-01-01T03:00:00.5Z' }, lastTimestamp: '2026-01-01T02:00:00Z' }),
    '2026-01-01T03:00:00.5Z',
  ],
  ['one of the old API', event({ firstTimestamp: '2026-01-01T01:00:00Z', lastTimestamp: '2026-01-01T02:00:00Z' }), '2026-01-01T02:00:00Z'],
  [
    'one of the new API',
    event({ eventTime: '2026-01-01T02:00:00.000001Z', lastTimestamp: null, series: null }),
    '2026-01-01T02:00:00.000001Z',
  ],
  [
    'one of the old API beside the new one',
    event({ eventTime: '2026-01-01T02:00:00.000002Z', lastTimestamp: '2026-01-01T02:00:00Z' }),
    '2026-01-01T02:00:00Z',
  ],
  ['one seen once', event({ firstTimestamp: '2026-01-01T01:00:00Z', eventTime: '2026-01-01T02:00:00Z' }), '2026-01-01T01:00:00Z'],
  [
    'one that goes on, and was last written with a later time',
    event({ series: { lastObservedTime: '2026-01-01T01:00:00Z' }, lastTimestamp: '2026-01-01T02:00:00Z' }),
    '2026-01-01T01:00:00Z',
  ],
  ['one created after it was seen', event({ lastTimestamp: '2026-01-01T02:00:00Z' }, '2026-01-01T03:00:00Z'), '2026-01-01T02:00:00Z'],
  ['one without times of its own', event({}, '2026-01-01T00:00:00Z'), '2026-01-01T00:00:00Z'],
  [
    'one with times that are none',
    event({ lastTimestamp: 'today', eventTime: 7, series: [] }, '2026-01-01T00:00:00Z'),
    '2026-01-01T00:00:00Z',
  ],
  ['one without any', event({ lastTimestamp: 'today' }), undefined],
])('the time that kubectl prints: %s', (_, object, seen) => {
  expect(lastSeenOf(object)).toBe(seen);
});

test('of two times that are equal the first is kept, as it was written', () => {
  expect(later('2026-01-01T00:00:00Z', '2026-01-01T01:00:00+01:00')).toBe('2026-01-01T00:00:00Z');
  expect(later(undefined, 'never')).toBeUndefined();
  expect(later('never', undefined)).toBeUndefined();
});
