import type { Fault } from '../../core/faults.ts';
import type { MirrorLoader } from '../../load/reads/mirror-loader.ts';
import { readFault, type SourceRequest } from '../../load/reads/read-sources.ts';
import type { ClusterView } from '../../load/reads/reads.ts';
import type { ModelKind } from '../../model/model.ts';
import type { ListConditions } from '../../store/filter/matching.ts';
import type { QueryVisibility } from '../../store/query-source.ts';
import type { Mirrors } from '../../watch/mirrors.ts';
import type { SelectedMirror } from './selected-mirror.ts';

/** The query of a view, which is the same for each of its sources. */
interface SourceQuestion {
  readonly conditions: ListConditions;
  /**
   * True if the request names clusters: `FAILED` is then sent for a cluster that does not serve the kind. False: no message is sent for a
   * cluster that has not served the kind since the view began.
   */
  readonly named: boolean;
  /** True if Jobs are counted. */
  readonly countsJobs: boolean;
}

export interface ViewSourceOptions {
  readonly mirrors: Mirrors;
  /** The loader of the view. It holds the mirrors of all sources. */
  readonly loader: MirrorLoader;
  readonly query: SourceQuestion;
  readonly cluster: ClusterView;
  /** Returns the current state of the cluster. Undefined if it is no member. */
  readonly clusterNow: () => ClusterView | undefined;
  readonly kind: ModelKind;
  readonly sensitive: boolean;
  /** Visibility of the kind to the caller; a fault if the caller may see no object. */
  readonly visibility: QueryVisibility | Fault;
  /** Called when there may be changes for the next cut to send. */
  readonly onNews: () => void;
  /** Notes that the source is part of the next cut, then runs the action. If the action throws, the streams of the view end. */
  readonly runNoted: (action: () => void) => void;
}

/** The state of a source, by its mirror. The mirror may come and go while the view lives. */
export type SourceState =
  /** There is no mirror. `expected`: one may come. `absent`: the kind is not served, or the cluster is no member. */
  | { readonly phase: 'expected' | 'absent' }
  /**
   * The mirror has ended. `left`: no mirror follows now, because the kind is not served or the cluster has left. `returning`: another
   * mirror may come.
   */
  | { readonly phase: 'left' | 'returning' }
  /** The mirror has no complete list. */
  | { readonly phase: 'listing'; readonly mirror: SelectedMirror }
  /** The mirror has a complete list. The next cut sends it as a whole. */
  | { readonly phase: 'listed'; readonly mirror: SelectedMirror }
  /** Readers in step know the list. The next cut sends only changes. */
  | { readonly phase: 'following'; readonly mirror: SelectedMirror };

/** Returns the mirror that the source follows. Undefined if there is none. */
export function mirrorOf(state: SourceState): SelectedMirror | undefined {
  return state.phase === 'listing' || state.phase === 'listed' || state.phase === 'following' ? state.mirror : undefined;
}

/** True if the mirror has a complete list. */
export function isComplete({ phase }: SourceState): boolean {
  return phase === 'listed' || phase === 'following';
}

/** True if a mirror has ended and none has replaced it. */
export function hasEnded({ phase }: SourceState): boolean {
  return phase === 'left' || phase === 'returning';
}

/**
 * Makes the fault `GONE` that voids what readers know. If the given fault is `NOT_SERVED`, it gets its message. Messages of other faults are
 * about the next mirror, and not about the objects that readers know.
 */
export function goneFault(source: Pick<SourceRequest, 'cluster' | 'kind'>, { code, message }: Fault): Fault {
  const gone = readFault(source, 'GONE');
  return code === 'NOT_SERVED' ? { ...gone, message } : gone;
}

/** Throws the error. For use as an expression. */
export function rethrow(error: unknown): never {
  throw error;
}
