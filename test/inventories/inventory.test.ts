import { beforeEach, expect, test } from 'vitest';
import type { ClusterApi, LiveAnswer } from '../../src/cluster/cluster-api.ts';
import type { ConfiguredInventory } from '../../src/config/config.ts';
import { type Fault, fault } from '../../src/core/faults.ts';
import { clusterName } from '../../src/core/names.ts';
import type { KubernetesObject } from '../../src/core/objects.ts';
import type { ClusterListing } from '../../src/fleet/cluster-source.ts';
import { registeredClusters } from '../../src/inventories/adapters/kubeconfig-secrets.ts';
import { karmada } from '../../src/inventories/adapters/token-secrets.ts';
import { followInventory, type InventoryOptions } from '../../src/inventories/inventory.ts';
import type { MemberChange, MemberObjects } from '../../src/store/member-objects.ts';
import { createManualClock } from '../support/manual-clock.ts';

const hub = clusterName('hub');

const goodKubeconfig = (token = 'one') =>
  JSON.stringify({
    'current-context': 'it',
    contexts: [{ name: 'it', context: { cluster: 'it', user: 'it' } }],
    clusters: [{ name: 'it', cluster: { server: 'https://api.test' } }],
    users: [{ name: 'it', user: { token } }],
  });

/** A hub with Clusters and Secrets that the test writes. */
function createHub() {
  const clusters = new Map<string, KubernetesObject>();
  const secrets = new Map<string, { readonly version: string; readonly data: Readonly<Record<string, string>> }>();
  const callbacks = new Set<(changes: readonly MemberChange[]) => void>();
  const secretCallbacks = new Set<() => void>();
  const state: { reads: string[]; listFault?: Fault; readFault?: Fault; served: boolean; listed: boolean; version: number } = {
    ...{ reads: [], served: true, listed: true, version: 0 },
  };
  const objects = {
    served: () => (state.served ? {} : 'absent'),
    all: () => [...clusters.values()],
    read: () => ({ result: 'absent', asOfMs: 0 }),
    hold: () => undefined,
    onChange: (callback: (changes: readonly MemberChange[]) => void) => callbacks.add(callback),
  } as unknown as MemberObjects;
  const send = async ({ path }: { readonly path: readonly string[] }): Promise<LiveAnswer> => {
    const name = path.at(-1) ?? '';
    state.reads.push(name);
    const secret = secrets.get(name);
    if (state.readFault !== undefined) return { type: 'failed', fault: state.readFault };
    if (secret === undefined) return { type: 'failed', fault: fault('NOT_FOUND', 'gone', { cluster: hub, retry: 'NEVER' }) };
    const data = Object.fromEntries(Object.entries(secret.data).map(([key, value]) => [key, Buffer.from(value).toString('base64')]));
    return { type: 'answered', status: 200, body: Buffer.from(JSON.stringify({ kind: 'Secret', metadata: { name }, data })) };
  };
  const tell = () => {
    for (const callback of callbacks) callback([{ type: 'mirror', cluster: hub, kind: registeredClusters.kind }]);
    for (const callback of secretCallbacks) callback();
  };
  return {
    state,
    tell,
    ports: {
      objects,
      api: () => ({ cluster: hub, send }) as unknown as ClusterApi,
      followSecrets: (_cluster: unknown, namespace: string | undefined, onChange: () => void) => {
        secretCallbacks.add(onChange);
        const listed = () =>
          [...secrets].map(([name, { version }]) => ({
            metadata: { name, namespace: namespace ?? 'muster-system', resourceVersion: version },
          }));
        return {
          all: () => (state.listed ? (listed() as unknown as readonly KubernetesObject[]) : undefined),
          isEnded: () => false,
          fault: () => state.listFault,
        };
      },
    },
    register(name: string, { labels = {}, createdAt = '2026-01-01T00:00:00Z' } = {}) {
      const metadata = { name, labels, creationTimestamp: createdAt };
      clusters.set(name, { metadata, spec: { secretRef: { name } } } as unknown as KubernetesObject);
    },
    unregister: (name: string) => clusters.delete(name),
    write(name: string, kubeconfig: string) {
      state.version += 1;
      secrets.set(name, { version: String(state.version), data: { kubeconfig } });
    },
    drop: (name: string) => secrets.delete(name),
  };
}

const clock = createManualClock();
let ending = new AbortController();
beforeEach(() => {
  ending.abort();
  ending = new AbortController();
});

/** Follows the registered clusters of a hub. `settled` lets all changes arrive. */
function follow(more: Partial<InventoryOptions> = {}) {
  const world = createHub();
  const sets: ClusterListing[] = [];
  const inventory = { type: 'ClusterAPI', nameAs: '{name}', secrets: 'none', serviceAccount: '', consumer: '', providers: [] };
  const options = {
    ...world.ports,
    ...{ adapter: registeredClusters, holder: hub, systemNamespace: 'muster-system', allowPrivate: [], where: undefined, environment: {} },
    inventory: inventory as ConfiguredInventory,
    clock,
    onSet: (set: ClusterListing) => sets.push(set),
    ...more,
  };
  const settled = async () => {
    world.tell();
    for (let round = 0; round < 4; round++) {
      await clock.advance(60);
      // The first call imports client-node, which takes real time.
      await new Promise((resolve) => setTimeout(resolve, world.state.reads.length > 0 && sets.length === 0 ? 500 : 0));
    }
    return sets.at(-1);
  };
  return { ...world, sets, settled, begin: () => followInventory(options, ending.signal) };
}

test('registered clusters stand in order of age, then name, each with its own problem', async () => {
  const { register, write, begin, settled } = follow();
  register('young', { createdAt: '2026-02-01T00:00:00Z' });
  register('b');
  register('a');
  write('a', goodKubeconfig());
  write('young', 'no: [');
  begin();
  expect((await settled())?.candidates).toMatchObject([
    { name: 'a', result: 'usable', found: true, endpoint: { server: 'https://api.test' } },
    { name: 'b', result: 'broken', problem: { code: 'NOT_FOUND' } },
    { name: 'young', result: 'broken', problem: { code: 'INVALID' } },
  ]);
});

test('a Secret is read once for each version, and labels change without a read', async () => {
  const { register, write, begin, settled, state } = follow();
  register('a');
  write('a', goodKubeconfig());
  begin();
  await settled();
  register('a', { labels: { tier: 'b' } });
  expect((await settled())?.candidates).toMatchObject([{ settings: { labels: { tier: 'b' } } }]);
  expect(state.reads).toEqual(['a']);
  write('a', goodKubeconfig('two'));
  expect((await settled())?.candidates).toMatchObject([{ endpoint: { credentials: { token: 'two' } } }]);
  expect(state.reads).toEqual(['a', 'a']);
});

test('an unchanged cluster is the same candidate again', async () => {
  const { register, write, begin, settled } = follow();
  register('a');
  write('a', goodKubeconfig());
  begin();
  const [before] = (await settled())?.candidates ?? [];
  register('b');
  const now = (await settled())?.candidates;
  expect(now).toHaveLength(2);
  expect(now?.[0]).toBe(before);
});

test('a kubeconfig that breaks leaves the last good one in use; a deleted Secret forgets it', async () => {
  const { register, write, drop, begin, settled } = follow();
  register('a');
  write('a', goodKubeconfig());
  begin();
  await settled();
  write('a', 'no: [');
  expect((await settled())?.candidates).toMatchObject([
    { result: 'usable', endpoint: { credentials: { token: 'one' } }, problems: [{ code: 'INVALID' }] },
  ]);
  drop('a');
  expect((await settled())?.candidates).toMatchObject([{ result: 'broken', problem: { code: 'NOT_FOUND' } }]);
  write('a', 'no: [');
  expect((await settled())?.candidates).toMatchObject([{ result: 'broken', problem: { code: 'INVALID' } }]);
});

test('while the Secrets are not listed the last set stays, and so it does while one cannot be read', async () => {
  const { register, write, begin, settled, state } = follow();
  register('a');
  write('a', goodKubeconfig());
  begin();
  await settled();
  state.listed = false;
  register('b');
  expect((await settled())?.candidates).toHaveLength(1);
  state.listed = true;
  state.readFault = fault('UNREACHABLE', 'no answer', { cluster: hub, retry: 'LATER' });
  write('a', goodKubeconfig('two'));
  const set = await settled();
  expect(set?.candidates).toMatchObject([{ endpoint: { credentials: { token: 'one' } } }, { name: 'b' }]);
  expect(set?.faults).toMatchObject([{ cluster: 'hub', code: 'UNREACHABLE' }]);
  delete state.readFault;
  await clock.advance(5_000);
  expect((await settled())?.candidates).toMatchObject([{ endpoint: { credentials: { token: 'two' } } }, { name: 'b' }]);
});

test('a Secret that cannot be read is tried again once in 5 s, however many changes fail', async () => {
  const { register, write, begin, settled, state } = follow();
  for (const name of ['a', 'b']) {
    register(name);
    write(name, goodKubeconfig());
  }
  begin();
  await settled();
  state.readFault = fault('UNREACHABLE', 'no answer', { cluster: hub, retry: 'LATER' });
  write('a', goodKubeconfig('two'));
  for (let change = 0; change < 5; change++) await settled();
  const reads = state.reads.length;
  await clock.advance(20_000);
  expect(state.reads.length - reads).toBeLessThanOrEqual(5);
});

test('an inventory that cannot be read is a fault of its holder that names the inventory', async () => {
  const { begin, settled, state } = follow({ adapter: karmada, where: 'inventories[1]' });
  state.served = false;
  begin();
  expect(await settled()).toMatchObject({
    candidates: [],
    faults: [{ code: 'NOT_SERVED', cluster: 'hub', message: 'inventories[1]: the cluster does not serve Cluster.cluster.karmada.io' }],
  });
  state.served = true;
  state.listed = false;
  state.listFault = fault('FORBIDDEN', 'no', { cluster: hub, retry: 'NEVER' });
  expect((await settled())?.faults).toMatchObject([
    { code: 'FORBIDDEN', message: expect.stringContaining('inventories[1]: Secrets of all') },
  ]);
});

test('a hub without registrations has no fault, whatever its rights', async () => {
  const { begin, settled, state } = follow();
  state.listed = false;
  state.listFault = fault('FORBIDDEN', 'no', { cluster: hub, retry: 'NEVER' });
  begin();
  expect((await settled())?.faults ?? []).toEqual([]);
});
