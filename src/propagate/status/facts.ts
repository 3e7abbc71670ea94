import type { MemberCluster } from '../../changes/members.ts';
import type { ClusterName } from '../../core/names.ts';
import type { MirroredObject } from '../../store/member-objects.ts';
import type { InventoryEntry, RecordedFault } from '../model/inventory.ts';
import type { RenderedObject } from '../model/plan.ts';
import type { ClusterLine, CopyLeftBehind, CopyReason } from '../model/propagation.ts';
import type { PropagationSpec } from '../model/spec.ts';
import type { PropagationStatus } from '../model/status-definition.ts';
import type { WavesDecision } from '../rollout/next-waves.ts';

/** One entry of the inventory of a cluster, with its mirrored object. */
export interface CopyFacts {
  readonly entry: InventoryEntry;
  readonly mirrored: MirroredObject;
}

/** A copy that `purge` Never has released, with what is known about it now. */
export interface LeftBehindFacts {
  readonly copy: CopyLeftBehind;
  /**
   * - `present`: it exists, and no other Propagation manages it.
   * - `resolved`: it does not exist any more, or another Propagation manages it.
   * - `unread`: its cluster does not answer or is not read yet.
   * - `outsideFleet`: its cluster has left the fleet.
   */
  readonly presence: 'present' | 'resolved' | 'unread' | 'outsideFleet';
}

/** The facts about one cluster. */
export interface ClusterFacts {
  readonly cluster: ClusterName;
  /** Undefined if the cluster is no member of the fleet. */
  readonly member: Pick<MemberCluster, 'phase' | 'asOfMs' | 'faults' | 'taints'> | undefined;
  /** The objects that the plan of this generation wants here. Absent if it wants none: existing copies are then deleted. */
  readonly planned?: PlannedFacts;
  /**
   * How far this generation is in the cluster.
   *
   * - `waiting`: it was not started here.
   * - `begun`: it was started, whatever the result was.
   * - `rollingBack`, `restored`: it is being rolled back here, or was.
   * - `leaving`: the plan wants no copies here, and existing copies are deleted.
   * - `kept`: the wanted objects are unknown, and existing copies stay. `planned` has the objects that were written last.
   */
  readonly stage: 'waiting' | 'begun' | 'rollingBack' | 'restored' | 'leaving' | 'kept';
  /** One item for each entry of the inventory. */
  readonly copies: readonly CopyFacts[];
  /** Why the cluster waits, or the problem of the first object, in write order, that could not be written. Absent if there is none. */
  readonly problem?: { readonly reason?: CopyReason; readonly message: string; readonly fault?: RecordedFault };
  /** Number of failed jobs in a row for this generation, as far as this process knows. Default: 0. */
  readonly failures?: number;
  /**
   * Set if copies differ from their wanted state. `toWrite`: they will be written or deleted. `watched`: the difference is only reported,
   * because the cluster is suspended or the gateway may not correct drift. Absent if no copy differs.
   */
  readonly differs?: 'toWrite' | 'watched';
  /**
   * A text that names the copies of earlier generations which were deleted or changed since. Set while the cluster waits for its wave, or
   * while the wanted objects are unknown.
   */
  readonly lossMessage?: string | undefined;
  /** The line of the cluster in the current status. Absent if the status has none. */
  readonly previous?: ClusterLine;
}

/** One cluster of a plan. */
export interface PlannedFacts {
  /** Index of its wave. */
  readonly wave: number;
  /** True if the cluster joined after the generation was decided. */
  readonly isLate?: boolean;
  /**
   * True if the wanted objects are unknown at the moment (`objects` is empty), or if a write is under way in the cluster and its result is
   * unknown. The rollout does not end then. Default: false.
   */
  readonly isUnknown?: boolean;
  /** Replicas of the workload. Absent without a workload. */
  readonly replicas?: number;
  /** The number that the division gave the cluster. Default: `replicas`. Set if an override replaces it. */
  readonly divided?: number;
  readonly objects: readonly Pick<RenderedObject, 'key' | 'action' | 'held' | 'desiredHash'>[];
}

/** The decision for a generation. */
export interface PlanFacts {
  readonly digest: string;
  readonly revision?: number;
  /** The last time at which clusters and replicas were chosen anew, without regard to earlier plans. As RFC 3339. */
  readonly scheduledAt: string;
  readonly affinityGroup?: string;
  /** The references and dependencies as the generation accepted them. Absent if there are none, or changes are followed. */
  readonly sources?: PropagationStatus['sources'];
  /** The evictions and the preserved labels after the plan. Default: those of the previous status. */
  readonly evictions?: PropagationStatus['evictions'];
  readonly preserved?: PropagationStatus['preserved'];
  readonly mostObjects?: number;
  readonly desired?: number;
  readonly placed?: number;
  readonly unplaced: number;
  readonly notes: PropagationStatus['notes'];
}

/**
 * The reason why no copy is deleted although the Propagation is being deleted: its Namespace, its definition or the definition of its owner
 * is being deleted too.
 */
export const deletionHeld = 'DeletionHeld';

/** True if the status says that the Propagation is being deleted and no copy is deleted until a user decides. */
export function isDeletionHeld({ phase, conditions = [] }: PropagationStatus): boolean {
  return phase === 'Held' && conditions.some(({ type, reason }) => type === 'Planned' && reason === deletionHeld);
}

/** The input of a status: pure data, as of `nowMs`. */
export interface PropagationFacts {
  /** `metadata.generation`. */
  readonly generation: number;
  /** Absent if the spec is invalid. `refused` then has the reason. */
  readonly spec?: (Pick<PropagationSpec, 'rollout' | 'completion' | 'suspend'> & Partial<Pick<PropagationSpec, 'failover'>>) | undefined;
  readonly previous: PropagationStatus;
  /** The plan of this generation. Absent if there is none yet, or if it was refused. */
  readonly plan?: PlanFacts;
  /**
   * Why this generation was not accepted or cannot be planned. The message has paths, but no values of manifests. Absent if no problem is
   * known.
   */
  readonly refused?: {
    readonly stage: 'Accepted' | 'Planned';
    /** `NotPlannedAgain`: the generation was decided before, but cannot be planned now. Default: `Refused`. */
    readonly reason?: 'Refused' | 'NotPlannedAgain';
    readonly message: string;
    readonly notes?: PropagationStatus['notes'];
  };
  /** The prune that is held, or that was confirmed and is being carried out. Absent if there is none. */
  readonly prune?: PropagationStatus['prune'];
  /** The plan that a user requested by its digest. Absent if none was requested. */
  readonly requestedPlan?: PropagationStatus['asked'];
  /** Names of ClusterShares of this Propagation that cannot be read. Their copies are unknown. Default: none. */
  readonly unreadable?: readonly string[];
  /** Set if the rollout continues only after a user has confirmed or changed something. */
  readonly held?: { readonly reason: 'PruneHeld' | 'PlanStale' | typeof deletionHeld; readonly message: string };
  readonly clusters: readonly ClusterFacts[];
  /** The copies in `leftBehind` of the previous status. Default: nothing is known about them. */
  readonly leftBehind?: readonly LeftBehindFacts[];
  /** Absent without a plan. */
  readonly waves?: WavesDecision;
  /** True if the Propagation is being deleted. */
  readonly isDeleting: boolean;
  /** True if a user paused the rollout. */
  readonly isPaused: boolean;
  /**
   * Set after a breach with `onFailure: Rollback`. `running`: the generation is being rolled back. `done`: the rollback has ended, or is
   * impossible (`whyNotRolledBack`).
   */
  readonly rollback?: 'running' | 'done';
  /** The reason why the rollback is impossible. Set only with `rollback: 'done'`. The copies then stay as they are. */
  readonly whyNotRolledBack?: string;
  /** Unix milliseconds. */
  readonly nowMs: number;
}
