import type { ClusterApi } from '../cluster/cluster-api.ts';
import type { ActingFor } from '../cluster/endpoint.ts';
import { FairPlaces, type FairResult } from '../core/scheduling/fair-places.ts';

/** Maximum number of calls in flight in one cluster: for all users, and for one. 100 calls use half of the streams of an HTTP/2 connection. */
const callBounds = { places: 100, placesPerUser: 20 };

const callsOfClusters = new WeakMap<ClusterApi, FairPlaces>();

/**
 * Returns an API that sends every request as the user `as`, for the operation `requestId`. It uses the connections, limits and metrics of
 * `api`. Without both, returns `api` itself.
 *
 * Users take turns: in one cluster, at most 20 calls of `send`, pages of lists and reads of logs that are not followed run for one impersonated
 * user, and at most 100 for all users together. Further ones wait. Watches and followed logs do not count.
 */
export function actFor(api: ClusterApi, { as, requestId }: ActingFor): ClusterApi {
  if (as === undefined && requestId === undefined) return api;
  const acting = { as, requestId };
  const logs: ClusterApi['logs'] = (request, signal) => api.logs({ ...request, ...acting }, signal);
  const list: ClusterApi['list'] = (page, signal) => api.list({ ...page, ...acting }, signal);
  const turnOf = async (signal: AbortSignal) => (as === undefined ? undefined : await callsOf(api).take(as.user, signal));
  return {
    cluster: api.cluster,
    get connectionFaults() {
      return api.connectionFaults;
    },
    list: (page, signal) =>
      as === undefined
        ? list(page, signal)
        : afterTurn(
            () => turnOf(signal),
            () => list(page, signal),
          ),
    watch: (start, signal) => api.watch({ ...start, ...acting }, signal),
    logs: (request, signal) =>
      request.follow || as === undefined
        ? logs(request, signal)
        : afterTurn(
            () => turnOf(signal),
            () => logs(request, signal),
          ),
    async send(request, signal) {
      using _place = placeIn(await turnOf(signal));
      return await api.send({ ...request, ...acting }, signal);
    },
  };
}

function callsOf(api: ClusterApi): FairPlaces {
  const calls = callsOfClusters.get(api) ?? new FairPlaces(callBounds);
  callsOfClusters.set(api, calls);
  return calls;
}

async function* afterTurn<Part>(
  takeTurn: () => Promise<FairResult<Disposable> | undefined>,
  begin: () => AsyncIterable<Part>,
): AsyncIterable<Part> {
  using _place = placeIn(await takeTurn());
  yield* begin();
}

/**
 * Returns the place of a turn. Undefined if no turn was needed, or if the signal aborted first. In both cases the call goes on: it has the same
 * signal, so it ends at once after an abort.
 */
function placeIn(turn: FairResult<Disposable> | undefined): Disposable | undefined {
  return turn?.result === 'done' ? turn.value : undefined;
}
