import type { ClusterApi } from '../../../src/cluster/cluster-api.ts';
import type { Endpoint } from '../../../src/cluster/endpoint.ts';
import type { Kubeconfig, KubeconfigContext } from '../../../src/cluster/kubeconfig/kubeconfig.ts';
import { clusterName } from '../../../src/core/names.ts';

/** An endpoint that nobody connects to: enough to tell clusters apart. */
export function endpointOf(name: string, changes: Partial<Endpoint> = {}): Endpoint {
  return {
    name: clusterName(name),
    server: `https://${name}.test:6443`,
    trust: { type: 'authority', certificates: { type: 'data', data: Buffer.from('CA') } },
    credentials: { type: 'none' },
    compression: 'auto',
    ...changes,
  };
}

/** A context of a kubeconfig, usable unless a problem is given. */
export function contextOf(
  name: string,
  { problem, ...changes }: Partial<Endpoint> & { readonly problem?: string } = {},
): KubeconfigContext {
  return problem === undefined ? { name, result: 'usable', endpoint: endpointOf(name, changes) } : { name, result: 'broken', problem };
}

/** A kubeconfig that was found in the home folder. */
export function kubeconfigWith(contexts: readonly KubeconfigContext[], more: Partial<Kubeconfig> = {}): Kubeconfig {
  return { paths: ['/home/.kube/config'], origin: 'home', contexts, ...more };
}

/** An API that never answers. */
export function silentApi(name: string): ClusterApi {
  async function* nothing() {}
  return {
    cluster: clusterName(name),
    list: nothing,
    watch: nothing,
    logs: nothing,
    send: () => new Promise(() => undefined),
    standingFaults: [],
  };
}
