import type { Fault } from '../../core/faults.ts';
import type { MirrorLoader } from '../../load/reads/mirror-loader.ts';
import { readFault, type SourceRequest } from '../../load/reads/read-sources.ts';
import type { ClusterView } from '../../load/reads/reads.ts';
import type { ModelKind } from '../../model/model.ts';
import type { ListConditions } from '../../store/filter/matching.ts';
import type { QueryVisibility } from '../../store/query-source.ts';
import type { Mirrors } from '../../watch/mirrors.ts';

/** The query of a view, which is the same for each of its sources. */
interface SourceQuestion {
  readonly conditions: ListConditions;
  /** True if the request names clusters. A cluster that does not serve the kind is then a fault. */
  readonly named: boolean;
  /** True if Jobs are counted. */
  readonly countsJobs: boolean;
}

export interface ViewSourceOptions {
  readonly mirrors: Mirrors;
  /** Of the view: holds the mirrors of all its sources. */
  readonly loader: MirrorLoader;
  readonly query: SourceQuestion;
  readonly cluster: ClusterView;
  /** The current state of the cluster. Undefined if it is no member. */
  readonly clusterNow: () => ClusterView | undefined;
  readonly kind: ModelKind;
  readonly sensitive: boolean;
  /** Visibility of the kind to the caller; a fault if the caller may see no object. */
  readonly sight: QueryVisibility | Fault;
  /** Called when there may be changes for the next cut to send. */
  readonly onNews: () => void;
  /** Runs an action that contains code of the selection, and handles the errors that it throws. */
  readonly guard: (action: () => void) => void;
}

/** The fault that voids what readers know. Only NOT_SERVED keeps its message: the message of another fault is about the mirror that follows. */
export function goneFault(source: Pick<SourceRequest, 'cluster' | 'kind'>, { code, message }: Fault): Fault {
  const gone = readFault(source, 'GONE');
  return code === 'NOT_SERVED' ? { ...gone, message } : gone;
}
