import { hasTrueCondition } from '../../core/conditions.ts';
import type { JsonObject } from '../../core/json.ts';
import type { KubernetesObject } from '../../core/objects.ts';
import { itemsOf } from '../../core/stored.ts';
import type { Job } from './controller-view.ts';
import { counted } from './deployments.ts';
import { isFinished, isReady, isTerminating, podOf, podPhaseOf } from './pods.ts';
import { changedStatus, kubernetesTime, suffix, type World, withCondition } from './world.ts';

const from = 'job-controller';

/** Creates Pods for Jobs until enough have succeeded, or more have failed than `backoffLimit` allows. */
export function runJobs(world: World): void {
  for (const job of [...world.view.objects('Job.batch')]) {
    if (isTerminating(job)) continue;
    if (isJobFinished(job)) expire(world, job);
    else reconcile(world, job);
  }
}

/** True for a Job that is complete or has failed. */
export function isJobFinished(job: Job): boolean {
  return hasTrueCondition(job, 'Complete') || hasTrueCondition(job, 'Failed');
}

function expire(world: World, job: Job): void {
  const seconds = job.spec?.ttlSecondsAfterFinished;
  if (seconds === undefined) return;
  if (!world.isFastForward && world.hasElapsed(`job ${job.metadata.uid} expires`, seconds * 1000, seconds * 1000))
    world.remove('Job.batch', job);
}

function reconcile(world: World, job: Job): void {
  const pods = world.view.owned('Pod', job.metadata.uid);
  const active = pods.filter((pod) => !isTerminating(pod) && !isFinished(pod));
  const succeeded = pods.filter((pod) => podPhaseOf(pod) === 'Succeeded').length;
  const failed = pods.filter((pod) => podPhaseOf(pod) === 'Failed').length;
  const completions = job.spec?.completions ?? 1;
  const isOver = succeeded >= completions ? 'Complete' : failed > (job.spec?.backoffLimit ?? 6) ? 'Failed' : undefined;
  const wanted = isOver !== undefined || job.spec?.suspend === true ? 0 : Math.min(parallelism(job), completions - succeeded);
  for (const pod of active.slice(wanted)) world.terminate(pod);
  // After a failure the next Pod starts 2 to 4 s later. The backoff of the real controller is longer.
  const isAllowed = failed === 0 || active.length >= wanted || world.hasElapsed(`job ${job.metadata.uid} retries`, 2_000, 4_000);
  if (isAllowed) for (let missing = wanted - active.length; missing > 0; missing--) attempt(world, job);
  report(world, job, { active, succeeded, failed, isOver });
}

function parallelism(job: Job): number {
  return job.spec?.parallelism ?? 1;
}

function attempt(world: World, job: Job): void {
  const [name, uid] = [job.metadata.name, job.metadata.uid ?? ''];
  const labels = {
    'batch.kubernetes.io/job-name': name,
    'batch.kubernetes.io/controller-uid': uid,
    // The old names of these labels, which people still use.
    'job-name': name,
    'controller-uid': uid,
  };
  const restartPolicy = job.spec?.template?.spec?.restartPolicy ?? 'Never';
  const pod = podOf(job, { name: `${job.metadata.name}-${suffix(world)}`, labels, extraSpec: { restartPolicy } }, world);
  world.put(pod);
  world.record({ to: job, type: 'Normal', reason: 'SuccessfulCreate', message: `Created pod: ${pod.metadata.name}`, from });
}

interface Tally {
  readonly active: readonly KubernetesObject[];
  readonly succeeded: number;
  readonly failed: number;
  readonly isOver: 'Complete' | 'Failed' | undefined;
}

function report(world: World, job: Job, { succeeded, failed, isOver }: Tally): void {
  const active = world.view.owned('Pod', job.metadata.uid).filter((pod) => !isTerminating(pod) && !isFinished(pod));
  const startTime = job.status?.startTime ?? world.creationTimeFor(job);
  const status: JsonObject = {
    ...counted({ active: active.length, succeeded, failed }),
    ready: active.filter(isReady).length,
    terminating: 0,
    uncountedTerminatedPods: {},
    startTime,
  };
  const ended = isOver === undefined ? {} : endOf(world, job, isOver);
  const next = changedStatus(job, { ...status, ...ended });
  if (next !== undefined) world.put(withSelector(next, job));
}

/** Adds the selector that a real API server gives a new Job, so that clients find its Pods. It comes with the first status. */
function withSelector(next: KubernetesObject, { spec, metadata }: Job): KubernetesObject {
  if (spec?.selector !== undefined) return next;
  return {
    ...next,
    spec: { ...(next.spec as JsonObject), selector: { matchLabels: { 'batch.kubernetes.io/controller-uid': metadata.uid ?? '' } } },
  };
}

function endOf(world: World, job: Job, result: 'Complete' | 'Failed'): JsonObject {
  const isComplete = result === 'Complete';
  const why = isComplete
    ? { reason: 'CompletionsReached', message: 'Reached expected number of succeeded pods' }
    : { reason: 'BackoffLimitExceeded', message: 'Job has reached the specified backoff limit' };
  const event = isComplete
    ? ({ type: 'Normal', reason: 'Completed', message: 'Job completed' } as const)
    : ({ type: 'Warning', ...why } as const);
  world.record({ to: job, ...event, from });
  let conditions = itemsOf(job.status?.conditions);
  for (const type of [isComplete ? 'SuccessCriteriaMet' : 'FailureTarget', result]) {
    conditions = withCondition(conditions, { type, status: 'True', ...why }, world.nowMs);
  }
  return isComplete ? { conditions, completionTime: kubernetesTime(world.nowMs) } : { conditions };
}
