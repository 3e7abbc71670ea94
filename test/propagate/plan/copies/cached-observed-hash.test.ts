import { expect, test } from 'vitest';
import { listRulesIn } from '../../../../src/manifests/list-rules.ts';
import { cachedObservedHashOf, observedHashOf } from '../../../../src/propagate/plan/copies/observed-hash.ts';
import { loadBaseline } from '../../../support/kubernetes-objects.ts';

const grown = loadBaseline();
const metadata = { name: 'web', namespace: 'default' };
const port = { port: 80, protocol: 'TCP' };
const copy = {
  key: { apiVersion: 'v1', kind: 'Service', ...metadata },
  desired: { apiVersion: 'v1', kind: 'Service', metadata, spec: { ports: [port] } },
  desiredHash: 'h',
};
// The server has added a member to the item that was sent, so the hash depends on the rules of the list.
const live = { metadata, spec: { ports: [{ ...port, nodePort: 30_080 }] } };

test('hashes an object again when the rules for its lists have become known', () => {
  let model = { types: new Map(), kinds: new Map() } as typeof grown;
  const rules = { sensitiveKinds: { has: () => false }, listRulesOf: listRulesIn(() => model) };
  const before = cachedObservedHashOf(copy, live, rules);
  expect(before).toBe(observedHashOf(copy, live, rules));
  model = grown;
  const after = cachedObservedHashOf(copy, live, rules);
  expect(after).toBe(observedHashOf(copy, live, rules));
  expect(after).not.toBe(before);
});

test('hashes a copy in another cluster with the rules that are known now', () => {
  let model = { types: new Map(), kinds: new Map() } as typeof grown;
  const rules = { sensitiveKinds: { has: () => false }, listRulesOf: listRulesIn(() => model) };
  const other = { ...copy, desired: { ...copy.desired } };
  cachedObservedHashOf(other, live, rules);
  model = grown;
  const equalCopy = { ...live };
  expect(cachedObservedHashOf(other, equalCopy, rules)).toBe(observedHashOf(other, equalCopy, rules));
});
