import type { V1CronJobSpec } from '@kubernetes/client-node';
import { Cron } from 'croner';
import { hasTrueCondition } from '../../core/conditions.ts';
import type { KubernetesObject } from '../../core/objects.ts';
import type { Stored } from '../../core/stored.ts';
import type { CronJob } from './controller-view.ts';
import { isJobFinished } from './jobs.ts';
import { isTerminating } from './pods.ts';
import { changedStatus, controllerReference, kubernetesTime, type World } from './world.ts';

const from = 'cronjob-controller';
const minuteMs = 60_000;

/** Starts Jobs in the minutes of their schedule, at most one per minute. Removes finished Jobs beyond the history limits. */
export function startCronJobs(world: World): void {
  for (const cron of [...world.view.objects('CronJob.batch')]) {
    if (isTerminating(cron)) continue;
    if (world.hasElapsed(`cron ${cron.metadata.uid}`, 1_000, 2_000)) consider(world, cron);
    trim(world, cron, { type: 'Complete', limit: cron.spec?.successfulJobsHistoryLimit ?? 3 });
    trim(world, cron, { type: 'Failed', limit: cron.spec?.failedJobsHistoryLimit ?? 1 });
    report(world, cron);
  }
}

function consider(world: World, cron: CronJob): void {
  const minute = Math.floor(world.nowMs / minuteMs) * minuteMs;
  const last = Date.parse(cron.status?.lastScheduleTime ?? '') || 0;
  const isRunning = activeJobs(world, cron).length > 0;
  if (last >= minute || cron.spec?.suspend === true) return;
  if (isRunning && cron.spec?.concurrencyPolicy === 'Forbid') return;
  if (!isScheduled(cron.spec, new Date(minute))) return;
  const template = cron.spec?.jobTemplate;
  const name = `${cron.metadata.name}-${minute / minuteMs}`;
  world.put({
    apiVersion: 'batch/v1',
    kind: 'Job',
    metadata: {
      name,
      namespace: cron.metadata.namespace ?? 'default',
      labels: template?.metadata?.labels ?? {},
      annotations: { 'batch.kubernetes.io/cronjob-scheduled-timestamp': kubernetesTime(minute) },
      ownerReferences: [controllerReference(cron)],
    },
    spec: template?.spec ?? {},
  });
  world.record({ to: cron, type: 'Normal', reason: 'SuccessfulCreate', message: `Created job ${name}`, from });
  world.put({ ...cron, status: { ...cron.status, lastScheduleTime: kubernetesTime(minute) } });
}

function activeJobs(world: World, cron: CronJob): KubernetesObject[] {
  return world.view.owned('Job.batch', cron.metadata.uid).filter((job) => !isJobFinished(job));
}

function trim(world: World, cron: CronJob, { type, limit }: { readonly type: string; readonly limit: number }): void {
  const jobs = world.view.owned('Job.batch', cron.metadata.uid);
  const finished = jobs.filter((job) => hasTrueCondition(job, type)).toSorted((a, b) => madeMs(b) - madeMs(a));
  for (const job of finished.slice(limit)) world.remove('Job.batch', job);
}

function report(world: World, cron: CronJob): void {
  const held = world.view.find('CronJob.batch', cron.metadata.name, cron.metadata.namespace) ?? cron;
  const active = activeJobs(world, held).map(({ metadata }) => ({
    apiVersion: 'batch/v1',
    kind: 'Job',
    name: metadata.name,
    namespace: metadata.namespace,
    uid: metadata.uid,
  }));
  const { active: _active, ...status } = held.status ?? {};
  const next = changedStatus(held, active.length === 0 ? status : { ...status, active });
  if (next !== undefined) world.put(next);
}

function madeMs({ metadata }: KubernetesObject): number {
  return Date.parse(String(metadata.creationTimestamp)) || 0;
}

/** True if `schedule` contains this minute in `timeZone` (default: UTC). An invalid schedule or time zone contains none. */
export function isScheduled(spec: Stored<V1CronJobSpec> | undefined, minute: Date): boolean {
  const timezone = spec?.timeZone ?? 'UTC';
  try {
    // Sloppy ranges: `5/20` is legal in Kubernetes and means `5-59/20`.
    return new Cron(spec?.schedule ?? '', { timezone, mode: '5-part', sloppyRanges: true }).match(minute);
  } catch {
    return false;
  }
}
