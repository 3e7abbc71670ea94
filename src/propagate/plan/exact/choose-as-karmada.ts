import { listAt, valueAt } from '../../../core/json-at.ts';
import type { PropagationSpec, Spread } from '../../model/spec.ts';
import { chooseBySpread, type LocatedCluster, type SpreadDemand, type SpreadRules } from '../placing/choose-by-spread.ts';
import type { SpreadResult } from '../placing/choose-clusters.ts';

/**
 * Returns the rules by which Karmada's scheduler chooses clusters (docs/internals/propagation.md 3.2):
 *
 * - A spread without a maximum has the maximum 0.
 * - Only spreads by cluster and by region choose clusters. Spreads by zone and by provider only filter clusters. Spreads by label do
 *   neither. If there are spreads, but none by cluster or by region, no cluster is chosen.
 * - Fixed weights ignore the spread, but not its filters.
 */
export function karmadaSpreadRules({ placement: { spread }, replicas, exact }: PropagationSpec): SpreadRules {
  const duplicated = replicas.mode !== 'Divided';
  const hasFixedWeights = !duplicated && replicas.strategy === 'Weighted';
  const isIgnored = hasFixedWeights && !hasEmptyWeightPreference(exact?.policies);
  return {
    required: requiredAsKarmada(spread),
    choose: (ordered, { replicas: count }) =>
      someChosen(isIgnored ? { result: 'chosen', clusters: ordered } : chooseAsKarmada(ordered, { spread, replicas: count, duplicated })),
  };
}

/**
 * Returns the entries of the spread whose property, such as the region, every chosen cluster must have. Karmada does not require labels.
 */
export function requiredAsKarmada(spread: readonly Spread[]): readonly Spread[] {
  return spread.filter(({ by }) => by !== 'label');
}

/**
 * Chooses clusters by the spread, as Karmada's SelectBestClusters does, but without its rule for fixed weights. Without a spread, chooses
 * all clusters.
 */
export function chooseAsKarmada<T extends LocatedCluster>(
  ordered: readonly T[],
  { spread, replicas, duplicated }: SpreadDemand,
): SpreadResult<T> {
  if (spread.length === 0) return { result: 'chosen', clusters: ordered };
  const effective = effectiveSpread(spread);
  if (effective === undefined) return { result: 'refused', reason: 'SPREAD', problem: 'just support cluster and region spread constraint' };
  return chooseBySpread(ordered, { spread: effective, replicas, duplicated });
}

function effectiveSpread(spread: readonly Spread[]): readonly Spread[] | undefined {
  const has = (by: Spread['by']) => spread.some((entry) => entry.by === by);
  if (has('region')) return (['region', 'cluster'] as const).map((by) => ({ by, ...karmadaRange(spread, by) }));
  return has('cluster') ? [{ by: 'cluster', ...karmadaRange(spread, 'cluster') }] : undefined;
}

/** Returns the bounds of the spread by one property. Without such a spread, both bounds are 0. Without a maximum, the maximum is 0. */
export function karmadaRange(spread: readonly Spread[], by: Spread['by']): { readonly min: number; readonly max: number } {
  const { min = 0, max = 0 } = spread.find((entry) => entry.by === by) ?? {};
  return { min, max };
}

/** Returns a problem for an empty choice, as Karmada's AssignReplicas does. Returns other choices unchanged. */
function someChosen<T>(chosen: SpreadResult<T>): SpreadResult<T> {
  if (chosen.result === 'refused' || chosen.clusters.length > 0) return chosen;
  return {
    result: 'refused',
    reason: 'SPREAD',
    problem: 'no clusters available to schedule: a spread without max chooses none in Karmada',
  };
}

/**
 * True if the policy has a weight preference without weights. Karmada then divides by equal weights, but does not ignore the spread. No other
 * field of a spec can hold this difference, so `exact.policies` has Karmada's `replicaScheduling`.
 */
function hasEmptyWeightPreference(policies: Parameters<typeof valueAt>[0] | undefined): boolean {
  const preference = policies === undefined ? undefined : valueAt(policies, 'replicaScheduling', 'weightPreference');
  return preference !== undefined && preference !== null && listAt(preference, 'staticWeightList').length === 0;
}
