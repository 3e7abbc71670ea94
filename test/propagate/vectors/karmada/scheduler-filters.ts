import type { V1Taint, V1Toleration } from '@kubernetes/client-node';
import type { Json } from '../../../../src/core/json.ts';
import type { Stored } from '../../../../src/core/stored.ts';
import { type KarmadaCluster, memberOf } from '../../../../src/propagate/karmada/karmada-cluster.ts';
import { groundOf, type KarmadaPlacement, spreadOf } from '../../../../src/propagate/karmada/karmada-placement.ts';
import type { TargetCluster } from '../../../../src/propagate/karmada/replica-scheduling.ts';
import type { ClusterTaint } from '../../../../src/propagate/members.ts';
import { tierOf } from '../../../../src/propagate/placing/filter-candidate.ts';
import { groupOf } from '../../../../src/propagate/placing/take-spread.ts';
import { taintsIn, tolerates, tolerationIn, untoleratedTaint } from '../../../../src/propagate/placing/tolerations.ts';
import type { Toleration } from '../../../../src/propagate/spec.ts';

/** What a filter of the scheduler looks at. */
interface FilterInput {
  readonly cluster: KarmadaCluster & { readonly apiEnablements?: readonly ApiEnablement[] | null };
  readonly binding: {
    readonly placement?: KarmadaPlacement | null;
    readonly previous?: readonly TargetCluster[] | null;
    readonly replicas?: number;
    readonly replicaRequirements?: Json;
    readonly resource?: { readonly apiVersion?: string; readonly kind?: string };
    readonly gracefulEvictionTasks?: readonly { readonly fromCluster?: string }[] | null;
  };
  readonly observedAffinityName?: string;
}

interface ApiEnablement {
  readonly groupVersion?: string;
  readonly resources?: readonly { readonly kind?: string }[] | null;
}

/** Success: the cluster stays. */
interface FilterResult {
  readonly result: 'Success' | 'Unschedulable';
}

/** TaintToleration: what is there already stays. */
export function filterTaintToleration(input: FilterInput): FilterResult {
  const tolerations = (input.binding.placement?.clusterTolerations ?? []).flatMap((value) => tolerationIn(value) ?? []);
  return resultOf(isTarget(input) || untoleratedTaint(memberOf(input.cluster).taints, tolerations) === undefined);
}

/** ClusterAffinity: the affinity in use, or, of workloads, where it overflows to. */
export function filterClusterAffinity({ cluster, binding, observedAffinityName }: FilterInput): FilterResult {
  const isWorkload = (binding.replicas ?? 0) > 0 || (binding.replicaRequirements ?? null) !== null;
  return resultOf(tierOf(memberOf(cluster), groundOf(binding.placement ?? {}, observedAffinityName), isWorkload) !== undefined);
}

/** SpreadConstraint: the cluster stands in some group of each sort. */
export function filterSpreadConstraint({ cluster, binding }: FilterInput): FilterResult {
  const member = memberOf(cluster);
  return resultOf(spreadOf(binding.placement?.spreadConstraints).every((spread) => groupOf(member, spread) !== undefined));
}

/** APIEnablement: it serves the kind, or has it already. */
export function filterAPIEnablement(input: FilterInput): FilterResult {
  const { apiVersion = '', kind = '' } = input.binding.resource ?? {};
  const serves = (input.cluster.apiEnablements ?? []).some(
    ({ groupVersion = '', resources }) => groupVersion === apiVersion && (resources ?? []).some((resource) => resource.kind === kind),
  );
  return resultOf(isTarget(input) || serves);
}

/** ClusterEviction: nothing is being evicted from it. */
export function filterClusterEviction({ cluster, binding }: FilterInput): FilterResult {
  return resultOf(!(binding.gracefulEvictionTasks ?? []).some(({ fromCluster }) => fromCluster === cluster.name));
}

/** ClusterLocality: 100 where it is already. */
export function scoreClusterLocality(input: FilterInput): { readonly score: number } {
  return { score: isTarget(input) ? 100 : 0 };
}

/** GetMatchingTolerations: those that are used, as they came. */
export function matchingTolerations({
  taints,
  tolerations,
}: {
  readonly taints?: readonly Stored<V1Taint>[] | null;
  readonly tolerations?: readonly Stored<V1Toleration>[] | null;
}): {
  readonly allTolerated: boolean;
  readonly matching: readonly Stored<V1Toleration>[];
} {
  const read = (tolerations ?? []).flatMap((value) => {
    const toleration = tolerationIn(value);
    return toleration === undefined ? [] : [{ toleration, value }];
  });
  const used = tolerationsUsed(
    taintsIn(taints ?? []),
    read.map(({ toleration }) => toleration),
  );
  return {
    allTolerated: used.allTolerated,
    matching: used.matching.flatMap((toleration) => read.filter((entry) => entry.toleration === toleration).map(({ value }) => value)),
  };
}

function isTarget({ cluster, binding }: FilterInput): boolean {
  return (binding.previous ?? []).some(({ name }) => name === cluster.name);
}

function resultOf(passes: boolean): FilterResult {
  return { result: passes ? 'Success' : 'Unschedulable' };
}

/** What tolerates a list of taints. */
interface TolerationsUsed {
  readonly allTolerated: boolean;
  /** In the order of the taints, the first that covers each. Empty if one taint is covered by none. */
  readonly matching: readonly Toleration[];
}

/** Which tolerations cover the taints, whatever the taints' effects: all or none. Without taints: none are needed, all is tolerated. */
export function tolerationsUsed(taints: readonly ClusterTaint[], tolerations: readonly Toleration[]): TolerationsUsed {
  const matching: Toleration[] = [];
  for (const taint of taints) {
    const first = tolerations.find((toleration) => tolerates(toleration, taint));
    if (first === undefined) return { allTolerated: false, matching: [] };
    matching.push(first);
  }
  return { allTolerated: true, matching };
}
