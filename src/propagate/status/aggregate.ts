import type {
  V1CronJobStatus,
  V1PersistentVolumeClaimStatus,
  V1PodDisruptionBudgetStatus,
  V1PodStatus,
  V1Service,
  V1ServiceStatus,
} from '@kubernetes/client-node';
import type { JsonObject } from '../../core/json.ts';
import { numberAt, objectAt } from '../../core/json-at.ts';
import { type GroupKind, keyOfKind } from '../../core/kinds.ts';
import { itemsOf, type Stored, textOrUndefined } from '../../core/stored.ts';
import { aggregateJob } from './aggregate-job.ts';
import { otherCounters, workloadCounters } from './collect.ts';
import { ingressPoints, joinPoints, type PointFields, servicePoints } from './join-points.ts';
import { type StatusItem, sortedTimes, statusesOf, sumOf } from './status-item.ts';

/** The input: a template with its current status, and the statuses of its copies in the order of the clusters. */
interface Aggregation {
  readonly kind: GroupKind;
  readonly template: JsonObject;
  readonly items: readonly StatusItem[];
  /**
   * When the status of a StatefulSet copy is current. `ours`: its `resourceTemplateGeneration` has reached the generation of the template.
   * `karmada`: it has reached the generation of the copy itself, as Karmada compares.
   */
  readonly semantics: 'ours' | 'karmada';
}

/** The phases of Pods. The aggregate is in the first phase that any copy is in. */
const podPhases = ['Failed', 'Pending', 'Running', 'Succeeded'] as const;
const volumePhases = ['Failed', 'Pending', 'Available', 'Bound', 'Released'] as const;

/**
 * Returns one status for an object in many clusters, by the rules of its kind (docs/internals/propagation.md 8). Without rules for the
 * kind: the status of the template, unchanged. Equal inputs give equal bytes.
 */
export function aggregateStatus(aggregation: Aggregation): JsonObject {
  const { kind, template, items } = aggregation;
  const before = objectAt(template, 'status');
  const statuses = statusesOf(items);
  const key = keyOfKind(kind);
  switch (key) {
    case 'Deployment.apps':
    case 'ReplicaSet.apps':
    case 'StatefulSet.apps':
    case 'DaemonSet.apps':
      return aggregateWorkload(aggregation, workloadCounters.get(key) ?? []);
    case 'Job.batch':
      return aggregateJob(before, items);
    case 'CronJob.batch':
      return aggregateCronJob(before, statuses);
    case 'Service':
      return isLoadBalancer(template) ? pointsOf(statuses, servicePoints) : before;
    case 'Ingress.networking.k8s.io':
      return pointsOf(statuses, ingressPoints);
    case 'Pod':
      return aggregatePod(items);
    case 'PersistentVolume':
      return { phase: firstPhase(items, volumePhases) };
    case 'PersistentVolumeClaim':
      return { phase: claimPhaseOf(statuses) };
    case 'PodDisruptionBudget.policy':
      return aggregateBudget(items, statuses);
    case 'HorizontalPodAutoscaler.autoscaling':
      return { ...before, ...sums(statuses, otherCounters.get(key) ?? []) };
    default:
      return before;
  }
}

function aggregateWorkload({ kind, template, items, semantics }: Aggregation, counters: readonly string[]): JsonObject {
  const before = objectAt(template, 'status');
  const generation = numberAt(template, 'metadata', 'generation') ?? 0;
  const isObserved = items.every(({ status }) => {
    if (status === undefined || status === null) return false;
    const own = numberAt(status, 'generation') ?? 0;
    const written = semantics === 'karmada' && kind.kind === 'StatefulSet' ? own : generation;
    return (numberAt(status, 'observedGeneration') ?? 0) >= own && (numberAt(status, 'resourceTemplateGeneration') ?? 0) >= written;
  });
  const statuses = statusesOf(items);
  return { ...before, ...sums(statuses, counters), ...(isObserved ? { observedGeneration: generation } : {}) };
}

function aggregateCronJob(before: Stored<V1CronJobStatus>, statuses: readonly Stored<V1CronJobStatus>[]): JsonObject {
  const { active: _, lastScheduleTime: __, lastSuccessfulTime: ___, ...rest } = before;
  const latest = (times: readonly (string | undefined)[]) => sortedTimes(times.flatMap((time) => textOrUndefined(time) ?? [])).at(-1);
  const active = statuses.flatMap((status) => itemsOf(status.active));
  const scheduled = latest(statuses.map(({ lastScheduleTime }) => lastScheduleTime));
  const succeeded = latest(statuses.map(({ lastSuccessfulTime }) => lastSuccessfulTime));
  return {
    ...rest,
    ...(active.length === 0 ? {} : { active }),
    ...(scheduled === undefined ? {} : { lastScheduleTime: scheduled }),
    ...(succeeded === undefined ? {} : { lastSuccessfulTime: succeeded }),
  };
}

function isLoadBalancer({ spec }: Stored<V1Service>): boolean {
  return spec?.type === 'LoadBalancer';
}

function pointsOf(statuses: readonly Stored<V1ServiceStatus>[], fields: PointFields): JsonObject {
  const points = statuses.flatMap((status) => itemsOf(status.loadBalancer?.ingress));
  const ingress = joinPoints(points, fields);
  return { loadBalancer: ingress.length === 0 ? {} : { ingress } };
}

function aggregatePod(items: readonly StatusItem[]): JsonObject {
  const statesOf = (field: 'containerStatuses' | 'initContainerStatuses'): readonly JsonObject[] =>
    statusesOf(items).flatMap((status: Stored<V1PodStatus>) =>
      itemsOf(status[field]).map(({ ready, state }) => ({ ready: ready ?? false, state: state ?? {} })),
    );
  const [containers, initContainers] = [statesOf('containerStatuses'), statesOf('initContainerStatuses')];
  return {
    phase: firstPhase(items, podPhases),
    ...(containers.length === 0 ? {} : { containerStatuses: containers }),
    ...(initContainers.length === 0 ? {} : { initContainerStatuses: initContainers }),
  };
}

/**
 * Returns the first of these phases that a copy is in. A copy without a status counts as pending. Undefined if no copy is in any of them.
 */
function firstPhase(items: readonly StatusItem[], phases: readonly string[]): string | undefined {
  const found = new Set(items.map(({ status }) => (status === undefined || status === null ? 'Pending' : status.phase)));
  return phases.find((phase) => found.has(phase));
}

function claimPhaseOf(statuses: readonly Stored<V1PersistentVolumeClaimStatus>[]): string {
  const phases = statuses.map(({ phase }) => textOrUndefined(phase) ?? '');
  return phases.includes('Lost') ? 'Lost' : (phases.filter((phase) => phase !== 'Bound').at(-1) ?? 'Bound');
}

function aggregateBudget(items: readonly StatusItem[], statuses: readonly JsonObject[]): JsonObject {
  const disrupted = items.flatMap(({ clusterName, status }) => {
    const { disruptedPods }: Stored<V1PodDisruptionBudgetStatus> = status ?? {};
    return Object.entries(disruptedPods ?? {}).map(([pod, time]) => [`${clusterName}/${pod}`, time] as const);
  });
  return {
    ...sums(statuses, otherCounters.get('PodDisruptionBudget.policy') ?? []),
    ...(disrupted.length === 0 ? {} : { disruptedPods: Object.fromEntries(disrupted) }),
  };
}

function sums(statuses: readonly JsonObject[], fields: readonly string[]): JsonObject {
  return Object.fromEntries(fields.map((field) => [field, sumOf(statuses, field)]));
}
