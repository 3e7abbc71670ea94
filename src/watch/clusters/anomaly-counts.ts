import type { ClusterName } from '../../core/names.ts';
import type { WatchReport } from '../reflector/reflector-state.ts';

/** The number of anomalies of one type while watching one cluster, since the start. */
interface AnomalyCount {
  readonly cluster: ClusterName;
  readonly type: WatchReport['what'];
  readonly count: number;
}

/**
 * Counts the anomalies that mirrors report, for metrics: one count for each cluster and each type of `WatchReport`. Counts stay after a
 * cluster has left.
 */
export class AnomalyCounts {
  readonly #counts = new Map<string, AnomalyCount>();

  add(cluster: ClusterName, { what: type }: WatchReport): void {
    const key = `${type} ${cluster}`;
    this.#counts.set(key, { cluster, type, count: (this.#counts.get(key)?.count ?? 0) + 1 });
  }

  all(): readonly AnomalyCount[] {
    return [...this.#counts.values()];
  }
}
