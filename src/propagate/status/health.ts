import type * as k8s from '@kubernetes/client-node';
import { conditionOf, hasTrueCondition } from '../../core/conditions.ts';
import type { JsonObject } from '../../core/json.ts';
import { type GroupKind, keyOfKind } from '../../core/kinds.ts';
import { itemsOf, numberOrZero, type Stored } from '../../core/stored.ts';
import type { CopyHealth } from '../model/inventory.ts';

/**
 * Decides whether an existing copy is healthy, from the figures and conditions of its status (docs/internals/propagation.md 8).
 *
 * For Deployments, StatefulSets, DaemonSets and Jobs, waves use `rolloutOf` instead: ready Pods of the old template count here as well, so a
 * Deployment can be healthy before its new Pods are ready.
 *
 * A kind without a rule uses its condition Ready, else Available. Without either it is healthy if it exists. Never `Unknown`, which is for
 * copies that cannot be read.
 */
export function healthOf(kind: GroupKind, object: JsonObject): Exclude<CopyHealth, 'Unknown'> {
  return isHealthy(kind, object) ? 'Healthy' : 'Unhealthy';
}

function isHealthy(kind: GroupKind, object: JsonObject): boolean {
  switch (keyOfKind(kind)) {
    case 'Deployment.apps':
      return isDeploymentHealthy(object);
    case 'StatefulSet.apps':
      return isStatefulSetHealthy(object);
    case 'ReplicaSet.apps':
      return isReplicaSetHealthy(object);
    case 'DaemonSet.apps':
      return isDaemonSetHealthy(object);
    case 'Job.batch':
      return isJobHealthy(object);
    case 'Service':
      return isServiceHealthy(object);
    case 'Ingress.networking.k8s.io':
      return hasPoint(object);
    case 'Pod':
      return isPodHealthy(object);
    case 'PersistentVolume':
      return phaseOf(object) !== 'Failed';
    case 'PersistentVolumeClaim':
      return phaseOf(object) === 'Bound';
    case 'PodDisruptionBudget.policy':
      return isBudgetHealthy(object);
    default:
      return isReady(object);
  }
}

function isObserved({ metadata, status }: Stored<k8s.V1Deployment | k8s.V1StatefulSet | k8s.V1ReplicaSet | k8s.V1DaemonSet>): boolean {
  return numberOrZero(status?.observedGeneration) === numberOrZero(metadata?.generation);
}

function hasUpdated({ status }: Stored<k8s.V1Deployment | k8s.V1StatefulSet>, wanted: number): boolean {
  const updated = numberOrZero(status?.updatedReplicas);
  return updated >= wanted && numberOrZero(status?.availableReplicas) >= updated;
}

function isDeploymentHealthy(deployment: Stored<k8s.V1Deployment>): boolean {
  return isObserved(deployment) && hasUpdated(deployment, numberOrZero(deployment.spec?.replicas));
}

/**
 * True if the StatefulSet is healthy: its replicas are available, and updated as far as the spec requires. Pods that a partition or
 * `OnDelete` keeps at the old template do not count as missing, because the spec requires that.
 */
function isStatefulSetHealthy(statefulSet: Stored<k8s.V1StatefulSet>): boolean {
  if (!isObserved(statefulSet)) return false;
  const { spec, status } = statefulSet;
  const wanted = numberOrZero(spec?.replicas);
  const kept = spec?.updateStrategy?.type === 'OnDelete' ? wanted : numberOrZero(spec?.updateStrategy?.rollingUpdate?.partition);
  return hasUpdated(statefulSet, Math.max(0, wanted - kept)) && (kept === 0 || numberOrZero(status?.availableReplicas) >= wanted);
}

function isReplicaSetHealthy(replicaSet: Stored<k8s.V1ReplicaSet>): boolean {
  return isObserved(replicaSet) && numberOrZero(replicaSet.status?.availableReplicas) >= numberOrZero(replicaSet.spec?.replicas);
}

function isDaemonSetHealthy(daemonSet: Stored<k8s.V1DaemonSet>): boolean {
  if (!isObserved(daemonSet)) return false;
  const { spec, status } = daemonSet;
  const desired = numberOrZero(status?.desiredNumberScheduled);
  const updated = numberOrZero(status?.updatedNumberScheduled);
  const available = numberOrZero(status?.numberAvailable);
  return spec?.updateStrategy?.type === 'OnDelete' ? available >= desired : updated >= desired && available >= updated;
}

function isJobHealthy(job: Stored<k8s.V1Job>): boolean {
  return hasTrueCondition(job, 'Complete') || (numberOrZero(job.status?.failed) === 0 && !hasTrueCondition(job, 'Failed'));
}

function isServiceHealthy(service: Stored<k8s.V1Service>): boolean {
  return service.spec?.type !== 'LoadBalancer' || hasPoint(service);
}

/**
 * True if the load balancer of a Service has a hostname or an IP address. Also used for an Ingress, because its status has the same fields.
 */
function hasPoint({ status }: Stored<k8s.V1Service>): boolean {
  return itemsOf(status?.loadBalancer?.ingress).some(({ hostname, ip }) => !!hostname || !!ip);
}

function isPodHealthy(pod: Stored<k8s.V1Pod>): boolean {
  return phaseOf(pod) === 'Succeeded' || (phaseOf(pod) === 'Running' && hasTrueCondition(pod, 'Ready'));
}

function phaseOf({ status }: Stored<k8s.V1Pod | k8s.V1PersistentVolume | k8s.V1PersistentVolumeClaim>): string | undefined {
  return status?.phase;
}

function isBudgetHealthy({ status }: Stored<k8s.V1PodDisruptionBudget>): boolean {
  return numberOrZero(status?.currentHealthy) >= numberOrZero(status?.desiredHealthy);
}

function isReady(object: JsonObject): boolean {
  const reported = ['Ready', 'Available'].find((type) => conditionOf(object, type) !== undefined);
  return reported === undefined || hasTrueCondition(object, reported);
}
