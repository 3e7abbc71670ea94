import type { ClusterFieldRequirement, ClusterSet, Placement, PropagationSpec } from '../../model/spec.ts';

/** The sets of which one has every cluster that is chosen: of the affinity groups with their overflow, else the placement itself. */
export function placementSetsIn(placement: Placement): readonly ClusterSet[] {
  const { affinityGroups } = placement;
  if (affinityGroups.length === 0) return [placement];
  return affinityGroups.flatMap(({ set, overflow }) => [set, ...overflow.map((entry) => entry.set)]);
}

/** The sets that say what a chosen cluster gets, and when: of rules, overrides and waves. */
export function otherSetsIn({ replicas, overrides, rollout }: PropagationSpec): readonly ClusterSet[] {
  return [...replicas.rules, ...overrides, ...rollout.waves].map(({ set }) => set);
}

/** What is asked anywhere of where clusters run; each once, in order of code units. */
export function locationFieldsIn(spec: PropagationSpec): readonly ClusterFieldRequirement['field'][] {
  const sets = [...placementSetsIn(spec.placement), ...otherSetsIn(spec)];
  const required = sets.flatMap(({ fields = [] }) => fields.map(({ field }) => field));
  const spread = spec.placement.spread.flatMap(({ by }) => (by === 'cluster' || by === 'label' ? [] : [by]));
  return [...new Set([...required, ...spread])].sort();
}
