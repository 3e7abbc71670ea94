import { expect, test } from 'vitest';
import { createLocalAccess } from '../../src/access/local-access.ts';
import { clusterName } from '../../src/core/names.ts';
import { gatewayHealthOf, untilReady } from '../../src/readiness.ts';
import type { MirrorRegistry } from '../../src/watch/clusters/registry.ts';
import { createManualClock } from '../support/manual-clock.ts';

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

test('a check of readiness is followed by a rest of four times its duration, whatever changes meanwhile', async () => {
  const manual = createManualClock();
  let workMs = 0;
  const clock = { ...manual, monotonic: () => manual.monotonic() + workMs };
  let checkedMs: readonly number[] = [];
  const health = {
    isReady: () => {
      checkedMs = [...checkedMs, manual.monotonic()];
      workMs += 5;
      return checkedMs.length === 3;
    },
    checks: async () => [],
  };
  let change: () => void = () => undefined;
  const changing: MirrorRegistry = {
    ...mirrors,
    onChange: (callback) => {
      change = () => callback({ type: 'changed', cluster: clusterName('north') });
    },
  };
  const ready = untilReady({ mirrors: changing, schema: { onSwap: () => undefined }, health, clock }, never);
  for (let ms = 0; ms < 60; ms += 1) {
    change();
    await manual.advance(1);
  }
  await ready;
  expect(checkedMs).toEqual([0, 20, 40]);
});
