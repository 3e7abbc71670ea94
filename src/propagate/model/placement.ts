import type { MemberCluster } from '../../changes/members.ts';
import type { ClusterName } from '../../core/names.ts';
import type { Note } from './notes.ts';

/** One cluster with the facts on which its placement depends. */
export interface PlacementCandidate {
  readonly cluster: MemberCluster;
  /** True if the cluster is being removed from the fleet. It is not chosen then, even if it holds copies. */
  readonly leaving: boolean;
  /** Kinds of the template that the cluster does not serve, as `Deployment.apps/v1`. Empty: it serves all kinds. */
  readonly missingKinds: readonly string[];
  /** True if the inventory has copies in the cluster. Then taints and missing kinds do not exclude the cluster. */
  readonly holds: boolean;
  /**
   * True if this generation was decided before, and chose the cluster. Then taints do not exclude the cluster either, also before its first
   * copy is written. Default: false.
   */
  readonly isDecided?: boolean;
  /** The number of replicas that the previous decision gave the cluster. 0 if it was not chosen. */
  readonly previous: number;
  /** Estimated number of additional replicas that fit, without `previous`. Absent or Infinity: unlimited or unknown. */
  readonly capacity?: number;
}

/** Why a cluster was not chosen (docs/internals/propagation.md 4). */
export type RejectionReason =
  | 'NOT_NAMED'
  | 'EXCLUDED'
  | 'LABELS'
  | 'FIELDS'
  | 'TAINT'
  | 'API_MISSING'
  | 'TOPOLOGY'
  | 'SPREAD'
  | 'EVICTING'
  | 'DELETING'
  | 'CAPACITY'
  | 'LATER_GROUP'
  | 'SUSPENDED'
  /**
   * The location of this cluster is not known yet. Or the placement chooses no new cluster until the location of a cluster with copies is
   * known.
   */
  | 'SYNCING';

export interface ChosenCluster {
  readonly cluster: ClusterName;
  /** The affinity group that chose the cluster. Absent if the placement has no groups. */
  readonly group?: string;
  /** The tier of the cluster. 0: the set of the group itself. k: its k-th overflow set. */
  readonly tier: number;
  readonly score: number;
  /** Estimated replicas that fit in total: additional ones and previous ones. Absent if unlimited or unknown. */
  readonly available?: number;
  /**
   * True if the cluster was chosen only because it holds copies. Its location is unknown, so it is unclear whether the placement matches
   * it.
   */
  readonly isLocationUnknown?: true;
}

export interface RejectedCluster {
  readonly cluster: ClusterName;
  readonly reason: RejectionReason;
  /** The value that decided, such as the taint. */
  readonly detail: string;
}

/** The clusters selected for one affinity group, or for the placement itself. Every candidate is in exactly one of the two lists. */
export interface ClusterSelection {
  /** The chosen clusters, best first (docs/internals/propagation.md 3.2, "Order"). */
  readonly chosen: readonly ChosenCluster[];
  /** The other clusters, by name. */
  readonly rejected: readonly RejectedCluster[];
  readonly group?: string;
  /** Why no cluster could be chosen. `chosen` is empty then. Absent if at least one cluster was chosen. */
  readonly problem?: string;
  readonly notes: readonly Note[];
}

/** The number of replicas of one cluster, and the numbers that it was computed from. */
export interface ReplicaShare {
  readonly cluster: ClusterName;
  /** The previous number of replicas. */
  readonly from: number;
  readonly to: number;
  /** The number that the division gave the cluster. Default: `to`. Set if an override of the count replaces it. */
  readonly divided?: number;
  /** The number of replicas of `from` that stay. */
  readonly kept: number;
  /**
   * How the replicas were divided: by the weights of rules, by free room (`Available`), or into as few clusters as possible (`Aggregated`).
   * Present for mode Divided only.
   */
  readonly strategy?: 'Weighted' | 'Available' | 'Aggregated';
  readonly weight?: number;
  readonly min?: number;
  readonly max?: number;
  readonly capacity?: number;
  /** The completions of a divided Job. Absent for other workloads. */
  readonly completions?: number;
}

/** The replicas of one workload, divided between the chosen clusters. */
export interface ReplicaDivision {
  /** One entry per chosen cluster, in the order of the clusters. With mode Divided, `to` may be 0: such a cluster gets no copy. */
  readonly shares: readonly ReplicaShare[];
  readonly unplaced: number;
  readonly notes: readonly Note[];
  /** Why no replicas are placed, although clusters are chosen. Absent if those that fit are placed. */
  readonly problem?: string;
}

/** The replicas of a workload that run in a cluster, as KubeFed counts them (docs/internals/propagation.md 3.4). */
export interface RunningReplicas {
  readonly current: number;
  /** The number of wanted replicas without those that are unschedulable for longer than 60 s. Absent if no Pod is. */
  readonly capacity?: number;
}
