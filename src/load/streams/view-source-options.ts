import type { Fault } from '../../core/faults.ts';
import type { ModelKind } from '../../model/model.ts';
import type { Conditions } from '../../store/matching.ts';
import type { QuerySight } from '../../store/query-source.ts';
import type { Mirrors } from '../../watch/mirrors.ts';
import type { ClusterView } from '../reads.ts';

/** What a view asks of each of its sources. */
export interface SourceQuestion {
  readonly conditions: Conditions;
  /** The clusters were named: that one does not serve the kind is then a fault. */
  readonly named: boolean;
  /** Jobs are counted. */
  readonly tallied: boolean;
}

export interface ViewSourceOptions {
  readonly mirrors: Mirrors;
  readonly question: SourceQuestion;
  readonly cluster: ClusterView;
  /** Undefined if it is no member. */
  readonly clusterNow: () => ClusterView | undefined;
  readonly kind: ModelKind;
  readonly sensitive: boolean;
  /** What may be seen of it; a fault if nothing. */
  readonly sight: QuerySight | Fault;
  /** There may be news, which the next cut will tell. */
  readonly onNews: () => void;
  /** Runs what code of the selection is in, and answers for what it throws. */
  readonly guard: (action: () => void) => void;
}
