import type { V1Job } from '@kubernetes/client-node';
import { conditionOf, holdsCondition } from '../../core/conditions.ts';
import type { JsonObject } from '../../core/json.ts';
import { type GroupKind, keyOfKind } from '../../core/kinds.ts';
import { countOf, type Stored } from '../../core/stored.ts';
import { type RolloutState, workloadRolloutOf } from '../../model/columns/rollout.ts';
import { healthOf } from '../status/health.ts';

/**
 * How far the rollout of this object is, by its own status: the gate of waves.
 *
 * Deployment, StatefulSet and DaemonSet as `workloadRolloutOf` says. A Job is done when Complete, failed when Failed. Other kinds are done once
 * healthy, and never failed.
 */
export function rolloutOf(kind: GroupKind, object: JsonObject): RolloutState {
  const rollout = workloadRolloutOf(kind, object);
  if (rollout !== undefined) return { phase: rollout.phase, message: rollout.message };
  if (keyOfKind(kind) === 'Job.batch') return rolloutOfJob(object);
  return healthOf(kind, object) === 'Healthy'
    ? { phase: 'done', message: 'healthy' }
    : { phase: 'progressing', message: 'not healthy yet' };
}

function rolloutOfJob(job: Stored<V1Job>): RolloutState {
  if (holdsCondition(job, 'Complete')) return { phase: 'done', message: `complete: ${countOf(job.status?.succeeded)} succeeded` };
  const reason = conditionOf(job, 'Failed')?.reason ?? 'no reason given';
  if (holdsCondition(job, 'Failed')) return { phase: 'failed', message: `failed: ${reason}` };
  if (holdsCondition(job, 'Suspended')) return { phase: 'progressing', message: 'suspended' };
  return { phase: 'progressing', message: `${countOf(job.status?.active)} active, ${countOf(job.status?.succeeded)} succeeded` };
}
