import type { V1Toleration } from '@kubernetes/client-node';
import type { Json, JsonObject } from '../../core/json.ts';
import { isLabelKey } from '../../core/selectors.ts';
import type { Stored } from '../../core/stored.ts';
import {
  type ClusterAffinityTerm,
  isSpreadIgnored,
  type KarmadaPlacement,
  type SpreadConstraint,
} from '../../propagate/karmada/karmada-placement.ts';
import { isStaticWeighted } from '../../propagate/karmada/replica-scheduling.ts';
import type { ClusterFieldRequirement } from '../../propagate/model/spec.ts';
import { type PartScope, type PlacementScope, scopeBelow, translatePlacementSet } from './translate-sets.ts';

/** The fields by which Karmada only filters clusters: it does not choose by them. */
const filterFields = ['zone', 'provider'] as const;

/**
 * Translates `placement` of a policy to `placement` of a Propagation, without its replicas.
 *
 * In exact mode `spread` has only the constraints by which Karmada chooses clusters. The others become conditions of the sets.
 *
 * @param scope.path The path of the placement in the input.
 * @param sourceCluster The cluster of Karmada's API server. Absent for a text.
 */
export function translatePlacement(placement: KarmadaPlacement, scope: PartScope, sourceCluster: string | undefined): JsonObject {
  const { clusterAffinity, clusterAffinities, clusterTolerations } = placement;
  const { spread, required } = scope.clusters.isExact ? exactSpreadOf(placement) : { spread: spreadOf(placement, scope), required: [] };
  const sets: PlacementScope = { ...scope, required, sourceCluster };
  const tolerations = (clusterTolerations ?? []).flatMap((toleration, index) =>
    tolerationsOf(toleration, scopeBelow(scope, `clusterTolerations[${index}]`)),
  );
  const groups = (clusterAffinities ?? []).map((term, index) => groupOf(term, scopeBelow(sets, `clusterAffinities[${index}]`)));
  const chosen: JsonObject =
    groups.length > 0
      ? { affinityGroups: groups }
      : translatePlacementSet(clusterAffinity ?? {}, { ...sets, path: `${scope.path}.clusterAffinity` });
  return {
    ...chosen,
    ...(tolerations.length === 0 ? {} : { tolerations }),
    ...(spread.length === 0 ? {} : { spread }),
  };
}

function groupOf(term: ClusterAffinityTerm, scope: PlacementScope): Json {
  const overflow = (term.overflowAffinities ?? []).map((one, index) => ({
    name: one.affinityName ?? '',
    set: translatePlacementSet(one, scopeBelow(scope, `overflowAffinities[${index}]`)),
  }));
  return { name: term.affinityName ?? '', set: translatePlacementSet(term, scope), ...(overflow.length === 0 ? {} : { overflow }) };
}

/** The spread that Karmada chooses clusters by, and the fields that clusters must have. */
interface ExactSpread {
  readonly spread: readonly Json[];
  readonly required: readonly ClusterFieldRequirement['field'][];
}

/**
 * Returns the spread of exact mode, and the fields that become conditions of the sets.
 *
 * Constraints by zone and provider become conditions, because Karmada only filters by them. Without a constraint by cluster or region, the
 * first constraint stays as it is: Karmada then chooses no cluster, and so does the plan. If Karmada ignores the constraints
 * (`isSpreadIgnored`), the spread is empty, and a constraint by region is a condition too.
 */
function exactSpreadOf(placement: KarmadaPlacement): ExactSpread {
  const constraints = placement.spreadConstraints ?? [];
  const fields = constraints.map(({ spreadByField = '' }) => spreadByField);
  const isIgnored = isSpreadIgnored(placement);
  const required = [...filterFields, ...(isIgnored ? (['region'] as const) : [])].filter((field) => fields.includes(field));
  if (isIgnored) return { spread: [], required };
  const choosing = constraints.filter(({ spreadByField }) => spreadByField === 'cluster' || spreadByField === 'region');
  return { spread: (choosing.length === 0 ? constraints.slice(0, 1) : choosing).map(spreadEntryOf), required };
}

/**
 * Returns `exact.policies` if replicas are divided by fixed weights, the list of weights is empty, and there are spread constraints.
 * Undefined in all other cases.
 *
 * An empty list and a missing one give the same weights, but Karmada ignores the constraints only with a missing one. No other field of a
 * Propagation holds this difference.
 */
export function exactPoliciesOf(placement: KarmadaPlacement): JsonObject | undefined {
  const { replicaScheduling, spreadConstraints } = placement;
  if (!isStaticWeighted(replicaScheduling ?? {}) || isSpreadIgnored(placement) || (spreadConstraints ?? []).length === 0) return undefined;
  return { replicaScheduling: { weightPreference: {} } };
}

/**
 * Returns the field `spread` of the Propagation, translated from Karmada's constraints. Reports a note for each constraint that has another effect in
 * Karmada. Muster spreads by at most one property besides the cluster.
 */
function spreadOf(placement: KarmadaPlacement, scope: PartScope): readonly Json[] {
  const { addNote } = scope;
  const constraints = placement.spreadConstraints ?? [];
  const isIgnored = isSpreadIgnored(placement);
  const grouping = constraints.find(({ spreadByField }) => spreadByField === 'region') ?? constraints.find(isGrouping);
  if (constraints.length > 0 && isIgnored) {
    const message = 'Karmada ignores spread constraints with static weights, Muster spreads by them';
    addNote({ severity: 'INFO', code: 'SPREAD_IGNORED', message, path: `${scope.path}.spreadConstraints` });
  }
  return constraints.flatMap((constraint, index) => {
    const path = `${scope.path}.spreadConstraints[${index}]`;
    if (isGrouping(constraint) && constraint !== grouping) {
      const message =
        'Muster spreads by one property besides the cluster, and this is a second one. Karmada only requires that clusters have it';
      addNote({ severity: 'WARNING', code: 'DROPPED', message, path });
      return [];
    }
    const { spreadByLabel = '' } = constraint;
    if (spreadByLabel !== '' && !isLabelKey(spreadByLabel)) {
      addNote({ severity: 'WARNING', code: 'DROPPED', message: 'expected the key of a label. Karmada ignores it too', path });
      return [];
    }
    if (!isIgnored) noteSpread(constraint, path, scope);
    return [spreadEntryOf(constraint)];
  });
}

function isGrouping({ spreadByField, spreadByLabel = '' }: SpreadConstraint): boolean {
  return spreadByField !== 'cluster' && (spreadByField !== undefined || spreadByLabel !== '');
}

function noteSpread({ spreadByField, maxGroups = 0 }: SpreadConstraint, path: string, { addNote }: PartScope): void {
  if (spreadByField !== 'cluster' && spreadByField !== 'region') {
    const what = spreadByField === undefined ? 'labels' : `the ${spreadByField}`;
    const message = `Karmada does not choose clusters by ${what}, Muster does`;
    addNote({ severity: 'INFO', code: 'SPREAD_IGNORED', message, path });
  } else if (maxGroups === 0) {
    const message = 'Karmada takes a missing maxGroups as 0 and chooses no cluster, Muster takes it as no limit';
    addNote({ severity: 'INFO', code: 'SPREAD_NO_MAX', message, path });
  }
}

function spreadEntryOf({ spreadByField, spreadByLabel, minGroups = 1, maxGroups = 0 }: SpreadConstraint): JsonObject {
  return {
    by: spreadByField ?? 'label',
    ...(spreadByField === undefined && spreadByLabel !== undefined ? { label: spreadByLabel } : {}),
    min: minGroups,
    ...(maxGroups === 0 ? {} : { max: maxGroups }),
  };
}

const effects: readonly string[] = ['NoSchedule', 'PreferNoSchedule', 'NoExecute'];

/**
 * Translates a toleration. Returns no toleration if it tolerates no taint. Muster refuses members that have no effect, so they are left
 * out: a value with Exists, and seconds with an effect that does not use them.
 */
function tolerationsOf(
  { key = '', operator, value = '', effect, tolerationSeconds }: Stored<V1Toleration>,
  scope: PartScope,
): readonly Json[] {
  const isKnown =
    [undefined, '', 'Equal', 'Exists'].includes(operator) && (effect === undefined || effect === '' || effects.includes(effect));
  const isWider = key === '' && value === '' && operator !== 'Exists';
  if (!isKnown || (key === '' && value !== '' && operator !== 'Exists')) {
    const message = 'expected a toleration with a key or with operator Exists, and with an effect of core/v1';
    scope.addNote({ severity: 'WARNING', code: 'DROPPED', message, path: scope.path });
    return [];
  }
  if (isWider) {
    const message =
      'without a key and a value, Karmada tolerates taints without a value. The Propagation also tolerates those with a value';
    scope.addNote({ severity: 'WARNING', code: 'UNSUPPORTED', message, path: scope.path });
  }
  const isExists = operator === 'Exists' || isWider;
  const common = {
    ...(key === '' ? {} : { key }),
    ...(isExists ? { operator: 'Exists' } : {}),
    ...(isExists || value === '' ? {} : { value }),
  };
  if (tolerationSeconds === undefined) return [{ ...common, ...(effect === undefined || effect === '' ? {} : { effect }) }];
  if (effect === 'NoExecute') return [{ ...common, effect, tolerationSeconds }];
  // The seconds count for NoExecute taints only. Without an effect, the toleration also covers the other effects without a limit.
  if (effect !== undefined && effect !== '') return [{ ...common, effect }];
  return effects.map((one) => ({ ...common, effect: one, ...(one === 'NoExecute' ? { tolerationSeconds } : {}) }));
}
