import type { V1Taint, V1Toleration } from '@kubernetes/client-node';
import type { Json } from '../../../../src/core/json.ts';
import type { Stored } from '../../../../src/core/stored.ts';
import type { KarmadaPlacement } from '../../../../src/propagate/karmada/karmada-placement.ts';
import { requiredAsKarmada } from '../../../../src/propagate/plan/exact/choose-as-karmada.ts';
import { spreadGroupOf } from '../../../../src/propagate/plan/placing/choose-by-spread.ts';
import { tierOf } from '../../../../src/propagate/plan/placing/filter-candidate.ts';
import { taintsIn, tolerates, tolerationIn, untoleratedTaint } from '../../../../src/propagate/plan/placing/tolerations.ts';
import { type KarmadaCluster, memberClusterOf, type TargetCluster } from './karmada-cluster.ts';
import { affinitySetsOf, spreadOf } from './karmada-placement.ts';

/** The input of a scheduler filter. */
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

/** The result of a filter. `Success`: the cluster stays a candidate. */
interface FilterResult {
  readonly result: 'Success' | 'Unschedulable';
}

/** Karmada's filter TaintToleration. A cluster that has the workload already passes. */
export function filterTaintToleration(input: FilterInput): FilterResult {
  const tolerations = (input.binding.placement?.clusterTolerations ?? []).flatMap((value) => tolerationIn(value) ?? []);
  return resultOf(isTarget(input) || untoleratedTaint(memberClusterOf(input.cluster).taints, tolerations) === undefined);
}

/** Karmada's filter ClusterAffinity: the cluster matches the affinity in use, or, for workloads, one of its overflow affinities. */
export function filterClusterAffinity({ cluster, binding, observedAffinityName }: FilterInput): FilterResult {
  const isWorkload = (binding.replicas ?? 0) > 0 || (binding.replicaRequirements ?? null) !== null;
  return resultOf(
    tierOf(memberClusterOf(cluster), affinitySetsOf(binding.placement ?? {}, observedAffinityName), isWorkload) !== undefined,
  );
}

/** Karmada's filter SpreadConstraint: the cluster has a value for each field to spread by. */
export function filterSpreadConstraint({ cluster, binding }: FilterInput): FilterResult {
  const member = memberClusterOf(cluster);
  const required = requiredAsKarmada(spreadOf(binding.placement?.spreadConstraints));
  return resultOf(required.every((spread) => spreadGroupOf(member, spread) !== undefined));
}

/** Karmada's filter APIEnablement: the cluster serves the kind, or has the object already. */
export function filterAPIEnablement(input: FilterInput): FilterResult {
  const { apiVersion = '', kind = '' } = input.binding.resource ?? {};
  const serves = (input.cluster.apiEnablements ?? []).some(
    ({ groupVersion = '', resources }) => groupVersion === apiVersion && (resources ?? []).some((resource) => resource.kind === kind),
  );
  return resultOf(isTarget(input) || serves);
}

/** Karmada's filter ClusterEviction: no eviction from the cluster is in progress. */
export function filterClusterEviction({ cluster, binding }: FilterInput): FilterResult {
  return resultOf(!(binding.gracefulEvictionTasks ?? []).some(({ fromCluster }) => fromCluster === cluster.name));
}

/** Karmada's score ClusterLocality: 100 for a cluster that has the workload already, otherwise 0. */
export function scoreClusterLocality(input: FilterInput): { readonly score: number } {
  return { score: isTarget(input) ? 100 : 0 };
}

/** Karmada's GetMatchingTolerations: returns the tolerations that match a taint, unchanged. */
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
  // The first toleration that covers each taint. Taints of every effect count.
  const matching = taintsIn(taints ?? []).map((taint) => read.find(({ toleration }) => tolerates(toleration, taint))?.value);
  const allTolerated = !matching.includes(undefined);
  return { allTolerated, matching: allTolerated ? matching.filter((value) => value !== undefined) : [] };
}

function isTarget({ cluster, binding }: FilterInput): boolean {
  return (binding.previous ?? []).some(({ name }) => name === cluster.name);
}

function resultOf(passes: boolean): FilterResult {
  return { result: passes ? 'Success' : 'Unschedulable' };
}
