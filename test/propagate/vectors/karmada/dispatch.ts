import type { JsonObject } from '../../../../src/core/json.ts';
import { overwritesConflicts, type Suspension } from '../../../../src/propagate/karmada/dispatch.ts';

/** True if no writes to the cluster are allowed. */
export function suspendDispatching({ suspension, cluster }: { readonly suspension?: Suspension | null; readonly cluster: string }): {
  readonly suspended: boolean;
} {
  const named = suspension?.dispatchingOnClusters?.clusterNames ?? [];
  return { suspended: suspension?.dispatching === true || named.includes(cluster) };
}

/**
 * Returns the annotations of Karmada's Work resource, with the conflict resolution added: that of a valid annotation of `object`, else that
 * of the policy. Default: abort.
 */
export function conflictResolution({
  object,
  policyConflictResolution,
  workAnnotations,
}: {
  readonly object: JsonObject;
  readonly policyConflictResolution?: 'Abort' | 'Overwrite';
  readonly workAnnotations?: Readonly<Record<string, string>> | null;
}): { readonly workAnnotations: Readonly<Record<string, string>> } {
  const resolution = overwritesConflicts(object, policyConflictResolution) ? 'overwrite' : 'abort';
  return { workAnnotations: { ...workAnnotations, 'work.karmada.io/conflict-resolution': resolution } };
}
