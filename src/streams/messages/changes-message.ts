import type { Fault } from '../../core/faults.ts';
import type { ClusterView, Row, SyncView } from '../../load/reads/reads.ts';
import type { JobPhase } from '../../model/columns/job-phase.ts';
import type { ModelKind } from '../../model/model.ts';

/** What a message of a stream of changes says. Equal to the schema's `ChangeType`. */
export type ChangeType =
  /** A part of the first state, or of that after `RESET`: in `added`. */
  | 'INITIAL'
  /** The first state is whole: only now is empty empty. */
  | 'SYNCED'
  /** What changed; with no object in it, the cluster is true again after `FAILED`. */
  | 'LIVE'
  /** The delta is unknown: forget this cluster's objects of this kind; `INITIAL` follows. */
  | 'RESET'
  /** No objects: a newer cursor; in `jobStatus` of a propagation also a change of the completion. */
  | 'BOOKMARK'
  /** The cluster fell behind: see `fault`. After the code `GONE` its objects are void. */
  | 'FAILED';

/**
 * One message of a stream: about one kind of one cluster. Immutable. Readers in step are given the same object, so what is made of it can be kept
 * by it (a WeakMap); each object stands in it at most once.
 */
export interface ChangesMessage {
  readonly type: ChangeType;
  readonly cluster: ClusterView;
  readonly kind: ModelKind;
  /** Up to where whoever has handled this message and all before it knows every cluster: `after` resumes there. Sealed when first read. */
  readonly cursor: string;
  /** With `FAILED` only. */
  readonly fault?: Fault;
  readonly added: readonly Row[];
  readonly modified: readonly Row[];
  /** In the last state in which they were part of the selection. */
  readonly deleted: readonly Row[];
}

/** A message of `jobStatus`: the rows are Jobs. */
export interface JobStatusMessage extends ChangesMessage {
  readonly summary: JobSummaryView;
}

/** All matching Jobs in sight, as of the message. */
export interface JobSummaryView {
  readonly total: number;
  /** How many of them are in clusters that are not `SYNCED`: their phase is the last known. */
  readonly stale: number;
  /** Every phase, in the order of `jobPhases`. */
  readonly byPhase: readonly JobPhaseCountView[];
  /** Every cluster asked, by name. */
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
