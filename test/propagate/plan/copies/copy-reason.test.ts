import { describe, expect, test } from 'vitest';
import { conflictsIn, describeFault, redactedFault } from '../../../../src/changes/describe-fault.ts';
import { failureOfAnswer, faultOfFailure } from '../../../../src/cluster/cluster-failure.ts';
import { type Fault, type FaultCode, faultCodes } from '../../../../src/core/faults.ts';
import type { JsonObject } from '../../../../src/core/json.ts';
import type { CopyReason } from '../../../../src/propagate/model/propagation.ts';
import { copyReasonOf, recordFault } from '../../../../src/propagate/plan/copies/copy-reason.ts';
import { createManualClock } from '../../../support/manual-clock.ts';
import { cluster } from '../../apply/memory-shares.ts';

/** A fault as the transport reports it. */
function refused(code: number, message: string, more: JsonObject = {}): Fault {
  const body = { kind: 'Status', status: 'Failure', code, message, ...more };
  return faultOfFailure(failureOfAnswer({ httpStatus: code, body, retryAfter: undefined }, createManualClock()), { cluster });
}
const because = (reason: string, field: string, message: string) => ({ details: { causes: [{ reason, field, message }] } });
const plain = (code: FaultCode): Fault => ({ code, cluster, message: 'words', retry: 'LATER' });

// The messages are from API servers of version 1.36.
test.each<readonly [CopyReason, Fault]>([
  ['Conflict', refused(409, 'the object has been modified')],
  ['Quota', refused(403, 'configmaps "a" is forbidden: exceeded quota: few, requested: count/configmaps=1')],
  ['Denied', refused(403, 'configmaps is forbidden: User "alice" cannot patch resource "configmaps"')],
  ['Denied', refused(401, 'Unauthorized')],
  ['Denied', refused(500, 'Internal error occurred: failed calling webhook "check.example.com": context deadline exceeded')],
  ['Terminating', refused(403, 'forbidden', because('NamespaceTerminating', 'metadata.namespace', 'namespace term is being terminated'))],
  ['NamespaceMissing', refused(404, 'namespaces "nope" not found', { details: { name: 'nope', kind: 'namespaces' } })],
  ['ApiMissing', refused(404, '')],
  ['Immutable', refused(422, 'invalid', because('FieldValueInvalid', 'spec.selector', 'Invalid value: {}: field is immutable'))],
  // A server prints the whole value first. For the template of a Job that is several kilobytes.
  [
    'Immutable',
    refused(422, 'invalid', because('FieldValueInvalid', 'spec.template', `Invalid value: {${'x'.repeat(5_000)}}: field is immutable`)),
  ],
  ['Denied', refused(422, `configmaps "a" is forbidden: ValidatingAdmissionPolicy 'p' with binding 'b' denied request: no`)],
  ['Immutable', refused(422, 'invalid', because('FieldValueInvalid', 'spec.clusterIPs[0]', 'Invalid value: []: may not change once set'))],
  [
    'Immutable',
    refused(
      422,
      'invalid',
      because('FieldValueForbidden', 'spec', "Forbidden: updates to statefulset spec for fields other than 'replicas' are forbidden"),
    ),
  ],
  ['Invalid', refused(422, 'invalid', because('FieldValueRequired', 'spec.template', 'Required value'))],
  ['Invalid', refused(500, 'failed to create typed patch object (n/a; v1, Kind=ConfigMap): .zzz: field not declared in schema')],
  ['Invalid', refused(500, 'etcdserver: request is too large')],
  ['Invalid', refused(500, 'rpc error: code = ResourceExhausted desc = trying to send message larger than max (2307363 vs. 2097152)')],
  ['Invalid', refused(413, 'Request entity too large')],
  ['Unreachable', refused(500, 'etcdserver: request timed out')],
  ['Unreachable', refused(429, 'too many requests')],
  ['Unreachable', refused(504, 'timeout')],
  ['Unreachable', plain('UNREACHABLE')],
])('%s: %o', (reason, fault) => {
  expect(copyReasonOf(fault)).toBe(reason);
});

test('every fault has a reason', () => {
  for (const code of faultCodes) expect(copyReasonOf(plain(code))).toMatch(/^[A-Z]/);
});

test('a write that is too large is not retried', () => {
  expect(refused(500, 'etcdserver: request is too large')).toMatchObject({ code: 'TOO_LARGE', retry: 'NEVER' });
  expect(refused(500, 'etcdserver: leader changed')).toMatchObject({ code: 'SERVER_ERROR', retry: 'LATER' });
});

const fought = refused(409, 'Apply failed with 2 conflicts', {
  details: {
    causes: [
      {
        reason: 'FieldManagerConflict',
        field: '.spec.replicas',
        message: 'conflict with "kubectl" with subresource "scale" using apps/v1',
      },
      { reason: 'FieldManagerConflict', field: '.spec.template.spec.containers[name="web"].image', message: 'conflict with "argocd"' },
    ],
  },
});

test('conflicts list managers and paths', () => {
  expect(conflictsIn(fought)).toEqual([
    { manager: 'kubectl', path: '.spec.replicas' },
    { manager: 'argocd', path: '.spec.template.spec.containers[name="web"].image' },
  ]);
  expect(conflictsIn(refused(409, 'the object has been modified'))).toEqual([]);
});

describe('describeFault', () => {
  const tooMany = {
    details: { causes: Array.from({ length: 8 }, (_, index) => ({ reason: 'FieldValueInvalid', field: `spec.f${index}` })) },
  };
  test.each<readonly [string, Fault]>([
    ['owned by another manager: .spec.replicas (kubectl), .spec.template.spec.containers[name="web"].image (argocd)', fought],
    ['words', plain('UNREACHABLE')],
    [
      'the API server answered HTTP 422: spec.f0: FieldValueInvalid, spec.f1: FieldValueInvalid, spec.f2: FieldValueInvalid, spec.f3: FieldValueInvalid, spec.f4: FieldValueInvalid and 3 more',
      refused(422, 'invalid', tooMany),
    ],
    [
      'the API server answered HTTP 500: .data.key: expected string, .zzz: field not declared in schema',
      refused(
        500,
        'failed to create typed patch object (n/a; v1, Kind=ConfigMap): .data.key: expected string, got &value.valueUnstructured{Value:"hun ter2"} .zzz: field not declared in schema',
      ),
    ],
    [
      'the API server answered HTTP 403: User "alice" cannot patch resource "configmaps"',
      refused(403, 'configmaps is forbidden: User "alice" cannot patch resource "configmaps" in API group "" in the namespace "n"'),
    ],
    [
      'the API server answered HTTP 403: exceeded quota: few',
      refused(403, 'configmaps "a" is forbidden: exceeded quota: few, requested: count/configmaps=1'),
    ],
    [
      'the API server answered HTTP 403: admission webhook "w" denied the request',
      refused(403, 'admission webhook "w" denied the request: no hunter2'),
    ],
    [
      'the API server answered HTTP 500: failed calling webhook "check.example.com"',
      refused(500, 'Internal error occurred: failed calling webhook "check.example.com": Post "https://10.0.0.7/hunter2": timeout'),
    ],
    [
      'the API server answered HTTP 500: illegal base64 data at input byte 3',
      refused(500, 'failed to convert new object (n/a; /v1, Kind=Secret) to proper version: illegal base64 data at input byte 3'),
    ],
    [
      'the API server answered HTTP 404: namespaces "nope" not found',
      refused(404, 'namespaces "nope" not found', { details: { name: 'nope' } }),
    ],
  ])('%s', (words, fault) => {
    expect(describeFault(fault)).toBe(words);
  });

  test.each(['Invalid value: "hunter2": field is immutable', 'Unsupported value: "hunter2": supported values: "a"'])(
    'a value of a manifest stays out: %s',
    (message) => {
      expect(
        describeFault(refused(422, `Deployment is invalid: spec: ${message}`, because('FieldValueInvalid', 'spec', message))),
      ).not.toContain('hunter2');
    },
  );

  test.each([
    'expected numeric (int or float), got "hun\\"ter2"',
    'expected string, got hunter2',
    'expected map: "hunter2"',
    'expected map, got &value{Value:hunter2}',
  ])('a value of the wrong type stays out too: %s', (text) => {
    const said = describeFault(refused(500, `failed to create typed patch object (n/a; v1, Kind=ConfigMap): .data.key: ${text}`));
    expect(said).not.toMatch(/hunter2|ter2/);
    expect(said).toContain('.data.key');
  });
});

test('the fault of a sensitive object keeps no text of the server', () => {
  const fault = refused(422, 'The request is invalid: patch: Invalid value: "hunter2"', because('FieldValueInvalid', 'patch', 'hunter2'));
  expect(redactedFault(fault, true)).toEqual({
    ...{ code: 'INVALID', cluster, retry: 'NEVER' },
    message: 'the API server answered HTTP 422: patch: FieldValueInvalid',
  });
  expect(redactedFault(fault, false).status?.message).toContain('hunter2');
});

test('a repeated fault keeps its start time and is counted; a different fault starts again', () => {
  const first = recordFault(plain('UNREACHABLE'), undefined, '2026-01-01T00:00:00Z');
  const second = recordFault(plain('UNREACHABLE'), first, '2026-01-01T00:01:00Z');
  expect(second).toEqual({ code: 'UNREACHABLE', message: 'words', since: '2026-01-01T00:00:00Z', count: 2 });
  expect(recordFault(plain('INVALID'), second, '2026-01-01T00:02:00Z')).toMatchObject({ since: '2026-01-01T00:02:00Z', count: 1 });
  expect(recordFault({ ...plain('INVALID'), message: 'x'.repeat(5_000) }, undefined, '').message).toHaveLength(1_024);
});
