import { expect, test } from 'vitest';
import { failureOfAnswer, failureOfErrorEvent, faultOfFailure, parseRetryAfter } from '../../src/cluster/cluster-failure.ts';
import type { Json } from '../../src/core/json.ts';
import { clusterName } from '../../src/core/names.ts';
import { createManualClock } from '../support/manual-clock.ts';

const clock = createManualClock();
const answer = (httpStatus: number, body?: Json, retryAfter?: string) => failureOfAnswer({ httpStatus, body, retryAfter }, clock);
const status = (code: number, more: Record<string, Json> = {}): Json => ({
  kind: 'Status',
  apiVersion: 'v1',
  status: 'Failure',
  code,
  ...more,
});

test.each([
  [400, 'INVALID', 'NEVER'],
  [401, 'UNAUTHENTICATED', 'LATER'],
  [403, 'FORBIDDEN', 'NEVER'],
  [405, 'NOT_SERVED', 'NEVER'],
  [406, 'INVALID', 'NEVER'],
  [409, 'CONFLICT', 'LATER'],
  [410, 'EXPIRED', 'NOW'],
  [413, 'TOO_LARGE', 'NEVER'],
  [422, 'INVALID', 'NEVER'],
  [429, 'THROTTLED', 'LATER'],
  [500, 'SERVER_ERROR', 'LATER'],
  [502, 'SERVER_ERROR', 'LATER'],
  [503, 'SERVER_ERROR', 'LATER'],
  [504, 'TIMED_OUT', 'LATER'],
  [599, 'SERVER_ERROR', 'LATER'],
])('%i is %s, to be tried again %s', (httpStatus, code, retry) => {
  expect(answer(httpStatus)).toMatchObject({ code, retry, status: { code: httpStatus, causes: [] } });
  expect(answer(httpStatus, status(httpStatus, { reason: 'Some' }))).toMatchObject({
    code,
    retry,
    status: { code: httpStatus, reason: 'Some' },
  });
});

test('a missing object differs from a path that is not served', () => {
  expect(answer(404, status(404, { details: { name: 'web', kind: 'pods' } })).code).toBe('NOT_FOUND');
  expect(answer(404, status(404, { details: {} })).code).toBe('NOT_SERVED');
  expect(answer(404).code).toBe('NOT_SERVED');
});

test.each([
  'failed to create typed patch object (default/web; apps/v1, Kind=Deployment): .spec.zzz: field not declared in schema',
  'failed to convert new object (default/key; /v1, Kind=Secret) to proper version: unable to convert unstructured object to /v1, Kind=Secret: error decoding from json: illegal base64 data at input byte 3',
])('a caller’s mistake in an apply is no fault of the server: %s', (message) => {
  expect(answer(500, status(500, { message }))).toMatchObject({ code: 'INVALID', retry: 'NEVER', status: { message } });
});

test('a conflict over fields differs from a stale version by its causes', () => {
  const causes = [{ reason: 'FieldManagerConflict', field: '.spec.replicas', message: 'conflict with "kubectl"' }];
  expect(answer(409, status(409, { reason: 'Conflict', details: { causes } }))).toMatchObject({ retry: 'NEVER', status: { causes } });
  expect(answer(409, status(409, { reason: 'Conflict' }))).toMatchObject({ retry: 'LATER' });
});

test('a resource version that is too large keeps its cause and its retry time', () => {
  const details = { causes: [{ reason: 'ResourceVersionTooLarge', message: 'Too large resource version' }], retryAfterSeconds: 1 };
  expect(answer(504, status(504, { reason: 'Timeout', details }))).toMatchObject({
    code: 'TIMED_OUT',
    status: { retryAfterSeconds: 1, causes: [{ reason: 'ResourceVersionTooLarge' }] },
  });
});

test('a redirect is never followed', () => {
  expect(answer(302)).toMatchObject({ code: 'MALFORMED' });
});

test('Retry-After is seconds or a date, ten minutes at most', () => {
  const at = (ms: number) => new Date(clock.now() + ms).toUTCString();
  expect(
    [undefined, '', 'soon', '-1', '7', ' 7 ', '0', '86400', at(7_000), at(-7_000), at(3_600_000)].map((header) =>
      parseRetryAfter(header, clock),
    ),
  ).toEqual([undefined, undefined, undefined, undefined, 7, 7, 0, 600, 7, 0, 600]);
  expect(answer(429, status(429, { details: { retryAfterSeconds: 3 } }), '7').status?.retryAfterSeconds).toBe(7);
  expect(answer(429, status(429, { details: { retryAfterSeconds: 3 } })).status?.retryAfterSeconds).toBe(3);
});

test('an ERROR event has its own code; one without is the server’s error', () => {
  expect(failureOfErrorEvent({ kind: 'Status', code: 410 })).toMatchObject({ code: 'EXPIRED' });
  expect(failureOfErrorEvent({ kind: 'Status', code: 429, details: { retryAfterSeconds: 5 } })).toMatchObject({
    code: 'THROTTLED',
    status: { retryAfterSeconds: 5 },
  });
  for (const object of [undefined, null, 'x', [], { code: '410' }, { code: 1.5 }] as const)
    expect(failureOfErrorEvent(object as Json)).toMatchObject({ code: 'SERVER_ERROR', status: { code: 500 } });
});

test('no message has a host, an address or a control character, and none is long', () => {
  const message = `failed calling webhook "x.example.com": Post "https://hook.team.svc:443/v1?timeout=10s": dial tcp 10.96.0.7:443: lookup secret.host on 10.0.0.1:53: [fd00::1]:443\n\u0007${'x'.repeat(5_000)}`;
  const broken = answer(500, status(500, { message, reason: 'InternalError' }));
  expect(broken.message).toBe('the API server answered HTTP 500, reason InternalError');
  expect(broken.status?.message).not.toMatch(/hook\.team|10\.\d|secret\.host|fd00|\p{Cc}/u);
  expect(broken.status?.message.length).toBeLessThan(1_100);
});

test('a fault has its cluster and the bare kind', () => {
  const kind = { group: 'apps', kind: 'Deployment', version: 'v1' };
  expect(faultOfFailure(answer(403), { cluster: clusterName('south'), kind })).toMatchObject({
    cluster: 'south',
    kind: { group: 'apps', kind: 'Deployment' },
  });
  expect(faultOfFailure(answer(403), { cluster: clusterName('south'), kind }).kind).not.toHaveProperty('version');
});
