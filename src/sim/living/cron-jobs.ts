import { labelsAt, numberAt, objectAt, textAt, valueAt } from '../../core/json-at.ts';
import type { KubernetesObject } from '../../core/objects.ts';
import { isJobFinished } from './jobs.ts';
import { isTerminating } from './pods.ts';
import { controllerReference, hasCondition, timeOf, type World, withStatus } from './world.ts';

const from = 'cronjob-controller';
const minuteMs = 60_000;

/** Starts the Jobs whose minute has come (UTC), one per minute at most, and removes those that the history has no room for. */
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
  if (!isScheduled(textAt(cron.spec, 'schedule') ?? '', new Date(minute))) return;
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

/** True if the five fields of a crontab line (minute, hour, day, month, weekday) name that minute of UTC. */
export function isScheduled(schedule: string, at: Date): boolean {
  const fields = schedule.trim().split(/\s+/);
  if (fields.length !== 5) return false;
  const now = [at.getUTCMinutes(), at.getUTCHours(), at.getUTCDate(), at.getUTCMonth() + 1, at.getUTCDay()];
  return fields.every((field, index) => field.split(',').some((part) => isNamed(part, now[index] ?? 0)));
}

function isNamed(part: string, value: number): boolean {
  const [range = '*', step = '1'] = part.split('/');
  const [first = '', last = first] = range.split('-');
  const low = range === '*' ? 0 : Number(first);
  const high = range === '*' || (part.includes('/') && !range.includes('-')) ? 59 : Number(last);
  return value >= low && value <= high && (value - low) % Number(step) === 0;
}
