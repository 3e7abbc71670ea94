import type { MemberCluster } from '../../changes/members.ts';
import type { ClusterName } from '../../core/names.ts';
import type { MirroredObject } from '../../store/member-objects.ts';
import type { InventoryEntry, RecordedFault } from '../model/inventory.ts';
import type { RenderedObject } from '../model/plan.ts';
import type { ClusterLine, CopyReason } from '../model/propagation.ts';
import type { PropagationSpec } from '../model/spec.ts';
import type { PropagationStatus } from '../model/status-definition.ts';
import type { WavesDecision } from '../rollout/next-waves.ts';

/** One object of the inventory of a cluster, and what its mirror says of it. */
export interface CopyFacts {
  readonly entry: InventoryEntry;
  readonly mirrored: MirroredObject;
}

/** What is known of one cluster. */
export interface ClusterFacts {
  readonly cluster: ClusterName;
  /** Undefined: it is no member any more. */
  readonly member: Pick<MemberCluster, 'phase' | 'asOfMs' | 'faults'> | undefined;
  /** What the plan of this generation wants here. Absent: it wants nothing, and what is held goes. */
  readonly planned?: PlannedFacts;
  /**
   * `waiting`: this generation has not begun here. `begun`: it has, whatever came of it. `rollingBack`, `restored`: what it did here is being taken
   * back, or is. `leaving`: what is held goes. `kept`: nobody knows what is wanted, and what stands stays; `planned` is what was written last.
   */
  readonly stage: 'waiting' | 'begun' | 'rollingBack' | 'restored' | 'leaving' | 'kept';
  /** One for each entry of its share. */
  readonly copies: readonly CopyFacts[];
  /** Why it waits, or what is wrong with the first object, in the order of writes, that could not be written. Absent: nothing is. */
  readonly problem?: { readonly reason?: CopyReason; readonly message: string; readonly fault?: RecordedFault };
  /** How often in a row this generation failed to do something here, as far as this process knows. Absent: never. */
  readonly failures?: number;
  /**
   * Something stands otherwise than it is wanted: it is to be written, or to go (`toWrite`); or nobody writes it, as the cluster is suspended or copies
   * are only watched (`watched`). Absent: nothing does.
   */
  readonly differs?: 'toWrite' | 'watched';
  /** A text that names the copies of older generations that were deleted or changed since. The cluster waits for its wave, or the wanted state is not known. */
  readonly lost?: string | undefined;
  /** Its line in the status as it stands. */
  readonly previous?: ClusterLine;
}

/** One cluster of a plan. */
export interface PlannedFacts {
  /** Index of its wave. */
  readonly wave: number;
  /** It joined the generation after that was decided. */
  readonly isLate?: boolean;
  /** It is not known at the moment what is to be here (`objects` are none), or what a write that is under way came to: no rollout ends by it. */
  readonly isUnknown?: boolean;
  /** Of the workload. Absent without one. */
  readonly replicas?: number;
  readonly objects: readonly Pick<RenderedObject, 'key' | 'action' | 'held' | 'desiredHash'>[];
}

/** What was decided for a generation. */
export interface PlanFacts {
  readonly digest: string;
  readonly revision?: number;
  /** RFC 3339. */
  readonly scheduledAt: string;
  readonly affinityGroup?: string;
  readonly mostObjects?: number;
  readonly desired?: number;
  readonly placed?: number;
  readonly unplaced: number;
  readonly notes: PropagationStatus['notes'];
}

/** The reason why no copy is deleted although the Propagation is: its Namespace or its definition is being deleted too. */
export const deletionHeld = 'DeletionHeld';

/** All that a status is made from: pure data, as of `nowMs`. */
export interface PropagationFacts {
  /** `metadata.generation`. */
  readonly generation: number;
  /** Absent: what stands there is no spec (`refused`). */
  readonly spec?: Pick<PropagationSpec, 'rollout' | 'completion' | 'suspend'> | undefined;
  readonly previous: PropagationStatus;
  /** Of this generation. Absent: there is none yet, or it was refused. */
  readonly plan?: PlanFacts;
  /** Why this generation cannot be planned or was not accepted: what was expected and what came, with paths; no values of manifests. */
  readonly refused?: {
    readonly stage: 'Accepted' | 'Planned';
    /** `NotPlannedAgain`: it was decided before, and what it was made of cannot be planned now. By default `Refused`. */
    readonly reason?: 'Refused' | 'NotPlannedAgain';
    readonly message: string;
    readonly notes?: PropagationStatus['notes'];
  };
  /** What is held, or was confirmed and is going. */
  readonly prune?: PropagationStatus['prune'];
  /** What was asked for by its digest. */
  readonly requestedPlan?: PropagationStatus['asked'];
  /** Names of ClusterShares of ours that cannot be read: what they hold is not known. */
  readonly unreadable?: readonly string[];
  /** Somebody must confirm or change something first. */
  readonly held?: { readonly reason: 'PruneHeld' | 'PlanStale' | typeof deletionHeld; readonly message: string };
  /** In any order. */
  readonly clusters: readonly ClusterFacts[];
  /** Absent without a plan. */
  readonly waves?: WavesDecision;
  /** It is being deleted. */
  readonly isDeleting: boolean;
  /** Somebody asked for a pause. */
  readonly isPaused: boolean;
  /** A breach with `onFailure: Rollback`: what was done is being taken back, or is. */
  readonly rollback?: 'running' | 'done';
  /** Why nothing could be taken back, with `rollback` `done`: what was done stands. Without values. */
  readonly whyNotRolledBack?: string;
  /** Milliseconds of the epoch. */
  readonly nowMs: number;
}
