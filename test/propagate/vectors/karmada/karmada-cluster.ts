import type { V1Taint } from '@kubernetes/client-node';
import type { MemberCluster } from '../../../../src/changes/members.ts';
import { clusterName, parseClusterName } from '../../../../src/core/names.ts';
import type { Stored } from '../../../../src/core/stored.ts';
import { taintsIn } from '../../../../src/propagate/plan/placing/tolerations.ts';

/** The fields of a Karmada Cluster that placement reads. */
export interface KarmadaCluster {
  readonly name?: string | undefined;
  readonly labels?: Readonly<Record<string, string>> | null;
  readonly provider?: string;
  readonly region?: string;
  readonly zones?: readonly string[] | null;
  readonly taints?: readonly Stored<V1Taint>[] | null;
}

/** A cluster with its number of replicas. */
export interface TargetCluster {
  readonly name: string;
  readonly replicas?: number;
}

/**
 * Converts a Karmada Cluster to the `MemberCluster` of Muster's placement. A cluster without a name gets the name `unnamed`, so it can be
 * checked alone.
 */
export function memberClusterOf({ name = '', labels, provider = '', region = '', zones, taints }: KarmadaCluster): MemberCluster {
  return {
    name: parseClusterName(name) ?? clusterName('unnamed'),
    labels: labels ?? {},
    provider,
    region,
    zones: zones ?? [],
    taints: taintsIn(taints ?? []),
    phase: 'SYNCED',
    faults: [],
  };
}
