import type { Access } from '../../access/access.ts';
import type { Clock } from '../../core/clock.ts';
import type { Log } from '../../core/log.ts';
import type { WorkScheduler } from '../../core/scheduling/work-scheduler.ts';
import type { SensitiveKinds } from '../../core/sensitive-kinds.ts';
import type { ClusterViews } from '../../load/reads/cluster-views.ts';
import type { Seal } from '../../load/reads/cursor-seal.ts';
import type { Mirrors } from '../../watch/mirrors.ts';
import type { SourceBudget } from './source-budget.ts';

/** The parts of the gateway that all views use. */
export interface ViewDependencies {
  readonly mirrors: Mirrors;
  readonly access: Access;
  readonly views: ClusterViews;
  readonly seal: Seal;
  readonly sensitive: SensitiveKinds;
  /** Schedules the work of all views in one queue. */
  readonly scheduler: WorkScheduler;
  readonly sources: SourceBudget;
  readonly clock: Clock;
  readonly log: Log;
}
