import type { JsonObject } from '../core/json.ts';
import type { KubernetesObject } from '../core/objects.ts';

/** What a Job is in, in the order in which they are looked for: the first that holds. Equal to the schema's `JobPhase`. */
export const jobPhases = ['COMPLETE', 'FAILED', 'TERMINATING', 'SUSPENDED', 'FAILURE_TARGET', 'RUNNING'] as const;

export type JobPhase = (typeof jobPhases)[number];

/** The phase of a Job, as `kubectl get jobs` prints it under STATUS. */
export function phaseOfJob({ metadata, status }: KubernetesObject): JobPhase {
  const conditions = (status as JsonObject | undefined)?.conditions;
  const holds = (type: string) => Array.isArray(conditions) && conditions.some((condition) => isTrue(condition, type));
  if (holds('Complete')) return 'COMPLETE';
  if (holds('Failed')) return 'FAILED';
  if (typeof metadata.deletionTimestamp === 'string') return 'TERMINATING';
  if (holds('Suspended')) return 'SUSPENDED';
  if (holds('FailureTarget')) return 'FAILURE_TARGET';
  return 'RUNNING';
}

function isTrue(condition: unknown, type: string): boolean {
  if (typeof condition !== 'object' || condition === null) return false;
  const { type: its, status } = condition as { readonly type?: unknown; readonly status?: unknown };
  return its === type && status === 'True';
}
