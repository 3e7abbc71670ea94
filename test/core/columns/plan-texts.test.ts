import { expect, test } from 'vitest';
import { actionsText, chosenText, noteText, planSelection, shareText } from '../../../src/core/columns/plan-texts.ts';

const object = (action: string, code?: string) => ({
  key: { apiVersion: 'v1', kind: 'ConfigMap', namespace: 'shop', name: 'a' },
  action,
  diff: null,
  predicted: false,
  conflicts: [],
  fault: code === undefined ? null : { code },
});
const cluster = {
  cluster: { name: 'north' },
  chosen: true,
  reason: null,
  detail: null,
  wave: null,
  share: null,
  overrides: [],
  unmatched: [],
};

test.each([
  [[object('CREATE')], null, 'CREATE'],
  [[object('CREATE'), object('UNCHANGED'), object('CREATE')], null, 'CREATE 2, UNCHANGED 1'],
  [[object('CREATE', 'INVALID'), object('CREATE')], null, 'INVALID 1, CREATE 1'],
  [[object('CREATE')], { code: 'UNREACHABLE' }, 'UNREACHABLE'],
  [[], null, ''],
])('actions %#', (objects, fault, text) => {
  expect(actionsText({ ...cluster, objects, fault })).toBe(text);
});

test('reasons, shares and notes are short texts', () => {
  expect(chosenText(cluster)).toBe('yes');
  expect(chosenText({ chosen: false, reason: 'NOT_NAMED', detail: 'east' })).toBe('no: NOT_NAMED east');
  expect([shareText(null), shareText({ from: 2, to: 2 }), shareText({ from: 2, to: 4 })]).toEqual(['', '2', '2→4']);
  expect(noteText({ severity: 'WARNING', code: 'A', message: 'b', path: 'c[1]' })).toBe('A c[1]: b');
});

test('the selection has the fields of the client', () => {
  const selection = planSelection('code', { sync: 'ageSeconds', object: 'manifest' });
  expect(selection).toContain('faults { code }');
  expect(selection).toMatch(/sync \{ phase cluster \{ name \} ageSeconds \}.*manifest/s);
});
