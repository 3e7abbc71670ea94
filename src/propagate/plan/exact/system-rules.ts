import type { ObjectKey } from '../../../manifests/manifest.ts';
import type { ReplicaDivision } from '../../model/placement.ts';
import { type ExactSpec, isDividedAsKubeFed, type PropagationSpec, type SourceSystem } from '../../model/spec.ts';
import { kubeFedOverrideRules } from '../overrides/override-as-kubefed.ts';
import { musterOverrideRules, type OverrideRules } from '../overrides/override-rules.ts';
import { musterSpreadRules, type SpreadRules } from '../placing/choose-by-spread.ts';
import { type DivisionTarget, divideReplicas } from '../placing/divide-replicas.ts';
import type { WorkloadCount } from '../placing/workload-count.ts';
import { karmadaSpreadRules } from './choose-as-karmada.ts';
import { divideAsKarmada } from './divide-as-karmada.ts';
import { divideAsKubeFed } from './divide-as-kubefed.ts';
import { kubeFedPoliciesOf } from './kubefed-policies.ts';
import { leavesOutEmptyAsKarmada, type PlannedTemplates } from './leave-out-as-karmada.ts';
import { karmadaOverrideRules } from './override-as-karmada.ts';

/** The steps of a plan that differ between Muster and the systems that `exact` can name. */
export interface SystemRules {
  readonly spreadRulesOf: (spec: PropagationSpec) => SpreadRules;
  /** Returns the room of a cluster without an estimate. Undefined: unlimited. `count` is the wanted number of replicas. */
  readonly roomWithoutEstimate: (spec: PropagationSpec, count: number) => number | undefined;
  /** Divides the replicas of one workload between the chosen clusters. */
  readonly divide: (division: WorkloadDivision) => ReplicaDivision;
  /** True if a workload with 0 replicas gets no copies. Existing copies are then removed. */
  readonly leavesOutEmpty: (plan: PlannedTemplates) => boolean;
  readonly overrides: OverrideRules;
}

interface WorkloadDivision {
  readonly spec: PropagationSpec;
  readonly workload: WorkloadCount & { readonly key: ObjectKey };
  /** The chosen clusters, in the order of `ClusterSelection`. */
  readonly chosen: readonly DivisionTarget[];
  /** True if a reschedule was requested. */
  readonly fresh: boolean;
  /** True if the rules of the spec changed since the last plan. */
  readonly rulesChanged: boolean;
  /** True if nothing requires a new division, and the clusters of the previous one stay. */
  readonly keepsDivision: boolean;
}

/** Returns the rules of the system that `exact` names. Without `exact`: the rules of Muster. */
export function rulesOf(exact: ExactSpec | undefined): SystemRules {
  return exact === undefined ? musterRules : rulesBySystem[exact.system];
}

const musterRules: SystemRules = {
  spreadRulesOf: ({ placement }) => musterSpreadRules(placement.spread),
  roomWithoutEstimate: () => undefined,
  divide: (division) => divideReplicas({ ...wantedIn(division), fresh: division.fresh, rulesChanged: division.rulesChanged }),
  leavesOutEmpty: () => false,
  overrides: musterOverrideRules,
};

const karmadaRules: SystemRules = {
  spreadRulesOf: karmadaSpreadRules,
  roomWithoutEstimate: ({ placement, replicas }, count) => {
    const isRoomUsed = placement.spread.length > 0 || (replicas.mode === 'Divided' && replicas.strategy !== 'Weighted');
    // Karmada makes no estimates for 0 replicas.
    return isRoomUsed && count > 0 ? count : undefined;
  },
  divide: (division) => {
    const { spec, fresh, keepsDivision, chosen } = division;
    const overflows = spec.placement.affinityGroups.some(
      ({ name, overflow }) => overflow.length > 0 && chosen.some((target) => target.chosen.group === name),
    );
    return divideAsKarmada({ ...wantedIn(division), fresh, keepsDivision, overflows, uid: spec.exact?.uid });
  },
  leavesOutEmpty: leavesOutEmptyAsKarmada,
  overrides: karmadaOverrideRules,
};

/** The rules that Federation v1 and KubeFed share. */
const federationRules: SystemRules = {
  ...musterRules,
  divide: (division) => {
    const { spec, workload, fresh } = division;
    if (!isDividedAsKubeFed(spec)) return musterRules.divide(division);
    const key = spec.exact?.key ?? `${workload.key.namespace ?? ''}/${workload.key.name}`;
    return divideAsKubeFed({ ...wantedIn(division), fresh, key, policies: kubeFedPoliciesOf(spec.exact) });
  },
};

const rulesBySystem: Readonly<Record<SourceSystem, SystemRules>> = {
  Karmada: karmadaRules,
  Kubefed: { ...federationRules, overrides: kubeFedOverrideRules },
  FederationV1: federationRules,
  MultiClusterResource: musterRules,
};

function wantedIn({ spec: { replicas }, workload: { count, completions }, chosen }: WorkloadDivision) {
  return { count, ...(completions === undefined ? {} : { completions }), replicas, chosen };
}
