import type { MusterError } from '../../core/errors.ts';
import type { Fault } from '../../core/faults.ts';
import type { JobPhase } from '../../model/columns/job-phase.ts';
import type { ModelKind } from '../../model/model.ts';
import type { ClusterView, ReadContext, Row, SyncView, WhereInput, WithinModel } from '../reads.ts';

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

/** Who reads a stream is told when to look. Neither method is called from within `take`, `pause` or `open`; neither may throw. */
export interface StreamListener {
  /** There is something to take, where there was nothing before or the reader had paused. */
  ready(): void;
  /** It has ended, and nothing can be taken any more: why. Not called after the reader was disposed. */
  ended(reason: MusterError): void;
}

/** One reader of a stream. Disposing it, twice or once, leaves nothing behind. */
export interface StreamReader<Message extends object> extends Disposable {
  /** The next message, made as late as possible: what changed meanwhile is merged into it. Undefined if there is none for now. */
  take(): Message | undefined;
  /** `take` would give something. Once it gives the last there is, what comes next is told by `ready`: nobody has to take in vain to hear of it. */
  readonly hasMore: boolean;
  /** True if each message is the whole state and replaces the one before it, so that one with equal content need not be sent. Default: false. */
  readonly isState?: boolean | undefined;
  /**
   * Says that nothing will be taken for a while: until the next `take` what comes is merged by object in a queue of this reader's own, and nobody
   * waits for it. At most 1,000 changes or 1 MiB; then it is ended with `SLOW_CONSUMER`.
   */
  pause(): void;
}

/** A stream that was asked for, its arguments checked. Nothing runs before it is opened; it may be opened any number of times. */
export interface StreamSource<Message extends object> {
  /**
   * Begins to read, as the caller who asked. Its first messages are there once `listener.ready` was called. What lives longest: the signal.
   *
   * @throws {MusterError} `FORBIDDEN` if nothing of it may be watched anywhere.
   */
  open(listener: StreamListener, signal: AbortSignal): Promise<StreamReader<Message>>;
}

/** The arguments of a stream of changes, as they come from GraphQL. */
export interface StreamArguments {
  readonly clusters?: readonly string[] | null | undefined;
  readonly namespaces?: readonly string[] | null | undefined;
  readonly labels?: string | null | undefined;
  readonly where?: WhereInput | null | undefined;
  readonly search?: string | null | undefined;
  readonly after?: string | null | undefined;
}

/**
 * The live side of reading: one view of the mirrors for all who ask the same with the same rights, whatever their number.
 *
 * Every method checks its arguments at once.
 *
 * @throws {MusterError} `BAD_INPUT`: what was expected and what came; one and the same for every cursor that is forged or of another filter.
 */
export interface Streams {
  /** One kind. */
  changes(context: ReadContext, kind: ModelKind, args: StreamArguments): StreamSource<ChangesMessage>;
  /** Several kinds, by any of their names. */
  changesOfKinds(
    context: ReadContext,
    asked: WithinModel & { readonly kinds: readonly string[] },
    args: StreamArguments,
  ): StreamSource<ChangesMessage>;
  /** Jobs, with a summary in each message. `kind` is that of Jobs. */
  jobStatus(context: ReadContext, kind: ModelKind, args: StreamArguments): StreamSource<JobStatusMessage>;
}
