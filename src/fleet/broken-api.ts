import type { ClusterApi } from '../cluster/cluster-api.ts';
import type { Fault } from '../core/faults.ts';
import type { ClusterName } from '../core/names.ts';

/**
 * Creates the API of a cluster whose description is broken. Every request fails with the problem as a fault, so the cluster shows it like
 * any other faulty cluster.
 */
export function brokenApi(cluster: ClusterName, problem: string): ClusterApi {
  const fault: Fault = { code: 'INVALID', cluster, message: problem, retry: 'NEVER' };
  async function* fail() {
    yield { type: 'failed', fault } as const;
  }
  return {
    cluster,
    list: fail,
    watch: fail,
    logs: fail,
    send: () => Promise.resolve({ type: 'failed', fault }),
    standingFaults: [fault],
  };
}

/** Returns the same API with additional standing faults. `faults` is called at each read. */
export function withFaults(api: ClusterApi, faults: () => readonly Fault[]): ClusterApi {
  return {
    cluster: api.cluster,
    list: (page, signal) => api.list(page, signal),
    watch: (start, signal) => api.watch(start, signal),
    logs: (request, signal) => api.logs(request, signal),
    send: (request, signal) => api.send(request, signal),
    get standingFaults() {
      return [...api.standingFaults, ...faults()];
    },
  };
}
