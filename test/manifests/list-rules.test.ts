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
])('knows how $path of a $kind.kind merges', ({ kind, path, rules }) => {
  expect(rulesOf(kind)(path)).toMatchObject(rules);
});

test.each([
  { what: 'kinds nobody knows', kind: { group: 'example.com', kind: 'Widget' }, path: ['spec', 'parts'] },
  { what: 'fields nobody knows', kind: apps('Deployment'), path: ['spec', 'parts'] },
  { what: 'what is below a text', kind: apps('Deployment'), path: ['spec', 'paused', 'parts'] },
  { what: 'the object itself', kind: apps('Deployment'), path: [] },
])('knows nothing of $what', ({ kind, path }) => {
  expect(rulesOf(kind)(path)).toBeUndefined();
});

test('asks for the model anew: it may have grown', () => {
  let grown = { types: new Map(), kinds: new Map() } as typeof model;
  const later = listRulesIn(() => grown)(apps('Deployment'));
  expect(later(['spec', 'template', 'spec', 'containers'])).toBeUndefined();
  grown = model;
  expect(later(['spec', 'template', 'spec', 'containers'])).toBeDefined();
});
