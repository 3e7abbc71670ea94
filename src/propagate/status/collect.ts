import { isJsonObject, type JsonObject } from '../../core/json.ts';
import { textAt, valueAt } from '../../core/json-at.ts';
import { type GroupKind, keyOfKind } from '../../core/kinds.ts';

/** The part of the status of one copy that goes into the aggregate. */
type CollectedStatus =
  /** `status` is undefined if the copy has no such part, or does not have it yet. */
  | { readonly result: 'collected'; readonly status: JsonObject | undefined }
  /** A member of the status has a wrong type, as `message` says. */
  | { readonly result: 'unreadable'; readonly message: string };

/** Members that are collected unchanged, in addition to counters. */
const asTheyAre: ReadonlyMap<string, readonly string[]> = new Map([
  ['Job.batch', ['conditions', 'startTime', 'completionTime']],
  ['PodDisruptionBudget.policy', ['disruptedPods']],
  ['Service', ['loadBalancer']],
]);

/**
 * Collects the part of a status that goes into the aggregate (docs/internals/propagation.md 8): the figures of workloads, Jobs, budgets and
 * autoscalers, and the whole status of other kinds. Collects no status for a Service that is no LoadBalancer, and for a Deployment or
 * ReplicaSet whose figures are all zero.
 *
 * @param templateGeneration Returns the generation of the template that the object was written from, for kinds that report it.
 */
export function collectStatus(kind: GroupKind, object: JsonObject, templateGeneration: () => number): CollectedStatus {
  const key = keyOfKind(kind);
  if (key === 'Service' && textAt(object, 'spec', 'type') !== 'LoadBalancer') return nothing;
  const { status } = object;
  if (status === undefined || status === null) return nothing;
  if (!isJsonObject(status)) return { result: 'unreadable', message: `expected status to be an object, got ${typeof status}` };
  const figures = figuresOf(key);
  const kept = [...figures, ...(asTheyAre.get(key) ?? [])];
  if (kept.length === 0) return { result: 'collected', status };
  const wrong = unreadableIn(status, figures);
  if (wrong !== undefined) return { result: 'unreadable', message: wrong };
  const picked = Object.fromEntries(kept.filter((field) => valueAt(status, field) !== undefined).map((field) => [field, status[field]]));
  if (!workloadCounters.has(key)) return { result: 'collected', status: picked };
  if (isAllZero(key, picked)) return nothing;
  const generation = valueAt(object, 'metadata', 'generation');
  return { result: 'collected', status: { ...picked, generation, resourceTemplateGeneration: templateGeneration() } };
}

/** Returns the names of the figures that are collected for a kind. They include `observedGeneration` for workloads except StatefulSets. */
function figuresOf(key: string): readonly string[] {
  const counters = workloadCounters.get(key);
  if (counters === undefined) return otherCounters.get(key) ?? [];
  return key === 'StatefulSet.apps' ? counters : [...counters, 'observedGeneration'];
}

const nothing: CollectedStatus = { result: 'collected', status: undefined };

function unreadableIn(status: JsonObject, figures: readonly string[]): string | undefined {
  const bad = figures.find((field) => !['number', 'undefined'].includes(typeof (status[field] ?? undefined)));
  if (bad !== undefined) return `expected status.${bad} to be a number, got ${typeof status[bad]}`;
  const { conditions } = status;
  return conditions === undefined || conditions === null || Array.isArray(conditions)
    ? undefined
    : 'expected status.conditions to be a list';
}

function isAllZero(key: string, picked: JsonObject): boolean {
  return (key === 'Deployment.apps' || key === 'ReplicaSet.apps') && Object.values(picked).every((figure) => (figure ?? 0) === 0);
}

/** The numbers in the status of a workload that are aggregated, by kind. Jobs are in `otherCounters`. */
export const workloadCounters: ReadonlyMap<string, readonly string[]> = new Map([
  ['Deployment.apps', ['replicas', 'updatedReplicas', 'readyReplicas', 'availableReplicas', 'unavailableReplicas']],
  ['ReplicaSet.apps', ['replicas', 'readyReplicas', 'availableReplicas']],
  ['StatefulSet.apps', ['replicas', 'readyReplicas', 'currentReplicas', 'updatedReplicas', 'availableReplicas']],
  [
    'DaemonSet.apps',
    [
      'currentNumberScheduled',
      'desiredNumberScheduled',
      'numberAvailable',
      'numberMisscheduled',
      'numberReady',
      'updatedNumberScheduled',
      'numberUnavailable',
    ],
  ],
]);

/** The numbers in the status that are aggregated, for Jobs, PodDisruptionBudgets and HorizontalPodAutoscalers. */
export const otherCounters: ReadonlyMap<string, readonly string[]> = new Map([
  ['Job.batch', ['active', 'succeeded', 'failed']],
  ['PodDisruptionBudget.policy', ['disruptionsAllowed', 'expectedPods', 'desiredHealthy', 'currentHealthy']],
  ['HorizontalPodAutoscaler.autoscaling', ['currentReplicas', 'desiredReplicas']],
]);
