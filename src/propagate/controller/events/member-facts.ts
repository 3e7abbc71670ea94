import type { MemberCluster, Members } from '../../../changes/members.ts';
import type { ClusterName } from '../../../core/names.ts';

/** Tells whether what placement asks of a cluster has changed since it was asked last. */
export interface MemberFacts {
  /** True the first time a cluster that was not there at the beginning is asked about, and whenever its facts differ; also when it left. */
  isChanged(cluster: ClusterName): boolean;
}

export function createMemberFacts(members: Pick<Members, 'all' | 'get'>): MemberFacts {
  const known = new Map(members.all().map((member) => [member.name, textOf(member)]));
  return {
    isChanged(cluster) {
      const member = members.get(cluster);
      const text = member === undefined ? undefined : textOf(member);
      const isSame = known.get(cluster) === text;
      if (text === undefined) known.delete(cluster);
      else known.set(cluster, text);
      return !isSame;
    },
  };
}

/** What selects, places and divides by; not how the cluster is at the moment. */
function textOf({ labels, provider, region, zones, taints }: MemberCluster): string {
  const sorted = Object.entries(labels).sort(([a], [b]) => (a < b ? -1 : 1));
  return JSON.stringify([sorted, provider ?? null, region ?? null, zones, taints]);
}
