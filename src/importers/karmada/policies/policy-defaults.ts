import type { SpreadConstraint } from '../../../propagate/karmada/karmada-placement.ts';
import type { ReplicaScheduling } from '../../../propagate/karmada/replica-scheduling.ts';
import type { PropagationPolicySpec } from './propagation-definition.ts';

/** The grace period of a graceful failover, in seconds, if the policy has none. */
const defaultGraceSeconds = 600;

/** Returns the spec of a policy with the defaults of Karmada's admission. */
export function withPolicyDefaults(spec: PropagationPolicySpec): PropagationPolicySpec {
  const { placement = {}, failover, resourceSelectors } = spec;
  const { replicaScheduling, spreadConstraints } = placement;
  const isWeighted = defaultDivisionPreference({ replicaScheduling: replicaScheduling ?? null }).setsWeighted;
  const application = failover?.application;
  const needsGrace = application?.purgeMode === 'Gracefully' && application.gracePeriodSeconds === undefined;
  return {
    ...spec,
    placement: {
      ...placement,
      ...(spreadConstraints === undefined ? {} : defaultSpreadConstraints({ spreadConstraints })),
      ...(isWeighted ? { replicaScheduling: { ...replicaScheduling, replicaDivisionPreference: 'Weighted' } } : {}),
    },
    ...(resourceSelectors.some(isServiceImport) ? { propagateDeps: true } : {}),
    ...(needsGrace ? { failover: { ...failover, application: { ...application, gracePeriodSeconds: defaultGraceSeconds } } } : {}),
  };
}

function isServiceImport({ apiVersion, kind }: PropagationPolicySpec['resourceSelectors'][number]): boolean {
  return kind === 'ServiceImport' && apiVersion === 'multicluster.x-k8s.io/v1alpha1';
}

/** Returns the constraints with the defaults of Karmada's admission: spread over clusters, and at least one group. */
export function defaultSpreadConstraints({ spreadConstraints }: { readonly spreadConstraints?: readonly SpreadConstraint[] | null }): {
  readonly spreadConstraints: readonly SpreadConstraint[];
} {
  return { spreadConstraints: (spreadConstraints ?? []).map(withSpreadDefaults) };
}

function withSpreadDefaults(constraint: SpreadConstraint): SpreadConstraint {
  const { spreadByField = '', spreadByLabel = '', minGroups = 0 } = constraint;
  return {
    ...constraint,
    ...(spreadByField === '' && spreadByLabel === '' ? { spreadByField: 'cluster' } : {}),
    minGroups: minGroups === 0 ? 1 : minGroups,
  };
}

/**
 * Returns `setsWeighted: true` if Karmada's admission sets the division preference `Weighted`: replicas are divided, and the policy has no
 * preference.
 */
export function defaultDivisionPreference({ replicaScheduling }: { readonly replicaScheduling?: ReplicaScheduling | null }): {
  readonly setsWeighted: boolean;
} {
  const { replicaSchedulingType, replicaDivisionPreference = '' } = replicaScheduling ?? {};
  return { setsWeighted: replicaSchedulingType === 'Divided' && replicaDivisionPreference === '' };
}
