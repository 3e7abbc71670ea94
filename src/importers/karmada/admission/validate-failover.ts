import { labelKeyProblems } from './label-problems.ts';
import { type AdmissionProblem, checkEach, isPresent, problemIf } from './problems.ts';

/** Karmada's FailoverBehavior (policy/v1alpha1). */
export interface Failover {
  readonly application?: ApplicationFailover | null;
  readonly cluster?: ClusterFailover | null;
}

/** How Karmada moves a workload that is unhealthy in a cluster. */
export interface ApplicationFailover extends ClusterFailover {
  readonly decisionConditions?: { readonly tolerationSeconds?: number | null } | null;
  readonly gracePeriodSeconds?: number | null;
}

/** How Karmada moves workloads away from a failed cluster. */
export interface ClusterFailover {
  readonly purgeMode?: string | null;
  readonly statePreservation?: {
    readonly rules?: readonly { readonly aliasLabelName?: string; readonly jsonPath?: string }[] | null;
  } | null;
}

/** Checks `failover` of a policy. Returns the problems, none if all is valid. */
export function validateFailover(failover: Failover | null | undefined, path: string): readonly AdmissionProblem[] {
  return [
    ...validateApplicationFailover(failover?.application, `${path}.application`),
    ...validateClusterFailover(failover?.cluster, `${path}.cluster`),
  ];
}

/** Checks `failover.application`. Returns the problems, none if all is valid. An absent block is valid. */
export function validateApplicationFailover(
  application: ApplicationFailover | null | undefined,
  path: string,
): readonly AdmissionProblem[] {
  if (!isPresent(application)) return [];
  const { decisionConditions, purgeMode, gracePeriodSeconds: grace } = application;
  const isGraceful = purgeMode === 'Gracefully';
  const seconds = decisionConditions?.tolerationSeconds ?? 0;
  const at = `${path}.gracePeriodSeconds`;
  return [
    ...problemIf(seconds < 0, `${path}.decisionConditions.tolerationSeconds`, `expected at least 0, got ${seconds}`),
    ...problemIf(!isGraceful && isPresent(grace), at, `expected none without purgeMode Gracefully, got ${grace}`),
    ...problemIf(isGraceful && !isPresent(grace), at, 'is required with purgeMode Gracefully'),
    ...problemIf(isPresent(grace) && grace <= 0, at, `expected more than 0, got ${grace}`),
    ...validateClusterFailover(application, path),
  ];
}

/** Checks `failover.cluster`. Returns the problems, none if all is valid. An absent block is valid. */
export function validateClusterFailover(failover: ClusterFailover | null | undefined, path: string): readonly AdmissionProblem[] {
  return checkEach(failover?.statePreservation?.rules, `${path}.statePreservation.rules`, ({ aliasLabelName = '' }, at) =>
    labelKeyProblems(aliasLabelName, `${at}.aliasLabelName`),
  );
}
