import type { Propagation } from '../model/propagation.ts';
import type { PropagationSpec } from '../model/spec.ts';
import type { LeftBehindFacts } from '../status/facts.ts';
import type { ClusterAssessment } from './clusters/cluster-assessment.ts';
import type { RolloutDecision } from './decide-rollout.ts';
import type { CurrentPlan } from './state/propagation-state.ts';

/** A Propagation with a valid spec, and its plan. */
export interface PlannedPropagation {
  readonly propagation: Propagation;
  readonly spec: PropagationSpec;
  readonly plan: CurrentPlan;
}

/** The assessment of all clusters in one pass, as of one moment. */
export interface PassSnapshot {
  readonly clusters: readonly ClusterAssessment[];
  readonly rollout: RolloutDecision;
  /** The copies that `purge` Never has released. */
  readonly leftBehind: readonly LeftBehindFacts[];
  /** Unix milliseconds. */
  readonly nowMs: number;
  /** Set after a breach with `onFailure: Rollback`. `running`: the generation is being rolled back. `done`: it was, or it cannot be. */
  readonly rollback?: 'running' | 'done';
  /** Why a breach was not rolled back, if `rollback` is `done`. The copies stay as they are. */
  readonly whyNotRolledBack?: string;
}
