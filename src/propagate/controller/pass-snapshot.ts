import type { Propagation } from '../model/propagation.ts';
import type { PropagationSpec } from '../model/spec.ts';
import type { ClusterAssessment } from './clusters/cluster-assessment.ts';
import type { RolloutDecision } from './decide-rollout.ts';
import type { CurrentPlan } from './state/propagation-state.ts';

/** A Propagation with a plan. */
export interface PlannedPropagation {
  readonly propagation: Propagation;
  readonly spec: PropagationSpec;
  readonly plan: CurrentPlan;
}

/** What a pass sees: as of one moment. */
export interface PassSnapshot {
  readonly clusters: readonly ClusterAssessment[];
  readonly rollout: RolloutDecision;
  /** Milliseconds of the epoch. */
  readonly nowMs: number;
  readonly rollback?: 'running' | 'done';
  /** Why nothing is taken back, with `rollback` `done`: it is left as it stands. */
  readonly whyNotRolledBack?: string;
}
