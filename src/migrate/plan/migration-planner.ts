import type { Clock } from '../../core/clock.ts';
import type { Planner } from '../../propagate/plan/planner.ts';
import type { PlannerPorts } from '../../propagate/plan/snapshot/plan-request.ts';
import type { HubRecords } from '../../propagate/plan/snapshot/sources.ts';
import type { ReadBackup } from '../discover/source-objects.ts';
import type { MigrationStore } from '../hub/migration-store.ts';
import type { MigrationSpec } from '../model/migration.ts';
import type { MigrationPlan } from '../model/migration-plan.ts';

/** The services that the planner of migrations uses. */
export interface MigrationPlannerPorts extends Pick<PlannerPorts, 'members' | 'clientOf' | 'visibility' | 'sensitiveKinds'> {
  /** Plans the new placement of propagated applications. */
  readonly planner: Pick<Planner, 'render'>;
  /** The Propagations and their inventories. Absent if there is no hub, so nothing is propagated. */
  readonly hub?: HubRecords;
  /** The Migrations on the hub. Absent if there is no hub, so no other migration runs. */
  readonly migrations?: Pick<MigrationStore, 'all'> | undefined;
  readonly readBackup: ReadBackup;
  readonly clock: Clock;
}

/** A request for a plan. */
export interface MigrationPlanRequest {
  /** The namespace of the Migration. */
  readonly namespace: string;
  readonly spec: MigrationSpec;
  readonly signal: AbortSignal;
}

/** Plans migrations. Writes nothing. Created by create-migration-planner.ts. */
export interface MigrationPlanner {
  /**
   * Finds the applications, and checks each in the target with dry runs. The engine plans again with the same request: an equal digest means
   * that the same applications move in the same way. An abort rejects with the signal's reason.
   *
   * Ends after about 50 s at the latest: 10 s for the mirrors of the source, 20 s for those of the target, and 20 s for the checks. With the
   * source `Velero`, waits for its turn, and then reads the backup instead of the mirrors of the source, for up to 10 min.
   *
   * @throws {MusterError} `BAD_INPUT` if the spec names a backup file outside the configured folders.
   */
  plan(request: MigrationPlanRequest): Promise<MigrationPlan>;
}
