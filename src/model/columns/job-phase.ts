import type { V1Job } from '@kubernetes/client-node';
import { holdsCondition } from '../../core/conditions.ts';
import type { StoredObject } from '../../core/objects.ts';

/** What a Job is in, in the order in which they are looked for: the first that holds. Equal to the schema's `JobPhase`. */
export const jobPhases = ['COMPLETE', 'FAILED', 'TERMINATING', 'SUSPENDED', 'FAILURE_TARGET', 'RUNNING'] as const;

export type JobPhase = (typeof jobPhases)[number];

/** The phase of a Job, as `kubectl get jobs` prints it under STATUS; but `SuccessCriteriaMet`, which lasts until its last Pods have ended, is `RUNNING`. */
export function phaseOfJob(job: StoredObject<V1Job>): JobPhase {
  if (holdsCondition(job, 'Complete')) return 'COMPLETE';
  if (holdsCondition(job, 'Failed')) return 'FAILED';
  if (typeof job.metadata.deletionTimestamp === 'string') return 'TERMINATING';
  if (holdsCondition(job, 'Suspended')) return 'SUSPENDED';
  if (holdsCondition(job, 'FailureTarget')) return 'FAILURE_TARGET';
  return 'RUNNING';
}

/** What each of them means, for who reads the schema. */
export const jobPhaseMeanings: Readonly<Record<JobPhase, string>> = {
  COMPLETE: 'It did its work.',
  FAILED: 'It has failed for good.',
  TERMINATING: 'It is being deleted.',
  SUSPENDED: 'It is suspended: nothing runs until somebody resumes it.',
  FAILURE_TARGET: 'It is going to fail, once its Pods have ended.',
  RUNNING: 'None of these: it runs, or is about to, or has done its work and its last Pods are ending.',
};
