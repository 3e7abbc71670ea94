import { expect, test } from 'vitest';
import type { JsonObject } from '../../../../src/core/json.ts';
import { preservedFrom } from '../../../../src/propagate/controller/failover/preserve-status.ts';
import { defaultFailover } from '../../../../src/propagate/model/failover-definition.ts';
import { copyOf, withStatus } from '../../status/cluster-facts.ts';

const read = (status: JsonObject, jsonPath: string) =>
  preservedFrom([copyOf({ object: withStatus(status) })], { ...defaultFailover, preserve: [{ label: 'kept', jsonPath }] });
const labels = (value: string) => ({ preserved: [{ key: expect.anything(), labels: { kept: value } }] });
const nothing = { notPreserved: ['kept'] };

test.each<[string, JsonObject, string, object]>([
  ['a number', {}, '{.updatedReplicas}', labels('2')],
  ['a text below', { jobStatus: { jobID: 'a-7' } }, '{ .jobStatus.jobID }', labels('a-7')],
  ['a path without braces', { jobStatus: { jobID: 'a-7' } }, '.jobStatus.jobID', labels('a-7')],
  ['an element of a list', { runs: [{ id: 'x' }, { id: 'y' }] }, '{.runs[-1:].id}', labels('y')],
  ['no field', {}, '{.absent}', nothing],
  ['an object', { jobStatus: { jobID: 'a-7' } }, '{.jobStatus}', nothing],
  ['several values, which are no label value', { runs: [{ id: 'x' }, { id: 'y' }] }, '{.runs[*].id}', nothing],
  ['a text that is no label value', { jobStatus: { jobID: 'a 7' } }, '{.jobStatus.jobID}', nothing],
])('reads %s', (_title, status, jsonPath, expected) => {
  expect(read(status, jsonPath)).toEqual(expected);
});

test('reads nothing from a copy that no mirror holds', () => {
  const preserve = [{ label: 'kept', jsonPath: '{.updatedReplicas}' }];
  expect(preservedFrom([copyOf({ object: 'absent' })], { ...defaultFailover, preserve })).toEqual(nothing);
});
