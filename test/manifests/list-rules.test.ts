import { expect, test } from 'vitest';
import type { GroupKind } from '../../src/core/kinds.ts';
import { listRulesIn } from '../../src/manifests/list-rules.ts';
import { loadBaseline } from '../support/kubernetes-objects.ts';

const model = loadBaseline();
const rulesOf = listRulesIn(() => model);
const apps = (kind: string): GroupKind => ({ group: 'apps', kind });

test.each([
  { kind: apps('Deployment'), path: ['spec', 'template', 'spec', 'containers'], rules: { patchMergeKey: 'name' } },
  {
    kind: apps('Deployment'),
    path: ['spec', 'template', 'spec', 'containers', 'ports'],
    rules: { listType: 'map', listMapKeys: ['containerPort', 'protocol'] },
  },
  { kind: { group: '', kind: 'Service' }, path: ['spec', 'ports'], rules: { listType: 'map', listMapKeys: ['port', 'protocol'] } },
  { kind: { group: '', kind: 'Pod' }, path: ['spec', 'containers', 'args'], rules: { listType: 'atomic' } },
])('returns the merge rules of $path of a $kind.kind', ({ kind, path, rules }) => {
  expect(rulesOf(kind)(path)).toMatchObject(rules);
});

test.each([
  { what: 'unknown kinds', kind: { group: 'example.com', kind: 'Widget' }, path: ['spec', 'parts'] },
  { what: 'unknown fields', kind: apps('Deployment'), path: ['spec', 'parts'] },
  { what: 'a path below a string', kind: apps('Deployment'), path: ['spec', 'paused', 'parts'] },
  { what: 'the object itself', kind: apps('Deployment'), path: [] },
])('returns no rules for $what', ({ kind, path }) => {
  expect(rulesOf(kind)(path)).toBeUndefined();
});

test('reads the model at each call, because it may have grown', () => {
  let grown = { types: new Map(), kinds: new Map() } as typeof model;
  const later = listRulesIn(() => grown)(apps('Deployment'));
  expect(later(['spec', 'template', 'spec', 'containers'])).toBeUndefined();
  grown = model;
  expect(later(['spec', 'template', 'spec', 'containers'])).toBeDefined();
});

test('returns the same function for a kind as long as the model is the same', () => {
  let current = model;
  const rules = listRulesIn(() => current);
  const before = rules(apps('Deployment'));
  expect(rules(apps('Deployment'))).toBe(before);
  expect(rules(apps('ReplicaSet'))).not.toBe(before);
  current = { ...model };
  expect(rules(apps('Deployment'))).not.toBe(before);
});
