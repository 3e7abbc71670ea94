import { startSimCluster } from '../support/sim/start-sim-cluster.ts';
import type { SoakCluster } from './soak-cluster.ts';

/** Starts an embedded cluster. While frozen it sends nothing. `historyLength` is the number of changes from which a watch can resume. */
export async function startEmbedded(name: string, historyLength: number): Promise<SoakCluster> {
  const cluster = await startSimCluster({ name, historyLength });
  return {
    name,
    endpoint: { url: cluster.url, caPem: cluster.caPem, token: cluster.token },
    refusesChanges: () => false,
    put: async (object) => void cluster.put(object),
    remove: async (kind, namespace, name) => void cluster.remove(kind, name, namespace),
    objects: async () => [...cluster.objects('ConfigMap'), ...cluster.objects('Job')],
    freeze: () => cluster.silence(),
    [Symbol.asyncDispose]: () => cluster[Symbol.asyncDispose](),
  };
}
