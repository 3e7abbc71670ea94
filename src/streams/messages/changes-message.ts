import type { Fault } from '../../core/faults.ts';
import type { ClusterView, Row, SyncView } from '../../load/reads/reads.ts';
import type { JobPhase } from '../../model/columns/job-phase.ts';
import type { ModelKind } from '../../model/model.ts';

/** The type of a message of a stream of changes. `ChangeType` of the schema has the same values and describes each. */
export type ChangeType =
  /** Objects of the first state, or of the new state after `RESET`, in `added`. */
  | 'INITIAL'
  /** The first state is complete. If no objects were sent, no object matches. */
  | 'SYNCED'
  /** Changes. Without objects: the cluster is in sync again after `FAILED`. */
  | 'LIVE'
  /** The changes are unknown. The client drops all objects of this cluster and kind. `INITIAL` follows. */
  | 'RESET'
  /** No objects, only a newer cursor. In `jobStatus` of one Propagation it is also sent when `summary.completion` has changed. */
  | 'BOOKMARK'
  /**
   * The cluster is not in sync, or has left, for the reason in `fault`. With the code `GONE` the client drops all objects of this cluster
   * and kind.
   */
  | 'FAILED';

/**
 * One message of a stream, about one kind of one cluster. Immutable, and each object is in it at most once. Readers in step get the same
 * message object, so results can be cached by it (in a WeakMap).
 */
export interface ChangesMessage {
  readonly type: ChangeType;
  readonly cluster: ClusterView;
  readonly kind: ModelKind;
  /** The sealed positions of all sources after this message. `after` resumes there. Made when it is first read. */
  readonly cursor: string;
  /** Set only with `FAILED`. */
  readonly fault?: Fault;
  readonly added: readonly Row[];
  readonly modified: readonly Row[];
  /** Deleted objects, and objects that no longer match. Each in its last matching state. */
  readonly deleted: readonly Row[];
}

/** A message of `jobStatus`. Its rows are Jobs. */
export interface JobStatusMessage extends ChangesMessage {
  readonly summary: JobSummaryView;
}

/** Counts of all matching Jobs that are visible to the caller, at the time of the message. */
export interface JobSummaryView {
  readonly total: number;
  /** Number of Jobs in clusters that are not `SYNCED`. Their phase is the last known one. */
  readonly stale: number;
  /** Has every phase, in the order of `jobPhases`. */
  readonly byPhase: readonly JobPhaseCountView[];
  /** Has every requested cluster, ordered by name. */
  readonly byCluster: readonly JobClusterCountView[];
}

export interface JobPhaseCountView {
  readonly phase: JobPhase;
  readonly count: number;
}

export interface JobClusterCountView {
  readonly cluster: ClusterView;
  readonly total: number;
  readonly byPhase: readonly JobPhaseCountView[];
  readonly sync: SyncView;
}
