import { describe, expect, test } from 'vitest';
import { createLocalAccess } from '../../src/access/local-access.ts';
import { fault } from '../../src/core/faults.ts';
import { type ClusterName, clusterName } from '../../src/core/names.ts';
import { readinessOf, untilStarted } from '../../src/readiness.ts';
import type { ClusterProgress, MirrorRegistry } from '../../src/watch/clusters/registry.ts';
import { createManualClock } from '../support/manual-clock.ts';

const progress = ['north', 'south'].map((name) => ({
  ...({ cluster: clusterName(name), phase: 'SYNCED', listing: 0, objects: 250, ready: true } as const),
}));
const mirrors = { progress: () => progress, ready: () => true } as unknown as MirrorRegistry;
const found = { unread: () => new Set<ClusterName>() };
const parts = {
  mirrors,
  found,
  hub: undefined,
  models: { settle: () => undefined },
  schema: { isBuilding: () => false },
  clock: createManualClock(),
};
const never = new AbortController().signal;

test('in local mode the checks have a line for each cluster, with its number of objects', async () => {
  const readiness = readinessOf({ ...parts, access: createLocalAccess() }, never);
  expect(await readiness.checks({ key: 'local' })).toEqual([
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
  const readiness = readinessOf({ ...parts, access }, never);
  expect(await readiness.checks({ key: 'alice', user })).toEqual([{ name: 'cluster/north', isGood: true, detail: 'SYNCED' }]);
});

test('a check of readiness is followed by a rest of four times its duration, whatever changes meanwhile', async () => {
  const manual = createManualClock();
  let workMs = 0;
  const clock = { ...manual, monotonic: () => manual.monotonic() + workMs };
  let checkedMs: readonly number[] = [];
  const readiness = {
    hasStarted: () => {
      checkedMs = [...checkedMs, manual.monotonic()];
      workMs += 5;
      return checkedMs.length === 3;
    },
  };
  let change: () => void = () => undefined;
  const changing: MirrorRegistry = {
    ...mirrors,
    onChange: (callback) => {
      change = () => callback({ type: 'changed', cluster: clusterName('north') });
    },
  };
  const started = untilStarted({ mirrors: changing, schema: { onSwap: () => undefined }, readiness, clock }, never);
  for (let ms = 0; ms < 60; ms += 1) {
    change();
    await manual.advance(1);
  }
  await started;
  expect(checkedMs).toEqual([0, 20, 40]);
});

describe('with a hub', () => {
  const hub = clusterName('hub');
  const unreachable = fault('UNREACHABLE', 'no answer', { cluster: hub, retry: 'LATER' });

  function hubIs({ unread = [], ...state }: Partial<ClusterProgress> & { readonly unread?: readonly ClusterName[] }) {
    const clock = createManualClock();
    const member: ClusterProgress = {
      cluster: hub,
      phase: 'SYNCED',
      listing: 0,
      objects: 0,
      ready: true,
      version: 'v1.36.3',
      fault: undefined,
      ...state,
    };
    const fleet = { progress: () => [member], ready: () => member.ready };
    const readiness = readinessOf(
      { ...parts, mirrors: fleet, found: { unread: () => new Set(unread) }, hub, access: createLocalAccess(), clock },
      never,
    );
    return { clock, readiness };
  }

  test.each([
    ['SYNCED and its registered clusters are known', {}, true, true],
    ['SYNCED, but its registered clusters are not known yet', { unread: [hub] }, false, false],
    ['DEGRADED and its registered clusters are known', { phase: 'DEGRADED', fault: unreachable }, true, true],
    ['SYNCED for a moment, and still lists', { listing: 2 }, true, false],
    ['UNREACHABLE from the start', { phase: 'UNREACHABLE', fault: unreachable, unread: [hub] }, true, false],
    ['listing for the first time', { ready: false, listing: 3 }, false, false],
  ] as const)('that is %s', (_state, state, hasStarted, isReady) => {
    const { readiness } = hubIs(state);
    expect([readiness.hasStarted(), readiness.isReady()]).toEqual([hasStarted, isReady]);
  });

  test('the start waits at most 60 s for registered clusters, and readiness waits on', async () => {
    const { clock, readiness } = hubIs({ unread: [hub] });
    await clock.advance(59_999);
    expect(readiness.hasStarted()).toBe(false);
    await clock.advance(1);
    expect([readiness.hasStarted(), readiness.isReady()]).toEqual([true, false]);
  });

  test('a check says that the hub was not read yet, only to callers who may see the hub', async () => {
    const { readiness } = hubIs({ phase: 'UNREACHABLE', fault: unreachable, unread: [hub] });
    const [first] = await readiness.checks({ key: 'local' });
    expect(first).toEqual({ name: 'hub/hub', isGood: false, detail: 'UNREACHABLE' });
    const [synced] = await hubIs({ unread: [hub] }).readiness.checks({ key: 'local' });
    expect(synced).toEqual({ name: 'hub/hub', isGood: false, detail: 'SYNCED, but not read completely yet' });
    const hidden = { prepare: async () => undefined, maySeeCluster: () => false };
    const readinessForOthers = readinessOf({ ...parts, hub, access: hidden }, never);
    expect(await readinessForOthers.checks({ key: 'alice' })).toEqual([]);
  });
});
