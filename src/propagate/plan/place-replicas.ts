import type { Fault } from '../../core/faults.ts';
import { canonicalJson } from '../../core/json/canonical-json.ts';
import { objectAt } from '../../core/json-at.ts';
import { compareText } from '../../core/text.ts';
import { keyOfManifest } from '../../manifests/object-key.ts';
import type { Note } from '../model/notes.ts';
import type { ChosenCluster, ClusterSelection, PlacementCandidate, RejectedCluster, ReplicaShare } from '../model/placement.ts';
import { isDividedAsKubeFed, type PropagationSpec, printSpec } from '../model/spec.ts';
import { copyFault } from './copies/copy-reason.ts';
import { keepsEmptyCopy, losesReplicas } from './exact/divide-as-kubefed.ts';
import { rulesOf } from './exact/system-rules.ts';
import { keptClusters } from './kept-clusters.ts';
import { dependsOnUnknown } from './placing/cluster-set.ts';
import type { DivisionTarget } from './placing/divide-replicas.ts';
import { rescheduleDueMs } from './placing/reschedule.ts';
import { firstWithoutProblem, selectionsOf } from './placing/select-placement.ts';
import { otherSetsIn } from './placing/sets-in.ts';
import { plannedCountOf, type WorkloadCount, wantedPodsOf } from './placing/workload-count.ts';
import { type CountedWorkload, type PreviousCounts, previousCounts } from './previous-counts.ts';
import { holdsCopies } from './snapshot/cluster-locations.ts';
import type { PlanSnapshot, SnapshotCluster } from './snapshot/snapshot.ts';

/** A chosen cluster with its replicas. */
export interface PlacedCluster {
  readonly chosen: ChosenCluster;
  readonly entry: SnapshotCluster;
  /** The replicas of each workload in the cluster, by its index in `PlanSnapshot.templates`. */
  readonly counts: ReadonlyMap<number, WorkloadCount>;
  /** The replicas of all workloads together. Absent if the template has no workload, or if an autoscaler owns the count. */
  readonly share?: ReplicaShare;
  /**
   * Why the copies of the cluster cannot be rendered now: its location is unknown and decides which copies are wanted. Absent if the location
   * is known or does not matter.
   */
  readonly locationFault?: Fault;
}

/** The result of placement: the chosen clusters with their replicas. */
export interface PlacementResult {
  /** Sorted by name. */
  readonly clusters: readonly PlacedCluster[];
  /** Sorted by name. */
  readonly rejected: readonly RejectedCluster[];
  readonly affinityGroup?: string;
  /** Why no cluster could be chosen. Absent if at least one was chosen. */
  readonly problem?: string;
  /** True if clusters are chosen, but nothing is placed because not all replicas fit. Existing copies then stay. */
  readonly isShort?: true;
  /** The wanted replicas of all workloads. Absent if the template has no workload, or if an autoscaler owns the count. */
  readonly desired?: number;
  /** The replicas that have a cluster. Absent as `desired` is. */
  readonly placed?: number;
  /** The replicas for which no cluster has room. */
  readonly unplaced: number;
  /** True if the replicas were divided without regard to the previous counts. */
  readonly fromZero: boolean;
  readonly notes: readonly Note[];
}

/**
 * Chooses clusters and divides the replicas among them.
 *
 * An earlier division stays until a new one is needed: after a change of placement, rules or counts, when `rescheduleAt` has passed, or
 * when a cluster left the fleet. Several divided workloads are each divided by the same rules.
 */
export function placeReplicas(gathered: PlanSnapshot): PlacementResult {
  const workloads = workloadsIn(gathered);
  const snapshot = withRoomWithoutEstimate(gathered, workloads);
  const { spec, previous } = snapshot;
  const dueMs = rescheduleDueMs({ rescheduleAt: spec.replicas.rescheduleAt, scheduledAt: previous?.scheduledAt });
  const fresh = snapshot.isReturn === true || (dueMs !== undefined && dueMs <= snapshot.nowMs);
  const candidates = snapshot.clusters.map((entry) => candidateOf(snapshot, entry));
  const selections = selectionsOf({
    placement: spec.placement,
    candidates,
    ...(workloads.length === 0
      ? {}
      : { workload: { count: totalOf(workloads), mode: spec.replicas.mode, strategy: spec.replicas.strategy } }),
    ...(previous?.affinityGroup === undefined ? {} : { previousGroup: previous.affinityGroup }),
    fresh,
    spreadRules: rulesOf(spec.exact).spreadRulesOf(spec),
  });
  return firstWithoutProblem(selections.map((selection) => placementResultOf({ snapshot, workloads, fresh, selection })));
}

/** Adds the room of clusters without an estimate, if the rules of the spec assume one (`SystemRules.roomWithoutEstimate`). */
function withRoomWithoutEstimate(snapshot: PlanSnapshot, workloads: readonly Workload[]): PlanSnapshot {
  const { roomWithoutEstimate } = rulesOf(snapshot.spec.exact);
  const assumed = workloads.flatMap(({ index, count }): readonly [number, number][] => {
    const room = roomWithoutEstimate(snapshot.spec, count);
    return room === undefined ? [] : [[index, room]];
  });
  if (assumed.length === 0) return snapshot;
  const clusters = snapshot.clusters.map((entry) => {
    const estimated = [...entry.capacities].filter(([, capacity]) => Number.isFinite(capacity));
    return { ...entry, capacities: new Map([...assumed, ...estimated]) };
  });
  return { ...snapshot, clusters };
}

interface DivisionInput {
  readonly snapshot: PlanSnapshot;
  readonly workloads: readonly Workload[];
  readonly fresh: boolean;
  readonly selection: ClusterSelection;
}

/** One workload of the template, with its wanted replicas. */
export interface Workload extends WorkloadCount, CountedWorkload {}

function placementResultOf({ snapshot, workloads, fresh, selection }: DivisionInput): PlacementResult {
  const { spec, previous } = snapshot;
  const kept = keptClusters({ snapshot, fresh, desired: workloads.length === 0 ? undefined : totalOf(workloads) });
  const chosen = chooseClusters({ snapshot, selection }, kept);
  const desired = totalOf(workloads);
  const rulesChanged = previous !== undefined && textOfRules(previous.spec) !== textOfRules(spec);
  const previousOf = previousCounts(previous, workloads, snapshot.clusters);
  const keepsDivision = kept !== undefined;
  const { divide, leavesOutEmpty } = rulesOf(spec.exact);
  const divisions = workloads.map((workload) => {
    const { index } = workload;
    const targets = chosen.clusters.map(({ chosen: one, entry }) => targetOf({ chosen: one, entry, index, previousOf, spec }));
    return { index, division: divide({ spec, workload, chosen: targets, fresh, rulesChanged, keepsDivision }) };
  });
  const failure = divisions.find(({ division }) => division.problem !== undefined)?.division.problem;
  // With mode External, an autoscaler owns the replicas: they are not divided, and the wanted number is unknown.
  const isCounted = workloads.length > 0 && spec.replicas.mode !== 'External';
  const clusters = chosen.clusters.map((one, at): PlacedCluster => {
    const shares = divisions.map(({ index, division }) => ({ index, share: division.shares[at] }));
    const { share, ...placed } = withCounts(one, shares);
    return { ...placed, ...(share === undefined || !isCounted ? {} : { share }), ...locationFaultOf(spec, one) };
  });
  const hasJob = workloads.some(({ key }) => key.kind === 'Job');
  const isUsed = ({ share, entry }: PlacedCluster) =>
    !losesReplicas(spec, entry.cluster) &&
    (spec.replicas.mode !== 'Divided' ||
      desired === 0 ||
      share === undefined ||
      share.to > 0 ||
      keepsEmptyCopy(spec, { share: entry.share, hasJob }));
  const isLeftOut = workloads.length > 0 && desired === 0 && leavesOutEmpty(snapshot);
  const used = failure === undefined && !isLeftOut ? clusters.filter(isUsed) : [];
  const detail = failure ?? `0 of ${desired} replicas`;
  const empty = clusters
    .filter((cluster) => !used.includes(cluster))
    .map(({ chosen: { cluster } }): RejectedCluster => ({ cluster, reason: 'CAPACITY', detail }));
  const problem = chosen.problem ?? failure ?? (used.length === 0 && !isLeftOut ? 'no cluster has room for a replica' : undefined);
  const group = keepsDivision ? previous?.affinityGroup : selection.group;
  return {
    clusters: used.toSorted((a, b) => byName(a.chosen, b.chosen)),
    rejected: [...chosen.rejected, ...empty].toSorted(byName),
    ...(group === undefined ? {} : { affinityGroup: group }),
    ...(problem === undefined ? {} : { problem }),
    ...(chosen.problem === undefined && failure !== undefined ? { isShort: true } : {}),
    ...(isCounted ? { desired: desiredIn(spec, { desired, clusters: used.length }), placed: placedIn(used) } : {}),
    unplaced: divisions.reduce((sum, { division }) => sum + division.unplaced, 0),
    fromZero: previous?.scheduledAt === undefined || fresh || rulesChanged,
    notes: [...selection.notes, ...divisions.flatMap(({ division }) => division.notes), ...notesOfTotal(spec, workloads)],
  };
}

/**
 * Returns an error note if `replicas.total` is used with several workloads. `total` is the count of a single workload
 * (docs/internals/propagation.md 2.1).
 */
function notesOfTotal({ replicas: { total } }: PropagationSpec, workloads: readonly Workload[]): readonly Note[] {
  if (total === undefined || workloads.length < 2) return [];
  const message = `expected one workload in the template, because total is the count of a single workload, got ${workloads.length}`;
  return [{ severity: 'ERROR', code: 'INVALID', message, path: 'replicas.total' }];
}

function locationFaultOf(
  spec: PropagationSpec,
  { chosen, entry: { cluster } }: ChosenClusters['clusters'][number],
): Pick<PlacedCluster, 'locationFault'> {
  const { unknownLocation } = cluster;
  if (unknownLocation === undefined) return {};
  const decidesOtherSets = unknownLocation.mayBecomeKnown && otherSetsIn(spec).some((set) => dependsOnUnknown(set, cluster));
  return chosen.isLocationUnknown === true || decidesOtherSets
    ? { locationFault: copyFault(cluster.name, 'SYNCING', unknownLocation.message) }
    : {};
}

/** Returns the wanted replicas of all clusters together: the count for mode Divided, the count times the clusters for mode Duplicated. */
function desiredIn(
  { replicas: { mode } }: PropagationSpec,
  { desired, clusters }: { readonly desired: number; readonly clusters: number },
): number {
  return mode === 'Divided' ? desired : desired * clusters;
}

function placedIn(clusters: readonly PlacedCluster[]): number {
  return clusters.reduce((sum, { share }) => sum + (share?.to ?? 0), 0);
}

/** Returns the workloads of the template, in its order. */
export function workloadsIn({ spec, templates }: PlanSnapshot): readonly Workload[] {
  return templates.flatMap(({ manifest }, index): readonly Workload[] => {
    const workload = plannedCountOf(manifest, spec);
    if (workload === undefined) return [];
    const { completions } = workload;
    const count = isDividedAsKubeFed(spec) ? wantedPodsOf(manifest) : workload.count;
    return [
      { index, key: keyOfManifest(manifest), count: spec.replicas.total ?? count, ...(completions === undefined ? {} : { completions }) },
    ];
  });
}

function totalOf(workloads: readonly Workload[]): number {
  return workloads.reduce((sum, { count }) => sum + count, 0);
}

function candidateOf(
  { previous, purpose }: PlanSnapshot,
  { cluster, missingKinds, capacities, share }: SnapshotCluster,
): PlacementCandidate {
  // The capacity of a cluster is that of the workload that fits least often.
  const capacity = capacities.size === 0 ? undefined : Math.min(...capacities.values());
  return {
    cluster,
    leaving: false,
    missingKinds,
    holds: share !== undefined && holdsCopies(share),
    isDecided: purpose === 'keep' && previous?.replicas.has(cluster.name) === true,
    previous: previous?.replicas.get(cluster.name) ?? 0,
    ...(capacity === undefined ? {} : { capacity }),
  };
}

interface ChosenClusters {
  readonly clusters: readonly { readonly chosen: ChosenCluster; readonly entry: SnapshotCluster }[];
  readonly rejected: readonly RejectedCluster[];
  readonly problem?: string | undefined;
}

function chooseClusters(
  { snapshot, selection }: Pick<DivisionInput, 'snapshot' | 'selection'>,
  kept: readonly SnapshotCluster['cluster']['name'][] | undefined,
): ChosenClusters {
  const entries = new Map(snapshot.clusters.map((entry) => [entry.cluster.name, entry]));
  const selected = new Map(selection.chosen.map((chosen) => [chosen.cluster, chosen]));
  const chosen = kept === undefined ? selection.chosen : kept.map((cluster) => keptChoice(cluster, selected.get(cluster)));
  const names = new Set(chosen.map(({ cluster }) => cluster));
  const notNeeded = selection.chosen.filter(({ cluster }) => !names.has(cluster));
  return {
    clusters: chosen.flatMap((one) => {
      const entry = entries.get(one.cluster);
      return entry === undefined ? [] : [{ chosen: one, entry }];
    }),
    problem: kept === undefined ? selection.problem : undefined,
    rejected: [
      ...selection.rejected.filter(({ cluster }) => !names.has(cluster)),
      ...notNeeded.map(({ cluster }): RejectedCluster => ({ cluster, reason: 'CAPACITY', detail: 'all replicas are placed already' })),
    ],
  };
}

/**
 * Returns the `ChosenCluster` of a cluster that keeps its previous replicas. The cluster stays chosen whatever its location is. So the result has no
 * `isLocationUnknown`, which would keep its copies from being rendered.
 */
function keptChoice(cluster: ChosenCluster['cluster'], selected: ChosenCluster | undefined): ChosenCluster {
  if (selected === undefined) return { cluster, tier: 0, score: 100 };
  const { isLocationUnknown: _isLocationUnknown, ...choice } = selected;
  return choice;
}

function targetOf({
  chosen,
  entry,
  index,
  previousOf,
  spec: {
    replicas: { rules },
  },
}: {
  readonly chosen: ChosenCluster;
  readonly entry: SnapshotCluster;
  readonly index: number;
  readonly previousOf: PreviousCounts;
  readonly spec: PropagationSpec;
}): DivisionTarget {
  const { cluster } = entry;
  const capacity = entry.capacities.get(index);
  const running = entry.running?.get(index);
  const areRulesUndecided = cluster.unknownLocation?.mayBecomeKnown === true && rules.some(({ set }) => dependsOnUnknown(set, cluster));
  return {
    chosen,
    cluster,
    previous: previousOf(chosen.cluster, index),
    ...(capacity === undefined ? {} : { capacity }),
    ...(running === undefined ? {} : { running }),
    ...(areRulesUndecided ? { isUndecided: true } : {}),
  };
}

function withCounts(
  { chosen, entry }: ChosenClusters['clusters'][number],
  shares: readonly { readonly index: number; readonly share: ReplicaShare | undefined }[],
): PlacedCluster {
  const given = shares.flatMap(({ index, share }) => (share === undefined ? [] : [{ index, share }]));
  const counts = given.map(({ index, share: { to, completions } }): [number, WorkloadCount] => [
    index,
    { count: to, ...(completions === undefined ? {} : { completions }) },
  ]);
  const share = sumOfShares(given.map((one) => one.share));
  return { chosen, entry, counts: new Map(counts), ...(share === undefined ? {} : { share }) };
}

/** Adds up the replicas of all workloads. Undefined without workloads. The result keeps the weight and the bounds of the first workload. */
function sumOfShares(shares: readonly ReplicaShare[]): ReplicaShare | undefined {
  const [first] = shares;
  if (first === undefined || shares.length === 1) return first;
  const sumOf = (figure: 'from' | 'to' | 'kept') => shares.reduce((sum, share) => sum + share[figure], 0);
  const { completions: _completions, ...rest } = first;
  return { ...rest, from: sumOf('from'), to: sumOf('to'), kept: sumOf('kept') };
}

function textOfRules(spec: PropagationSpec): string {
  return canonicalJson(objectAt(printSpec(spec), 'replicas').rules ?? null);
}

function byName(a: { readonly cluster: string }, b: { readonly cluster: string }): number {
  return compareText(a.cluster, b.cluster);
}
