import { keyOfKind } from '../../core/kinds.ts';
import { compareText } from '../../core/text.ts';
import { groupKindOfKey, textOfKey } from '../../manifests/object-key.ts';
import { defaultFailover } from '../model/failover-definition.ts';
import type { Note } from '../model/notes.ts';
import type { RejectedCluster } from '../model/placement.ts';
import type { ClusterMove } from '../model/plan.ts';
import type { Eviction } from '../model/propagation.ts';
import { type PlacedCluster, type PlacementResult, placeReplicas, type Workload, workloadsIn } from './place-replicas.ts';
import type { WorkloadCount } from './placing/workload-count.ts';
import { previousCounts } from './previous-counts.ts';
import { holdsCopies } from './snapshot/cluster-locations.ts';
import type { PlanSnapshot, SnapshotCluster } from './snapshot/snapshot.ts';

/** A placement that respects evictions. */
export interface EvictingPlacement extends PlacementResult {
  /** The clusters that this plan leaves because they are evicted. */
  readonly moves: readonly ClusterMove[];
}

/**
 * Chooses clusters and divides the replicas, without the evicted clusters (docs/internals/propagation.md 9). Copies stay in an evicted
 * cluster if no other cluster takes them, or if they may not move. The other clusters are then planned as if there were no eviction of
 * these copies.
 *
 * A cluster that was left before is chosen again if copies must leave a cluster that took over from it (`placeMoved`).
 */
export function placeWithEvictions(snapshot: PlanSnapshot): EvictingPlacement {
  const evictions = (snapshot.evictions ?? []).filter(({ cause }) => cause !== 'Return');
  const isHere = ({ cluster }: Eviction) => snapshot.clusters.some((entry) => entry.cluster.name === cluster);
  const present = evictions.filter(isHere);
  // An evicted cluster that was not chosen before holds nothing that could move.
  const open = present.filter(({ cluster, to }) => to === undefined && snapshot.previous?.replicas.has(cluster) === true);
  const gone = present.filter((eviction) => !open.includes(eviction));
  const staying = placeWithout(snapshot, gone);
  if (open.length === 0) return { ...staying, moves: [] };
  const fixed = fixedWorkloadsIn(snapshot, open);
  const notes = fixed.size === 0 ? [] : open.filter((one) => isAway(snapshot, one)).map(fateNote);
  const workloads = workloadsIn(snapshot);
  const isFixed = workloads.length > 0 && workloads.every(({ index }) => fixed.has(index));
  const moved = isFixed ? staying : placeMoved(snapshot, { gone, open });
  if (isFixed || moved.problem !== undefined) return { ...staying, notes: [...staying.notes, ...notes], moves: [] };
  const inputs: EvictionInputs = { snapshot, open: inOrder(open), staying, moved, workloads, fixed };
  const joined = snapshot.spec.replicas.mode === 'Divided' && workloads.length > 0 ? joinDivided(inputs) : joinWhole(inputs);
  return { ...joined, notes: [...joined.notes, ...notes] };
}

interface EvictionInputs {
  readonly snapshot: PlanSnapshot;
  /** The evicted clusters that have planned copies, the earliest first. */
  readonly open: readonly Eviction[];
  /** The placement if no copy leaves these clusters. */
  readonly staying: PlacementResult;
  /** The placement without these clusters. */
  readonly moved: PlacementResult;
  readonly workloads: readonly Workload[];
  /** The indices of the workloads that may not move. */
  readonly fixed: ReadonlySet<number>;
}

/**
 * Places the copies of the `open` clusters elsewhere: in clusters that were never left. If these do not take all of the copies, clusters that were
 * left before (`gone`) take part too, if they answer again and still have their old copies: these may be the only ones that run. All is then placed
 * from zero, because affinity groups otherwise never go back to an earlier one.
 */
function placeMoved(snapshot: PlanSnapshot, { gone, open }: Readonly<Record<'gone' | 'open', readonly Eviction[]>>): PlacementResult {
  const moved = placeWithout(snapshot, [...gone, ...open]);
  const back = gone.filter((eviction) => isBackWithCopies(snapshot, eviction));
  if (back.length === 0 || (moved.problem === undefined && moved.unplaced === 0)) return moved;
  const readmitted = placeWithout({ ...snapshot, isReturn: true }, [...gone.filter((eviction) => !back.includes(eviction)), ...open]);
  return readmitted.problem === undefined && (moved.problem !== undefined || readmitted.unplaced < moved.unplaced) ? readmitted : moved;
}

function isBackWithCopies(snapshot: PlanSnapshot, eviction: Eviction): boolean {
  const entry = snapshot.clusters.find(({ cluster }) => cluster.name === eviction.cluster);
  if (entry?.share === undefined || !holdsCopies(entry.share) || eviction.cause === 'Unhealthy') return false;
  return !isAway(snapshot, eviction) && !entry.cluster.taints.some(({ effect }) => effect === 'NoExecute');
}

function placeWithout(snapshot: PlanSnapshot, evicted: readonly Eviction[]): PlacementResult {
  const causes = new Map<string, Eviction>(evicted.map((eviction) => [eviction.cluster, eviction]));
  const out = snapshot.clusters.filter(({ cluster }) => causes.has(cluster.name));
  if (out.length === 0) return placeReplicas(snapshot);
  const clusters = snapshot.clusters.filter((entry) => !out.includes(entry));
  const placed = placeReplicas({ ...snapshot, clusters });
  return { ...placed, rejected: [...placed.rejected, ...out.map((entry) => rejectedOf(entry, causes))].toSorted(byCluster) };
}

function rejectedOf({ cluster }: SnapshotCluster, causes: ReadonlyMap<string, Eviction>): RejectedCluster {
  return { cluster: cluster.name, reason: 'EVICTING', detail: causes.get(cluster.name)?.cause ?? '' };
}

function inOrder(open: readonly Eviction[]): readonly Eviction[] {
  return open.toSorted((a, b) => Date.parse(a.since) - Date.parse(b.since) || compareText(a.cluster, b.cluster));
}

/** True if nothing is known of the copies in the evicted cluster, because it does not answer. */
function isAway({ clusters }: PlanSnapshot, { cluster }: Eviction): boolean {
  const phase = clusters.find((entry) => entry.cluster.name === cluster)?.cluster.phase;
  return phase === 'UNREACHABLE' || phase === 'CONNECTING';
}

/**
 * Returns the indices of the workloads that may not leave a cluster that does not answer: StatefulSets, and Jobs that have not ended. With
 * `purge` Directly or Never, a user has allowed that they move.
 */
function fixedWorkloadsIn(snapshot: PlanSnapshot, open: readonly Eviction[]): ReadonlySet<number> {
  const { purge } = snapshot.spec.failover ?? defaultFailover;
  const away = open.filter((eviction) => isAway(snapshot, eviction));
  if (away.length === 0 || purge !== 'Gracefully') return new Set();
  const fixed = workloadsIn(snapshot).filter(({ key }) => fixedKinds.has(keyOfKind(groupKindOfKey(key))));
  return new Set(fixed.map(({ index }) => index));
}

const fixedKinds: ReadonlySet<string> = new Set(['StatefulSet.apps', 'Job.batch']);

function fateNote({ cluster }: Eviction): Note {
  const message = `cluster ${cluster} does not answer, so it is unknown whether its StatefulSets and Jobs run: they stay there`;
  return { severity: 'WARNING', code: 'FATE_UNKNOWN', message: `${message}. failover.purge Directly or Never lets them move` };
}

/**
 * Joins the placements of divided workloads: of each workload, the evicted clusters keep the replicas that no other cluster takes. The
 * counts of a workload that may not move stay.
 */
function joinDivided(inputs: EvictionInputs): EvictingPlacement {
  const { snapshot, open, staying, moved, workloads, fixed } = inputs;
  const previousOf = previousCounts(snapshot.previous, workloads, snapshot.clusters);
  const counts = new Map<string, Map<number, WorkloadCount>>();
  let unplaced = 0;
  for (const { index, count } of workloads) {
    const { clusters } = fixed.has(index) ? staying : moved;
    for (const placed of clusters) setCount(counts, placed.chosen.cluster, index, placed.counts.get(index));
    let rest = count - clusters.reduce((sum, placed) => sum + (placed.counts.get(index)?.count ?? 0), 0);
    for (const { cluster } of fixed.has(index) ? [] : open) {
      const kept = Math.min(rest, previousOf(cluster, index));
      setCount(counts, cluster, index, { count: kept });
      rest -= kept;
    }
    unplaced += Math.max(0, rest);
  }
  return joinedOf(inputs, { counts, unplaced, isUsed: (cluster) => sumOf(counts.get(cluster)) > 0 });
}

/**
 * Joins the placements of objects that are placed as a whole. For each cluster that was not chosen before, the copies leave one evicted
 * cluster. The clusters that were evicted first are left first. A workload that may not move stays where the inventory has it.
 */
function joinWhole(inputs: EvictionInputs): EvictingPlacement {
  const { snapshot, open, staying, moved, workloads, fixed } = inputs;
  const { previous, clusters: entries } = snapshot;
  const more = moved.clusters.filter(({ chosen }) => previous?.replicas.has(chosen.cluster) !== true).length;
  const left = new Set<string>(open.slice(0, more).map(({ cluster }) => cluster));
  if (left.size === 0) return { ...staying, moves: [] };
  const holds = (cluster: string, { key }: Workload) =>
    entries.some(
      (entry) => entry.cluster.name === cluster && entry.share?.entries.some((one) => textOfKey(one.key) === textOfKey(key)) === true,
    );
  const counts = new Map<string, Map<number, WorkloadCount>>();
  const names = [...moved.clusters.map(({ chosen }) => chosen.cluster), ...open.map(({ cluster }) => cluster)];
  for (const cluster of names) {
    counts.set(cluster, new Map());
    for (const workload of workloads) {
      const isWanted = fixed.has(workload.index) ? holds(cluster, workload) : !left.has(cluster);
      setCount(counts, cluster, workload.index, { count: isWanted ? workload.count : 0 });
    }
  }
  const hasFixed = (cluster: string) => workloads.some((workload) => fixed.has(workload.index) && holds(cluster, workload));
  return joinedOf(inputs, { counts, unplaced: moved.unplaced, isUsed: (cluster) => !left.has(cluster) || hasFixed(cluster) });
}

interface JoinedCounts {
  /** The replicas of each workload, by cluster and by the index of the workload. */
  readonly counts: ReadonlyMap<string, ReadonlyMap<number, WorkloadCount>>;
  readonly unplaced: number;
  /** True if the cluster has copies in the joined placement. */
  readonly isUsed: (cluster: string) => boolean;
}

function joinedOf({ snapshot, open, staying, moved }: EvictionInputs, { counts, unplaced, isUsed }: JoinedCounts): EvictingPlacement {
  const known = new Map<string, PlacedCluster>([...staying.clusters, ...moved.clusters].map((placed) => [placed.chosen.cluster, placed]));
  const clusters = snapshot.clusters.flatMap((entry): readonly PlacedCluster[] => {
    const { name } = entry.cluster;
    const own = counts.get(name);
    if (own === undefined || !isUsed(name)) return [];
    const placed = known.get(name) ?? { chosen: { cluster: name, tier: 0, score: 100 }, entry };
    return [withJoinedCounts({ ...placed, counts: own })];
  });
  const used = new Set<string>(clusters.map(({ chosen }) => chosen.cluster));
  const placed = clusters.reduce((sum, { share }) => sum + (share?.to ?? 0), 0);
  const desired =
    moved.desired === undefined ? undefined : Math.max(placed + unplaced, snapshot.spec.replicas.mode === 'Divided' ? moved.desired : 0);
  const { previous } = snapshot;
  const gained = clusters.filter(({ chosen: { cluster }, share }) => {
    const before = previous?.replicas.get(cluster);
    return before === undefined || (share !== undefined && share.to > before);
  });
  const to = gained.map(({ chosen }) => chosen.cluster);
  const out = open.filter(({ cluster }) => !used.has(cluster));
  return {
    ...moved,
    clusters,
    rejected: moved.rejected.filter(({ cluster }) => !used.has(cluster)),
    ...(desired === undefined ? {} : { desired, placed }),
    unplaced,
    notes: moved.notes.filter(({ code }) => code !== 'UNPLACED' || unplaced > 0),
    moves: snapshot.clusters.flatMap(({ cluster: { name } }) =>
      out.some(({ cluster }) => cluster === name) ? [{ cluster: name, to }] : [],
    ),
  };
}

function withJoinedCounts({ share, ...placed }: PlacedCluster): PlacedCluster {
  if (share === undefined) return placed;
  const to = sumOf(placed.counts);
  return { ...placed, share: { ...share, to, kept: Math.min(share.from, to) } };
}

function byCluster(a: RejectedCluster, b: RejectedCluster): number {
  return compareText(a.cluster, b.cluster);
}

function setCount(counts: Map<string, Map<number, WorkloadCount>>, cluster: string, index: number, count: WorkloadCount | undefined): void {
  const of = counts.get(cluster) ?? new Map<number, WorkloadCount>();
  if (count !== undefined) of.set(index, count);
  counts.set(cluster, of);
}

function sumOf(counts: ReadonlyMap<number, WorkloadCount> | undefined): number {
  return [...(counts?.values() ?? [])].reduce((sum, { count }) => sum + count, 0);
}
