import type { Json, JsonObject } from '../../core/json.ts';
import { listAt, numberAt, objectAt, textAt } from '../../core/json-at.ts';
import { type GroupKind, keyOfKind } from '../../core/kinds.ts';
import { aggregateJob } from './aggregate-job.ts';
import { otherCounters, workloadCounters } from './counters.ts';
import { ingressPoints, joinPoints, type PointFields, servicePoints } from './join-points.ts';
import { type StatusItem, sortedTimes, statusesOf, sumOf } from './status-item.ts';

/** What is aggregated: a template with its status as it stands, and what its copies say, in the order of the clusters. */
export interface Aggregation {
  readonly kind: GroupKind;
  readonly template: JsonObject;
  readonly items: readonly StatusItem[];
  /** `karmada`: of a StatefulSet what a copy was written from is compared with that copy's own generation. */
  readonly semantics: 'ours' | 'karmada';
}

/** The first that any copy is in. */
const podPhases = ['Failed', 'Pending', 'Running', 'Succeeded'] as const;
const volumePhases = ['Failed', 'Pending', 'Available', 'Bound', 'Released'] as const;

/**
 * One status for an object in many clusters (propagation.md 8), by the rules of its kind. Of a kind without rules the template's own, as it is. Equal
 * inputs give equal bytes.
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
      return textAt(template, 'spec', 'type') === 'LoadBalancer' ? pointsOf(statuses, servicePoints) : before;
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

/** True if there are targets, and what was applied is just what they are. */
export function isFullyApplied(items: readonly StatusItem[], targets: readonly string[]): boolean {
  const wanted = new Set(targets);
  return (
    wanted.size > 0 &&
    items.length === wanted.size &&
    items.every(({ clusterName, applied }) => applied === true && wanted.has(clusterName))
  );
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

function aggregateCronJob(before: JsonObject, statuses: readonly JsonObject[]): JsonObject {
  const { active: _, lastScheduleTime: __, lastSuccessfulTime: ___, ...rest } = before;
  const latest = (field: string) => sortedTimes(statuses.flatMap((status) => textAt(status, field) ?? [])).at(-1);
  const active = statuses.flatMap((status) => listAt(status, 'active'));
  const [scheduled, succeeded] = [latest('lastScheduleTime'), latest('lastSuccessfulTime')];
  return {
    ...rest,
    ...(active.length === 0 ? {} : { active }),
    ...(scheduled === undefined ? {} : { lastScheduleTime: scheduled }),
    ...(succeeded === undefined ? {} : { lastSuccessfulTime: succeeded }),
  };
}

function pointsOf(statuses: readonly JsonObject[], fields: PointFields): JsonObject {
  const ingress = joinPoints(
    statuses.flatMap((status) => listAt(status, 'loadBalancer', 'ingress')),
    fields,
  );
  return { loadBalancer: ingress.length === 0 ? {} : { ingress } };
}

function aggregatePod(items: readonly StatusItem[]): JsonObject {
  const statesOf = (field: string): readonly Json[] =>
    items.flatMap(({ status }) =>
      listAt(status ?? {}, field).map((container) => ({ ready: objectAt(container).ready ?? false, state: objectAt(container, 'state') })),
    );
  const [containers, initContainers] = [statesOf('containerStatuses'), statesOf('initContainerStatuses')];
  return {
    phase: firstPhase(items, podPhases),
    ...(containers.length === 0 ? {} : { containerStatuses: containers }),
    ...(initContainers.length === 0 ? {} : { initContainerStatuses: initContainers }),
  };
}

/** What has no status yet is pending. Undefined if no copy is in any of them. */
function firstPhase(items: readonly StatusItem[], phases: readonly string[]): string | undefined {
  const found = new Set(items.map(({ status }) => (status === undefined || status === null ? 'Pending' : textAt(status, 'phase'))));
  return phases.find((phase) => found.has(phase));
}

function claimPhaseOf(statuses: readonly JsonObject[]): string {
  const phases = statuses.map((status) => textAt(status, 'phase') ?? '');
  return phases.includes('Lost') ? 'Lost' : (phases.filter((phase) => phase !== 'Bound').at(-1) ?? 'Bound');
}

function aggregateBudget(items: readonly StatusItem[], statuses: readonly JsonObject[]): JsonObject {
  const disrupted = items.flatMap(({ clusterName, status }) =>
    Object.entries(objectAt(status ?? {}, 'disruptedPods')).map(([pod, time]) => [`${clusterName}/${pod}`, time] as const),
  );
  return {
    ...sums(statuses, otherCounters.get('PodDisruptionBudget.policy') ?? []),
    ...(disrupted.length === 0 ? {} : { disruptedPods: Object.fromEntries(disrupted) }),
  };
}

function sums(statuses: readonly JsonObject[], fields: readonly string[]): JsonObject {
  return Object.fromEntries(fields.map((field) => [field, sumOf(statuses, field)]));
}
