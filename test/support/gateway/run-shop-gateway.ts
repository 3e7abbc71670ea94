import type { Flags } from '../../../src/config/config.ts';
import type { KubernetesObject } from '../../../src/core/objects.ts';
import type { SimCluster } from '../sim/sim-cluster.ts';
import { startSimCluster } from '../sim/start-sim-cluster.ts';
import { runGateway } from './run-gateway.ts';

/** A gateway on its own port, over the clusters `north` and `south`. Each has a ConfigMap and a Deployment `web` in the namespace `shop`. */
export interface ShopGateway extends AsyncDisposable {
  /** The URL of GraphQL. */
  readonly url: string;
  readonly north: SimCluster;
}

/** Starts a gateway for clients of other projects, with the system's clock. Resolves when it is ready. */
export async function runShopGateway(flags: Flags = {}): Promise<ShopGateway> {
  await using stack = new AsyncDisposableStack();
  const clusters: SimCluster[] = [];
  for (const name of ['north', 'south']) {
    const cluster = stack.use(await startSimCluster({ name }));
    for (const object of shopObjects) cluster.put(object);
    clusters.push(cluster);
  }
  const [north] = clusters as [SimCluster];
  const contexts = clusters.map((cluster) => ({ name: cluster.name, cluster }));
  const { gateway } = stack.use(await runGateway({ contexts, flags }));
  await gateway.whenStarted(AbortSignal.timeout(20_000));
  const owned = stack.move();
  return { url: gateway.url, north, [Symbol.asyncDispose]: () => owned.disposeAsync() };
}

const metadata = { namespace: 'shop', name: 'web' };
const labels = { app: 'web' };

const shopObjects: readonly KubernetesObject[] = [
  { apiVersion: 'v1', kind: 'ConfigMap', metadata, data: { color: 'blue' } },
  {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata,
    spec: {
      replicas: 3,
      selector: { matchLabels: labels },
      template: { metadata: { labels }, spec: { containers: [{ name: 'web', image: 'nginx' }] } },
    },
  },
];
