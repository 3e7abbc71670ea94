import type { RolloutState } from '../../model/columns/rollout.ts';
import type { CopyPhase, CopyReason, RolloutMark } from '../model/propagation.ts';
import type { RolloutSpec } from '../model/spec-definition.ts';
import type { ClusterRollout } from './cluster-rollout.ts';
import { isKept } from './copy-state.ts';
import type { ClusterFacts, PropagationFacts } from './facts.ts';
import type { Freshness } from './freshness.ts';

/** What of a Propagation the line of one cluster depends on. */
export type LineContext = Pick<PropagationFacts, 'generation' | 'nowMs'> & {
  readonly spec?: { readonly rollout: Pick<RolloutSpec, 'soakMs' | 'deadlineMs'> } | undefined;
  /** Since when this generation is in breach (`breachedAtOf`). Absent: it is not. */
  readonly breachedAtMs?: number | undefined;
};

/** What a line says of the moment. */
interface LinePhase {
  readonly phase: CopyPhase;
  readonly reason?: CopyReason;
  readonly message?: string;
}

/** One cluster, and what was found out about it. */
interface ClusterJudgement {
  readonly facts: ClusterFacts;
  readonly freshness: Freshness;
  readonly rollout: ClusterRollout;
  readonly mark: RolloutMark | undefined;
}

/** After so many failures in a row it is no passing problem. It is tried again all the same. */
const failuresUntilFatal = 3;
const fatalReasons: readonly CopyReason[] = ['Conflict', 'Denied', 'Invalid', 'Immutable', 'Quota', 'Contended', 'TimedOut', 'Unhealthy'];

/**
 * True if what is wrong is not expected to pass: by its reason, or as it has failed three times in a row, whatever the server said each time. Once told
 * so in this generation it stays so until nothing is wrong: another process does not count from the beginning.
 */
export function isFatal({ problem, failures = 0, previous }: ClusterFacts, { generation }: Pick<LineContext, 'generation'>): boolean {
  if (problem === undefined || problem.reason === 'Unreachable') return false;
  if (problem.reason !== undefined && fatalReasons.includes(problem.reason)) return true;
  if (problem.fault === undefined) return false;
  return (
    failures >= failuresUntilFatal || (previous?.phase === 'Failed' && previous.fault !== undefined && previous.generation === generation)
  );
}

/** What holds in a cluster: the first that does. `Settled` is said only where all that is wanted stands as it is wanted, and is well. */
export function linePhaseOf(sight: ClusterJudgement, context: LineContext): LinePhase {
  const { facts, freshness, rollout, mark } = sight;
  const { stage, problem } = facts;
  const why = problemReasonOf(facts);
  if (freshness.result === 'stale') return { phase: 'Unknown', reason: freshness.reason, message: freshness.message };
  if (stage === 'leaving')
    return { phase: facts.copies.some(({ entry }) => !isKept(entry)) ? 'Deleting' : 'Draining', ...lossMessageOf(facts), ...why };
  if (stage === 'rollingBack') return { phase: 'RollingBack', ...why };
  if (isFatal(facts, context)) return { phase: problem?.reason === 'Denied' ? 'Denied' : 'Failed', ...why };
  if (stage === 'waiting') return { phase: 'Waiting', reason: 'Wave', ...lossMessageOf(facts), ...why };
  if (stage === 'restored' || stage === 'kept')
    return facts.lost === undefined ? phaseOfRollout(rollout) : { phase: 'Applying', ...lossMessageOf(facts) };
  if (facts.differs !== undefined && problem?.reason === 'Suspended') return { phase: 'Waiting', ...why };
  if (mark?.phase === 'TimedOut') return { phase: 'Failed', reason: 'TimedOut', message: rollout.message };
  if (mark?.phase === 'Failed') return { phase: 'Failed', reason: 'Unhealthy', message: rollout.message };
  if (!rollout.isWritten) return { phase: 'Applying', ...why };
  return mark?.phase === 'Succeeded' ? afterSuccess(sight, mark, context) : { phase: 'Progressing', message: rollout.message, ...why };
}

function lossMessageOf({ lost }: ClusterFacts): Pick<LinePhase, 'message'> {
  return lost === undefined ? {} : { message: lost };
}

function problemReasonOf({ problem }: ClusterFacts): Omit<LinePhase, 'phase'> {
  if (problem === undefined) return {};
  const { reason, message } = problem;
  return { ...(reason === undefined ? {} : { reason }), message };
}

/** What was rolled out once can be lost since. */
function afterSuccess(
  { facts, rollout: { missing, regression: lapse } }: ClusterJudgement,
  mark: RolloutMark,
  context: LineContext,
): LinePhase {
  const why = problemReasonOf(facts);
  if (missing?.isServed === false) return { phase: 'Failed', reason: 'ApiMissing', message: missing.message };
  if (facts.differs === 'watched') return { phase: 'Failed', message: 'it differs from what was written, and is only watched', ...why };
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
