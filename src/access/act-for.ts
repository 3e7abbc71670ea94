import type { ClusterApi } from '../cluster/cluster-api.ts';
import type { ActingFor } from '../cluster/endpoint.ts';
import { FairSemaphore, type SemaphoreResult } from '../core/scheduling/fair-semaphore.ts';

/** Maximum number of calls in flight in one cluster: for all users, and for one. 100 calls use half of the streams of an HTTP/2 connection. */
const callBounds = { permits: 100, permitsPerUser: 20 };

const callsOfClusters = new WeakMap<ClusterApi, FairSemaphore>();

/**
 * Returns an API that sends every request as the user `as`, for the operation `requestId`. It uses the connections, limits and metrics of
 * `api`. If both are undefined, returns `api` itself.
 *
 * Limits the calls in one cluster: at most 20 in flight for one impersonated user, and 100 for all users together. Further calls wait, and users
 * take turns. A call is one `send`, one page of a list, or one read of a log that is not followed. Watches and followed logs do not count.
 */
export function actFor(api: ClusterApi, { as, requestId }: ActingFor): ClusterApi {
  if (as === undefined && requestId === undefined) return api;
  const acting = { as, requestId };
  const logs: ClusterApi['logs'] = (request, signal) => api.logs({ ...request, ...acting }, signal);
  const list: ClusterApi['list'] = (page, signal) => api.list({ ...page, ...acting }, signal);
  const acquire = async (signal: AbortSignal) => (as === undefined ? undefined : await callsOf(api).acquire(as.user, signal));
  return {
    cluster: api.cluster,
    get connectionFaults() {
      return api.connectionFaults;
    },
    list: (page, signal) =>
      as === undefined
        ? list(page, signal)
        : withPermit(
            () => acquire(signal),
            () => list(page, signal),
          ),
    watch: (start, signal) => api.watch({ ...start, ...acting }, signal),
    logs: (request, signal) =>
      request.follow || as === undefined
        ? logs(request, signal)
        : withPermit(
            () => acquire(signal),
            () => logs(request, signal),
          ),
    async send(request, signal) {
      using _permit = permitIn(await acquire(signal));
      return await api.send({ ...request, ...acting }, signal);
    },
  };
}

function callsOf(api: ClusterApi): FairSemaphore {
  const calls = callsOfClusters.get(api) ?? new FairSemaphore(callBounds);
  callsOfClusters.set(api, calls);
  return calls;
}

/** Holds a permit from the first read of the parts until the last one, or until the reader stops. */
async function* withPermit<Part>(
  acquire: () => Promise<SemaphoreResult<Disposable> | undefined>,
  begin: () => AsyncIterable<Part>,
): AsyncIterable<Part> {
  using _permit = permitIn(await acquire());
  yield* begin();
}

/**
 * Returns the permit. Undefined if no permit was needed, or if the signal aborted first. In both cases the call continues: it has the same signal,
 * so it ends at once after an abort.
 */
function permitIn(acquired: SemaphoreResult<Disposable> | undefined): Disposable | undefined {
  return acquired?.result === 'done' ? acquired.value : undefined;
}
