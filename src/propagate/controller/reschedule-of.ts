import { rescheduleDueMs } from '../placing/reschedule.ts';
import type { Run } from './run.ts';

/** When the plan that there is must give way to one from zero, in milliseconds of the epoch. Undefined: nobody asked for that, or it was done. */
export function rescheduleMsOf({ plan, latest }: Pick<Run, 'plan' | 'latest'>): number | undefined {
  if (plan === undefined || latest === undefined || 'problems' in latest.spec) return undefined;
  const { rescheduleAt } = latest.spec.replicas;
  return rescheduleDueMs({ rescheduleAt, scheduledAt: plan.scheduledAt });
}
