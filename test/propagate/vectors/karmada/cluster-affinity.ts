import { type ClusterAffinity, setOfAffinity } from '../../../../src/propagate/karmada/cluster-affinity.ts';
import { fieldValuesOf, matchesSet } from '../../../../src/propagate/plan/placing/cluster-set.ts';
import { type KarmadaCluster, memberClusterOf } from './karmada-cluster.ts';

type FieldExpression = NonNullable<NonNullable<ClusterAffinity['fieldSelector']>['matchExpressions']>[number];

/** Karmada's ClusterMatches: true if the cluster matches the affinity. */
export function matchesCluster({ affinity, cluster }: { readonly affinity?: ClusterAffinity; readonly cluster: KarmadaCluster }): {
  readonly matches: boolean;
} {
  return { matches: matchesSet(setOfAffinity(affinity ?? {}), memberClusterOf(cluster)) };
}

/** True if a cluster with these zones meets the requirement. */
export function matchZones({ requirement, zones }: { readonly requirement: FieldExpression; readonly zones?: readonly string[] | null }): {
  readonly matches: boolean;
} {
  const affinity = { fieldSelector: { matchExpressions: [{ ...requirement, key: 'zone' }] } };
  return matchesCluster({ affinity, cluster: { zones: zones ?? [] } });
}

/** Returns the fields of a cluster that a field selector can match, except its zones. */
export function selectableFieldsOf({ cluster }: { readonly cluster: KarmadaCluster }): {
  readonly fields: Readonly<Record<string, string>>;
} {
  const member = memberClusterOf(cluster);
  const fields = (['provider', 'region'] as const).flatMap((field) => fieldValuesOf(member, field).map((value) => [field, value]));
  return { fields: Object.fromEntries(fields) };
}
