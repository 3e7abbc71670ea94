import { MusterError } from '../../../../src/core/errors.ts';
import { isJsonObject, type JsonObject } from '../../../../src/core/json.ts';
import type { KarmadaPlacement } from '../../../../src/propagate/karmada/karmada-placement.ts';
import type { ReplicaScheduling } from '../../../../src/propagate/karmada/replica-scheduling.ts';
import { tieBreakOf } from '../../../../src/propagate/plan/exact/divide-as-karmada.ts';
import { addSeats } from '../../../../src/propagate/plan/placing/divide-by-capacity.ts';
import { divideCompletions } from '../../../../src/propagate/plan/placing/divide-replicas.ts';
import { areReplicasChanged, isRescheduleRequested } from '../../../../src/propagate/plan/placing/reschedule.ts';
import { countFieldOf, withWorkloadCount } from '../../../../src/propagate/plan/placing/workload-count.ts';
import type { TargetCluster } from './karmada-cluster.ts';

type Targets = readonly TargetCluster[];

/** A list of clusters with their replicas. */
interface TargetList {
  readonly clusters: Targets;
}

/**
 * Returns the target clusters, and after them all other clusters of `candidates` with 0 replicas. Uses `clusters` if there are no
 * `candidates`.
 */
export function attachZeroReplicaClusters({
  candidates,
  clusters,
  targetClusters,
}: {
  readonly candidates?: readonly { readonly name: string }[] | null;
  readonly clusters?: readonly { readonly name: string }[] | null;
  readonly targetClusters?: Targets | null;
}): TargetList {
  const others = (candidates ?? clusters ?? []).map(({ name }) => ({ name, replicas: 0 }));
  return mergeRequiredBy({ scheduled: targetClusters ?? [], requiredBy: [others] });
}

/** Merges both lists and adds up the replicas of clusters in both. */
export function mergeTargetClusters(lists: { readonly old?: Targets | null; readonly new?: Targets | null }): TargetList {
  const old = (lists.old ?? []).map(({ name, replicas = 0 }) => ({ name, previous: replicas }));
  const more = new Map((lists.new ?? []).map(({ name, replicas = 0 }) => [name, replicas]));
  return { clusters: [...addSeats(old, more)].map(([name, replicas]) => ({ name, replicas })) };
}

/**
 * Adds the clusters of the resources that need this resource (`requiredBy`) to its scheduled clusters. If a cluster occurs several times,
 * its first replica count is used.
 */
export function mergeRequiredBy({
  scheduled,
  requiredBy,
}: {
  readonly scheduled?: Targets | null;
  readonly requiredBy?: readonly Targets[] | null;
}): TargetList {
  const merged = new Map<string, TargetCluster>();
  for (const target of [...(scheduled ?? []), ...(requiredBy ?? []).flat()]) {
    if (!merged.has(target.name)) merged.set(target.name, target);
  }
  return { clusters: [...merged.values()] };
}

/**
 * True if the placed replicas have to be divided anew for the wanted number, as in Karmada's IsBindingReplicasChanged. False for an unknown
 * strategy.
 */
export function replicasChanged({
  replicas = 0,
  clusters,
  strategy,
}: {
  readonly replicas?: number;
  readonly clusters?: Targets | null;
  readonly strategy?: ReplicaScheduling | null;
}): { readonly changed: boolean } {
  const placed = (clusters ?? []).map((target) => ({ replicas: target.replicas ?? 0 }));
  const mode = modes.find((known) => known === strategy?.replicaSchedulingType);
  return { changed: mode !== undefined && areReplicasChanged(replicas, placed, mode) };
}

const modes = ['Duplicated', 'Divided'] as const;

/** Karmada's RescheduleRequired: true if a reschedule was requested after the last scheduling. */
export function rescheduleRequired({
  rescheduleTriggeredAt,
  lastScheduledTime,
}: {
  readonly rescheduleTriggeredAt?: string | null;
  readonly lastScheduledTime?: string | null;
}): { readonly required: boolean } {
  return {
    required: isRescheduleRequested({ rescheduleAt: rescheduleTriggeredAt ?? undefined, scheduledAt: lastScheduledTime ?? undefined }),
  };
}

/**
 * Divides the completions of a Job in proportion to the replicas of its clusters. Empty for a Job without completions.
 *
 * @throws {MusterError} `BAD_INPUT` if the completions are no integer.
 */
export function divideJobCompletions({ job, clusters }: { readonly job: JsonObject; readonly clusters?: Targets | null }): {
  readonly completions: Targets;
} {
  const completions = wholeIn(job, 'completions');
  if (completions === undefined) return { completions: [] };
  const { uid } = isJsonObject(job.metadata) ? job.metadata : {};
  const counts = new Map((clusters ?? []).map(({ name, replicas = 0 }) => [name, replicas]));
  const divided = divideCompletions(completions, counts, tieBreakOf(typeof uid === 'string' ? uid : ''));
  return { completions: [...divided].map(([name, replicas]) => ({ name, replicas })) };
}

/** True if the completions of a Job must be divided: its replicas are divided, and there is at least one replica. */
export function needReviseJobCompletions({
  replicas = 0,
  placement,
}: {
  readonly replicas?: number;
  readonly placement?: KarmadaPlacement | null;
}): {
  readonly needed: boolean;
} {
  return { needed: replicas > 0 && placement?.replicaScheduling?.replicaSchedulingType === 'Divided' };
}

/**
 * Sets the replica count. An object without a count stays unchanged.
 *
 * @throws {MusterError} `BAD_INPUT` if the existing count is no integer, or the kind has no count.
 */
export function reviseReplicas({ object, replicas }: { readonly object: JsonObject; readonly replicas: number }): {
  readonly object: JsonObject;
} {
  const field = countFieldOf(object);
  if (field === undefined) throw new MusterError('BAD_INPUT', `expected a kind with a count, got ${String(object.kind)}`);
  return { object: wholeIn(object, field) === undefined ? object : withWorkloadCount(object, { count: replicas }) };
}

function wholeIn({ spec }: JsonObject, field: string): number | undefined {
  if (spec === undefined || spec === null) return undefined;
  const value = isJsonObject(spec) ? spec[field] : undefined;
  if (isJsonObject(spec) && value === undefined) return undefined;
  if (typeof value === 'number' && Number.isInteger(value)) return value;
  throw new MusterError('BAD_INPUT', `expected a whole number at spec.${field}`);
}
