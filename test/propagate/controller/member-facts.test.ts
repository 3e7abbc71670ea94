import { expect, test } from 'vitest';
import type { MemberCluster } from '../../../src/changes/members.ts';
import { clusterName } from '../../../src/core/names.ts';
import { createMemberFacts } from '../../../src/propagate/controller/run-term.ts';

const north = clusterName('north');
const bare: MemberCluster = { name: north, labels: {}, zones: [], taints: [], phase: 'SYNCED', faults: [] };

test.each<{ readonly name: string; readonly next: MemberCluster | undefined; readonly isChanged: boolean }>([
  { name: 'a label', next: { ...bare, labels: { tier: 'gold' } }, isChanged: true },
  { name: 'a taint', next: { ...bare, taints: [{ key: 'down', effect: 'NoExecute' }] }, isChanged: true },
  { name: 'a region', next: { ...bare, region: 'eu' }, isChanged: true },
  { name: 'a zone', next: { ...bare, zones: ['a'] }, isChanged: true },
  { name: 'leaving the fleet', next: undefined, isChanged: true },
  { name: 'its current health', next: { ...bare, phase: 'UNREACHABLE', asOfMs: 5 }, isChanged: false },
])('$name matters to placement: $isChanged', ({ next, isChanged }) => {
  let now: MemberCluster | undefined = bare;
  const facts = createMemberFacts({ all: () => [bare], get: () => now });
  expect(facts.isChanged(north)).toBe(false);
  now = next;
  expect([facts.isChanged(north), facts.isChanged(north)]).toEqual([isChanged, false]);
});

test('ignores the order of labels, and reports a cluster that joins again as changed', () => {
  let now: MemberCluster | undefined = { ...bare, labels: { a: '1', b: '2' } };
  const facts = createMemberFacts({ all: () => (now === undefined ? [] : [now]), get: () => now });
  now = { ...bare, labels: { b: '2', a: '1' } };
  expect(facts.isChanged(north)).toBe(false);
  now = undefined;
  expect(facts.isChanged(north)).toBe(true);
  now = { ...bare, labels: { a: '1', b: '2' } };
  expect(facts.isChanged(north)).toBe(true);
});
