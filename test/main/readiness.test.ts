import { expect, test } from 'vitest';
import { createLocalAccess } from '../../src/access/local-access.ts';
import { clusterName } from '../../src/core/names.ts';
import { gatewayHealthOf } from '../../src/readiness.ts';
import type { MirrorRegistry } from '../../src/watch/clusters/registry.ts';

const progress = ['north', 'south'].map((name) => ({
  ...({ cluster: clusterName(name), phase: 'SYNCED', listing: 0, objects: 250, ready: true } as const),
}));
const mirrors = { progress: () => progress, ready: () => true } as unknown as MirrorRegistry;
const parts = { mirrors, models: { settle: () => undefined }, schema: { isBuilding: () => false } };
const never = new AbortController().signal;

test('in local mode the checks have a line for each cluster, with its number of objects', async () => {
  const health = gatewayHealthOf({ ...parts, access: createLocalAccess() }, never);
  expect(await health.checks({ key: 'local' })).toEqual([
    { name: 'cluster/north', isGood: true, detail: 'SYNCED, 250 objects' },
    { name: 'cluster/south', isGood: true, detail: 'SYNCED, 250 objects' },
  ]);
});

test('with authentication the checks name visible clusters only, without the number of objects of all callers', async () => {
  const visible = new Set<string>();
  const access = {
    prepare: async () => void visible.add('north'),
    maySeeCluster: (_caller: object, cluster: string) => visible.has(cluster),
  };
  const user = { user: 'oidc:alice', groups: [], extra: {}, issuer: 'i' };
  const health = gatewayHealthOf({ ...parts, access }, never);
  expect(await health.checks({ key: 'alice', user })).toEqual([{ name: 'cluster/north', isGood: true, detail: 'SYNCED' }]);
});
