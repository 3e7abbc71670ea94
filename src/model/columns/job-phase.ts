import type { V1Job } from '@kubernetes/client-node';
import { hasTrueCondition } from '../../core/conditions.ts';
import type { TypedObject } from '../../core/objects.ts';

/** What a Job is in, in the order in which they are looked for: the first that holds. Equal to the schema's `JobPhase`. */
export const jobPhases = ['COMPLETE', 'FAILED', 'TERMINATING', 'SUSPENDED', 'FAILURE_TARGET', 'RUNNING'] as const;

export type JobPhase = (typeof jobPhases)[number];

/** The phase of a Job, as `kubectl get jobs` prints it under STATUS; but `SuccessCriteriaMet`, which lasts until its last Pods have ended, is `RUNNING`. */
export function phaseOfJob(job: TypedObject<V1Job>): JobPhase {
  if (hasTrueCondition(job, 'Complete')) return 'COMPLETE';
  if (hasTrueCondition(job, 'Failed')) return 'FAILED';
  if (typeof job.metadata.deletionTimestamp === 'string') return 'TERMINATING';
  if (hasTrueCondition(job, 'Suspended')) return 'SUSPENDED';
  if (hasTrueCondition(job, 'FailureTarget')) return 'FAILURE_TARGET';
  return 'RUNNING';
}

/** What each of them means, for who reads the schema. */
export const jobPhaseMeanings: Readonly<Record<JobPhase, string>> = {
  COMPLETE: 'The Job has succeeded.',
  FAILED: 'The Job has failed and will not be tried again.',
  TERMINATING: 'The Job is being deleted.',
  SUSPENDED: 'The Job is suspended: no Pod runs until the Job is resumed.',
  FAILURE_TARGET: 'The Job will count as failed as soon as its Pods have ended.',
  RUNNING: 'The Job runs, is about to run, or has succeeded while its last Pods are still ending. This is the phase if no other applies.',
};
