import type { Fault } from '../../core/faults.ts';
import type { Propagation } from '../propagation.ts';
import { parseSpec } from '../spec/definition.ts';
import type { PropagationSpec } from '../spec.ts';
import type { RevisionStore } from './revision-store.ts';

/**
 * The spec that the status was decided for, from its revision on the hub: the resource itself has only the newest. Undefined before the first decision,
 * or if that revision is gone.
 */
export async function lastSpec(
  revisions: RevisionStore,
  propagation: Propagation,
  signal: AbortSignal,
): Promise<{ readonly spec: PropagationSpec | undefined } | { readonly fault: Fault }> {
  const { revision } = propagation.status;
  if (revision === undefined) return { spec: undefined };
  const kept = await revisions.list(propagation, signal);
  if ('fault' in kept) return kept;
  const last = kept.find((one) => one.revision === revision);
  const spec = last === undefined ? undefined : parseSpec(last.document);
  return { spec: spec === undefined || 'problems' in spec ? undefined : spec };
}
