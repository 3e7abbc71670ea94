import type { JsonObject } from '../../core/json.ts';
import { textAt } from '../../core/json-at.ts';

/** Suspension (policy/v1alpha1 and, with `scheduling`, of a binding). */
interface Suspension {
  readonly dispatching?: boolean;
  readonly dispatchingOnClusters?: { readonly clusterNames?: readonly string[] | null } | null;
  readonly scheduling?: boolean;
}

/** True if nothing is to be written to that cluster. */
export function suspendDispatching({ suspension, cluster }: { readonly suspension?: Suspension | null; readonly cluster: string }): {
  readonly suspended: boolean;
} {
  const named = suspension?.dispatchingOnClusters?.clusterNames ?? [];
  return { suspended: suspension?.dispatching === true || named.includes(cluster) };
}

const conflictAnnotation = 'work.karmada.io/conflict-resolution';

/** The annotations of the Work: what the resource says of conflicts, if it is a word for it, else the policy, else abort. */
export function conflictResolution({
  object,
  policyConflictResolution,
  workAnnotations,
}: {
  readonly object: JsonObject;
  readonly policyConflictResolution?: 'Abort' | 'Overwrite';
  readonly workAnnotations?: Readonly<Record<string, string>> | null;
}): { readonly workAnnotations: Readonly<Record<string, string>> } {
  const own = textAt(object, 'metadata', 'annotations', conflictAnnotation);
  const ofPolicy = policyConflictResolution === 'Overwrite' ? 'overwrite' : 'abort';
  const resolution = own === 'overwrite' || own === 'abort' ? own : ofPolicy;
  return { workAnnotations: { ...workAnnotations, [conflictAnnotation]: resolution } };
}

/** The suspension of a binding after its policy was read again: the policy's, with the binding's own `scheduling`; null if nothing is left. */
export function mergeSuspension({
  bindingSuspension,
  policySuspension,
}: {
  readonly bindingSuspension?: Suspension | null;
  readonly policySuspension?: Suspension | null;
}): { readonly suspension: Suspension | null } {
  const scheduling = bindingSuspension?.scheduling;
  if (scheduling === undefined && (policySuspension === undefined || policySuspension === null)) return { suspension: null };
  return { suspension: { ...policySuspension, ...(scheduling === undefined ? {} : { scheduling }) } };
}
