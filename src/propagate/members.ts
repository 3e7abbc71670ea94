import type { ClusterApi } from '../cluster/cluster-api.ts';
import type { Fault } from '../core/faults.ts';
import type { ClusterName } from '../core/names.ts';
import type { MemberObjects } from '../store/member-objects.ts';

/** A taint of a cluster: as of a Node (core/v1 Taint). */
export interface ClusterTaint {
  readonly key: string;
  readonly value?: string;
  /** `NoSchedule`, `PreferNoSchedule`, `NoExecute`. */
  readonly effect: string;
}

/** What Nodes are to say of where a cluster runs, and nobody knows. */
export interface Unsaid {
  /** Absent in the cluster, and asked for. */
  readonly fields: readonly ('provider' | 'region' | 'zone')[];
  /** True while Nodes may yet say it: they are unread, or there are none where copies are held. False: nobody may read them. */
  readonly mayCome: boolean;
  /** Why nobody knows. */
  readonly message: string;
}

/** What placement and overrides may ask of a cluster. */
export interface MemberCluster {
  readonly name: ClusterName;
  readonly labels: Readonly<Record<string, string>>;
  readonly provider?: string | undefined;
  readonly region?: string | undefined;
  readonly zones: readonly string[];
  readonly taints: readonly ClusterTaint[];
  readonly phase: 'CONNECTING' | 'SYNCED' | 'DEGRADED' | 'UNREACHABLE';
  /** Milliseconds of the epoch of the last sign of life. */
  readonly asOfMs?: number | undefined;
  readonly faults: readonly Fault[];
  /** Set where a plan looks at the cluster. Absent: what is absent here is so. */
  readonly unsaid?: Unsaid | undefined;
}

/** The fleet as the side that writes knows it. */
export interface Members {
  /** By name, in order of code units. */
  all(): readonly MemberCluster[];
  get(name: string): MemberCluster | undefined;
  /** Undefined if it is no member. */
  api(name: ClusterName): ClusterApi | undefined;
  readonly objects: MemberObjects;
}
