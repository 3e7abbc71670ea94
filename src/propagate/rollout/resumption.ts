import { marks, type Propagation, type StatusCondition } from '../model/propagation.ts';
import type { PropagationSpec } from '../model/spec.ts';

/** Returns when the rollout was last resumed, in Unix milliseconds. Undefined if it was never resumed. */
export function resumedAtMsOf({ metadata }: Propagation): number | undefined {
  const ms = Date.parse(metadata.annotations[marks.resumedAt] ?? '');
  return Number.isNaN(ms) ? undefined : ms;
}

/**
 * True for a generation that was rolled back after a breach and then resumed. Such a generation starts again in all clusters. The result
 * stays true until the status no longer has the breach.
 */
export function isRestarted(propagation: Propagation, { rollout }: Pick<PropagationSpec, 'rollout'>): boolean {
  const { metadata, status } = propagation;
  const breachedAtMs = breachedAtOf(status.conditions, metadata.generation);
  const resumedAtMs = resumedAtMsOf(propagation);
  return rollout.onFailure === 'Rollback' && breachedAtMs !== undefined && resumedAtMs !== undefined && breachedAtMs <= resumedAtMs;
}

export const breachReason = 'Breach';

/**
 * Returns when the breach of this generation began, in Unix milliseconds. Undefined if there is none. The condition `Progressing` records
 * the breach, and keeps it even if the failed cluster recovers.
 */
export function breachedAtOf(conditions: readonly StatusCondition[] | undefined, generation: number): number | undefined {
  const found = conditions?.find(({ type }) => type === 'Progressing');
  return found?.reason === breachReason && found.observedGeneration === generation ? Date.parse(found.lastTransitionTime) : undefined;
}
