import { Cron } from 'croner';
import type { Json } from '../../core/json.ts';
import { labelsAt, numberAt, objectAt, textAt, valueAt } from '../../core/json-at.ts';
import type { KubernetesObject } from '../../core/objects.ts';
import { isJobFinished } from './jobs.ts';
import { isTerminating } from './pods.ts';
import { controllerReference, hasCondition, timeOf, type World, withStatus } from './world.ts';

const from = 'cronjob-controller';
const minuteMs = 60_000;

/** Starts the Jobs whose minute has come, at most one per minute. Removes the finished Jobs that exceed the history limits. */
export function startCronJobs(world: World): void {
  for (const cron of [...world.view.objects('CronJob.batch')]) {
    if (isTerminating(cron)) continue;
    if (world.passed(`cron ${cron.metadata.uid}`, 1_000, 2_000)) consider(world, cron);
    trim(world, cron, { type: 'Complete', limit: numberAt(cron.spec, 'successfulJobsHistoryLimit') ?? 3 });
    trim(world, cron, { type: 'Failed', limit: numberAt(cron.spec, 'failedJobsHistoryLimit') ?? 1 });
    report(world, cron);
  }
}

function consider(world: World, cron: KubernetesObject): void {
  const minute = Math.floor(world.nowMs / minuteMs) * minuteMs;
  const last = Date.parse(textAt(cron.status, 'lastScheduleTime') ?? '') || 0;
  const isRunning = activeJobs(world, cron).length > 0;
  if (last >= minute || valueAt(cron.spec, 'suspend') === true) return;
  if (isRunning && textAt(cron.spec, 'concurrencyPolicy') === 'Forbid') return;
  if (!isScheduled(cron.spec, new Date(minute))) return;
  const template = objectAt(cron.spec, 'jobTemplate');
  const name = `${cron.metadata.name}-${minute / minuteMs}`;
  world.put({
    apiVersion: 'batch/v1',
    kind: 'Job',
    metadata: {
      name,
      namespace: cron.metadata.namespace ?? 'default',
      labels: labelsAt(template, 'metadata', 'labels'),
      annotations: { 'batch.kubernetes.io/cronjob-scheduled-timestamp': timeOf(minute) },
      ownerReferences: [controllerReference(cron)],
    },
    spec: objectAt(template, 'spec'),
  });
  world.record({ to: cron, type: 'Normal', reason: 'SuccessfulCreate', message: `Created job ${name}`, from });
  world.put({ ...cron, status: { ...objectAt(cron.status), lastScheduleTime: timeOf(minute) } });
}

function activeJobs(world: World, cron: KubernetesObject): KubernetesObject[] {
  return world.view.owned('Job.batch', cron.metadata.uid).filter((job) => !isJobFinished(job));
}

function trim(world: World, cron: KubernetesObject, { type, limit }: { readonly type: string; readonly limit: number }): void {
  const jobs = world.view.owned('Job.batch', cron.metadata.uid);
  const finished = jobs.filter((job) => hasCondition(conditionsOf(job), type)).toSorted((a, b) => madeMs(b) - madeMs(a));
  for (const job of finished.slice(limit)) world.remove('Job.batch', job);
}

function report(world: World, cron: KubernetesObject): void {
  const held = world.view.find('CronJob.batch', cron.metadata.name, cron.metadata.namespace) ?? cron;
  const active = activeJobs(world, held).map(({ metadata }) => ({
    apiVersion: 'batch/v1',
    kind: 'Job',
    name: metadata.name,
    namespace: metadata.namespace,
    uid: metadata.uid,
  }));
  const { active: _active, ...status } = objectAt(held.status);
  const next = withStatus(held, active.length === 0 ? status : { ...status, active });
  if (next !== undefined) world.put(next);
}

function conditionsOf(job: KubernetesObject) {
  const conditions = valueAt(job.status, 'conditions');
  return Array.isArray(conditions) ? conditions : [];
}

function madeMs({ metadata }: KubernetesObject): number {
  return Date.parse(String(metadata.creationTimestamp)) || 0;
}

/** True if `schedule` names this minute in `timeZone` (default: UTC). An unreadable schedule or time zone names none. */
export function isScheduled(spec: Json | undefined, minute: Date): boolean {
  const timezone = textAt(spec, 'timeZone') ?? 'UTC';
  try {
    // Sloppy ranges: `5/20` is legal in Kubernetes and means `5-59/20`.
    return new Cron(textAt(spec, 'schedule') ?? '', { timezone, mode: '5-part', sloppyRanges: true }).match(minute);
  } catch {
    return false;
  }
}
