import { isJsonObject, type JsonObject } from '../../core/json.ts';
import { textAt, valueAt } from '../../core/json-at.ts';
import { type GroupKind, keyOfKind } from '../../core/kinds.ts';

/** What of a copy's status goes into that of the fleet. */
type CollectedStatus =
  /** Undefined: there is nothing to tell yet, or never. */
  | { readonly result: 'collected'; readonly status: JsonObject | undefined }
  /** Something in it has another type than it must have. */
  | { readonly result: 'unreadable'; readonly message: string };

/** Besides counters, as they are. */
const asTheyAre: ReadonlyMap<string, readonly string[]> = new Map([
  ['Job.batch', ['conditions', 'startTime', 'completionTime']],
  ['PodDisruptionBudget.policy', ['disruptedPods']],
  ['Service', ['loadBalancer']],
]);

/**
 * The part of an object's status that is told for the fleet (docs/internals/propagation.md 8): of workloads, Jobs, budgets and autoscalers their figures, of others all of it. Nothing of a
 * Service that is no LoadBalancer, and of a Deployment or ReplicaSet whose figures are all zero.
 *
 * @param templateGeneration Which generation of the template the object was written from, for the kinds that say so.
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

/** A StatefulSet does not tell what it has observed. */
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

/** The figures of a workload's status that are told for the fleet, by kind. */
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

/** The same of kinds that are no workloads, or run to an end. */
export const otherCounters: ReadonlyMap<string, readonly string[]> = new Map([
  ['Job.batch', ['active', 'succeeded', 'failed']],
  ['PodDisruptionBudget.policy', ['disruptionsAllowed', 'expectedPods', 'desiredHealthy', 'currentHealthy']],
  ['HorizontalPodAutoscaler.autoscaling', ['currentReplicas', 'desiredReplicas']],
]);
