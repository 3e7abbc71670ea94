import { expect, test } from 'vitest';
import { nearest } from '../../src/core/nearest.ts';

test.each([
  ['kubconfig', ['name', 'kubeconfig', 'context'], 'kubeconfig'],
  ['replcas', ['replicas', 'selector'], 'replicas'],
  ['itmes', ['items', 'times'], 'items'],
  ['POD', ['node', 'Pod'], 'Pod'],
  ['zzzzzz', ['name', 'context'], undefined],
  ['a', [], undefined],
])('%s among %j means %s', (word, candidates, meant) => {
  expect(nearest(word, candidates)).toBe(meant);
});
