import type { Caller } from '../../access/access.ts';
import { type Fault, fault } from '../../core/faults.ts';
import type { ClusterName } from '../../core/names.ts';
import { podKind } from './matching-pods.ts';

/** Limits the number of logs that are followed at the same time in one cluster: by all callers together, and by one caller. */
export interface UpstreamFollows {
  ofCaller(caller: Caller): CallerFollows;
}

/** Counts the logs that are followed for one caller. */
export interface CallerFollows {
  /**
   * Counts one more followed log until the result is disposed of. Returns a `THROTTLED` fault if 100 logs of the cluster are followed already,
   * or 40 logs for this caller. In local mode the second limit does not apply, because there is only one caller.
   */
  take(cluster: ClusterName): Disposable | Fault;
}

const maxInCluster = 100;
const maxOfCaller = 40;

export function createUpstreamFollows(): UpstreamFollows {
  const inClusters = new Map<string, number>();
  const ofCallers = new Map<string, number>();
  return {
    ofCaller: ({ key, user }) => ({
      take(cluster) {
        const own = JSON.stringify([cluster, key]);
        const isShared = user !== undefined;
        const refused = (message: string) => fault('THROTTLED', message, { cluster, kind: podKind, retry: 'LATER' });
        if (isShared && (ofCallers.get(own) ?? 0) >= maxOfCaller)
          return refused(`this caller follows ${maxOfCaller} logs of this cluster already`);
        if ((inClusters.get(cluster) ?? 0) >= maxInCluster) return refused(`${maxInCluster} logs of this cluster are followed already`);
        const place = new DisposableStack();
        place.defer(countIn(inClusters, cluster));
        if (isShared) place.defer(countIn(ofCallers, own));
        return place;
      },
    }),
  };
}

/** Adds 1 to the count of a key. Returns a function that subtracts it again. A count of 0 is removed from the map. */
function countIn(counts: Map<string, number>, key: string): () => void {
  counts.set(key, (counts.get(key) ?? 0) + 1);
  return () => {
    const left = (counts.get(key) ?? 1) - 1;
    if (left === 0) counts.delete(key);
    else counts.set(key, left);
  };
}
