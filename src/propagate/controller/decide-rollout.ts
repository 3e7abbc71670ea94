import type { ClusterName } from '../../core/names.ts';
import { marks, type Propagation } from '../model/propagation.ts';
import type { PropagationSpec } from '../model/spec.ts';
import { workloadCountOf } from '../plan/placing/workload-count.ts';
import { type CountMove, decideSurge, type SurgeDecision } from '../rollout/decide-surge.ts';
import { nextWaves, type WavesDecision } from '../rollout/next-waves.ts';
import { breachedAtOf, resumedAtMsOf } from '../rollout/resumption.ts';
import { waveLinesOf } from '../rollout/wave-lines.ts';
import { linesOf } from '../status/cluster-line.ts';
import { completionIn } from '../status/completion.ts';
import { isKept, readyOf } from '../status/copy-state.ts';
import type { ClusterFacts, CopyFacts } from '../status/facts.ts';
import type { ClusterAssessment } from './clusters/cluster-assessment.ts';
import type { CurrentPlan } from './state/propagation-state.ts';

/** What a rollout is decided by. */
export interface RolloutInput {
  readonly clusters: readonly ClusterAssessment[];
  readonly propagation: Propagation;
  readonly spec: PropagationSpec;
  readonly plan: CurrentPlan;
  readonly nowMs: number;
}

export interface RolloutDecision {
  readonly waves: WavesDecision;
  /** To be begun now; empty while somebody has paused it. */
  readonly start: ReadonlySet<ClusterName>;
  readonly surge: SurgeDecision;
  /** What is no longer wanted may go, where `decideSurge` does not keep it. */
  readonly mayDrain: boolean;
  readonly isPaused: boolean;
}

/** Which clusters are next, and which wait for others. Pure. */
export function decideRollout({ clusters: assessments, propagation, spec, plan, nowMs }: RolloutInput): RolloutDecision {
  const { generation, annotations } = propagation.metadata;
  const clusters = assessments.map(({ facts }) => facts);
  const breachedAtMs = breachedAtOf(propagation.status.conditions, generation);
  const lines = linesOf(clusters, { generation, spec, breachedAtMs, nowMs });
  const excused = completionIn({ spec, clusters, previous: propagation.status }, lines)?.excused;
  const moves = assessments.flatMap((assessment) => moveOf(assessment, lines.get(assessment.cluster)?.rollout?.phase));
  const counts = decideSurge(moves, spec.rollout.onFailure);
  const waves = nextWaves({
    rollout: spec.rollout,
    waves: plan.rendered.waves.map((name, index) => ({ name, clusters: clustersIn(plan, index) })),
    lines: waveLinesOf(lines, { generation, held: new Set([...counts.waiting, ...counts.held]) }),
    resumedAtMs: resumedAtMsOf(propagation),
    breachedAtMs,
    nowMs,
    ...(excused === undefined ? {} : { excused }),
  });
  const isPaused = annotations[marks.paused] !== undefined;
  const isStopped = isPaused || (waves.breach !== undefined && waves.breach.action !== 'Continue');
  return { waves, surge: counts, isPaused, mayDrain: !isStopped, start: new Set(isPaused ? [] : waves.start) };
}

/** True if this generation may write in the cluster: it was begun there, or the copies there may be deleted. */
export function mayBegin({ cluster, stage, member }: ClusterFacts, { surge: counts, mayDrain }: RolloutDecision): boolean {
  if (stage !== 'leaving') return stage === 'begun';
  return mayDrain && member !== undefined && !counts.waiting.includes(cluster) && !counts.held.includes(cluster);
}

/** Those that came late are in none: they come after all. */
function clustersIn({ rendered, lateClusters: late }: CurrentPlan, index: number): readonly ClusterName[] {
  return rendered.clusters.flatMap(({ chosen: { cluster }, wave }) => (wave === index && !late.has(cluster) ? [cluster] : []));
}

/** Of a workload alone. */
function moveOf({ rendered, facts }: ClusterAssessment, mark: CountMove['mark']): readonly CountMove[] {
  const { cluster, stage, copies } = facts;
  const live = workloadReplicasOf(copies);
  const to = rendered === undefined ? 0 : rendered.share?.to;
  if (to === undefined || (rendered === undefined && live === undefined)) return [];
  const isGoing = copies.some(({ entry }) => !isKept(entry));
  const begun = stage === 'begun' ? mark : isGoing ? 'Progressing' : undefined;
  return [{ cluster, current: live?.wanted ?? 0, to, ready: live?.ready ?? 0, ...(begun === undefined ? {} : { mark: begun }) }];
}

/**
 * How many replicas all workloads among these copies are to have where they stand, and how many are ready; undefined if there is none. What a division
 * counts, and nothing else: so both sides of a move are of the same.
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
  // Items of lists do not say what they are.
  return workloadCountOf({ ...mirrored.object, apiVersion: key.apiVersion, kind: key.kind })?.count;
}
