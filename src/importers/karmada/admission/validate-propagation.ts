import type { V1Toleration } from '@kubernetes/client-node';
import type { Stored } from '../../../core/stored.ts';
import type { KarmadaPlacement, SpreadConstraint } from '../../../propagate/karmada/karmada-placement.ts';
import { isDynamicDivided } from '../../../propagate/karmada/replica-scheduling.ts';
import type { ResourceSelector } from '../../../propagate/karmada/resource-selector.ts';
import { labelKeyProblems } from './label-problems.ts';
import { type AdmissionProblem, checkEach, isPresent, problemIf, quoted } from './problems.ts';
import { validateClusterAffinities, validateClusterAffinity, validateResourceSelectors } from './validate-affinities.ts';
import { type Failover, validateFailover } from './validate-failover.ts';

/** The fields of a PropagationSpec (policy/v1alpha1) that admission reads. */
export interface CheckedPropagation {
  readonly resourceSelectors?: readonly ResourceSelector[] | null;
  readonly placement?: CheckedPlacement | null;
  readonly preemption?: string | null;
  readonly propagateDeps?: boolean | null;
  readonly failover?: Failover | null;
  readonly suspension?: {
    readonly dispatching?: boolean | null;
    readonly dispatchingOnClusters?: { readonly clusterNames?: readonly string[] | null } | null;
  } | null;
}

export interface CheckedPlacement extends KarmadaPlacement {
  readonly workloadAffinity?: {
    readonly affinity?: GroupByLabel | null;
    readonly antiAffinity?: GroupByLabel | null;
  } | null;
}

interface GroupByLabel {
  readonly groupByLabelKey?: string;
}

/**
 * Checks a PropagationPolicy or ClusterPropagationPolicy as Karmada's admission does, after its defaults. An empty list means that Karmada
 * accepts the policy.
 *
 * @param namespace The namespace of the policy. Empty for a ClusterPropagationPolicy.
 */
export function validatePropagationSpec(
  { placement, failover, resourceSelectors, preemption, propagateDeps, suspension }: CheckedPropagation,
  namespace: string | null | undefined,
): readonly AdmissionProblem[] {
  const suspended = suspension?.dispatchingOnClusters?.clusterNames ?? [];
  return [
    ...validatePlacement(placement ?? {}, 'spec.placement'),
    ...problemIf(
      isPresent(failover?.application) && propagateDeps !== true,
      'spec.propagateDeps',
      'expected true with failover.application, got false',
    ),
    ...validateFailover(failover, 'spec.failover'),
    ...validateResourceSelectors(resourceSelectors, namespace),
    ...checkEach(preemption === 'Always' ? resourceSelectors : [], 'spec.resourceSelectors', ({ name = '' }, path) =>
      problemIf(name === '', `${path}.name`, 'expected a name with preemption Always, got none'),
    ),
    ...problemIf(
      suspension?.dispatching === true && suspended.length > 0,
      'spec.suspension',
      'expected either dispatching or dispatchingOnClusters.clusterNames, got both',
    ),
  ];
}

/** Checks `placement` of a policy. Returns the problems, none if all is valid. */
export function validatePlacement(placement: CheckedPlacement, path: string): readonly AdmissionProblem[] {
  const { clusterAffinity, clusterAffinities, replicaScheduling, spreadConstraints, clusterTolerations } = placement;
  const allowsOverflow = isDynamicDivided({ replicaScheduling: replicaScheduling ?? null }).dynamic;
  return [
    ...problemIf(
      isPresent(clusterAffinity) && isPresent(clusterAffinities),
      path,
      'expected either clusterAffinity or clusterAffinities, got both',
    ),
    ...checkEach(allowsOverflow ? [] : clusterAffinities, `${path}.clusterAffinities`, ({ overflowAffinities }, at) =>
      problemIf(
        isPresent(overflowAffinities),
        `${at}.overflowAffinities`,
        'expected overflowAffinities with dynamicWeight or Aggregated only',
      ),
    ),
    ...validateClusterAffinity(clusterAffinity, `${path}.clusterAffinity`),
    ...validateClusterAffinities(clusterAffinities, `${path}.clusterAffinities`),
    ...validateSpreadConstraints(spreadConstraints, `${path}.spreadConstraints`),
    ...validateWorkloadAffinity(placement, `${path}.workloadAffinity`),
    ...validateClusterTolerations(clusterTolerations, `${path}.clusterTolerations`),
  ];
}

/** Checks that `clusterTolerations` have no operators that compare numbers. Returns the problems, none if all is valid. */
export function validateClusterTolerations(
  tolerations: readonly Stored<V1Toleration>[] | null | undefined,
  path: string,
): readonly AdmissionProblem[] {
  return checkEach(tolerations, path, ({ operator }, at) =>
    problemIf(operator === 'Lt' || operator === 'Gt', `${at}.operator`, `expected Equal or Exists, got ${operator}`),
  );
}

function validateSpreadConstraints(constraints: readonly SpreadConstraint[] | null | undefined, path: string): readonly AdmissionProblem[] {
  const fields = (constraints ?? []).map(({ spreadByField = '' }) => spreadByField).filter((field) => field !== '');
  const repeated = [...new Set(fields)].filter((field) => fields.indexOf(field) !== fields.lastIndexOf(field));
  return [
    ...checkEach(constraints, path, validateSpreadConstraint),
    ...repeated.flatMap((field) => problemIf(true, path, `expected each field once, got ${quoted(field)} again`)),
    ...problemIf(
      fields.length > 0 && !fields.includes('cluster'),
      path,
      'expected a constraint with spreadByField cluster next to the others, got none',
    ),
  ];
}

function validateSpreadConstraint(
  { spreadByField = '', spreadByLabel = '', minGroups: min = 0, maxGroups: max = 0 }: SpreadConstraint,
  path: string,
): readonly AdmissionProblem[] {
  return [
    ...problemIf(spreadByField !== '' && spreadByLabel !== '', path, 'expected either spreadByField or spreadByLabel, got both'),
    ...problemIf(min < 0, path, `expected minGroups of at least 0, got ${min}`),
    ...problemIf(max < 0, path, `expected maxGroups of at least 0, got ${max}`),
    ...problemIf(max > 0 && max < min, path, `expected maxGroups of at least minGroups, which is ${min}, got ${max}`),
  ];
}

function validateWorkloadAffinity({ workloadAffinity }: CheckedPlacement, path: string): readonly AdmissionProblem[] {
  const { affinity, antiAffinity } = workloadAffinity ?? {};
  const keyProblems = (group: GroupByLabel | null | undefined, at: string) => {
    return isPresent(group) ? labelKeyProblems(group.groupByLabelKey ?? '', `${at}.groupByLabelKey`) : [];
  };
  const isSame =
    isPresent(affinity) && isPresent(antiAffinity) && (affinity.groupByLabelKey ?? '') === (antiAffinity.groupByLabelKey ?? '');
  return [
    ...keyProblems(affinity, `${path}.affinity`),
    ...keyProblems(antiAffinity, `${path}.antiAffinity`),
    ...problemIf(isSame, path, 'expected different label keys for affinity and antiAffinity, got the same'),
  ];
}
