import type { ClusterApi } from '../cluster/cluster-api.ts';
import type { ActingFor } from '../cluster/endpoint.ts';

/**
 * Returns an API that sends every request as the user `as`, for the operation `requestId`. It uses the connections, limits and metrics of
 * `api`. Without both, returns `api` itself.
 */
export function actFor(api: ClusterApi, { as, requestId }: ActingFor): ClusterApi {
  if (as === undefined && requestId === undefined) return api;
  const acting = { as, requestId };
  return {
    cluster: api.cluster,
    get standingFaults() {
      return api.standingFaults;
    },
    list: (page, signal) => api.list({ ...page, ...acting }, signal),
    watch: (start, signal) => api.watch({ ...start, ...acting }, signal),
    logs: (request, signal) => api.logs({ ...request, ...acting }, signal),
    send: (request, signal) => api.send({ ...request, ...acting }, signal),
  };
}
