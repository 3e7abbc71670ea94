import type { Json } from '../../../../src/core/json.ts';
import { type NodeRoom, onePod, replicasForRequests } from '../../../../src/propagate/plan/placing/node-rooms.ts';
import {
  addAmounts,
  amountsIn,
  type ResourceAmounts,
  subtractAmounts,
  timesThatFit,
} from '../../../../src/propagate/plan/placing/resource-amounts.ts';

/** ResourceSummary of a Karmada Cluster. */
interface KarmadaResourceSummary {
  readonly allocatable?: Json;
  readonly allocated?: Json;
  readonly allocating?: Json;
  readonly allocatableModelings?: readonly { readonly grade?: number; readonly count?: number }[] | null;
}

/** The resource requests of one replica. */
interface ReplicaRequirements {
  readonly resourceRequest?: Json;
}

interface EstimatedCluster {
  readonly resourceModels?: readonly ResourceModel[] | null;
  readonly resourceSummary?: KarmadaResourceSummary | null;
}

interface ResourceModel {
  readonly grade?: number;
  readonly ranges?: readonly { readonly name: string; readonly min?: string | number }[] | null;
}

interface AssumedWorkload {
  readonly components?: readonly { readonly replicas?: number; readonly replicaRequirements?: ReplicaRequirements | null }[] | null;
}

interface Estimate {
  readonly cluster: EstimatedCluster;
  readonly replicaRequirements?: ReplicaRequirements | null;
  /** Workloads that are placed but not running yet. */
  readonly assumedWorkloads?: readonly AssumedWorkload[] | null;
}

/** Karmada's getAllowedPodNumber: returns how many more Pods fit in the cluster. At least 0. */
export function allowedPods({ resourceSummary }: { readonly resourceSummary?: KarmadaResourceSummary | null }): {
  readonly allowedPods: number;
} {
  return { allowedPods: freePods(summaryOf(resourceSummary ?? {}, [])) };
}

/** Returns how many more replicas fit, by the resource sums of the cluster. */
export function replicasFromSummary({
  resourceSummary,
  replicaRequirements,
}: {
  readonly resourceSummary?: KarmadaResourceSummary | null;
  readonly replicaRequirements?: ReplicaRequirements | null;
}): { readonly replicas: number } {
  return { replicas: replicasInSummary(summaryOf(resourceSummary ?? {}, []), requestsOf(replicaRequirements)) };
}

/**
 * Returns how many more replicas fit, by the number of nodes of each grade (nodes of similar size). Returns an error if these numbers are
 * missing or invalid.
 */
export function replicasFromModels(
  estimate: Estimate,
): { readonly replicas: number } | { readonly error: true; readonly errorText: string } {
  const replicas = byModels(estimate);
  return replicas === undefined ? { error: true, errorText: 'the cluster has no usable resource models' } : { replicas };
}

/**
 * Karmada's general estimator: returns how many more replicas fit. Uses the numbers of nodes per grade if there are any, else the resource
 * sums. The result is at most the number of free Pods.
 */
export function maxAvailableReplicas(estimate: Estimate): { readonly replicas: number } {
  const { cluster, replicaRequirements, assumedWorkloads } = estimate;
  const { resourceSummary } = cluster;
  if (resourceSummary === undefined || resourceSummary === null) return { replicas: 0 };
  const summary = summaryOf(resourceSummary, assumedWorkloads ?? []);
  const pods = freePods(summary);
  if (pods === 0 || replicaRequirements === undefined || replicaRequirements === null) return { replicas: pods };
  const modelled = (resourceSummary.allocatableModelings ?? []).length > 0 ? byModels(estimate) : undefined;
  return { replicas: smallestEstimate([pods, modelled ?? replicasInSummary(summary, requestsOf(replicaRequirements))]) ?? 0 };
}

function byModels({ cluster: { resourceModels, resourceSummary }, replicaRequirements, assumedWorkloads }: Estimate): number | undefined {
  if (resourceSummary === undefined || resourceSummary === null) return undefined;
  const counts = (resourceSummary.allocatableModelings ?? []).map(({ grade = 0, count = 0 }) => ({ grade, count }));
  const rooms = roomsOfGrades((resourceModels ?? []).map(gradeOf), counts);
  if (rooms === undefined) return undefined;
  return replicasForRequests((assumedWorkloads ?? []).reduce(afterPlacing, rooms), requestsOf(replicaRequirements));
}

function gradeOf({ grade = 0, ranges }: ResourceModel) {
  return { grade, minimums: amountsIn(Object.fromEntries((ranges ?? []).map(({ name, min = '0' }) => [name, min]))) };
}

/**
 * Returns the free capacity after placing one workload. Each component is placed on the first nodes with room. Placing ends at the first
 * component that does not fit.
 */
function afterPlacing(rooms: readonly NodeRoom[], { components }: AssumedWorkload): readonly NodeRoom[] {
  let left = rooms;
  for (const { replicas = 0, replicaRequirements } of components ?? []) {
    const filled = fill(left, addAmounts(requestsOf(replicaRequirements), onePod), replicas);
    left = filled.rooms;
    if (filled.rest > 0) break;
  }
  return left;
}

function fill(
  rooms: readonly NodeRoom[],
  needs: ResourceAmounts,
  replicas: number,
): { readonly rooms: readonly NodeRoom[]; readonly rest: number } {
  let rest = replicas;
  const filled = rooms.flatMap(({ free, count }): readonly NodeRoom[] => {
    const fits = timesThatFit(free, needs);
    if (fits === 0 || rest <= 0) return [{ free, count }];
    const full = Math.min(count, Math.floor(rest / fits));
    const begun = Math.min(count - full, rest - full * fits > 0 ? 1 : 0);
    const last = begun * (rest - full * fits);
    rest -= full * fits + last;
    return [
      { free: subtractAmounts(free, multiplyAmounts(needs, fits)), count: full },
      { free: subtractAmounts(free, multiplyAmounts(needs, last)), count: begun },
      { free, count: count - full - begun },
    ];
  });
  return { rooms: filled, rest };
}

function summaryOf({ allocatable, allocated, allocating }: KarmadaResourceSummary, assumed: readonly AssumedWorkload[]): ResourceSummary {
  const components = assumed.flatMap((workload) => workload.components ?? []);
  const coming = components.map(({ replicas = 0, replicaRequirements }) =>
    multiplyAmounts(addAmounts(requestsOf(replicaRequirements), onePod), Math.max(0, replicas)),
  );
  return {
    allocatable: amountsIn(allocatable),
    allocated: amountsIn(allocated),
    allocating: coming.reduce(addAmounts, amountsIn(allocating)),
  };
}

function requestsOf(requirements: ReplicaRequirements | null | undefined): ResourceAmounts {
  return amountsIn(requirements?.resourceRequest);
}

/** Nodes of similar size. */
interface NodeGrade {
  readonly grade: number;
  /** The minimum free resources of each node. */
  readonly minimums: ResourceAmounts;
}

/** Default number of Pods per Node (Kubernetes, "Considerations for large clusters"). */
const podsPerNode = 110;

/**
 * Returns the free capacity of the nodes of each grade, lowest grade first. Each node counts with the minimum of its grade. Undefined if
 * there are no grades, or if a count is negative.
 */
export function roomsOfGrades(
  grades: readonly NodeGrade[],
  counts: readonly { readonly grade: number; readonly count: number }[],
): readonly NodeRoom[] | undefined {
  if (grades.length === 0 || counts.some(({ count }) => count < 0)) return undefined;
  return [...grades]
    .sort((a, b) => a.grade - b.grade)
    .map(({ grade, minimums }) => ({
      free: new Map([...minimums, ['pods', podsPerNode]]),
      count: counts.filter((counted) => counted.grade === grade).reduce((sum, { count }) => sum + count, 0),
    }));
}

/** The resource sums of a cluster: in total, in use, and reserved by Pods that are being scheduled. */
interface ResourceSummary {
  readonly allocatable: ResourceAmounts;
  readonly allocated: ResourceAmounts;
  readonly allocating: ResourceAmounts;
}

/** Returns how many more Pods fit in the cluster. At least 0. */
export function freePods({ allocatable, allocated, allocating }: ResourceSummary): number {
  const podsIn = (amounts: ResourceAmounts): number => amounts.get('pods') ?? 0;
  return Math.max(0, podsIn(allocatable) - podsIn(allocated) - podsIn(allocating));
}

/** Returns how often the requests fit into the sums, without regard to fragmentation. At most `freePods` if the requests include Pods. */
export function replicasInSummary(summary: ResourceSummary, requests: ResourceAmounts): number {
  return timesThatFit(subtractAmounts(subtractAmounts(summary.allocatable, summary.allocated), summary.allocating), requests);
}

/** Returns the smallest estimate. Undefined if all estimates are unknown. */
export function smallestEstimate(estimates: readonly (number | undefined)[]): number | undefined {
  const known = estimates.filter((estimate) => estimate !== undefined);
  return known.length === 0 ? undefined : Math.min(...known);
}

/** Multiplies all amounts by a factor. */
function multiplyAmounts(amounts: ResourceAmounts, factor: number): ResourceAmounts {
  return new Map([...amounts].map(([name, amount]) => [name, amount * factor]));
}
