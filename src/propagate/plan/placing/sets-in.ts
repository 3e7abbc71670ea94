import type { ClusterFieldRequirement, ClusterSet, Placement, PropagationSpec } from '../../model/spec.ts';

/** Returns the sets from which clusters are chosen: the sets of affinity groups and their overflows, else the placement itself. */
export function placementSetsIn(placement: Placement): readonly ClusterSet[] {
  const { affinityGroups } = placement;
  if (affinityGroups.length === 0) return [placement];
  return affinityGroups.flatMap(({ set, overflow }) => [set, ...overflow.map((entry) => entry.set)]);
}

/** Returns the sets that affect clusters after they are chosen: the sets of replica rules, overrides and waves. */
export function otherSetsIn({ replicas, overrides, rollout }: PropagationSpec): readonly ClusterSet[] {
  return [...replicas.rules, ...overrides, ...rollout.waves].map(({ set }) => set);
}

/** Returns the location fields that the spec uses anywhere. Each field once, in order of code units. */
export function locationFieldsIn(spec: PropagationSpec): readonly ClusterFieldRequirement['field'][] {
  const sets = [...placementSetsIn(spec.placement), ...otherSetsIn(spec)];
  const required = sets.flatMap(({ fields = [] }) => fields.map(({ field }) => field));
  const spread = spec.placement.spread.flatMap(({ by }) => (by === 'cluster' || by === 'label' ? [] : [by]));
  return [...new Set([...required, ...spread])].sort();
}
