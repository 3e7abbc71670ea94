import { type Fault, fault } from '../../core/faults.ts';
import type { ClusterName } from '../../core/names.ts';
import { podKind } from './matching-pods.ts';

/** Limits the number of logs that all readers together follow at the same time in one cluster. */
export interface UpstreamFollows {
  /** Counts one more followed log until the result is disposed of. Returns a `THROTTLED` fault if 100 logs of the cluster are followed already. */
  take(cluster: ClusterName): Disposable | Fault;
}

const mostInCluster = 100;

export function createUpstreamFollows(): UpstreamFollows {
  const taken = new Map<ClusterName, number>();
  const change = (cluster: ClusterName, by: number) => {
    const count = (taken.get(cluster) ?? 0) + by;
    if (count === 0) taken.delete(cluster);
    else taken.set(cluster, count);
  };
  return {
    take(cluster) {
      if ((taken.get(cluster) ?? 0) >= mostInCluster) {
        const message = `${mostInCluster} logs of this cluster are followed already`;
        return fault('THROTTLED', message, { cluster, kind: podKind, retry: 'LATER' });
      }
      change(cluster, 1);
      const place = new DisposableStack();
      place.defer(() => change(cluster, -1));
      return place;
    },
  };
}
