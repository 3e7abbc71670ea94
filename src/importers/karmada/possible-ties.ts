import { compareText } from '../../core/text.ts';
import type { ClusterAffinity } from '../../propagate/karmada/cluster-affinity.ts';
import type { KarmadaPlacement } from '../../propagate/karmada/karmada-placement.ts';
import { isStaticWeighted } from '../../propagate/karmada/replica-scheduling.ts';
import { fewestSeatsThenLastName } from '../../propagate/plan/exact/divide-as-karmada.ts';
import { apportion, fewestSeatsThenName, type Party } from '../../propagate/plan/placing/apportion.ts';
import type { ImportClusters } from '../clusters/import-clusters.ts';

/**
 * Returns a check for a number of replicas: true if a tie between clusters may decide how the number is divided. Also true if the division is
 * unknown, because the placement does not name its clusters, or because their free room counts.
 */
export function tieCheckOf(placement: KarmadaPlacement, clusters: ImportClusters): (count: number) => boolean {
  const parties = namedPartiesOf(placement, clusters);
  if (parties === undefined) return () => true;
  const known = new Map<number, boolean>();
  return (count) => {
    const hasTie = known.get(count) ?? isTieDecisive(count, parties);
    known.set(count, hasTie);
    return hasTie;
  };
}

/** True if replicas are divided differently when ties go to the last name instead of the first. */
function isTieDecisive(count: number, parties: readonly Party[]): boolean {
  const ascending = apportion(count, parties, fewestSeatsThenName).seats;
  const descending = apportion(count, parties, fewestSeatsThenLastName).seats;
  return parties.some(({ name }) => ascending.get(name) !== descending.get(name));
}

/** Returns the clusters with their fixed weights. Undefined if the clusters or their weights depend on more than the document. */
function namedPartiesOf(placement: KarmadaPlacement, { visible }: ImportClusters): readonly Party[] | undefined {
  const { replicaScheduling, clusterAffinity, clusterAffinities, spreadConstraints } = placement;
  if ([clusterAffinities, spreadConstraints].some((list) => (list ?? []).length > 0)) return undefined;
  if (replicaScheduling === null || replicaScheduling === undefined || !isStaticWeighted(replicaScheduling)) return undefined;
  const weightEntries = replicaScheduling.weightPreference?.staticWeightList ?? [];
  const named = namesIn(clusterAffinity);
  if (named === undefined || weightEntries.some(({ targetCluster }) => namesIn(targetCluster) === undefined)) return undefined;
  const weights = new Map<string, number>();
  for (const { targetCluster, weight = 0 } of weightEntries) {
    for (const name of namesIn(targetCluster) ?? []) weights.set(name, Math.max(weight, weights.get(name) ?? 0));
  }
  const names = [...named].filter((name) => visible.has(name)).toSorted(compareText);
  const weighted = names.map((name) => ({ name, weight: weights.get(name) ?? 0 })).filter(({ weight }) => weight > 0);
  return weighted.length === 0 ? names.map((name) => ({ name, weight: 1 })) : weighted;
}

/** Returns the names of an affinity that consists of names alone. Undefined for other affinities. */
function namesIn(affinity: ClusterAffinity | null | undefined): ReadonlySet<string> | undefined {
  const { clusterNames, exclude, labelSelector, fieldSelector } = affinity ?? {};
  const hasOther = (exclude ?? []).length > 0 || (labelSelector ?? undefined) !== undefined || (fieldSelector ?? undefined) !== undefined;
  return hasOther || (clusterNames ?? []).length === 0 ? undefined : new Set(clusterNames);
}
