import { shortenedList } from '../../core/text.ts';
import type { ClusterLine, CompletionStatus, PropagationPhase, StatusCondition } from '../model/propagation.ts';
import { breachReason } from '../rollout/resumption.ts';
import type { PropagationFacts } from './facts.ts';

/** The input of the conditions. */
interface ConditionFacts {
  readonly facts: PropagationFacts;
  readonly phase: PropagationPhase;
  /** The status of each cluster, sorted by the name of the cluster. */
  readonly lines: readonly ClusterLine[];
  readonly completion: CompletionStatus | undefined;
}

type ConditionJudgement = Pick<StatusCondition, 'type' | 'status' | 'reason' | 'message'> & { readonly sinceMs?: number };

/** Maximum number of names in a message. */
const maxShownNames = 10;
const unplanned = 'Unplanned';

/**
 * Returns the conditions of a Propagation, in a fixed order. `Complete` exists only if the spec has a completion. A transition time changes
 * only with the status or reason of its condition. In a breach, that of `Progressing` is the start of the breach.
 */
export function conditionsOf({ facts, phase, lines, completion }: ConditionFacts): readonly StatusCondition[] {
  const judged: readonly (ConditionJudgement | undefined)[] = [
    acceptedOf(facts),
    plannedOf(facts),
    appliedOf(facts, lines),
    healthyOf(facts, lines),
    completion === undefined ? undefined : completeOf(completion, lines),
    progressingOf(facts, phase),
    freshOf(lines),
  ];
  return judged.flatMap((judgement) => (judgement === undefined ? [] : [conditionOf(judgement, facts)]));
}

function conditionOf({ sinceMs, ...judgement }: ConditionJudgement, { previous, generation, nowMs }: PropagationFacts): StatusCondition {
  const before = previous.conditions?.find(({ type }) => type === judgement.type);
  const isSame = before?.status === judgement.status && before.reason === judgement.reason;
  const lastTransitionTime =
    sinceMs !== undefined ? new Date(sinceMs).toISOString() : isSame ? before.lastTransitionTime : new Date(nowMs).toISOString();
  return { ...judgement, lastTransitionTime, observedGeneration: generation };
}

function acceptedOf({ refused }: PropagationFacts): ConditionJudgement {
  return refused?.stage === 'Accepted'
    ? { type: 'Accepted', status: 'False', reason: 'Invalid', message: refused.message }
    : { type: 'Accepted', status: 'True', reason: 'Accepted', message: '' };
}

function plannedOf({ refused, held, plan }: PropagationFacts): ConditionJudgement {
  const type = 'Planned';
  if (refused !== undefined) return { type, status: 'False', reason: refused.reason ?? 'Refused', message: refused.message };
  if (held !== undefined) return { type, status: 'False', reason: held.reason, message: held.message };
  if (plan === undefined) return { type, status: 'Unknown', reason: 'Planning', message: '' };
  if (plan.unplaced > 0) return { type, status: 'False', reason: 'Unplaced', message: `${plan.unplaced} replicas have no cluster` };
  return { type, status: 'True', reason: 'Planned', message: '' };
}

/** True if the Propagation was never planned: it has no plan, and its status has no clusters. Missing copies are no failure then. */
function wasNeverPlanned({ plan }: PropagationFacts, lines: readonly ClusterLine[]): boolean {
  return plan === undefined && lines.length === 0;
}

function appliedOf(facts: PropagationFacts, lines: readonly ClusterLine[]): ConditionJudgement {
  const { generation, unreadable = [] } = facts;
  const type = 'Applied';
  if (unreadable.length > 0) {
    const message = `expected valid ClusterShares with the label of this Propagation; fix or delete ${shortenedList(unreadable, maxShownNames)}`;
    return { type, status: 'False', reason: 'InventoryUnreadable', message };
  }
  if (wasNeverPlanned(facts, lines)) return { type, status: 'Unknown', reason: unplanned, message: '' };
  const planned = lines.filter(({ wave }) => wave !== undefined);
  const failing = planned.filter(({ phase, fault }) => phase === 'Denied' || fault !== undefined);
  if (failing.length > 0) return { type, status: 'False', reason: 'Failed', message: namesOf(failing) };
  const open = planned.filter((line) => line.generation !== generation || line.phase === 'Applying' || line.phase === 'Unknown');
  if (open.length > 0) return { type, status: 'False', reason: 'Applying', message: namesOf(open) };
  return { type, status: 'True', reason: 'Applied', message: '' };
}

function healthyOf(facts: PropagationFacts, lines: readonly ClusterLine[]): ConditionJudgement {
  const type = 'Healthy';
  if (wasNeverPlanned(facts, lines)) return { type, status: 'Unknown', reason: unplanned, message: '' };
  const unhealthy = lines.filter(({ health }) => health === 'Unhealthy');
  if (unhealthy.length > 0) return { type, status: 'False', reason: 'Unhealthy', message: namesOf(unhealthy) };
  const unknown = lines.filter(({ health }) => health === 'Unknown');
  if (unknown.length > 0) return { type, status: 'Unknown', reason: 'Unknown', message: namesOf(unknown) };
  return { type, status: 'True', reason: 'Healthy', message: '' };
}

function completeOf({ needed, complete, failed, done }: CompletionStatus, lines: readonly ClusterLine[]): ConditionJudgement {
  const type = 'Complete';
  const message = `${complete} of ${needed} clusters are complete, ${failed} failed`;
  if (done) return { type, status: 'True', reason: 'Complete', message };
  const targets = lines.filter(({ wave }) => wave !== undefined).length;
  return { type, status: 'False', reason: failed > targets - needed && failed > 0 ? 'Failed' : 'Running', message };
}

function progressingOf({ waves, rollback, whyNotRolledBack }: PropagationFacts, phase: PropagationPhase): ConditionJudgement {
  const type = 'Progressing';
  const breach = waves?.breach;
  if (breach !== undefined && (breach.action !== 'Continue' || rollback !== undefined)) {
    const failed = messageOfBreach(waves?.failed ?? 0);
    const message = whyNotRolledBack === undefined ? failed : `${failed}; nothing is rolled back: ${whyNotRolledBack}`;
    return { type, status: 'False', reason: breachReason, message, sinceMs: breach.sinceMs };
  }
  const isProgressing = phase === 'Planning' || phase === 'Rolling' || phase === 'RollingBack' || phase === 'Deleting';
  return { type, status: isProgressing ? 'True' : 'False', reason: phase, message: '' };
}

function messageOfBreach(failed: number): string {
  // Clusters that have recovered must stay healthy for a while before the rollout continues.
  if (failed === 0) return 'the failed clusters have recovered, but not for long enough yet';
  return failed === 1 ? '1 cluster failed' : `${failed} clusters failed`;
}

function freshOf(lines: readonly ClusterLine[]): ConditionJudgement {
  const unknown = lines.filter(({ phase }) => phase === 'Unknown');
  return unknown.length === 0
    ? { type: 'Fresh', status: 'True', reason: 'Fresh', message: '' }
    : { type: 'Fresh', status: 'False', reason: 'Unknown', message: namesOf(unknown) };
}

function namesOf(lines: readonly ClusterLine[]): string {
  return shortenedList(
    lines.map(({ cluster }) => cluster),
    maxShownNames,
  );
}
