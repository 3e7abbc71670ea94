import type { Clock } from '../core/clock.ts';
import type { Log } from '../core/log.ts';
import type { KubernetesObject } from '../core/objects.ts';
import { demoClustersAt } from './demo/clusters.ts';
import { runDemoActivity } from './demo/demo-activity.ts';
import { followOutages } from './demo/outages.ts';
import type { EmbeddedCluster } from './kinds/embedded-cluster.ts';
import { startControllers } from './start-controllers.ts';
import { startEmbeddedCluster } from './start-embedded-cluster.ts';

/** The embedded fleet of `--demo`. Disposing it ends its controllers, connections and servers. */
export interface DemoFleet extends AsyncDisposable {
  /** The clusters `eu-prod`, `us-prod` (a few versions behind) and `staging`, in this order. */
  readonly clusters: readonly EmbeddedCluster[];
  /** The text of a kubeconfig with one context per cluster. The first context is current. */
  readonly kubeconfig: string;
}

export interface DemoOptions {
  /** Custom kinds of the hub, which are added to the first cluster. */
  readonly hubDefinitions: readonly KubernetesObject[];
  readonly clock: Clock;
  readonly log: Log;
}

/**
 * Starts three clusters with the workloads of a web shop. Some are unhealthy. Simulated users release, scale, run Jobs that succeed or
 * fail, and lose a node for a while. A ConfigMap in the hub makes other clusters unreachable (`demoOutages`). Everything runs in this process and listens on loopback only.
 */
export async function startDemoFleet({ hubDefinitions, clock, log }: DemoOptions): Promise<DemoFleet> {
  const end = new AbortController();
  const controllers: Promise<void>[] = [];
  const clusters = await Promise.all(
    demoClustersAt(clock.now()).map(async ({ name, version, definitions, objects }, index) => {
      const cluster = await startEmbeddedCluster({ name, version, clock, generatesLogs: true });
      for (const definition of index === 0 ? [...definitions, ...hubDefinitions] : definitions) cluster.define(definition);
      controllers.push(startControllers(cluster, { clock, objects }, end.signal), runDemoActivity(cluster, clock, end.signal));
      return cluster;
    }),
  );
  const [hub, ...others] = clusters;
  const outages = hub === undefined ? undefined : followOutages(hub, others);
  log.debug({ clusters: clusters.map(({ name }) => name) }, 'the embedded fleet is running');
  return {
    clusters,
    kubeconfig: kubeconfigOf(clusters),
    async [Symbol.asyncDispose]() {
      end.abort();
      outages?.[Symbol.dispose]();
      await Promise.all(controllers);
      await Promise.all(clusters.map((cluster) => cluster[Symbol.asyncDispose]()));
    },
  };
}

/**
 * Returns a kubeconfig (JSON, which is YAML) with one context, cluster and user per cluster, each under the name of the cluster. The first
 * context is current.
 */
export function kubeconfigOf(clusters: readonly Pick<EmbeddedCluster, 'name' | 'url' | 'caPem' | 'token'>[]): string {
  const config = {
    apiVersion: 'v1',
    kind: 'Config',
    'current-context': clusters[0]?.name ?? '',
    clusters: clusters.map(({ name, url, caPem }) => ({
      name,
      cluster: { server: url, 'certificate-authority-data': Buffer.from(caPem).toString('base64') },
    })),
    users: clusters.map(({ name, token }) => ({ name, user: { token } })),
    contexts: clusters.map(({ name }) => ({ name, context: { cluster: name, user: name } })),
  };
  return `${JSON.stringify(config, null, 2)}\n`;
}
