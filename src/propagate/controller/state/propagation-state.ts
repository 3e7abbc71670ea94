import type { Fault } from '../../../core/faults.ts';
import type { ClusterName } from '../../../core/names.ts';
import type { ClusterShare, OldValues } from '../../model/inventory.ts';
import type { RenderedObject, RenderedPlan } from '../../model/plan.ts';
import type { HeldPrune, Propagation, RequestedPlan } from '../../model/propagation.ts';
import type { PropagationName } from '../../model/propagations.ts';
import type { PropagationSpec } from '../../model/spec.ts';
import type { CopyOutcome, RollbackTarget } from '../../plan/copies/copy-work.ts';
import { rescheduleDueMs } from '../../plan/placing/reschedule.ts';

/**
 * What the process that leads knows of one Propagation, beside what the hub holds. All of it may be lost at any moment: then it is read and planned again.
 * Only the passes over this Propagation, and what they began, change it.
 */
export interface PropagationState {
  /** In the queue, and among interests. */
  readonly key: string;
  readonly name: PropagationName;
  /** The newest that was read or written. */
  latest: Propagation | undefined;
  /** As last saved by us, or loaded. Undefined: to be loaded from the hub. */
  shares: Map<ClusterName, ClusterShare> | undefined;
  /** Names of shares that could not be read, when the others were loaded. */
  unreadable: readonly string[];
  plan: CurrentPlan | undefined;
  /** Set while its generation is taken back. */
  breachRollback: BreachRollback | undefined;
  /** The copies of older revisions in clusters where the plan has not begun. Computed once for a plan, and only for the clusters that need it. */
  placedCopies: { readonly plan: CurrentPlan; readonly clusters: Map<ClusterName, readonly PlacedCopies[]> } | undefined;
  /** Something the plan was made from changed. */
  isPlanOld: boolean;
  /** Clusters in which the current plan was begun, whether or not the status says so yet; and what it wanted there then (`wantedHashOf`). */
  readonly begun: Map<ClusterName, string>;
  readonly clusters: Map<ClusterName, ClusterState>;
  /** Aborted and replaced when what is being done is not wanted any more: nothing that was begun with it writes after that. */
  work: AbortController;
  /** Monotonic: since when the mirror is seen to be older than `latest`. */
  behindSinceMs: number | undefined;
  /** When somebody said that it is to go on, as last seen: an annotation. */
  resumedAt: string | undefined;
  /** Failures in a row of what the hub was asked. */
  hubFailures: number;
  /** Plans in a row that were refused. */
  refusals: number;
  /** Monotonic: when a plan that was refused is made again, if nothing is heard before. */
  replanAtMs: number;
  /** Monotonic: of the last write of the status. */
  statusAtMs: number;
}

/** What was decided for a generation. */
export interface CurrentPlan {
  readonly uid: string;
  readonly generation: number;
  /** Of this generation's revision on the hub. */
  readonly revision: number;
  /** RFC 3339: when this generation was decided. */
  readonly scheduledAt: string;
  /** Of the plan that was decided: what was planned since differs from it only in what changed in the fleet. */
  readonly digest: string;
  readonly rendered: RenderedPlan;
  readonly verdict: PlanVerdict;
  /** To stand in the status (`PropagationStatus.mostObjects`). */
  readonly mostObjects: number;
  /** What somebody asked for by its digest, in this generation or an older one. */
  readonly requested?: RequestedPlan | undefined;
  /** Only what stands as the plan saw it is written: somebody asked for exactly this plan. */
  readonly isPinned: boolean;
  /** Clusters that came after this generation was decided: they wait for all others. */
  readonly lateClusters: ReadonlySet<ClusterName>;
  /** Of a generation that goes back to an older revision: what was taken over since is given back. */
  readonly rollback?: RollbackTarget | undefined;
  /**
   * Clusters where a write was under way while the plan was made. The plan does not know the objects that this write created, so it draws no conclusion
   * from the objects of these clusters. The plan is made again when the write has ended.
   */
  readonly writingClusters: ReadonlySet<ClusterName>;
}

/** A generation that is taken back after a breach (docs/internals/propagation.md 5.5). */
export interface BreachRollback {
  readonly generation: number;
  /** What the revision before wants in each cluster; absent where it wants nothing. */
  readonly wanted: ReadonlyMap<ClusterName, readonly RenderedObject[]>;
  /** Where it is not known what it wants, and why: nothing is taken back there. */
  readonly unknown: ReadonlyMap<ClusterName, Fault>;
  /** What this generation has taken over. */
  readonly oldValues: readonly OldValues[];
  /** Clusters in which all is taken back. */
  readonly doneClusters: Set<ClusterName>;
}

/** Copies of one cluster that one kept revision placed. */
export interface PlacedCopies {
  readonly revision: number;
  readonly spec: PropagationSpec;
  readonly objects: readonly RenderedObject[];
}

/** Whether a plan may be done. */
export type PlanVerdict =
  /** `prune`: what it takes away, as it was confirmed. Absent: that needs nobody to confirm it. */
  | { readonly result: 'do'; readonly prune?: HeldPrune }
  /** What it would take away must be confirmed first; the rest is done, and what is on its way goes on. */
  | { readonly result: 'holdPrune'; readonly why: string; readonly prune: HeldPrune }
  /** It is not the plan that was asked for. */
  | { readonly result: 'stale'; readonly asked: string }
  /** Its notes have an error. */
  | { readonly result: 'refused' };

/** One cluster of a Propagation. */
export interface ClusterState {
  /** Something is being written there. */
  isBusy: boolean;
  /** In a row. */
  failures: number;
  /** Monotonic: nothing is tried before. */
  retryAtMs: number;
  /** Somebody asked that it be tried at once, while something was being written there: what comes of that does not count. */
  isRetryRequested: boolean;
  /** Monotonic: when it was last tried, or is to be, as what was in the way may not be any more (`retrySoon`). */
  retrySoonAtMs: number;
  /** What failed last was that nobody answered: there is hope as soon as somebody does. */
  isUnreachable: boolean;
  /** What came of each object when it was last tried, by `textOfKey`. */
  outcomes: Map<string, CopyOutcome>;
  /** The versions at which copies that looked changed were asked about and are as they were written, by `textOfKey`. */
  checkedVersions: Map<string, string>;
  /** Why the last work there could not be done at all. */
  fault: Fault | undefined;
  /** The resourceVersion that the last write of each copy returned, by `textOfKey`. */
  writtenVersions: Map<string, string>;
  /** Milliseconds of the epoch: a mirror that is not known to be true after it may not have heard of what we wrote. */
  wroteAtMs: number;
}

/** Nothing is known yet. */
export function newPropagationState(place: PropagationName): PropagationState {
  return {
    key: keyOfPropagation(place),
    name: place,
    latest: undefined,
    shares: undefined,
    unreadable: [],
    plan: undefined,
    breachRollback: undefined,
    placedCopies: undefined,
    isPlanOld: false,
    begun: new Map(),
    clusters: new Map(),
    work: new AbortController(),
    behindSinceMs: undefined,
    resumedAt: undefined,
    hubFailures: 0,
    refusals: 0,
    replanAtMs: Number.POSITIVE_INFINITY,
    statusAtMs: Number.NEGATIVE_INFINITY,
  };
}

export function keyOfPropagation({ namespace, name }: PropagationName): string {
  return `${namespace}/${name}`;
}

/** What is known of that cluster; nothing at first. */
export function clusterStateOf(state: PropagationState, cluster: ClusterName): ClusterState {
  const known = state.clusters.get(cluster);
  if (known !== undefined) return known;
  const fresh: ClusterState = {
    isBusy: false,
    failures: 0,
    retryAtMs: Number.NEGATIVE_INFINITY,
    isRetryRequested: false,
    retrySoonAtMs: Number.NEGATIVE_INFINITY,
    isUnreachable: false,
    outcomes: new Map(),
    checkedVersions: new Map(),
    fault: undefined,
    writtenVersions: new Map(),
    wroteAtMs: 0,
  };
  state.clusters.set(cluster, fresh);
  return fresh;
}

/**
 * What was begun for the plan before is not wanted any more: its calls end, it writes nothing after that, and what it came to does not count. What it
 * or another process may have written meanwhile is known to the hub alone.
 */
export function discardPlan(state: PropagationState): void {
  state.work.abort();
  state.work = new AbortController();
  state.shares = undefined;
  state.plan = undefined;
  state.breachRollback = undefined;
  state.isPlanOld = false;
  state.refusals = 0;
  state.replanAtMs = Number.POSITIVE_INFINITY;
  state.begun.clear();
  state.placedCopies = undefined;
  for (const cluster of state.clusters.keys()) forgetFailures(state, cluster);
}

/** Forgets the failures in a cluster where another generation begins. That generation has not failed and is tried at once. */
export function forgetFailures(state: PropagationState, cluster: ClusterName): void {
  const known = clusterStateOf(state, cluster);
  known.failures = 0;
  known.retryAtMs = Number.NEGATIVE_INFINITY;
  known.outcomes.clear();
  known.fault = undefined;
}

/** Who goes on means now: neither what failed in a cluster nor a plan that was refused waits for its time. */
export function retryAllNow(state: PropagationState, nowMs: number): void {
  for (const known of state.clusters.values()) {
    known.isRetryRequested = known.isBusy;
    if (known.failures > 0) known.retryAtMs = nowMs;
  }
  if (state.refusals > 0) state.replanAtMs = nowMs;
}

/** What is heard of may be noise: a quota changes with each Pod of its Namespace. */
const retrySoonSpacingMs = 10_000;

/** What failed there may succeed now: it is tried at once, but for this reason only every 10 s. */
export function retrySoon(known: ClusterState, nowMs: number): void {
  if (known.failures === 0) return;
  const atMs = Math.max(nowMs, known.retrySoonAtMs + retrySoonSpacingMs);
  if (known.isBusy && atMs === nowMs) known.isRetryRequested = true;
  else if (known.isBusy || known.retryAtMs <= atMs) return;
  known.retryAtMs = atMs;
  known.retrySoonAtMs = atMs;
}

/** Something is being written in some cluster. */
export function isBusy(state: PropagationState): boolean {
  return busyClusters(state).size > 0;
}

/** Clusters in which something is being written. */
export function busyClusters({ clusters }: PropagationState): ReadonlySet<ClusterName> {
  return new Set(clusters.entries().flatMap(([cluster, known]) => (known.isBusy ? [cluster] : [])));
}

/** When the plan that there is must give way to one from zero, in milliseconds of the epoch. Undefined: nobody asked for that, or it was done. */
export function rescheduleMsOf({ plan, latest }: Pick<PropagationState, 'plan' | 'latest'>): number | undefined {
  if (plan === undefined || latest === undefined || 'problems' in latest.spec) return undefined;
  const { rescheduleAt } = latest.spec.replicas;
  return rescheduleDueMs({ rescheduleAt, scheduledAt: plan.scheduledAt });
}
