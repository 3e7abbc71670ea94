import { expect, test } from 'vitest';
import { nearestWord } from '../../src/core/nearest-word.ts';

test.each([
  ['kubconfig', ['name', 'kubeconfig', 'context'], 'kubeconfig'],
  ['replcas', ['replicas', 'selector'], 'replicas'],
  ['itmes', ['items', 'times'], 'items'],
  // A swap is one edit: with two edits allowed in four letters, `node` would mean `name`.
  ['pdos', ['nodes', 'pods'], 'pods'],
  ['node', ['name', 'kind'], undefined],
  ['POD', ['node', 'Pod'], 'Pod'],
  ['zzzzzz', ['name', 'context'], undefined],
  ['a', [], undefined],
])('%s among %j means %s', (word, candidates, meant) => {
  expect(nearestWord(word, candidates)).toBe(meant);
});
