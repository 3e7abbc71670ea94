import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { parse, parseAllDocuments } from 'yaml';
import { createRawClient, type RawClient } from '../clients/raw-client.ts';
import { renamedContext, startRealCluster } from './real-cluster.ts';

/** Two real API servers: `north` is the hub, and `south` can join it. */
export interface JoinableClusters extends AsyncDisposable {
  readonly clients: Readonly<Record<'north' | 'south', RawClient>>;
  /** A file with the contexts `north` and `south`, both of administrators. */
  readonly kubeconfig: string;
  /** Defines the kind Cluster on the hub. Resolves when it is served. */
  define(): Promise<void>;
  /** Ends the deletion of `muster-system` in `south`, because no controller does it. */
  endNamespace(): Promise<void>;
}

/** Starts two real API servers. See `startRealCluster`. */
export async function startJoinableClusters(): Promise<JoinableClusters> {
  await using stack = new AsyncDisposableStack();
  const folder = await mkdtemp(path.join(tmpdir(), 'muster-join-'));
  stack.defer(() => rm(folder, { recursive: true, force: true }));
  const clients = {} as Record<'north' | 'south', RawClient>;
  const merged = { apiVersion: 'v1', kind: 'Config', clusters: [], contexts: [], users: [] } as Record<string, unknown[] | string>;
  for (const name of ['north', 'south'] as const) {
    const cluster = stack.use(await startRealCluster());
    clients[name] = stack.use(createRawClient(cluster.endpoint));
    const own = parse(renamedContext(cluster.kubeconfig, name));
    for (const list of ['clusters', 'contexts', 'users']) (merged[list] as unknown[]).push(...own[list]);
  }
  const kubeconfig = path.join(folder, 'kubeconfig');
  await writeFile(kubeconfig, JSON.stringify(merged));
  const owned = stack.move();
  return {
    ...{ clients, kubeconfig },
    async define() {
      const crds = await readFile(new URL('../../../deploy/crds/clusters.yaml', import.meta.url), 'utf8');
      const body = parseAllDocuments(crds)[0]?.toJS();
      await clients.north.send('POST', '/apis/apiextensions.k8s.io/v1/customresourcedefinitions', { body });
      while ((await clients.north.send('GET', '/apis/muster.dev/v1alpha1/clusters')).status !== 200)
        await new Promise((resolve) => setTimeout(resolve, 100));
    },
    async endNamespace() {
      await clients.south.send('PUT', '/api/v1/namespaces/muster-system/finalize', {
        body: { metadata: { name: 'muster-system' }, spec: {} },
      });
    },
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}
