import type { ClusterName } from '../../core/names.ts';
import type { WatchReport } from '../reflector/reflector-state.ts';

/** The number of anomalies of one type while watching one cluster, since the start. */
interface AnomalyCount {
  readonly cluster: ClusterName;
  readonly type: WatchReport['what'];
  readonly count: number;
}

/**
 * Counts the anomalies that mirrors report, for metrics: one count for each cluster and each type of `WatchReport`.
 */
export class AnomalyCounts {
  readonly #counts = new Map<string, AnomalyCount>();

  add(cluster: ClusterName, { what: type }: WatchReport): void {
    const key = `${type} ${cluster}`;
    this.#counts.set(key, { cluster, type, count: (this.#counts.get(key)?.count ?? 0) + 1 });
  }

  /** Drops the counts of a cluster that has left. */
  forget(cluster: ClusterName): void {
    for (const [key, count] of this.#counts) if (count.cluster === cluster) this.#counts.delete(key);
  }

  all(): readonly AnomalyCount[] {
    return [...this.#counts.values()];
  }
}
