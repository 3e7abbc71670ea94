import { expect, test } from 'vitest';
import { countSentence, problemOfSync } from '../../src/console/objects/answers.ts';

const pods = { one: 'pod', many: 'pods', shown: 0 };
const north = { cluster: 'north', isComplete: true, problem: undefined };
const south = { cluster: 'south', isComplete: false, problem: 'does not answer (UNREACHABLE, last seen 12s ago)' };

test.each([
  ['no cluster is known yet', { ...pods, count: 0, answers: undefined }, 'Loading'],
  ['a cluster still sends', { ...pods, count: 3, shown: 3, answers: [{ ...north, isComplete: false }] }, '3 pods so far'],
  ['all answered and there is one', { ...pods, count: 1, shown: 1, answers: [north] }, '1 pod'],
  ['all answered and there is none', { ...pods, count: 0, answers: [north] }, 'No pods'],
  ['all answered and the filters leave none', { ...pods, count: 0, answers: [north], isFiltered: true }, 'No pods match the filters'],
  ['no cluster serves the kind', { ...pods, count: 0, answers: [] }, 'No pods: no cluster serves them'],
  [
    'one does not answer and there is none',
    { ...pods, count: 0, answers: [north, south] },
    '0 pods in the clusters that answer; south does not answer (UNREACHABLE, last seen 12s ago)',
  ],
  ['there are too many', { ...pods, count: 30_000, shown: 20_000, answers: [north] }, '30,000 pods; the first 20,000 are shown'],
])('F4: %s', (_case, counted, expected) => {
  expect(countSentence(counted)).toBe(expected);
});

test.each([
  [{ phase: 'SYNCED', ageSeconds: 0, fault: null }, undefined],
  [{ phase: 'SYNCING', ageSeconds: null, fault: { code: 'SYNCING', message: '' } }, undefined],
  [{ phase: 'STALE', ageSeconds: 65, fault: { code: 'UNREACHABLE', message: '' } }, 'does not answer (UNREACHABLE, last seen 65s ago)'],
  [{ phase: 'MISSING', ageSeconds: null, fault: { code: 'FORBIDDEN', message: '' } }, 'does not answer (FORBIDDEN, never seen)'],
])('the problem of %o', (sync, expected) => {
  expect(problemOfSync(sync)).toBe(expected);
});
