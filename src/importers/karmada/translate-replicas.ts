import type { JsonObject } from '../../core/json.ts';
import type { KarmadaPlacement } from '../../propagate/karmada/karmada-placement.ts';
import { isStaticWeighted, type ReplicaScheduling, replicasSpecOf } from '../../propagate/karmada/replica-scheduling.ts';
import type { ReplicasSpec } from '../../propagate/model/spec.ts';
import { type PartScope, scopeBelow, translateSet } from './translate-sets.ts';

/**
 * Translates `placement.replicaScheduling` of a policy to `replicas` of a Propagation. Undefined: every cluster gets the whole number.
 *
 * @param scope.path The path of the placement in the input.
 */
export function translateReplicas({ replicaScheduling }: KarmadaPlacement, scope: PartScope): JsonObject | undefined {
  const scheduling = replicaScheduling ?? {};
  const spec = replicasSpecOf(replicaScheduling);
  if (spec?.mode !== 'Divided') return undefined;
  const below = scopeBelow(scope, 'replicaScheduling');
  noteUnusedWeights(scheduling, spec, below);
  if (!scope.clusters.isExact) noteDivision(scheduling, below);
  const rules = isStaticWeighted(scheduling) ? rulesOf(scheduling, below) : [];
  return {
    mode: spec.mode,
    strategy: spec.strategy,
    ...(rules.length === 0 ? {} : { rules }),
  };
}

function rulesOf({ weightPreference }: ReplicaScheduling, scope: PartScope): readonly JsonObject[] {
  return (weightPreference?.staticWeightList ?? []).map(({ targetCluster, weight = 0 }, index) => ({
    set: translateSet(targetCluster ?? {}, scopeBelow(scope, `weightPreference.staticWeightList[${index}].targetCluster`)),
    weight,
  }));
}

/** Adds a note about a list of weights that neither system uses. */
function noteUnusedWeights({ weightPreference }: ReplicaScheduling, { strategy }: ReplicasSpec, { path, addNote }: PartScope): void {
  if (strategy === 'Weighted' || (weightPreference?.staticWeightList ?? []).length === 0) return;
  const message = 'the weights have no effect with dynamicWeight or Aggregated, as in Karmada';
  addNote({ severity: 'WARNING', code: 'DROPPED', message, path: `${path}.weightPreference.staticWeightList` });
}

function noteDivision(scheduling: ReplicaScheduling, { path, addNote }: PartScope): void {
  const difference = (code: string, message: string) => addNote({ severity: 'INFO', code, message, path });
  if (isStaticWeighted(scheduling)) {
    difference('STATIC_FROM_ZERO', 'Karmada divides all replicas anew when their number changes, Muster divides only the difference');
  } else {
    difference('ALL_OR_NOTHING', 'Karmada places no replica if not all have room, Muster places those that have room');
  }
  difference('TIE_BY_UID', 'Karmada decides between clusters of equal weight by the uid of the resource, Muster by name');
}
