import type { V1DaemonSetStatus, V1DeploymentStatus, V1Job, V1JobStatus } from '@kubernetes/client-node';
import { conditionOf, hasTrueCondition } from '../../core/conditions.ts';
import type { JsonObject } from '../../core/json.ts';
import { objectAt } from '../../core/json-at.ts';
import { type GroupKind, keyOfKind } from '../../core/kinds.ts';
import type { KubernetesObject } from '../../core/objects.ts';
import { numberOrZero, type Stored } from '../../core/stored.ts';
import { groupKindOfKey } from '../../manifests/object-key.ts';
import { type RolloutState, workloadRolloutOf } from '../../model/columns/rollout.ts';
import type { CopyHealth, InventoryEntry } from '../model/inventory.ts';
import { marks } from '../model/propagation.ts';
import type { CopyFacts } from './facts.ts';
import { healthOf } from './health.ts';

/**
 * True if the object shows our last write, or a later state. A mirror that is behind still shows the state before the write, which may be
 * rolled out and healthy, but is not the wanted state.
 */
export function showsWrite({ uid, appliedGeneration }: InventoryEntry, { metadata }: KubernetesObject): boolean {
  if (uid !== undefined && metadata.uid !== uid) return false;
  return appliedGeneration === undefined || Number(metadata.annotations?.[marks.generation]) >= appliedGeneration;
}

/** Returns the rollout state of a copy. A copy that does not exist, or does not show our last write, is progressing. */
export function rolloutOfCopy({ entry, mirrored }: CopyFacts): RolloutState {
  if (mirrored.result !== 'held') return { phase: 'progressing', message: 'not visible in the cluster yet' };
  if (!showsWrite(entry, mirrored.object)) return { phase: 'progressing', message: 'the last write is not visible in the cluster yet' };
  return rolloutOf(groupKindOfKey(entry.key), mirrored.object);
}

/**
 * Returns the health of a copy, as its mirror shows it. Does not check whether the mirror is up to date.
 *
 * `Unknown` before the first write, and if the mirror is unread. `Unhealthy` if the copy is gone, or if its kind is not served.
 */
export function healthOfCopy({ entry, mirrored }: CopyFacts): CopyHealth {
  switch (mirrored.result) {
    case 'held':
      return healthOf(groupKindOfKey(entry.key), mirrored.object);
    case 'absent':
      return entry.state === 'Intended' ? 'Unknown' : 'Unhealthy';
    case 'unread':
      return mirrored.fault.code === 'NOT_SERVED' ? 'Unhealthy' : 'Unknown';
    default:
      return mirrored satisfies never;
  }
}

export function isJob({ key }: InventoryEntry): boolean {
  return keyOfKind(groupKindOfKey(key)) === 'Job.batch';
}

/**
 * Returns the number of ready replicas of a workload, or of ready Pods of a DaemonSet or Job. A Pod counts as 1 or 0. For any other kind,
 * returns `status.readyReplicas`. Undefined if the object has no such field, or if the mirror does not have the copy.
 */
export function readyOf({ entry, mirrored }: CopyFacts): number | undefined {
  if (mirrored.result !== 'held') return undefined;
  const { object } = mirrored;
  const status: Stored<V1DeploymentStatus & V1DaemonSetStatus & V1JobStatus> = objectAt(object, 'status');
  switch (keyOfKind(groupKindOfKey(entry.key))) {
    case 'Deployment.apps':
    case 'StatefulSet.apps':
    case 'ReplicaSet.apps':
      return numberOrZero(status.readyReplicas);
    case 'DaemonSet.apps':
      return numberOrZero(status.numberReady);
    case 'Job.batch':
      return numberOrZero(status.ready);
    case 'Pod':
      return hasTrueCondition(object, 'Ready') ? 1 : 0;
    default:
      return typeof status.readyReplicas === 'number' ? status.readyReplicas : undefined;
  }
}

/**
 * Returns the rollout state of an object, from its own status. Waves depend on it.
 *
 * Deployments, StatefulSets and DaemonSets: see `workloadRolloutOf`. A Job is done when it is Complete, and failed when it is Failed. Other
 * kinds are done when they are healthy, and never fail.
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
  if (hasTrueCondition(job, 'Complete')) return { phase: 'done', message: `complete: ${numberOrZero(job.status?.succeeded)} succeeded` };
  const reason = conditionOf(job, 'Failed')?.reason ?? 'no reason given';
  if (hasTrueCondition(job, 'Failed')) return { phase: 'failed', message: `failed: ${reason}` };
  if (hasTrueCondition(job, 'Suspended')) return { phase: 'progressing', message: 'suspended' };
  return { phase: 'progressing', message: `${numberOrZero(job.status?.active)} active, ${numberOrZero(job.status?.succeeded)} succeeded` };
}
