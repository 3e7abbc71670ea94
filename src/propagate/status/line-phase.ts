import type { RolloutState } from '../../model/columns/rollout.ts';
import { isBeingRemoved } from '../model/inventory.ts';
import type { CopyPhase, CopyReason, RolloutMark } from '../model/propagation.ts';
import type { RolloutSpec } from '../model/spec-definition.ts';
import type { ClusterRollout } from './cluster-rollout.ts';
import type { ClusterFacts, PropagationFacts } from './facts.ts';
import type { Freshness } from './freshness.ts';

/** The facts of a Propagation on which the line of one cluster in the status (`ClusterLine`) depends. */
export type LineContext = Pick<PropagationFacts, 'generation' | 'nowMs'> & {
  readonly spec?: { readonly rollout: Pick<RolloutSpec, 'soakMs' | 'deadlineMs'> } | undefined;
  /** When the breach of this generation began (`breachedAtOf`). Absent if there is none. */
  readonly breachedAtMs?: number | undefined;
};

/** The phase of one cluster in the status, with its reason. */
interface LinePhase {
  readonly phase: CopyPhase;
  readonly reason?: CopyReason;
  readonly message?: string;
}

/** One cluster, with the results of the first checks. */
interface ClusterJudgement {
  readonly facts: ClusterFacts;
  readonly freshness: Freshness;
  readonly rollout: ClusterRollout;
  readonly mark: RolloutMark | undefined;
}

/** Number of failures in a row after which a problem counts as lasting. The write is still retried. */
const failuresUntilFatal = 3;
const fatalReasons: readonly CopyReason[] = ['Conflict', 'Denied', 'Invalid', 'Immutable', 'Quota', 'Contended', 'TimedOut', 'Unhealthy'];

/**
 * True if the problem is not expected to pass: because of its reason, or after three failures in a row. False if the cluster does not
 * answer. Once a line of this generation has failed, it stays failed until the problem is gone, because a new leader counts failures from
 * zero.
 */
export function isFatal({ problem, failures = 0, previous }: ClusterFacts, { generation }: Pick<LineContext, 'generation'>): boolean {
  if (problem === undefined || problem.reason === 'Unreachable') return false;
  if (problem.reason !== undefined && fatalReasons.includes(problem.reason)) return true;
  if (problem.fault === undefined) return false;
  return (
    failures >= failuresUntilFatal || (previous?.phase === 'Failed' && previous.fault !== undefined && previous.generation === generation)
  );
}

/**
 * Returns the first phase that applies, in the order of this function. `Settled` applies only if all wanted copies exist in their wanted
 * form and are rolled out.
 */
export function linePhaseOf(judgement: ClusterJudgement, context: LineContext): LinePhase {
  const { facts, freshness, rollout, mark } = judgement;
  const { stage, problem } = facts;
  const why = problemReasonOf(facts);
  if (freshness.result === 'stale') return { phase: 'Unknown', reason: freshness.reason, message: freshness.message };
  if (stage === 'leaving')
    return { phase: facts.copies.some(({ entry }) => isBeingRemoved(entry)) ? 'Deleting' : 'Draining', ...lossMessageOf(facts), ...why };
  if (stage === 'rollingBack') return { phase: 'RollingBack', ...why };
  if (isFatal(facts, context)) return { phase: problem?.reason === 'Denied' ? 'Denied' : 'Failed', ...why };
  if (stage === 'waiting') return { phase: 'Waiting', reason: 'Wave', ...lossMessageOf(facts), ...why };
  if (stage === 'restored' || stage === 'kept')
    return facts.lossMessage === undefined ? phaseOfRollout(rollout) : { phase: 'Applying', ...lossMessageOf(facts) };
  if (facts.differs !== undefined && problem?.reason === 'Suspended') return { phase: 'Waiting', ...why };
  if (mark?.phase === 'TimedOut') return { phase: 'Failed', reason: 'TimedOut', message: rollout.message };
  if (mark?.phase === 'Failed') return { phase: 'Failed', reason: 'Unhealthy', message: rollout.message };
  if (!rollout.isWritten) return { phase: 'Applying', ...why };
  return mark?.phase === 'Succeeded' ? afterSuccess(judgement, mark, context) : { phase: 'Progressing', message: rollout.message, ...why };
}

function lossMessageOf({ lossMessage }: ClusterFacts): Pick<LinePhase, 'message'> {
  return lossMessage === undefined ? {} : { message: lossMessage };
}

function problemReasonOf({ problem }: ClusterFacts): Omit<LinePhase, 'phase'> {
  if (problem === undefined) return {};
  const { reason, message } = problem;
  return { ...(reason === undefined ? {} : { reason }), message };
}

/** Returns the phase after the rollout has succeeded. Copies may have been lost or changed since then. */
function afterSuccess(
  { facts, rollout: { missing, regression: lapse } }: ClusterJudgement,
  mark: RolloutMark,
  context: LineContext,
): LinePhase {
  const why = problemReasonOf(facts);
  if (missing?.isServed === false) return { phase: 'Failed', reason: 'ApiMissing', message: missing.message };
  if (facts.differs === 'watched')
    return { phase: 'Failed', message: 'it differs from what was written, and drift is only reported', ...why };
  if (missing !== undefined) return { phase: 'Applying', message: missing.message, ...why };
  if (facts.differs !== undefined || facts.problem?.fault !== undefined) return { phase: 'Applying', ...why };
  if (facts.copies.some(({ entry }) => entry.state === 'Deleting')) return { phase: 'Deleting', ...why };
  if (lapse !== undefined) return { ...phaseOfRollout(lapse), ...why };
  return { phase: isSoaking(mark, context) ? 'Soaking' : 'Settled', ...why };
}

function phaseOfRollout({ phase, message }: RolloutState): LinePhase {
  switch (phase) {
    case 'done':
      return { phase: 'Settled' };
    case 'progressing':
      return { phase: 'Progressing', message };
    case 'failed':
      return { phase: 'Failed', reason: 'Unhealthy', message };
    default:
      return phase satisfies never;
  }
}

function isSoaking({ since }: RolloutMark, { spec, nowMs }: LineContext): boolean {
  return nowMs < Date.parse(since) + (spec?.rollout.soakMs ?? 0);
}
