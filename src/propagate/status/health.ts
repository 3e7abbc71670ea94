import { conditionOf, holdsCondition } from '../../core/conditions.ts';
import type { JsonObject } from '../../core/json.ts';
import { listAt, numberAt, textAt } from '../../core/json-at.ts';
import { type GroupKind, keyOfKind } from '../../core/kinds.ts';
import { countOf, updatesByDeletion } from '../../model/columns/workload-status.ts';
import type { Health } from '../inventory.ts';

/**
 * Whether a copy that is there does what it is for, by the figures and conditions of its own status (propagation.md 8). No gate of a rollout: while
 * the pods of the old template are still there, a Deployment is healthy from the first second of the new one.
 *
 * A kind without a rule of its own goes by its condition Ready, else Available; without either it is healthy by being there. Never Unknown: that is
 * said of what nobody could read.
 */
export function healthOf(kind: GroupKind, object: JsonObject): Exclude<Health, 'Unknown'> {
  return isHealthy(kind, object) ? 'Healthy' : 'Unhealthy';
}

function isHealthy(kind: GroupKind, object: JsonObject): boolean {
  switch (keyOfKind(kind)) {
    case 'Deployment.apps':
      return isObserved(object) && hasUpdated(object, numberAt(object, 'spec', 'replicas'));
    case 'StatefulSet.apps':
      return isObserved(object) && isStatefulSetHealthy(object);
    case 'ReplicaSet.apps':
      return isObserved(object) && countOf(object, 'availableReplicas') >= (numberAt(object, 'spec', 'replicas') ?? 0);
    case 'DaemonSet.apps':
      return isObserved(object) && isDaemonSetHealthy(object);
    case 'Job.batch':
      return holdsCondition(object, 'Complete') || (countOf(object, 'failed') === 0 && !holdsCondition(object, 'Failed'));
    case 'Service':
      return textAt(object, 'spec', 'type') !== 'LoadBalancer' || hasPoint(object);
    case 'Ingress.networking.k8s.io':
      return hasPoint(object);
    case 'Pod':
      return isPodHealthy(object);
    case 'PersistentVolume':
      return textAt(object, 'status', 'phase') !== 'Failed';
    case 'PersistentVolumeClaim':
      return textAt(object, 'status', 'phase') === 'Bound';
    case 'PodDisruptionBudget.policy':
      return countOf(object, 'currentHealthy') >= countOf(object, 'desiredHealthy');
    default:
      return isReady(object);
  }
}

function isObserved(object: JsonObject): boolean {
  return countOf(object, 'observedGeneration') === (numberAt(object, 'metadata', 'generation') ?? 0);
}

function hasUpdated(object: JsonObject, wanted: number | undefined): boolean {
  const updated = countOf(object, 'updatedReplicas');
  return updated >= (wanted ?? 0) && countOf(object, 'availableReplicas') >= updated;
}

/** Pods that a partition or `OnDelete` leaves as they are keep it no less healthy: somebody asked for that. */
function isStatefulSetHealthy(object: JsonObject): boolean {
  const wanted = numberAt(object, 'spec', 'replicas');
  const kept = updatesByDeletion(object) ? (wanted ?? 0) : (numberAt(object, 'spec', 'updateStrategy', 'rollingUpdate', 'partition') ?? 0);
  if (kept === 0) return hasUpdated(object, wanted);
  return hasUpdated(object, Math.max(0, (wanted ?? 0) - kept)) && countOf(object, 'availableReplicas') >= (wanted ?? 0);
}

function isDaemonSetHealthy(object: JsonObject): boolean {
  const desired = countOf(object, 'desiredNumberScheduled');
  const updated = countOf(object, 'updatedNumberScheduled');
  const available = countOf(object, 'numberAvailable');
  return updatesByDeletion(object) ? available >= desired : updated >= desired && available >= updated;
}

function hasPoint(object: JsonObject): boolean {
  const points = listAt(object, 'status', 'loadBalancer', 'ingress');
  return points.some((point) => (textAt(point, 'hostname') ?? '') !== '' || (textAt(point, 'ip') ?? '') !== '');
}

function isPodHealthy(object: JsonObject): boolean {
  const phase = textAt(object, 'status', 'phase');
  return phase === 'Succeeded' || (phase === 'Running' && holdsCondition(object, 'Ready'));
}

function isReady(object: JsonObject): boolean {
  const told = ['Ready', 'Available'].find((type) => conditionOf(object, type) !== undefined);
  return told === undefined || holdsCondition(object, told);
}
