import { beforeAll, beforeEach, expect, test } from 'vitest';
import type { ClusterApi, LiveAnswer } from '../../src/cluster/cluster-api.ts';
import { loadTypedApi } from '../../src/cluster/typed-api.ts';
import { type Fault, fault } from '../../src/core/faults.ts';
import { clusterName } from '../../src/core/names.ts';
import type { KubernetesObject } from '../../src/core/objects.ts';
import type { ClusterListing } from '../../src/fleet/cluster-source.ts';
import type { AdapterContext } from '../../src/inventories/adapters/inventory-adapter.ts';
import { registeredClusters } from '../../src/inventories/adapters/kubeconfig-secrets.ts';
import { karmada } from '../../src/inventories/adapters/token-secrets.ts';
import { createInventoryMemory } from '../../src/inventories/candidate-maker.ts';
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
  const state: {
    reads: string[];
    listFault?: Fault;
    readFault?: Fault;
    served: boolean;
    listed: boolean;
    version: number;
    hanging: string;
  } = {
    ...{ reads: [], served: true, listed: true, version: 0, hanging: '' },
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
    if (name === state.hanging) await new Promise(() => undefined);
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
    objects,
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
          get: () => undefined,
          isEnded: () => false,
          fault: () => state.listFault,
        };
      },
    },
    register(name: string, { labels = {}, createdAt = '2026-01-01T00:00:00Z', generation = 1, secret = name } = {}) {
      const metadata = { name, labels, creationTimestamp: createdAt, generation };
      clusters.set(name, { metadata, spec: { secretRef: { name: secret } } } as unknown as KubernetesObject);
    },
    /** Writes the status of a Cluster, which changes the object and not its generation. */
    report(name: string, phase: string) {
      const { metadata, ...rest } = clusters.get(name) as KubernetesObject;
      clusters.set(name, { ...rest, metadata, status: { phase } } as unknown as KubernetesObject);
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
beforeAll(() => loadTypedApi());

let ending = new AbortController();
beforeEach(() => {
  ending.abort();
  ending = new AbortController();
});

/** Follows the registered clusters of a hub. `settled` lets all changes arrive. */
function follow(more: Partial<InventoryOptions> = {}) {
  const world = createHub();
  const sets: ClusterListing[] = [];
  const memory = createInventoryMemory();
  const options = {
    ...world.ports,
    ...{ adapter: registeredClusters, holder: hub, systemNamespace: 'muster-system', allowPrivate: [], where: undefined, environment: {} },
    inventory: { nameAs: '{name}', secrets: 'none' } as const,
    ...{ clock, memory },
    onSet: (set: ClusterListing) => sets.push(set),
    ...more,
  };
  const settled = async () => {
    world.tell();
    for (let round = 0; round < 4; round++) {
      await clock.advance(60);
      await new Promise((resolve) => setTimeout(resolve, 0));
    }
    return sets.at(-1);
  };
  return { ...world, sets, settled, begin: () => followInventory(options, ending.signal) };
}

test('a written status makes no new candidate, and a new generation or label does', async () => {
  const { register, report, write, begin, settled } = follow();
  register('a');
  write('a', goodKubeconfig());
  begin();
  const first = (await settled())?.candidates[0];
  report('a', 'Synced');
  expect((await settled())?.candidates[0]).toBe(first);
  register('a', { labels: { tier: 'prod' } });
  expect((await settled())?.candidates[0]?.settings.labels).toEqual({ tier: 'prod' });
  register('a', { labels: { tier: 'prod' }, generation: 2 });
  expect((await settled())?.candidates[0]?.generation).toBe(2);
});

test('registered clusters are ordered by age, then name, each with its own problem', async () => {
  const { register, write, begin, settled } = follow();
  register('young', { createdAt: '2026-02-01T00:00:00Z' });
  register('b');
  register('a');
  write('a', goodKubeconfig());
  write('young', 'no: [');
  begin();
  expect((await settled())?.candidates).toMatchObject([
    { name: 'a', result: 'usable', found: 'registered', endpoint: { server: 'https://api.test' } },
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

/** A namespaced object that describes a cluster by itself, without a Secret. */
const described = (namespace: string, name: string, createdAt: string) =>
  ({ metadata: { namespace, name, creationTimestamp: createdAt }, apiVersion: 'v1', kind: 'Thing' }) as unknown as KubernetesObject;

const thingAdapter = {
  kind: { group: 'things.example', kind: 'Thing' },
  secretNameOf: () => undefined,
  clustersOf: ({ metadata: { namespace, name } }: KubernetesObject) => [
    { name, settings: {}, access: { server: `https://${namespace}.test`, trust: { type: 'system' }, credentials: { type: 'none' } } },
  ],
} as unknown as InventoryOptions['adapter'];

test('an inventory lists the older of two objects with one name first, and never moves a newcomer before a published cluster', async () => {
  const { objects, begin, settled } = follow({ adapter: thingAdapter, where: 'inventories[0]' });
  const things = [described('platform', 'prod', '2026-02-01T00:00:00Z'), described('aaa', 'prod', '2026-03-01T00:00:00Z')];
  Object.assign(objects, { all: () => things });
  const servers = async () =>
    (await settled())?.candidates.map((candidate) => (candidate.result === 'usable' ? candidate.endpoint.server : 'broken'));
  begin();
  expect(await servers()).toEqual(['https://platform.test', 'https://aaa.test']);

  // An older object that counts only now, such as one that just got its label.
  things.unshift(described('bbb', 'prod', '2026-01-01T00:00:00Z'));
  expect(await servers()).toEqual(['https://platform.test', 'https://aaa.test', 'https://bbb.test']);
});

const forbidden = fault('FORBIDDEN', 'no', { cluster: hub, retry: 'NEVER' });

test('a Secret that exists but cannot be read does not count as missing', async () => {
  const { register, write, begin, settled, state } = follow();
  register('a');
  write('a', goodKubeconfig());
  state.readFault = forbidden;
  begin();
  const set = await settled();
  expect(set?.candidates).toMatchObject([
    { name: 'a', result: 'broken', problem: { code: 'FORBIDDEN', message: 'spec.secretRef: the Secret cannot be read' } },
  ]);
  expect(set?.faults).toMatchObject([{ code: 'FORBIDDEN', message: 'registered clusters: a Secret cannot be read' }]);
});

test('the fault of a Secret that cannot be read ends when its cluster leaves', async () => {
  const { register, unregister, write, begin, settled, state } = follow();
  register('a');
  register('b');
  write('a', goodKubeconfig());
  state.readFault = forbidden;
  begin();
  await settled();
  unregister('a');
  expect(await settled()).toMatchObject({ candidates: [{ name: 'b' }], faults: [] });
});

test('a cluster stays while labels that decide about it are unknown, and missing rights are a fault that names the inventory', async () => {
  const adapter = {
    ...thingAdapter,
    secretNameOf: (object: KubernetesObject, { labelsOfNamespace }: AdapterContext) =>
      labelsOfNamespace(object.metadata.namespace ?? '') === undefined ? 'unknown' : undefined,
  };
  const { objects, begin, settled } = follow({ adapter, where: 'inventories[0]' });
  const things = [described('teams', 'one', '2026-02-01T00:00:00Z')];
  let isForbidden = true;
  const read = () => (isForbidden ? { result: 'unread', fault: forbidden } : { result: 'absent', asOfMs: 0 });
  Object.assign(objects, { all: () => things, read });
  begin();
  const faults = [{ code: 'FORBIDDEN', cluster: 'hub', message: 'inventories[0]: Namespaces may not be listed' }];
  expect(await settled()).toMatchObject({ candidates: [], faults: [{ code: 'FORBIDDEN' }] });
  isForbidden = false;
  expect(await settled()).toMatchObject({ candidates: [{ name: 'one' }], faults: [] });
  isForbidden = true;
  Object.assign(objects, {
    read: (_: unknown, { kind }: { readonly kind: string }) => (kind === 'Namespace' ? read() : { result: 'absent', asOfMs: 0 }),
  });
  things.push(described('teams', 'two', '2026-03-01T00:00:00Z'));
  expect(await settled()).toMatchObject({ candidates: [{ name: 'one' }], faults });
});

test('credentials are forgotten when the definition of the kind is deleted', async () => {
  const { register, write, begin, settled, state } = follow();
  register('a');
  write('a', goodKubeconfig());
  begin();
  await settled();
  state.served = false;
  expect((await settled())?.candidates).toEqual([]);
  state.served = true;
  state.readFault = forbidden;
  expect((await settled())?.candidates).toMatchObject([{ name: 'a', result: 'broken', problem: { code: 'FORBIDDEN' } }]);
});

test('a Secret that is slow to read holds up no other cluster', async () => {
  const { register, write, begin, settled, state } = follow();
  for (const name of ['a', 'b']) {
    register(name);
    write(name, goodKubeconfig());
  }
  begin();
  await settled();
  state.hanging = 'b';
  write('b', goodKubeconfig('two'));
  await settled();
  register('a', { labels: { tier: 'x' } });
  register('b', { labels: { tier: 'y' } });
  expect((await settled())?.candidates).toMatchObject([
    { settings: { labels: { tier: 'x' } } },
    { settings: { labels: { tier: 'y' } }, endpoint: { credentials: { token: 'one' } } },
  ]);
});

test('a candidate has the generation that it was made from, not one whose Secret is still to be read', async () => {
  const { register, write, begin, settled, state } = follow();
  register('a');
  write('a', goodKubeconfig());
  begin();
  expect((await settled())?.candidates).toMatchObject([{ generation: 1 }]);
  state.hanging = 'other';
  write('other', goodKubeconfig('two'));
  register('a', { generation: 2, secret: 'other' });
  expect((await settled())?.candidates).toMatchObject([{ generation: 1, endpoint: { credentials: { token: 'one' } } }]);
});
