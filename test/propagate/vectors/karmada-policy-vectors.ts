import type { JsonObject } from '../../../src/core/json.ts';
import type { AdmissionProblem } from '../../../src/importers/karmada/admission/problems.ts';
import { validateOverflowAffinities } from '../../../src/importers/karmada/admission/validate-affinities.ts';
import {
  type ApplicationFailover,
  type ClusterFailover,
  validateApplicationFailover,
  validateClusterFailover,
} from '../../../src/importers/karmada/admission/validate-failover.ts';
import { emptyOverriders, validateOverrideSpec } from '../../../src/importers/karmada/admission/validate-overrides.ts';
import {
  type CheckedPropagation,
  validateClusterTolerations,
  validatePlacement,
  validatePropagationSpec,
} from '../../../src/importers/karmada/admission/validate-propagation.ts';
import { defaultDivisionPreference, defaultSpreadConstraints } from '../../../src/importers/karmada/policy-defaults.ts';
import type { ClusterAffinityTerm } from '../../../src/propagate/karmada/karmada-placement.ts';
import type { OverridePolicySpec } from '../../../src/propagate/karmada/override-policies.ts';
import { isDynamicDivided } from '../../../src/propagate/karmada/replica-scheduling.ts';
import {
  highestPriorityPolicy,
  matchSelectors,
  resourceMatches,
  selectorPriority,
  selectorsPriority,
} from '../../../src/propagate/karmada/resource-selector.ts';
import { sameAnswer, type VectorOp, type VectorOps, vectorOp } from './vector.ts';

/** Creates an operation that answers whether a policy is valid. The number of errors is compared only if the expectation has one. */
function admission<Input>(validate: (input: Input) => readonly AdmissionProblem[]): VectorOp {
  const answerOf = (input: Input): JsonObject => {
    const { length: errorCount } = validate(input);
    return { valid: errorCount === 0, errorCount };
  };
  return vectorOp(answerOf, (got, expected) => sameAnswer(got, { ...Object(got), ...Object(expected) }));
}

interface NamespacedSpec<Spec> {
  readonly namespace?: string;
  readonly spec: Spec;
}

/** Which policy claims a resource, and which policies Karmada's admission accepts. */
export const karmadaPolicyVectors: VectorOps = {
  'karmada-resource-selector': {
    resourceMatches: vectorOp(resourceMatches),
    selectorPriority: vectorOp(selectorPriority),
    selectorsPriority: vectorOp(selectorsPriority),
    matchSelectors: vectorOp(matchSelectors),
    highestPriorityPolicy: vectorOp(highestPriorityPolicy),
  },
  'karmada-validation': {
    overrideSpec: admission(({ spec, namespace }: NamespacedSpec<OverridePolicySpec>) => validateOverrideSpec(spec, namespace)),
    propagationSpec: admission(({ spec, namespace }: NamespacedSpec<CheckedPropagation>) => validatePropagationSpec(spec, namespace)),
    placement: admission(({ placement }: { readonly placement: NonNullable<CheckedPropagation['placement']> }) =>
      validatePlacement(placement, 'placement'),
    ),
    overflowAffinities: admission(({ affinity }: { readonly affinity: ClusterAffinityTerm }) =>
      validateOverflowAffinities(affinity, 'affinity'),
    ),
    clusterTolerations: admission(({ tolerations }: { readonly tolerations: Parameters<typeof validateClusterTolerations>[0] }) =>
      validateClusterTolerations(tolerations, 'tolerations'),
    ),
    applicationFailover: admission(({ application }: { readonly application: ApplicationFailover | null }) =>
      validateApplicationFailover(application, 'application'),
    ),
    clusterFailover: admission(({ cluster }: { readonly cluster: ClusterFailover | null }) => validateClusterFailover(cluster, 'cluster')),
    emptyOverriders: vectorOp(emptyOverriders),
    defaultSpreadConstraints: vectorOp(defaultSpreadConstraints),
    defaultDivisionPreference: vectorOp(defaultDivisionPreference),
    isDynamicDivided: vectorOp(isDynamicDivided),
  },
};
