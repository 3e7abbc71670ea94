import type { V1JobStatus } from '@kubernetes/client-node';
import { hasTrueCondition } from '../../core/conditions.ts';
import type { JsonObject } from '../../core/json.ts';
import { itemsOf, type Stored, textOrUndefined } from '../../core/stored.ts';
import { type StatusItem, sortedTimes, statusesOf, sumOf } from './status-item.ts';

/** Returns the first final condition in the status of a Job. Undefined if the Job has not ended. */
export function jobEndOf({ conditions }: Stored<V1JobStatus>): 'Complete' | 'Failed' | undefined {
  const held = itemsOf(conditions).filter(({ status }) => status === 'True');
  return held.map(({ type }) => type).find((type) => type === 'Complete' || type === 'Failed');
}

/**
 * Returns one status for a Job in many clusters.
 *
 * - If `before` has ended already, it is returned unchanged.
 * - The Job has failed if it failed in any cluster. It is complete if it is complete in all clusters.
 * - `startTime` is the earliest of all clusters, and `completionTime` the latest. Each is set once all clusters have one.
 * - Conditions have no times, because this function uses no clock.
 */
export function aggregateJob(before: Stored<V1JobStatus>, items: readonly StatusItem[]): JsonObject {
  if (jobEndOf(before) !== undefined) return before;
  const statuses = statusesOf(items);
  const timesOf = (field: 'startTime' | 'completionTime'): readonly string[] => {
    const given = statuses.flatMap((status: Stored<V1JobStatus>) => textOrUndefined(status[field]) ?? []);
    return given.length === items.length ? sortedTimes(given) : [];
  };
  const startTime = textOrUndefined(before.startTime) ?? timesOf('startTime').at(0);
  const completionTime = timesOf('completionTime').at(-1);
  const conditions = conditionsOf(items);
  return {
    active: sumOf(statuses, 'active'),
    succeeded: sumOf(statuses, 'succeeded'),
    failed: sumOf(statuses, 'failed'),
    ...(conditions.length === 0 ? {} : { conditions }),
    ...(startTime === undefined ? {} : { startTime }),
    ...(completionTime === undefined ? {} : { completionTime }),
  };
}

function conditionsOf(items: readonly StatusItem[]): readonly JsonObject[] {
  const ended = (end: 'Complete' | 'Failed') => items.filter(({ status }) => status != null && jobEndOf(status) === end);
  const failed = ended('Failed').map(({ clusterName }) => clusterName);
  const isComplete = items.length > 0 && ended('Complete').length === items.length;
  const isMet = isComplete && items.every(({ status }) => hasTrueCondition({ status: status ?? {} }, 'SuccessCriteriaMet'));
  return [
    ...(failed.length === 0 ? [] : [condition('Failed', 'JobFailed', `Job executed failed in member clusters ${failed.join(',')}`)]),
    ...(isComplete ? [condition('Complete', 'Completed', 'Job completed')] : []),
    ...(isMet ? [condition('SuccessCriteriaMet', 'CompletionsReached', 'All member clusters have met success criteria')] : []),
  ];
}

function condition(type: string, reason: string, message: string): JsonObject {
  return { type, status: 'True', reason, message };
}
