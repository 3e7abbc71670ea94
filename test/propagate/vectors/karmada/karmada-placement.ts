import { setOfAffinity } from '../../../../src/propagate/karmada/cluster-affinity.ts';
import type { KarmadaPlacement, SpreadConstraint } from '../../../../src/propagate/karmada/karmada-placement.ts';
import type { Spread } from '../../../../src/propagate/model/spec.ts';
import type { PlacementStage } from '../../../../src/propagate/plan/placing/filter-candidate.ts';

/** Returns the sets of clusters to choose from, for the affinity in use. Without affinities: all clusters. */
export function affinitySetsOf({ clusterAffinity, clusterAffinities }: KarmadaPlacement, observedAffinityName = ''): PlacementStage {
  if (clusterAffinity !== undefined && clusterAffinity !== null) return { set: setOfAffinity(clusterAffinity), overflow: [] };
  const term = (clusterAffinities ?? []).find(({ affinityName = '' }) => affinityName === observedAffinityName);
  if (term === undefined) return { set: {}, overflow: [] };
  const overflow = (term.overflowAffinities ?? []).map((affinity) => ({ name: affinity.affinityName ?? '', set: setOfAffinity(affinity) }));
  return { name: observedAffinityName, set: setOfAffinity(term), overflow };
}

/**
 * Converts spread constraints. A maximum of 0 counts as missing. Omits constraints on fields that Karmada does not know.
 *
 * A spread without a maximum has no limit in Muster, and the maximum 0 with Karmada's rules.
 */
export function spreadOf(constraints: readonly SpreadConstraint[] | null | undefined): readonly Spread[] {
  return (constraints ?? []).flatMap(({ spreadByField = '', spreadByLabel = '', minGroups = 0, maxGroups = 0 }) => {
    const by = fields.find((field) => field === spreadByField) ?? (spreadByLabel === '' ? undefined : 'label');
    if (by === undefined) return [];
    return [{ by, min: minGroups, ...(by === 'label' ? { label: spreadByLabel } : {}), ...(maxGroups === 0 ? {} : { max: maxGroups }) }];
  });
}

const fields = ['cluster', 'region', 'zone', 'provider'] as const;
