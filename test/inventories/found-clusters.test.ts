import { afterEach, beforeAll, expect, test } from 'vitest';
import { loadTypedApi } from '../../src/cluster/typed-api.ts';
import type { ConfiguredInventory } from '../../src/config/config.ts';
import type { FoundClusterSettings } from '../../src/config/load-config.ts';
import { fault } from '../../src/core/faults.ts';
import { clusterName } from '../../src/core/names.ts';
import type { ClusterListing } from '../../src/fleet/cluster-source.ts';
import { createFoundClusters, type FoundClustersOptions } from '../../src/inventories/found-clusters.ts';
import { createManualClock } from '../support/manual-clock.ts';

const hub = clusterName('hub');
beforeAll(() => loadTypedApi());

let end = new AbortController();
afterEach(() => {
  end.abort();
  end = new AbortController();
});

const argoIn = (namespace: string): ConfiguredInventory => ({
  ...{ type: 'ArgoCD', namespaces: [namespace], nameAs: '{name}', secrets: 'none', serviceAccount: '', consumer: '', providers: [] },
});
const base64 = (text: string) => Buffer.from(text).toString('base64');

/** A hub with one Secret of Argo CD in each namespace. The Secret of the namespace `b` can break, and all Secrets can become unreadable. */
function createWorld(settings: FoundClusterSettings) {
  const clock = createManualClock();
  const state = { isReadable: true, config: JSON.stringify({ bearerToken: 't' }), version: '1' };
  let changes = Promise.withResolvers<FoundClusterSettings>();
  const sets: ClusterListing[] = [];
  const secretCallbacks = new Set<() => void>();
  const send = async ({ path }: { readonly path: readonly string[] }) => {
    const name = path.at(-1) ?? '';
    if (!state.isReadable) return { type: 'failed', fault: fault('FORBIDDEN', 'no', { cluster: hub, retry: 'NEVER' }) };
    const config = name === 'c-b' ? state.config : JSON.stringify({ bearerToken: 't' });
    const data = { name: base64(name), server: base64(`https://${name}.test`), config: base64(config) };
    return { type: 'answered', status: 200, body: Buffer.from(JSON.stringify({ kind: 'Secret', metadata: { name }, data })) };
  };
  const options = {
    objects: {
      served: () => 'absent',
      all: () => [],
      read: () => ({ result: 'absent' }),
      hold: () => undefined,
      onChange: () => undefined,
    },
    api: () => ({ cluster: hub, send }),
    followSecrets: (_: unknown, namespace: string, onChange: () => void) => {
      secretCallbacks.add(onChange);
      const labels = { 'argocd.argoproj.io/secret-type': 'cluster' };
      const listed = () => [{ metadata: { name: `c-${namespace}`, namespace, resourceVersion: state.version, labels } }];
      return { all: () => (namespace === 'muster-system' ? [] : listed()), isEnded: () => false, fault: () => undefined };
    },
    async *changes() {
      for (;;) yield await changes.promise;
    },
    ...{ hub, systemNamespace: 'muster-system', settings, environment: {}, clock },
  } as unknown as FoundClustersOptions;
  void (async () => {
    for await (const set of createFoundClusters(options).watch(end.signal)) sets.push(set);
  })();
  const settled = async () => {
    for (const callback of secretCallbacks) callback();
    for (let round = 0; round < 4; round++) {
      await clock.advance(60);
      await new Promise((resolve) => setTimeout(resolve, 0));
    }
    return sets.at(-1)?.candidates.map(({ name, result }) => `${name} ${result}`);
  };
  return {
    state,
    settled,
    /** Changes the config file. Returns all sets from then on, as names. */
    async change(next: FoundClusterSettings) {
      const first = sets.length;
      const { resolve } = changes;
      changes = Promise.withResolvers();
      resolve(next);
      await settled();
      return new Set(sets.slice(first).map(({ candidates }) => candidates.map(({ name, result }) => `${name} ${result}`).join(', ')));
    },
  };
}

test('two inventories of one type keep their clusters while the config file changes', async () => {
  const { settled, change } = createWorld({ allowPrivate: [], inventories: [argoIn('a'), argoIn('b')] });
  expect(await settled()).toEqual(['c-a usable', 'c-b usable']);
  expect(await change({ allowPrivate: ['10.0.0.0/8'], inventories: [argoIn('a'), argoIn('b')] })).toEqual(
    new Set(['c-a usable, c-b usable']),
  );
  expect(await change({ allowPrivate: [], inventories: [argoIn('b'), argoIn('a')] })).toEqual(new Set(['c-b usable, c-a usable']));
  expect(await change({ allowPrivate: [], inventories: [argoIn('a')] })).toEqual(new Set(['c-a usable']));
});

test('a cluster on its last good access stays when the config file changes, and so do clusters whose Secrets cannot be read just then', async () => {
  const { settled, change, state } = createWorld({ allowPrivate: [], inventories: [argoIn('a'), argoIn('b')] });
  await settled();
  Object.assign(state, { config: JSON.stringify({ bearerToken: 't', username: 'x' }), version: '2' });
  expect(await settled()).toEqual(['c-a usable', 'c-b usable']);
  expect(await change({ allowPrivate: ['10.0.0.0/8'], inventories: [argoIn('a'), argoIn('b')] })).toEqual(
    new Set(['c-a usable, c-b usable']),
  );
  Object.assign(state, { isReadable: false, version: '3' });
  expect(await change({ allowPrivate: [], inventories: [argoIn('a'), argoIn('b')] })).toEqual(new Set(['c-a usable, c-b usable']));
});
