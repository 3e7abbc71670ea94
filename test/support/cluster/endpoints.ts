import type { ClusterApi } from '../../../src/cluster/cluster-api.ts';
import type { Endpoint } from '../../../src/cluster/endpoint.ts';
import type { Kubeconfig, KubeconfigContext } from '../../../src/cluster/kubeconfig/kubeconfig.ts';
import { clusterName } from '../../../src/core/names.ts';

/** Makes an endpoint for telling clusters apart. No test connects to it. */
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

/** Makes a context of a kubeconfig. It is usable unless a problem is given. */
export function contextOf(
  name: string,
  { problem, ...changes }: Partial<Endpoint> & { readonly problem?: string } = {},
): KubeconfigContext {
  return problem === undefined ? { name, result: 'usable', endpoint: endpointOf(name, changes) } : { name, result: 'broken', problem };
}

/** Makes a kubeconfig of the home folder. */
export function kubeconfigWith(contexts: readonly KubeconfigContext[], more: Partial<Kubeconfig> = {}): Kubeconfig {
  return { paths: ['/home/.kube/config'], origin: 'home', contexts, ...more };
}

/** Makes an API that never answers. */
export function silentApi(name: string): ClusterApi {
  async function* nothing() {}
  return {
    cluster: clusterName(name),
    list: nothing,
    watch: nothing,
    logs: nothing,
    send: () => new Promise(() => undefined),
    connectionFaults: [],
  };
}
