import type { ClusterApi } from '../cluster/cluster-api.ts';
import type { Fault } from '../core/faults.ts';
import type { ClusterName } from '../core/names.ts';
import type { MemberObjects } from '../store/member-objects.ts';

/** A taint of a cluster, with the fields of a Node's taint (core/v1 Taint). */
export interface ClusterTaint {
  readonly key: string;
  readonly value?: string;
  /** `NoSchedule`, `PreferNoSchedule`, `NoExecute`. */
  readonly effect: string;
}

/**
 * Location fields of a cluster that the planned spec uses and that are unknown. The Nodes that could provide them are unread, or may not be read,
 * or do not exist yet.
 */
export interface UnknownLocation {
  /** The fields that the spec uses and the cluster does not have. */
  readonly fields: readonly ('provider' | 'region' | 'zone')[];
  /**
   * True while Nodes may still provide the fields: they are unread, or a cluster that holds copies has no Nodes yet. False: the gateway may
   * not read Nodes.
   */
  readonly mayBecomeKnown: boolean;
  /** Why the fields are unknown, for users. */
  readonly message: string;
}

/** The properties of a cluster that placement and overrides can match. */
export interface MemberCluster {
  readonly name: ClusterName;
  readonly labels: Readonly<Record<string, string>>;
  readonly provider?: string | undefined;
  readonly region?: string | undefined;
  readonly zones: readonly string[];
  readonly taints: readonly ClusterTaint[];
  readonly phase: 'CONNECTING' | 'SYNCED' | 'DEGRADED' | 'UNREACHABLE';
  /** The time of the last answer of the cluster, in Unix milliseconds. Absent if it has never answered. */
  readonly asOfMs?: number | undefined;
  readonly faults: readonly Fault[];
  /**
   * The location fields that the planned spec uses and whose values in this cluster are not known yet. Only the clusters of a plan can have
   * it. Undefined in a plan: a field without a value really has none.
   */
  readonly unknownLocation?: UnknownLocation | undefined;
}

/** The clusters of the fleet, as the propagation code sees them. Created by `membersOf` in write-side.ts. */
export interface Members {
  /** Returns all clusters, sorted by name in code unit order. */
  all(): readonly MemberCluster[];
  get(name: string): MemberCluster | undefined;
  /** Returns the API of a cluster. Undefined if the cluster is not in the fleet. */
  api(name: ClusterName): ClusterApi | undefined;
  readonly objects: MemberObjects;
}
