import type { V1Taint } from '@kubernetes/client-node';
import { clusterName, parseClusterName } from '../../core/names.ts';
import type { Stored } from '../../core/stored.ts';
import type { MemberCluster } from '../members.ts';
import { taintsIn } from '../placing/tolerations.ts';

/** What placement reads of a Cluster of Karmada. */
export interface KarmadaCluster {
  readonly name?: string | undefined;
  readonly labels?: Readonly<Record<string, string>> | null;
  readonly provider?: string;
  readonly region?: string;
  readonly zones?: readonly string[] | null;
  readonly taints?: readonly Stored<V1Taint>[] | null;
}

/** The cluster as our stages look at it. One without a name gets one, so that it can be looked at alone. */
export function memberOf({ name = '', labels, provider = '', region = '', zones, taints }: KarmadaCluster): MemberCluster {
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
