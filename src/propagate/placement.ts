import type { ClusterName } from '../core/names.ts';
import type { MemberCluster } from './members.ts';
import type { Note } from './notes.ts';

/** One cluster as placement looks at it: its facts, and what the snapshot says of it. */
export interface PlacementCandidate {
  readonly cluster: MemberCluster;
  /** It is being removed from the fleet: nothing is placed there, whatever it holds. */
  readonly leaving: boolean;
  /** Kinds of the template that it does not serve, as `Deployment.apps/v1`. Empty: it serves all. */
  readonly missingKinds: readonly string[];
  /** The inventory has copies there: filters of taints and kinds never push it out. */
  readonly holds: boolean;
  /** Replicas that were placed there before. */
  readonly previous: number;
  /** Replicas that more would fit, `previous` not counted: an estimate. Absent, or Infinity: unlimited or unknown. */
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
  /** Where it runs is not known yet, or where those run that hold copies. */
  | 'SYNCING';

export interface ChosenCluster {
  readonly cluster: ClusterName;
  /** The affinity group that chose it. */
  readonly group?: string;
  /** 0 is the group's own set, k its k-th overflow. */
  readonly tier: number;
  readonly score: number;
  /** Estimate and replicas there. Absent: unlimited or unknown. */
  readonly available?: number;
  /** Taken for the copies it holds: whether it fits cannot be told, as nobody knows where it runs. */
  readonly isKept?: true;
}

export interface RejectedCluster {
  readonly cluster: ClusterName;
  readonly reason: RejectionReason;
  /** The deciding value, such as the taint. */
  readonly detail: string;
}

/** What `select` gives: every candidate stands in exactly one of the lists. */
export interface Selection {
  /** In order (docs/internals/propagation.md 3.2, "Order"). */
  readonly chosen: readonly ChosenCluster[];
  /** By name. */
  readonly rejected: readonly RejectedCluster[];
  readonly group?: string;
  /** Set if nothing could be chosen: why. `chosen` is empty then. */
  readonly problem?: string;
  readonly notes: readonly Note[];
}

/** What one cluster gets, and what that comes from. */
export interface Share {
  readonly cluster: ClusterName;
  /** The previous count. */
  readonly from: number;
  readonly to: number;
  /** What stays of `from`. */
  readonly kept: number;
  /** Of Divided only. */
  readonly strategy?: 'Weighted' | 'Available' | 'Aggregated';
  readonly weight?: number;
  readonly min?: number;
  readonly max?: number;
  readonly capacity?: number;
  /** Of divided Jobs with completions. */
  readonly completions?: number;
}

/** What `divide` gives. */
export interface Division {
  /** One for each chosen cluster, in their order; with Divided, those of 0 replicas too (`to` is 0: they get no copy). */
  readonly shares: readonly Share[];
  readonly unplaced: number;
  readonly notes: readonly Note[];
}
