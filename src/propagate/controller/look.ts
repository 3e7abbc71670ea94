import type { Propagation } from '../propagation.ts';
import type { PropagationSpec } from '../spec.ts';
import type { ClusterView } from './cluster-view.ts';
import type { RolloutDecision } from './rollout-step.ts';
import type { CurrentPlan } from './run.ts';

/** A Propagation with a plan. */
export interface PlannedPropagation {
  readonly propagation: Propagation;
  readonly spec: PropagationSpec;
  readonly plan: CurrentPlan;
}

/** What a pass sees: as of one moment. */
export interface Look {
  readonly views: readonly ClusterView[];
  readonly rollout: RolloutDecision;
  /** Milliseconds of the epoch. */
  readonly nowMs: number;
  readonly rollback?: 'running' | 'done';
  /** Why nothing is taken back, with `rollback` `done`: it is left as it stands. */
  readonly notTakenBack?: string;
}
