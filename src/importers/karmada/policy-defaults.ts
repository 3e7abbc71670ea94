import type { SpreadConstraint } from '../../propagate/karmada/karmada-placement.ts';
import type { ReplicaScheduling } from '../../propagate/karmada/replica-scheduling.ts';

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

/** True if Karmada's admission sets the division preference `Weighted`: replicas are divided, and the policy has no preference. */
export function defaultDivisionPreference({ replicaScheduling }: { readonly replicaScheduling?: ReplicaScheduling | null }): {
  readonly setsWeighted: boolean;
} {
  const { replicaSchedulingType, replicaDivisionPreference = '' } = replicaScheduling ?? {};
  return { setsWeighted: replicaSchedulingType === 'Divided' && replicaDivisionPreference === '' };
}
