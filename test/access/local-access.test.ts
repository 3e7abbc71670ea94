import { expect, test } from 'vitest';
import { createLocalAccess } from '../../src/access/local-access.ts';
import { clusterName } from '../../src/core/names.ts';

test('shows the caller everything that the kubeconfig may read, of every cluster, at once', () => {
  const access = createLocalAccess();
  const caller = { key: 'local' };
  const cluster = clusterName('north');
  expect(access.maySeeCluster(caller, cluster)).toBe(true);
  const question = { caller, cluster, kind: { group: '', kind: 'Pod' }, verb: 'list' } as const;
  expect(access.visibilityOf(question, new AbortController().signal)).toEqual({ type: 'all' });
});
