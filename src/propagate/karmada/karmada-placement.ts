import type { V1Toleration } from '@kubernetes/client-node';
import type { Stored } from '../../core/stored.ts';
import type { ClusterAffinity } from './cluster-affinity.ts';
import { isStaticWeighted, type ReplicaScheduling } from './replica-scheduling.ts';

/** Karmada's Placement (policy/v1alpha1). */
export interface KarmadaPlacement {
  readonly clusterAffinity?: ClusterAffinity | null;
  readonly clusterAffinities?: readonly ClusterAffinityTerm[] | null;
  readonly clusterTolerations?: readonly Stored<V1Toleration>[] | null;
  readonly spreadConstraints?: readonly SpreadConstraint[] | null;
  readonly replicaScheduling?: ReplicaScheduling | null;
}

/** A ClusterAffinity with a name. */
export interface AffinityTerm extends ClusterAffinity {
  readonly affinityName?: string;
}

/** Karmada's ClusterAffinityTerm, with the affinities to use when its clusters are full. */
export interface ClusterAffinityTerm extends AffinityTerm {
  readonly overflowAffinities?: readonly AffinityTerm[] | null;
}

export interface SpreadConstraint {
  readonly spreadByField?: string;
  readonly spreadByLabel?: string;
  readonly minGroups?: number;
  readonly maxGroups?: number;
}

/**
 * True if Karmada ignores the spread constraints: replicas are divided by fixed weights, and the weight preference is missing or lists
 * weights. With a preference that lists no weights, the constraints count.
 */
export function isSpreadIgnored({ replicaScheduling }: KarmadaPlacement): boolean {
  if (replicaScheduling === undefined || replicaScheduling === null || !isStaticWeighted(replicaScheduling)) return false;
  const { weightPreference } = replicaScheduling;
  return weightPreference === undefined || weightPreference === null || (weightPreference.staticWeightList ?? []).length > 0;
}
