import type { JsonObject } from '../../core/json.ts';
import { textAt } from '../../core/json-at.ts';

/** Karmada's Suspension (policy/v1alpha1). `scheduling` occurs in bindings only. */
export interface Suspension {
  readonly dispatching?: boolean;
  readonly dispatchingOnClusters?: { readonly clusterNames?: readonly string[] | null } | null;
  readonly scheduling?: boolean;
}

const conflictAnnotation = 'work.karmada.io/conflict-resolution';

/** True if Karmada overwrites an existing object of the name. A valid annotation of the resource wins over its policy. */
export function overwritesConflicts(object: JsonObject, policy?: 'Abort' | 'Overwrite'): boolean {
  const own = textAt(object, 'metadata', 'annotations', conflictAnnotation);
  return own === 'overwrite' || (own !== 'abort' && policy === 'Overwrite');
}

/**
 * Returns the suspension of a binding after a change of its policy: the suspension of the policy, with `scheduling` of the binding. Null if
 * there is no suspension in the policy and no `scheduling` in the binding.
 */
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
