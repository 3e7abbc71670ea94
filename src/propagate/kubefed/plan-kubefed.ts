/**
 * The preference of KubeFed or Federation v1 for one cluster, in whole numbers. An absent or null `minReplicas` or `weight` counts as 0. An
 * absent or null `maxReplicas` is no limit.
 */
export interface KubeFedPreference {
  readonly minReplicas?: number | null | undefined;
  readonly maxReplicas?: number | null | undefined;
  readonly weight?: number | null | undefined;
}

/** Counts by the name of the cluster. */
type CountsByCluster = Readonly<Record<string, number>>;

/** The input of `planKubeFed`. */
export interface KubeFedPlanRequest {
  /** Default: 0. */
  readonly totalReplicas?: number | null | undefined;
  /**
   * The preference of each cluster, by name. `*` applies to every cluster that has no entry. Null is a preference without fields. Default: none, so
   * every count is 0.
   */
  readonly preferences?: Readonly<Record<string, KubeFedPreference | null>> | null | undefined;
  /** The clusters that can receive replicas, in any order. */
  readonly clusters?: readonly string[] | null | undefined;
  /** Replicas that already run in each cluster. Default: 0. */
  readonly currentReplicas?: CountsByCluster | null | undefined;
  /** Replicas for which each cluster has room. A cluster that is absent has unlimited room. */
  readonly estimatedCapacity?: CountsByCluster | null | undefined;
  /** `namespace/name` of the workload. It decides between clusters of equal weight. Default: the empty text. */
  readonly key?: string | null | undefined;
  /** True: running replicas may move. Default: false, they stay where they are as far as the preferences allow. */
  readonly rebalance?: boolean | null | undefined;
}

/** The result of `planKubeFed`. KubeFed writes `plan` + `overflow` as the count of a cluster. */
export interface KubeFedPlan {
  /** The replicas of every cluster in the request, 0 included. The sum can be less than the total. */
  readonly plan: CountsByCluster;
  /** Replicas above the capacity of a full cluster that are requested from it all the same. Holds only counts above 0. */
  readonly overflow: CountsByCluster;
}

/** A cluster with a preference, and what it received so far. */
interface PlannedCluster {
  readonly name: string;
  readonly min: number;
  readonly max: number;
  readonly weight: number;
  readonly capacity: number;
  readonly hash: number;
  planned: number;
  /** Replicas of `planned` that run already. They count as the cluster's part of the first rounds. */
  reserved: number;
  overflow: number;
}

/**
 * Plans the replicas of each cluster as KubeFed and Federation v1 do, with their order of clusters and their rounding
 * (docs/internals/propagation.md 3.4):
 *
 * 1. Each cluster gets its minimum, in the order of the weights.
 * 2. Without `rebalance`, each cluster keeps the replicas that already run in it.
 * 3. The remaining replicas are distributed by weight, rounded up.
 *
 * Maximums and absent weights can leave replicas unplaced. The result does not depend on the order of `clusters` or of the keys.
 */
export function planKubeFed(request: KubeFedPlanRequest): KubeFedPlan {
  const names = request.clusters ?? [];
  const clusters = names.flatMap((name) => plannedCluster(name, request) ?? []).sort(byWeightThenHash);
  let remaining = assignMinimums(clusters, request.totalReplicas ?? 0);
  if (request.rebalance !== true) remaining = reserveCurrent(clusters, remaining, request.currentReplicas ?? {});
  remaining = distributeByWeight(clusters, remaining);
  const overflowLimit = request.rebalance === true ? Number.POSITIVE_INFINITY : remaining;
  const plan = Object.fromEntries(names.map((name) => [name, 0]));
  for (const { name, planned } of clusters) plan[name] = planned;
  const overflows = clusters.map(({ name, overflow }) => [name, Math.min(overflow, overflowLimit)] as const);
  return { plan, overflow: Object.fromEntries(overflows.filter(([, overflow]) => overflow > 0)) };
}

/** Returns the 32-bit FNV-1 hash (not FNV-1a) of the UTF-8 text of the cluster's name, followed by the key of the workload. */
export function clusterHash(cluster: string, key: string): number {
  let hash = 0x811c9dc5;
  for (const byte of new TextEncoder().encode(cluster + key)) hash = Math.imul(hash, 0x01000193) ^ byte;
  return hash >>> 0;
}

function plannedCluster(name: string, { preferences, estimatedCapacity, key }: KubeFedPlanRequest): PlannedCluster | undefined {
  const found = entryOf(preferences, name);
  const written = found === undefined ? entryOf(preferences, '*') : found;
  if (written === undefined) return undefined;
  const preference = written ?? {};
  return {
    name,
    min: preference.minReplicas ?? 0,
    max: preference.maxReplicas ?? Number.POSITIVE_INFINITY,
    weight: preference.weight ?? 0,
    capacity: entryOf(estimatedCapacity, name) ?? Number.POSITIVE_INFINITY,
    hash: clusterHash(name, key ?? ''),
    planned: 0,
    reserved: 0,
    overflow: 0,
  };
}

function entryOf<T>(record: Readonly<Record<string, T>> | null | undefined, name: string): T | undefined {
  return record != null && Object.hasOwn(record, name) ? record[name] : undefined;
}

function byWeightThenHash(a: PlannedCluster, b: PlannedCluster): number {
  return b.weight - a.weight || a.hash - b.hash;
}

/** Gives each cluster its minimum as far as the replicas last. Returns the replicas that remain. */
function assignMinimums(clusters: readonly PlannedCluster[], total: number): number {
  let remaining = total;
  for (const cluster of clusters) {
    cluster.planned = Math.min(cluster.min, remaining, cluster.capacity);
    remaining -= cluster.planned;
  }
  return remaining;
}

/** Gives each cluster the replicas that already run in it, within its maximum and capacity. Returns the replicas that remain. */
function reserveCurrent(clusters: readonly PlannedCluster[], total: number, current: CountsByCluster): number {
  let remaining = total;
  for (const cluster of clusters) {
    const kept = Math.min(entryOf(current, cluster.name) ?? cluster.planned, cluster.max, cluster.capacity);
    cluster.reserved = Math.max(0, Math.min(kept - cluster.planned, remaining));
    cluster.planned += cluster.reserved;
    remaining -= cluster.reserved;
  }
  return remaining;
}

/** Distributes in rounds until nothing remains or a round changes nothing. Returns the replicas that remain. */
function distributeByWeight(clusters: readonly PlannedCluster[], total: number): number {
  let remaining = total;
  let open = clusters;
  for (let isChanged = true; isChanged && remaining > 0; ) {
    isChanged = false;
    const round = { total: remaining, weights: open.reduce((sum, { weight }) => sum + weight, 0) };
    if (round.weights <= 0) break;
    const stillOpen: PlannedCluster[] = [];
    for (const cluster of open) {
      const added = addPart(cluster, round, remaining);
      remaining -= added.replicas;
      isChanged ||= added.isChanged;
      if (!added.isFull) stillOpen.push(cluster);
    }
    open = stillOpen;
  }
  return remaining;
}

/**
 * Adds the cluster's part of a round. The part is first taken from the reserved replicas of the cluster. A cluster at its maximum or
 * capacity is full and leaves the rounds. If its minimum was above its maximum, it gives replicas back.
 */
function addPart(
  cluster: PlannedCluster,
  round: { readonly total: number; readonly weights: number },
  remaining: number,
): { readonly replicas: number; readonly isChanged: boolean; readonly isFull: boolean } {
  const part = Math.min(Math.trunc((round.total * cluster.weight + round.weights - 1) / round.weights), remaining);
  const fromReserved = Math.min(part, cluster.reserved);
  cluster.reserved -= fromReserved;
  const before = cluster.planned;
  const wanted = before + part - fromReserved;
  const withinMax = Math.min(wanted, cluster.max);
  cluster.planned = Math.min(withinMax, cluster.capacity);
  cluster.overflow += withinMax - cluster.planned;
  return {
    replicas: cluster.planned - before,
    isChanged: fromReserved > 0 || cluster.planned > before,
    isFull: cluster.planned < wanted,
  };
}
