import type { Note } from '../model/notes.ts';
import { isDecided, type Propagation } from '../model/propagation.ts';
import type { PropagationSpec } from '../model/spec.ts';
import type { LeftBehindFacts, PlanFacts, PropagationFacts } from '../status/facts.ts';
import type { ClusterAssessment } from './clusters/cluster-assessment.ts';
import type { RolloutDecision } from './decide-rollout.ts';
import type { CurrentPlan } from './state/propagation-state.ts';

/** The input of `factsOf`: a Propagation that has a plan. */
export interface PlannedStatus {
  readonly propagation: Propagation;
  readonly spec: PropagationSpec;
  readonly plan: CurrentPlan;
  readonly clusters: readonly ClusterAssessment[];
  readonly rollout?: RolloutDecision;
  readonly leftBehind: readonly LeftBehindFacts[];
  readonly rollback?: PropagationFacts['rollback'];
  readonly whyNotRolledBack?: string;
  readonly unreadable: readonly string[];
  readonly nowMs: number;
}

/** Collects the facts for the status of a Propagation that has a plan, whatever the verdict on the plan is. */
export function factsOf(planned: PlannedStatus): PropagationFacts {
  const { propagation, spec, plan, clusters: assessments, rollout, rollback, whyNotRolledBack, unreadable, leftBehind, nowMs } = planned;
  return {
    generation: plan.generation,
    spec,
    previous: propagation.status,
    clusters: assessments.map(({ facts }) => facts),
    ...verdictFacts(plan, isDecided(propagation) ? 'NotPlannedAgain' : 'Refused'),
    unreadable,
    leftBehind,
    ...(plan.requested === undefined ? {} : { requestedPlan: plan.requested }),
    ...(rollout === undefined ? {} : { waves: rollout.waves }),
    isDeleting: false,
    isPaused: rollout?.isPaused ?? false,
    ...(rollback === undefined ? {} : { rollback }),
    ...(whyNotRolledBack === undefined ? {} : { whyNotRolledBack }),
    nowMs,
  };
}

function verdictFacts(
  plan: CurrentPlan,
  refusal: 'Refused' | 'NotPlannedAgain',
): Pick<PropagationFacts, 'plan' | 'prune' | 'refused' | 'held'> {
  const { verdict, rendered } = plan;
  switch (verdict.result) {
    case 'do':
      return { plan: planFacts(plan), ...pruneFacts(verdict) };
    case 'holdPrune':
      return { plan: planFacts(plan), ...pruneFacts(verdict), held: { reason: 'PruneHeld', message: verdict.why } };
    case 'stale': {
      const message = `expected the plan ${shortDigest(verdict.requested)}, got ${shortDigest(plan.digest)}: the fleet or the intent has changed since`;
      const { revision: _revision, ...undone } = planFacts(plan);
      return { plan: undone, held: { reason: 'PlanStale', message } };
    }
    case 'refused': {
      const errors = rendered.notes.filter(({ severity }) => severity === 'ERROR');
      return { refused: { stage: 'Planned', reason: refusal, message: errors.map(textOf).join('; '), notes: rendered.notes } };
    }
    default:
      return verdict satisfies never;
  }
}

function pruneFacts({ prune }: Extract<CurrentPlan['verdict'], { readonly result: 'do' | 'holdPrune' }>): Pick<PropagationFacts, 'prune'> {
  return prune === undefined ? {} : { prune };
}

function planFacts({ digest, revision, scheduledAt, sources, evictions, preserved, mostObjects, rendered }: CurrentPlan): PlanFacts {
  const { affinityGroup, desired, placed, unplaced, notes } = rendered;
  return {
    digest,
    revision,
    scheduledAt,
    ...(sources.length === 0 ? {} : { sources }),
    evictions,
    preserved,
    mostObjects,
    ...(affinityGroup === undefined ? {} : { affinityGroup }),
    ...(desired === undefined ? {} : { desired }),
    ...(placed === undefined ? {} : { placed }),
    unplaced,
    notes,
  };
}

function textOf({ path, message }: Note): string {
  return path === undefined ? message : `${path}: ${message}`;
}

function shortDigest(digest: string): string {
  return digest.slice(0, 12);
}
