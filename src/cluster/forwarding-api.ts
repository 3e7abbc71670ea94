import type { ClusterApi } from './cluster-api.ts';

/** Returns an API with these methods. All other calls are passed on to `api`. */
export function forwardingApi(api: ClusterApi, methods: Partial<Pick<ClusterApi, 'list' | 'watch' | 'logs' | 'send'>>): ClusterApi {
  return {
    cluster: api.cluster,
    // Read at each call, because faults come and go.
    get connectionFaults() {
      return api.connectionFaults;
    },
    list: (page, signal) => api.list(page, signal),
    watch: (start, signal) => api.watch(start, signal),
    logs: (request, signal) => api.logs(request, signal),
    send: (request, signal) => api.send(request, signal),
    ...methods,
  };
}
