import { expect, test } from 'vitest';
import { isClusterScopedKind } from '../../../src/importers/documents/cluster-scoped-kinds.ts';
import { builtInKinds } from '../../../src/sim/kinds/built-in-kinds.ts';

/** The kinds whose objects a manifest can create. Reviews are answers, not objects. */
const creatable = builtInKinds('v1.36.3').filter(({ verbs }) => verbs.includes('create') && verbs.includes('list'));

test.each(creatable)('knows whether $kind of "$group" is cluster-scoped', ({ group, kind, versions, namespaced }) => {
  const apiVersion = group === '' ? 'v1' : `${group}/${versions[0]}`;
  expect(isClusterScopedKind({ apiVersion, kind })).toBe(!namespaced);
});

test('takes a custom kind as namespaced', () => {
  expect(isClusterScopedKind({ apiVersion: 'example.com/v1', kind: 'ClusterRole' })).toBe(false);
});
