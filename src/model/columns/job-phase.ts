import type { V1Job } from '@kubernetes/client-node';
import { hasTrueCondition } from '../../core/conditions.ts';
import type { TypedObject } from '../../core/objects.ts';

/** The phases of a Job, in the order of the checks: the first that applies is the phase. Equal to `JobPhase` of the schema. */
export const jobPhases = ['COMPLETE', 'FAILED', 'TERMINATING', 'SUSPENDED', 'FAILURE_TARGET', 'RUNNING'] as const;

export type JobPhase = (typeof jobPhases)[number];

/**
 * Returns the phase of a Job, as `kubectl get jobs` prints it under STATUS. Exception: kubectl prints `SuccessCriteriaMet` until the last
 * Pods of a successful Job have ended. Here the phase is `RUNNING` until then.
 */
export function phaseOfJob(job: TypedObject<V1Job>): JobPhase {
  if (hasTrueCondition(job, 'Complete')) return 'COMPLETE';
  if (hasTrueCondition(job, 'Failed')) return 'FAILED';
  if (typeof job.metadata.deletionTimestamp === 'string') return 'TERMINATING';
  if (hasTrueCondition(job, 'Suspended')) return 'SUSPENDED';
  if (hasTrueCondition(job, 'FailureTarget')) return 'FAILURE_TARGET';
  return 'RUNNING';
}

/** The descriptions of the phases in the schema. */
export const jobPhaseMeanings: Readonly<Record<JobPhase, string>> = {
  COMPLETE: 'The Job has succeeded.',
  FAILED: 'The Job has failed and will not be tried again.',
  TERMINATING: 'The Job is being deleted.',
  SUSPENDED: 'The Job is suspended: no Pod runs until the Job is resumed.',
  FAILURE_TARGET: 'The Job will count as failed as soon as its Pods have ended.',
  RUNNING: 'The Job runs, is about to run, or has succeeded while its last Pods are still ending. This is the phase if no other applies.',
};
