import type { ClusterName } from '../../core/names.ts';
import type { Verdict } from './decisions.ts';

/** How a decision was made: by a review of the API server (`sar`), or by the mirrored RBAC objects (`rbac`). */
type DecisionMode = 'sar' | 'rbac';

/** The number of decisions with one mode and result since the start. `unanswered`: the API server gave no answer, so access was denied. */
export interface DecisionCount {
  readonly mode: DecisionMode;
  readonly result: 'allowed' | 'denied' | 'unanswered';
  readonly count: number;
}

/** How often the API server of a cluster decided differently from its RBAC objects. Its reviews decide from then on. */
export interface DisagreementCount {
  readonly cluster: ClusterName;
  readonly count: number;
}

/** Counts decisions about rights when they are made, for metrics. A decision that is taken from the cache is not counted again. */
export class DecisionCounts {
  readonly #decided = new Map<string, DecisionCount>();
  readonly #disagreed = new Map<ClusterName, number>();

  decided(mode: DecisionMode, { isAllowed, fault }: Verdict): void {
    const result = isAllowed ? 'allowed' : fault === undefined ? 'denied' : 'unanswered';
    const key = `${mode} ${result}`;
    this.#decided.set(key, { mode, result, count: (this.#decided.get(key)?.count ?? 0) + 1 });
  }

  disagreed(cluster: ClusterName): void {
    this.#disagreed.set(cluster, (this.#disagreed.get(cluster) ?? 0) + 1);
  }

  /** Drops the counts of a cluster that has left. */
  forget(cluster: ClusterName): void {
    this.#disagreed.delete(cluster);
  }

  get decisions(): readonly DecisionCount[] {
    return [...this.#decided.values()];
  }

  get disagreements(): readonly DisagreementCount[] {
    return Array.from(this.#disagreed, ([cluster, count]) => ({ cluster, count }));
  }
}
