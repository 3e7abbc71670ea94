import type { ClusterName } from '../../core/names.ts';
import { isBeingRemoved } from '../model/inventory.ts';
import { marks, type Propagation } from '../model/propagation.ts';
import type { PropagationSpec } from '../model/spec.ts';
import { workloadCountOf } from '../plan/placing/workload-count.ts';
import { leftClusters, waitingPurges } from '../rollout/decide-purge.ts';
import { type CountMove, decideSurge, type SurgeDecision } from '../rollout/decide-surge.ts';
import { nextWaves, type WavesDecision } from '../rollout/next-waves.ts';
import { breachedAtOf, resumedAtMsOf } from '../rollout/resumption.ts';
import { waveLinesOf } from '../rollout/wave-lines.ts';
import { linesOf } from '../status/cluster-line.ts';
import { completionIn } from '../status/completion.ts';
import { readyOf } from '../status/copy-state.ts';
import type { ClusterFacts, CopyFacts } from '../status/facts.ts';
import type { ClusterAssessment } from './clusters/cluster-assessment.ts';
import type { CurrentPlan } from './state/propagation-state.ts';

/** The input of `decideRollout`. */
export interface RolloutInput {
  readonly clusters: readonly ClusterAssessment[];
  readonly propagation: Propagation;
  readonly spec: PropagationSpec;
  readonly plan: CurrentPlan;
  readonly nowMs: number;
}

export interface RolloutDecision {
  readonly waves: WavesDecision;
  /** Clusters to start now. Empty while the rollout is paused. */
  readonly start: ReadonlySet<ClusterName>;
  readonly surge: SurgeDecision;
  /** The evicted clusters whose old copies stay until the new ones are rolled out. */
  readonly waitingPurge: ReadonlySet<string>;
  /**
   * True if copies may be deleted in clusters where the plan wants none (stage `leaving`). Clusters in `surge` or `waitingPurge` still have
   * to wait. False while the rollout is paused or stopped by a breach.
   */
  readonly mayDrain: boolean;
  readonly isPaused: boolean;
}

/** Decides which clusters start next, and which wait for others. Pure. */
export function decideRollout({ clusters: assessments, propagation, spec, plan, nowMs }: RolloutInput): RolloutDecision {
  const { generation, annotations } = propagation.metadata;
  const clusters = assessments.map(({ facts }) => facts);
  const breachedAtMs = breachedAtOf(propagation.status.conditions, generation);
  const lines = linesOf(clusters, { generation, spec, breachedAtMs, nowMs });
  const excused = completionIn({ spec, clusters, previous: propagation.status }, lines)?.excused;
  // An evicted cluster may be lost, so its decrease does not take part in the surge. Its purge has rules of its own.
  const left = new Set(leftClusters(plan.evictions).map(({ cluster }) => cluster));
  const others = assessments.filter(({ cluster, rendered }) => rendered !== undefined || !left.has(cluster));
  const isReturning = plan.evictions.some(({ cause }) => cause === 'Return');
  const moves = others.flatMap((assessment) => {
    const mark = lines.get(assessment.cluster)?.rollout?.phase;
    // Success lasts for a generation. But copies return within it, so only replicas that are ready now can replace those that are leaving.
    return moveOf(assessment, isReturning && mark === 'Succeeded' ? 'Progressing' : mark);
  });
  const surge = withHeldDrain(decideSurge(moves, spec.rollout.onFailure), assessments, annotations[marks.heldDrain]);
  const waves = nextWaves({
    rollout: spec.rollout,
    waves: plan.rendered.waves.map((name, index) => ({ name, clusters: clustersIn(plan, index) })),
    lines: waveLinesOf(lines, { generation, held: new Set([...surge.waiting, ...surge.held]) }),
    resumedAtMs: resumedAtMsOf(propagation),
    breachedAtMs,
    nowMs,
    ...(excused === undefined ? {} : { excused }),
  });
  const isPaused = annotations[marks.paused] !== undefined;
  const isStopped = isPaused || (waves.breach !== undefined && waves.breach.action !== 'Continue');
  const waitingPurge = new Set(waitingPurges({ spec, evictions: plan.evictions, lines, nowMs }));
  return { waves, surge, waitingPurge, isPaused, mayDrain: !isStopped, start: new Set(isPaused ? [] : waves.start) };
}

/**
 * Keeps the copies in the cluster `held`, from which a migration moves an application, although the plan has none there. Without such a cluster,
 * changes nothing.
 */
function withHeldDrain(surge: SurgeDecision, assessments: readonly ClusterAssessment[], held: string | undefined): SurgeDecision {
  const leaving = assessments.find(({ cluster, rendered }) => cluster === held && rendered === undefined);
  if (leaving === undefined) return surge;
  return { waiting: surge.waiting.filter((name) => name !== leaving.cluster), held: [...new Set([...surge.held, leaving.cluster])] };
}

/** True if this generation may write in the cluster: it was started there, or the cluster is leaving and its copies may be deleted now. */
export function mayWriteIn({ cluster, stage, member }: ClusterFacts, { surge, waitingPurge, mayDrain }: RolloutDecision): boolean {
  if (stage !== 'leaving') return stage === 'begun';
  return (
    mayDrain && !waitingPurge.has(cluster) && member !== undefined && !surge.waiting.includes(cluster) && !surge.held.includes(cluster)
  );
}

/**
 * Returns the clusters of a wave of the plan. Leaves out clusters that joined after the generation was decided, because they start after
 * all waves.
 */
function clustersIn({ rendered, lateClusters: late }: CurrentPlan, index: number): readonly ClusterName[] {
  return rendered.clusters.flatMap(({ chosen: { cluster }, wave }) => (wave === index && !late.has(cluster) ? [cluster] : []));
}

/** Returns the change of the replica count in one cluster. Empty without a workload. */
function moveOf({ rendered, facts }: ClusterAssessment, mark: CountMove['mark']): readonly CountMove[] {
  const { cluster, stage, copies } = facts;
  const live = workloadReplicasOf(copies);
  const to = rendered === undefined ? 0 : rendered.share?.to;
  if (to === undefined || (rendered === undefined && live === undefined)) return [];
  const isGoing = copies.some(({ entry }) => isBeingRemoved(entry));
  const begun = stage === 'begun' ? mark : isGoing ? 'Progressing' : undefined;
  return [{ cluster, current: live?.wanted ?? 0, to, ready: live?.ready ?? 0, ...(begun === undefined ? {} : { mark: begun }) }];
}

/**
 * Sums the wanted and the ready replicas of all workloads among these copies, as they exist in the cluster. Undefined without a workload.
 * Counts the same kinds as the division of replicas in the plan, so that increases and decreases are comparable.
 */
export function workloadReplicasOf(copies: readonly CopyFacts[]): { readonly wanted: number; readonly ready: number } | undefined {
  const workloads = copies.flatMap((copy) => {
    const wanted = wantedReplicasOf(copy);
    return wanted === undefined ? [] : [{ wanted, ready: readyOf(copy) ?? 0 }];
  });
  if (workloads.length === 0) return undefined;
  return workloads.reduce((sum, { wanted, ready }) => ({ wanted: sum.wanted + wanted, ready: sum.ready + ready }), { wanted: 0, ready: 0 });
}

function wantedReplicasOf({ entry: { key }, mirrored }: CopyFacts): number | undefined {
  if (mirrored.result !== 'held') return undefined;
  // Items of lists have no apiVersion and no kind.
  return workloadCountOf({ ...mirrored.object, apiVersion: key.apiVersion, kind: key.kind })?.count;
}
