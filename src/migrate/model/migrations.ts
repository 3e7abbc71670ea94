import type { WriteContext } from '../../changes/write-context.ts';
import type { Fault } from '../../core/faults.ts';
import type { Json } from '../../core/json.ts';
import type { HubListFilter, HubPage } from '../../propagate/model/hub-page.ts';
import type { PropagationPhase } from '../../propagate/model/propagation.ts';
import type { StateListener } from '../../propagate/model/propagations.ts';
import type { MigrateInput } from './migrate-input.ts';
import type { MigrationPlan } from './migration-plan.ts';
import type { BackupUsed, MigratedApp } from './migration-status-definition.ts';

/** Identifies a Migration on the hub. */
export interface MigrationName {
  readonly namespace: string;
  readonly name: string;
}

/** One Migration as GraphQL shows it: a resource of the hub, or the plan of a `migrate` request. */
export interface MigrationView extends MigrationName {
  /** The uid of the resource. Absent if this shows the plan of a `migrate` request. */
  readonly uid?: string;
  readonly phase: PropagationPhase;
  readonly digest: string;
  /** A `MigrateInput`. */
  readonly spec: Json;
  readonly requester?: string;
  readonly createdAt?: string;
  readonly backup?: BackupUsed;
  readonly to: string;
  readonly from: string;
  readonly apps: readonly MigratedApp[];
  readonly notes: readonly RecordedMigrationNote[];
  readonly faults: readonly Fault[];
}

/** A note as the hub keeps it. Every `MigrationNote` also has this type. */
interface RecordedMigrationNote {
  readonly severity: string;
  readonly code: string;
  readonly message: string;
  readonly path?: string;
}

/**
 * A request to migrate. With `digest`, only the plan with this digest is carried out. With `isDryRun`, the answer is the same, but nothing
 * is written.
 */
export interface MigrateRequest {
  readonly input: MigrateInput;
  readonly digest?: string | null | undefined;
  readonly isDryRun: boolean;
}

/**
 * The operations on Migrations, created by `migrate/api/create-migrations.ts`. All except `plan` need a hub.
 *
 * @throws {MusterError} Every method: `BAD_INPUT` for invalid arguments. All except `plan`: `UNAVAILABLE` without a hub, or if the hub does
 * not answer.
 */
export interface Migrations {
  /** Returns the plan of an input. Writes nothing. */
  plan(context: WriteContext, input: MigrateInput): Promise<MigrationPlan>;
  /**
   * Plans, and records the Migration on the hub. Nothing is kept if the digest differs (`HELD`), or if a note is an ERROR (`FAILED`). The
   * same input once more resumes the applications that have failed, and plans a refused Migration again.
   */
  migrate(context: WriteContext, request: MigrateRequest): Promise<MigrationView>;
  /** Requests the undo of a Migration. The engine carries it out. */
  undo(context: WriteContext, name: MigrationName): Promise<MigrationView>;
  /** Returns the Migration. Undefined if it does not exist, or if the caller may not get it. */
  get(context: WriteContext, name: MigrationName): Promise<MigrationView | undefined>;
  /** Returns one page of the Migrations that match the filter, sorted by namespace and name. */
  list(context: WriteContext, filter: HubListFilter): Promise<HubPage<MigrationView>>;
  /**
   * Reports the current Migration, and again after each change. Ends when the signal aborts, or when the caller loses the right to watch the
   * Migration.
   *
   * @throws {MusterError} `FORBIDDEN` if the caller may not watch it.
   */
  follow(context: WriteContext, name: MigrationName, listener: StateListener<MigrationView>, signal: AbortSignal): Promise<void>;
}
