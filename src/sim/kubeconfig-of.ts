import { Buffer } from 'node:buffer';
import type { SimCluster } from './sim-cluster.ts';

/** A kubeconfig (JSON, which is YAML) with one context, cluster and user per cluster, each named after it; the first is current. */
export function kubeconfigOf(clusters: readonly Pick<SimCluster, 'name' | 'url' | 'caPem' | 'token'>[]): string {
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
