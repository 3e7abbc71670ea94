import type { Fault } from '../../../core/faults.ts';
import type { ClusterName } from '../../../core/names.ts';
import type { ClusterShare, OldValues } from '../../model/inventory.ts';
import type { FrozenSource, RenderedObject, RenderedPlan } from '../../model/plan.ts';
import type { Eviction, HeldPrune, PreservedIn, Propagation, RequestedPlan } from '../../model/propagation.ts';
import type { PropagationName } from '../../model/propagations.ts';
import type { PropagationSpec } from '../../model/spec.ts';
import type { CopyOutcome, RollbackTarget } from '../../plan/copies/copy-work.ts';
import { rescheduleDueMs } from '../../plan/placing/reschedule.ts';
import type { EvictionDecision } from '../failover/decide-evictions.ts';

/**
 * The leader's own facts about one Propagation, in addition to those on the hub. They may be lost at any moment: the leader then reads and
 * plans again. Only passes over this Propagation, and the jobs that they started, change it.
 */
export interface PropagationState {
  /** The key in the queue and in the interests: `namespace/name`. */
  readonly key: string;
  readonly name: PropagationName;
  /** The latest version that was read or written. Undefined before the first read. */
  latest: Propagation | undefined;
  /** The inventory as last saved or loaded. Undefined: it must be loaded from the hub. */
  shares: Map<ClusterName, ClusterShare> | undefined;
  /** Names of the shares that were invalid when the inventory was last loaded. */
  unreadable: readonly string[];
  plan: CurrentPlan | undefined;
  /** The last decision about evictions. Undefined before the first one. */
  evictions: EvictionDecision | undefined;
  /** The clusters in which the last pass saw unhealthy copies, and since when all passes have seen them, in Unix milliseconds. */
  seenUnhealthyMs: ReadonlyMap<string, number>;
  /** Set while the generation is rolled back after a breach. */
  breachRollback: BreachRollback | undefined;
  /**
   * The copies of older revisions in clusters where the plan was not started. Computed once for a plan, and only for the clusters that need
   * it. Undefined: not computed yet.
   */
  placedCopies: { readonly plan: CurrentPlan; readonly clusters: Map<ClusterName, readonly PlacedCopies[]> } | undefined;
  /** True if an input of the plan has changed. The next pass then makes a new plan. */
  isPlanOld: boolean;
  /**
   * Clusters in which the current plan was started, even if the status does not say so yet, with the hash of the objects that it wanted
   * there (`wantedHashOf`).
   */
  readonly begun: Map<ClusterName, string>;
  readonly clusters: Map<ClusterName, ClusterState>;
  /** Aborted and replaced when the plan is discarded. Jobs of the discarded plan then write nothing more. */
  work: AbortController;
  /** When the mirror was first seen to be older than `latest`, by the monotonic clock. Undefined: it is not older. */
  behindSinceMs: number | undefined;
  /** The last seen value of the annotation `muster.dev/resumed-at`. Undefined: it was absent. */
  resumedAt: string | undefined;
  /** Number of failed requests to the hub in a row. */
  hubFailures: number;
  /** Number of refused plans in a row. */
  refusals: number;
  /** When a refused plan is made again even without a change, by the monotonic clock. */
  replanAtMs: number;
  /** When the status was last written, by the monotonic clock. */
  statusAtMs: number;
}

/** The decision for one generation. */
export interface CurrentPlan {
  readonly uid: string;
  readonly generation: number;
  /** The revision of this generation on the hub. */
  readonly revision: number;
  /** The last time at which clusters and replicas were chosen anew, without regard to earlier plans. As RFC 3339. */
  readonly scheduledAt: string;
  /** The digest of the first saved plan of this generation. Later plans differ from that plan only by changes of the fleet. */
  readonly digest: string;
  readonly rendered: RenderedPlan;
  readonly verdict: PlanVerdict;
  /** The references and dependencies as this generation accepted them. Empty if changes are followed. */
  readonly sources: readonly FrozenSource[];
  /** The evictions and the preserved labels after this plan. */
  readonly evictions: readonly Eviction[];
  readonly preserved: readonly PreservedIn[];
  /** The value of `PropagationStatus.mostObjects`. */
  readonly mostObjects: number;
  /** The plan that a user requested by its digest, in this generation or an earlier one. Undefined: none was requested. */
  readonly requested?: RequestedPlan | undefined;
  /** True if the user requested exactly this plan. Only objects that have not changed since the plan are written then. */
  readonly isPinned: boolean;
  /** Clusters that joined after this generation was decided. They start after all others. */
  readonly lateClusters: ReadonlySet<ClusterName>;
  /** Set if this generation goes back to an older revision. Objects that were taken over since are given back. */
  readonly rollback?: RollbackTarget | undefined;
  /**
   * Clusters where a write was under way while the plan was made. The plan does not know the objects that this write created, so it draws
   * no conclusion from the objects of these clusters. The plan is made again when the write has ended.
   */
  readonly writingClusters: ReadonlySet<ClusterName>;
}

/** The rollback of a generation after a breach (docs/internals/propagation.md 5.5). */
export interface BreachRollback {
  readonly generation: number;
  /** The objects that the previous revision wants, by cluster. A cluster without such objects is absent. */
  readonly wanted: ReadonlyMap<ClusterName, readonly RenderedObject[]>;
  /** Clusters for which the previous state is unknown, with the reason. Nothing is rolled back there. */
  readonly unknown: ReadonlyMap<ClusterName, Fault>;
  /** The old values of objects that this generation has taken over. */
  readonly oldValues: readonly OldValues[];
  /** Clusters that are rolled back completely. */
  readonly doneClusters: Set<ClusterName>;
}

/** The copies that one kept revision placed in one cluster. */
export interface PlacedCopies {
  readonly revision: number;
  readonly spec: PropagationSpec;
  readonly objects: readonly RenderedObject[];
}

/** Whether a plan may be carried out. */
export type PlanVerdict =
  /** The plan may be carried out. `prune`: its confirmed deletions. Absent if no confirmation is needed. */
  | { readonly result: 'do'; readonly prune?: HeldPrune }
  /** The deletions of the plan must be confirmed first. Everything else is carried out, and deletions that have started continue. */
  | { readonly result: 'holdPrune'; readonly why: string; readonly prune: HeldPrune }
  /** The plan differs from the one that the user requested by the digest `requested`. */
  | { readonly result: 'stale'; readonly requested: string }
  /** The notes of the plan contain an error. */
  | { readonly result: 'refused' };

/** The state of one cluster of a Propagation. */
export interface ClusterState {
  /** True while a job runs in the cluster. */
  isBusy: boolean;
  /** Number of failed jobs in a row. */
  failures: number;
  /** The earliest time of the next job, by the monotonic clock. */
  retryAtMs: number;
  /** True if an immediate retry was requested while a job was running. A failure of that job then does not increase the backoff. */
  isRetryRequested: boolean;
  /** Time for which `retrySoon` last scheduled a retry, by the monotonic clock. The retry may still be to come. `-Infinity`: none yet. */
  retrySoonAtMs: number;
  /** True if the last job failed because the cluster did not answer. Retried as soon as the cluster answers. */
  isUnreachable: boolean;
  /** The outcome of the last attempt for each object, by `textOfKey`. */
  outcomes: Map<string, CopyOutcome>;
  /** Versions of copies that looked changed, but that a live read has shown to be unchanged, by `textOfKey`. */
  checkedVersions: Map<string, string>;
  /**
   * Why the last job failed as a whole: its inventory could not be saved. Undefined otherwise. Faults of single copies are in `outcomes`.
   */
  fault: Fault | undefined;
  /** The resourceVersion that the last write of each copy returned, by `textOfKey`. */
  writtenVersions: Map<string, string>;
  /** Time of the last write, in Unix milliseconds. A mirror shows the write only if it was up to date later than this time. */
  wroteAtMs: number;
}

/** Creates a state in which nothing is known yet. */
export function newPropagationState(name: PropagationName): PropagationState {
  return {
    key: keyOfPropagation(name),
    name,
    latest: undefined,
    shares: undefined,
    unreadable: [],
    plan: undefined,
    evictions: undefined,
    seenUnhealthyMs: new Map(),
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

/** Returns the state of a cluster. Creates it if there is none. */
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
 * Discards the plan and the inventory, and forgets the started clusters and all failures. Aborts all jobs of the plan: they write nothing
 * more, and their results do not count. The next pass reads the hub again, because a job or another process may have written meanwhile.
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

/** Forgets the failures in a cluster where another generation is started. That generation has not failed and starts at once. */
export function forgetFailures(state: PropagationState, cluster: ClusterName): void {
  const known = clusterStateOf(state, cluster);
  known.failures = 0;
  known.retryAtMs = Number.NEGATIVE_INFINITY;
  known.outcomes.clear();
  known.fault = undefined;
}

/** Makes the retries of failed clusters and of refused plans due now, after a user has resumed the Propagation. Starts no job itself. */
export function retryAllNow(state: PropagationState, nowMs: number): void {
  for (const known of state.clusters.values()) {
    known.isRetryRequested = known.isBusy;
    if (known.failures > 0) known.retryAtMs = nowMs;
  }
  if (state.refusals > 0) state.replanAtMs = nowMs;
}

/** Minimum time between two retries by `retrySoon`. Changes may be noise: a quota changes with each Pod of its Namespace. */
const retrySoonSpacingMs = 10_000;

/**
 * Makes the retry of a failed cluster due now, because the cause of the failure may be gone. Two such retries are at least 10 s apart.
 * Starts no job itself.
 */
export function retrySoon(known: ClusterState, nowMs: number): void {
  if (known.failures === 0) return;
  const atMs = Math.max(nowMs, known.retrySoonAtMs + retrySoonSpacingMs);
  if (known.isBusy && atMs === nowMs) known.isRetryRequested = true;
  else if (known.isBusy || known.retryAtMs <= atMs) return;
  known.retryAtMs = atMs;
  known.retrySoonAtMs = atMs;
}

/** True if a job runs in at least one cluster. */
export function isBusy(state: PropagationState): boolean {
  return busyClusters(state).size > 0;
}

/** Returns the clusters in which a job runs. */
export function busyClusters({ clusters }: PropagationState): ReadonlySet<ClusterName> {
  return new Set(clusters.entries().flatMap(([cluster, known]) => (known.isBusy ? [cluster] : [])));
}

/**
 * Returns when the plan must be replaced by one that divides all replicas from zero, in Unix milliseconds. Undefined if
 * `spec.replicas.rescheduleAt` does not request this, or if it is done.
 */
export function rescheduleMsOf({ plan, latest }: Pick<PropagationState, 'plan' | 'latest'>): number | undefined {
  if (plan === undefined || latest === undefined || 'problems' in latest.spec) return undefined;
  const { rescheduleAt } = latest.spec.replicas;
  return rescheduleDueMs({ rescheduleAt, scheduledAt: plan.scheduledAt });
}
