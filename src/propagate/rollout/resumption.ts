import { marks, type Propagation, type StatusCondition } from '../model/propagation.ts';
import type { PropagationSpec } from '../model/spec.ts';

/** When it was last resumed, in milliseconds of the epoch. */
export function resumedAtMsOf({ metadata }: Propagation): number | undefined {
  const ms = Date.parse(metadata.annotations[marks.resumedAt] ?? '');
  return Number.isNaN(ms) ? undefined : ms;
}

/** True of a generation that was taken back after a breach and was resumed since, until its status says that it goes on: it begins anew everywhere. */
export function isRestarted(propagation: Propagation, { rollout }: Pick<PropagationSpec, 'rollout'>): boolean {
  const { metadata, status } = propagation;
  const breachedAtMs = breachedAtOf(status.conditions, metadata.generation);
  const resumedAtMs = resumedAtMsOf(propagation);
  return rollout.onFailure === 'Rollback' && breachedAtMs !== undefined && resumedAtMs !== undefined && breachedAtMs <= resumedAtMs;
}

export const breachReason = 'Breach';

/**
 * Since when that generation is known to be in breach, in milliseconds of the epoch: what the next wave is decided by, though the cluster that failed
 * recovers. Undefined if it is not.
 */
export function breachedAtOf(conditions: readonly StatusCondition[] | undefined, generation: number): number | undefined {
  const found = conditions?.find(({ type }) => type === 'Progressing');
  return found?.reason === breachReason && found.observedGeneration === generation ? Date.parse(found.lastTransitionTime) : undefined;
}
