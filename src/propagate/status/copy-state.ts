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

/** True if this is an object that stays: not one whose deletion has begun or is to come. */
export function isKept({ state }: InventoryEntry): boolean {
  return state !== 'Deleting' && state !== 'PendingDeletion';
}

/**
 * True if the object is as our last write left it, or later. A mirror that has not heard of that write yet shows the object before it: rolled out and
 * healthy, but not what we want to know about.
 */
export function showsWrite({ uid, appliedGeneration }: InventoryEntry, { metadata }: KubernetesObject): boolean {
  if (uid !== undefined && metadata.uid !== uid) return false;
  return appliedGeneration === undefined || Number(metadata.annotations?.[marks.generation]) >= appliedGeneration;
}

/** How far a copy is. One that is not there, or not as written, is progressing: it is on its way, or its deletion is being made good. */
export function rolloutOfCopy({ entry, mirrored }: CopyFacts): RolloutState {
  if (mirrored.result !== 'held') return { phase: 'progressing', message: 'not seen in the cluster yet' };
  if (!showsWrite(entry, mirrored.object)) return { phase: 'progressing', message: 'the last write is not seen in the cluster yet' };
  return rolloutOf(groupKindOfKey(entry.key), mirrored.object);
}

/** How a copy is, by what its mirror holds. `Unknown` before it was written, and where nobody can tell. A mirror that is behind is not looked for here. */
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

/** True for a copy of a Job. */
export function isJob({ key }: InventoryEntry): boolean {
  return keyOfKind(groupKindOfKey(key)) === 'Job.batch';
}

/** Ready replicas of a workload, or pods of a DaemonSet or Job that are; undefined for other kinds and where nothing is held. */
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
  if (hasTrueCondition(job, 'Complete')) return { phase: 'done', message: `complete: ${numberOrZero(job.status?.succeeded)} succeeded` };
  const reason = conditionOf(job, 'Failed')?.reason ?? 'no reason given';
  if (hasTrueCondition(job, 'Failed')) return { phase: 'failed', message: `failed: ${reason}` };
  if (hasTrueCondition(job, 'Suspended')) return { phase: 'progressing', message: 'suspended' };
  return { phase: 'progressing', message: `${numberOrZero(job.status?.active)} active, ${numberOrZero(job.status?.succeeded)} succeeded` };
}
