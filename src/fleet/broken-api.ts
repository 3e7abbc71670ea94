import type { ClusterApi } from '../cluster/cluster-api.ts';
import type { Fault } from '../core/faults.ts';
import type { ClusterName } from '../core/names.ts';

/** The API of a cluster whose description is broken: whatever is asked, the answer is why. So it shows as data, as any sick cluster does. */
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

/** The same API, with faults of ours beside its standing ones: they are asked for each time. */
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
